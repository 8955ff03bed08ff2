"""Patterns of text that speaks to a model instead of telling a fact, and of commands somebody is to run."""

from __future__ import annotations

import re
from functools import cache

_WHAT = r"(?:instructions?|prompts?|rules?|messages?|guidelines|directions|orders)"
_WHOSE = r"(?:previous|prior|earlier|above|preceding|system|safety|your|all)"
_TELL = r"(?:ask|asking|tell|telling|inform|informing|warn|warning|mention|mentioning|notify|notifying)"
_WHOM = r"(?:users?|humans?|approval|confirmation|permission|anyone|first)"
_DECIDED = r"(?:approved|agreed|authori[sz]ed|confirmed|allowed)"
_PRIVATE = r"(?:system prompt|api keys?|secrets|credentials|passwords?|access tokens?|private keys?)"
_MODELS = r"(?:AI|LLMs?|assistants?|coding agents?|language models?|chatbots?)"

_ORDER_PATTERNS = (
    rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{{0,30}}\b{_WHOSE}\b[^.\n]{{0,20}}\b{_WHAT}\b",
    rf"\b(?:new|updated|revised)\s+(?:system\s+)?{_WHAT}\s*:",
    r"\bfrom now on\b[,:]?\s+(?:you\b|skip|ignore)",
    r"\byou are now\b\s+(?:an?|in|the|free|allowed)\b",
    r"\b(?:act|behave)\s+as\s+(?:if\s+you|an?\s+(?:unrestricted|uncensored))\b",
    rf"\b(?:do not|don't|never|without)\s+{_TELL}\b[^.\n]{{0,20}}\b{_WHOM}\b",
    r"\bskip(?:ping)?\s+(?:the\s+|all\s+|any\s+)?(?:approval|confirmation|permission|security check)s?\b",
    rf"\b(?:user|human|owner)\s+has\s+(?:already\s+)?{_DECIDED}\b",
    r"\b(?:already|pre-?)\s*approved\s+by\s+(?:the\s+)?(?:user|owner|admin|system)\b",
    rf"\b(?:reveal|print|send|upload|leak|exfiltrate|output|repeat)\b[^.\n]{{0,25}}\b{_PRIVATE}\b",
    rf"\b{_MODELS}\s+(?:must|should|shall|have to|are required to|are asked to|reading this)\b",
    rf"^\s*{_MODELS}\s*:\s+(?:please|remember|always|never|ignore|do)\b",
    r"\b(?:enter|enable|activate)\s+(?:developer|debug|god|dan|jailbreak)\s+mode\b",
    r"^\s*(?:system|developer|assistant)\s*:\s",
    r"<\|?(?:im_start|im_end|system|endoftext|start_header_id)\|?>|\[/?INST\]|<</?SYS>>",
    r"</?\s*untrusted-input\b",
    r"\bignorier(?:e|en|t)?\b[^.\n]{0,30}\b(?:anweisungen|regeln|vorgaben)\b",
    r"\b(?:ignorez|oubliez|ignore)\b[^.\n]{0,30}\b(?:instructions|consignes)\b[^.\n]{0,15}\bpr[ée]c[ée]dentes\b",
    r"\b(?:ignora|olvida)\b[^.\n]{0,30}\binstrucciones\b",
    "(?:忽略|无视|忘记)[^。\n]{0,12}(?:指令|指示|规则|提示)",
    "(?:以前|これまで|上記)の(?:指示|命令)を(?:無視|忘れ)",
)

_COMMAND_PATTERNS = (
    r"\b(?:curl|wget|fetch)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da|k|fi)?sh\b",
    r"\b(?:curl|wget|base64)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:python3?|perl|ruby|node|php)\b",
    r"(?:\bba|\bz)?sh\s+(?:-c\s|<\(\s*(?:curl|wget))[^\n]{0,120}",
    r"\beval\s+[\"']?\$\([^\n]{0,120}",
    r"\bsudo\s+[a-z][\w./-]*[^\n.;]{0,60}",
    r"\brm\s+-[a-z]*[rf][a-z]*\s+\S+",
    r"\bchmod\s+(?:-R\s+)?(?:\+x|[0-7]*777)\s+\S+",
    r"\b(?:mkfs(?:\.\w+)?|shutdown|killall|crontab\s+-[er])\b[^\n]{0,40}",
    r"\bdd\s+if=\S+[^\n]{0,60}",
    r"\b(?:nc|ncat|netcat)\s+-\w*[el]\w*\s+\S+",
    r"/dev/tcp/\S+",
    r"\bgit\s+(?:push\s+[^\n]{0,60}(?:--force|-f)\b|reset\s+--hard\b|clean\s+-\w*f)[^\n]{0,40}",
    r"\b(?:powershell|pwsh)(?:\.exe)?\s+-\w+[^\n]{0,120}|\b(?:iex|invoke-expression)\s*\(?[^\n]{0,80}",
    r"\b(?:run|execute|invoke|paste)\b[^.`\n]{0,40}`[^`\n]{2,200}`",
    r"^\s*\$\s+[a-z][\w./-]*[^\n]{0,120}",
    r":\(\)\s*\{\s*:\|:&\s*\};:",
)


@cache
def orders() -> re.Pattern[str]:
    """Return the pattern of orders to a model; built when first needed, which most commands never do."""
    return _any_of(_ORDER_PATTERNS)


@cache
def commands() -> re.Pattern[str]:
    """Return the pattern of commands somebody is to run."""
    return _any_of(_COMMAND_PATTERNS)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE | re.MULTILINE)
