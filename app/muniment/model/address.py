"""Where a model is asked and with which key: checked before anything is sent."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit, urlunsplit

from muniment.model.base import ModelError

if TYPE_CHECKING:
    from muniment.settings import ModelSettings

OFFICIAL_URL = "https://api.openai.com/v1"
Wire = Literal["chat", "responses"]

_PATHS = {"chat": "/chat/completions", "responses": "/responses"}
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0]")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address. `key` is None where none is sent; it is left out of `repr`."""

    base_url: str
    wire: Wire
    model: str
    key: str | None = field(repr=False)
    key_variable: str
    timeout_seconds: float
    strict_layout: bool = False

    @property
    def url(self) -> str:
        """The address that is called."""
        return self.base_url + _PATHS[self.wire]

    @property
    def official(self) -> bool:
        return _is_official(self.base_url)

    @property
    def loopback(self) -> bool:
        """Whether the server is this machine, which no proxy should stand before."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def endpoint_of(model: ModelSettings, environ: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that settings and environment name; raise `ModelError` of kind `settings`."""
    base_url = clean_base_url(model.base_url) if model.base_url else OFFICIAL_URL
    name = (model.name or "").strip()
    if not name:
        raise _fault("No model is named: set model.name in the settings or give --model NAME.")
    key = read_key(environ, model.api_key_env)
    if key is None and _is_official(base_url):
        raise _fault(
            f"No key for {base_url}: set the environment variable {model.api_key_env} (its name stands in "
            "model.api_key_env), or set model.base_url to a server that needs none."
        )
    wire: Wire
    if model.api == "auto":
        wire = "responses" if _is_official(base_url) else "chat"
    else:
        wire = "responses" if model.api == "responses" else "chat"
    return Endpoint(
        base_url,
        wire,
        name,
        key,
        model.api_key_env,
        float(model.timeout_seconds),
        strict_layout=model.chat_layout == "strict",
    )


def clean_base_url(text: str) -> str:
    """Return a base URL without blanks around it and slashes behind it; raise where it cannot be one."""
    url = text.strip()
    shown = url[:200]
    if _UNPRINTABLE.search(url):
        raise _fault(f"model.base_url {shown!a} holds blanks or control characters; write it without them.")
    if "://" not in url:
        raise _fault(f"model.base_url {shown} has no scheme; write http://{shown} or https://{shown}.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise _fault(f"model.base_url {shown} is no address: {error}.") from error
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise _fault(f"model.base_url {shown} is no http or https address.")
    if "@" in parts.netloc:
        raise _fault(
            "model.base_url holds a user name or password; put a key into the variable that "
            "model.api_key_env names."
        )
    if parts.query or parts.fragment:
        raise _fault(f"model.base_url {shown} ends in ? or #; write the address up to /v1 only.")
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    for ending in _PATHS.values():
        if path.endswith(ending):
            wanted = urlunsplit((parts.scheme, parts.netloc, path.removesuffix(ending), "", ""))
            raise _fault(
                f"model.base_url {shown} names the call itself, so that {shown}{ending} would be called; "
                f"write {wanted}."
            )
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, "", ""))


def read_key(environ: Mapping[str, str], variable: str) -> str | None:
    """Return the key without blanks and quotes around it, None where it is unset or empty.

    Raise where what is left could not stand in a header; the sentence never holds the key.
    """
    key = environ.get(variable, "").strip()
    if len(key) >= 2 and key[0] == key[-1] and key[0] in "\"'":
        key = key[1:-1].strip()
    if not key:
        return None
    if not key.isascii() or _UNPRINTABLE.search(key):
        raise _fault(
            f"The environment variable {variable} holds a line break, a blank or a letter outside ASCII "
            "inside the key; set it again to the key alone."
        )
    return key


def _is_official(base_url: str) -> bool:
    return (urlsplit(base_url).hostname or "").lower() == "api.openai.com"


def _fault(sentence: str) -> ModelError:
    return ModelError(sentence, kind="settings")
