"""Finding secrets by their named formats; nothing is guessed from how random a text looks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_PLUGINS = (
    "artifactory.ArtifactoryDetector",
    "aws.AWSKeyDetector",
    "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector",
    "cloudant.CloudantDetector",
    "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector",
    "gitlab_token.GitLabTokenDetector",
    "ibm_cloud_iam.IbmCloudIamDetector",
    "ibm_cos_hmac.IbmCosHmacDetector",
    "jwt.JwtTokenDetector",
    "mailchimp.MailchimpDetector",
    "npm.NpmDetector",
    "openai.OpenAIDetector",
    "private_key.PrivateKeyDetector",
    "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector",
    "slack.SlackDetector",
    "softlayer.SoftlayerDetector",
    "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)

_WORTH_A_LOOK = re.compile(
    r"[A-Za-z0-9_+/=.:-]{16,}|-----BEGIN|://|secret|token|bearer|passw|api.?key", re.IGNORECASE
)
"""A cheap first look: the detectors cost a tenth of a second to load, and prose never needs them."""

_OWN = (
    ("bearer token", re.compile(r"\bbearer\s+(?=[\w.~+/=-]*\d)[\w.~+/-]{20,}=*", re.IGNORECASE)),
    ("API key", re.compile(r"\b(?:sk|pk|rk)-(?:[a-z]+-)?(?=[\w-]*\d)[A-Za-z0-9_-]{20,}\b")),
    ("Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    (
        "password or key assignment",
        re.compile(
            r"\b(?:password|passwd|pwd|passphrase|api[_-]?key|secret(?:[_-]?key)?|access[_-]?token|auth[_-]?token)"
            r"\s{0,3}[=:]\s{0,3}[\"']?(?=[^\s\"']*\d)(?=[^\s\"']*[A-Za-z])[^\s\"'<>{}()\[\],;]{8,200}",
            re.IGNORECASE,
        ),
    ),
)

_WINDOW = 4_000
_OVERLAP = 300


def find_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield `(kind, start, end)` of what looks like a secret, each place once."""
    if not _WORTH_A_LOOK.search(text):
        return
    taken: list[tuple[int, int]] = []
    for name, start, end in (*_own(text), *_detected(text)):
        if not any(start < other_end and other_start < end for other_start, other_end in taken):
            taken.append((start, end))
            yield name, start, end


def _own(text: str) -> Iterator[tuple[str, int, int]]:
    for name, pattern in _OWN:
        for match in pattern.finditer(text):
            yield name, *match.span()


def _detected(text: str) -> Iterator[tuple[str, int, int]]:
    detectors = _detectors()
    for offset, piece in _pieces(text):
        for detector in detectors:
            for secret in detector.analyze_string(piece):
                at = piece.find(secret) if secret else -1
                if at >= 0:
                    yield detector.secret_type, offset + at, offset + at + len(secret)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their offsets; very long ones in overlapping windows, so that no pattern runs away."""
    offset = 0
    for line in text.split("\n"):
        for at in range(0, max(len(line), 1), _WINDOW - _OVERLAP):
            piece = line[at : at + _WINDOW]
            if _WORTH_A_LOOK.search(piece):
                yield offset + at, piece
            if at + _WINDOW >= len(line):
                break
        offset += len(line) + 1


@cache
def _detectors() -> tuple[Any, ...]:
    from importlib import import_module

    made = []
    for each in _PLUGINS:
        module, name = each.split(".")
        made.append(getattr(import_module(f"detect_secrets.plugins.{module}"), name)())
    return tuple(made)
