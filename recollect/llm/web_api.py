"""What the two web APIs share: no retries by their SDKs, no key in any text, one mapping of errors.

In: an exception of an SDK. Out: an error of ours. An SDK's text may repeat the key or the prompt,
so its exceptions are not chained and its loggers are silenced.
"""

import logging
from typing import Any

from recollect.core.errors import ProviderDown, ProviderError, ProviderRefused, ProviderTimeout
from recollect.core.token_count import count_tokens
from recollect.llm import api_keys

_TALKATIVE = ("anthropic", "openai", "httpx", "httpcore", "httpx2", "httpcore2")


def hush() -> None:
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def missing(package: str) -> ProviderRefused:
    return ProviderRefused(
        f"the package {package} is not installed", hint=f"pip install 'recollect[{package}]'"
    )


def explained(error: Exception, who: str, key: str) -> ProviderError:
    """The error by status or, without one, by the kind of exception."""
    status = getattr(error, "status_code", None)
    if status is None:
        kind = type(error).__name__
        if type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout"):
            return ProviderDown(f"{who} cannot be reached", spent=False)
        if "Timeout" in kind:
            return ProviderTimeout(f"{who} did not answer in time")
        return ProviderDown(f"{who} broke off or answered what is not its protocol ({kind})")
    if status in (401, 403):
        return ProviderRefused(f"{who} does not accept the key (HTTP {status})")
    words = api_keys.without(_message(error), key)
    told = f"{who} answered HTTP {status}" + (f": {words}" if words else "")
    if status == 429 or status >= 500 or status == 408:
        return ProviderDown(told, spent=False)
    return ProviderRefused(told)


def _message(error: Exception) -> str:
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message") if isinstance(inner, dict) else inner
    return body if isinstance(body, str) else ""


class StreamedAnswer:
    """The text as it streams in; more than the limit ends the call."""

    def __init__(self, who: str, max_tokens: int) -> None:
        self._who = who
        self._most = max_tokens * 3  # we count high: only what is clearly too long is cut
        self._most_tokens = max_tokens
        self._tokens = 0
        self._parts: list[str] = []

    def add(self, part: object) -> None:
        if part is None:
            return
        if not isinstance(part, str):
            raise ProviderDown(f"{self._who} answered what is not its protocol")
        self._tokens += count_tokens(part)
        if self._tokens > self._most:
            raise ProviderRefused(
                f"{self._who} said more than {self._most_tokens} tokens", spent=True
            )
        self._parts.append(part)

    @property
    def text(self) -> str:
        return "".join(self._parts)


def counted(value: object) -> int | None:
    """A count as a server gave it, if it is one."""
    return value if type(value) is int and 0 <= value < 2**40 else None
