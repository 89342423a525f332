"""What the two web APIs share: no retries by their SDKs, no key in any text, one mapping of errors.

In: a ModelRequest. Out: a Completion, streamed so that it can be ended by a deadline or a length,
or an error of ours. An SDK's text may repeat the key or the prompt, so its exceptions are not
chained and its loggers are silenced. A missing package, or a missing key where one is needed, is a
ProviderRefused with a hint.
"""

import logging
from importlib import import_module
from typing import Any

from recollect.core.addresses import is_local
from recollect.core.errors import ProviderDown, ProviderError, ProviderRefused, ProviderTimeout
from recollect.core.text_words import count_tokens
from recollect.llm import api_keys
from recollect.llm.base import Completion, ModelRequest
from recollect.llm.bounded_call import BoundedCalls, deadline

_TALKATIVE = ("anthropic", "openai", "httpx", "httpcore", "httpx2", "httpcore2")


class WebProvider:
    """A provider that is asked through its SDK: an extra, imported when used."""

    name: str  # of the provider and of its package
    client: str  # the class of the SDK
    default_model: str
    default_url: str
    key: str  # the variable that holds it

    def __init__(self, model: str = "", base_url: str = "") -> None:
        self.model = model or self.default_model
        self._url = base_url or self.default_url
        self._calls = BoundedCalls()

    def complete(self, request: ModelRequest) -> Completion:
        key = api_keys.find(self.key)
        if not key and not is_local(self._url):
            hint = api_keys.how_to_give(self.key)
            raise ProviderRefused(f"there is no key for {self._url}", hint=hint)
        return self._calls.run(self._ask(request, key))

    def close(self) -> None:
        self._calls.close()

    async def _ask(self, request: ModelRequest, key: str) -> Completion:
        try:
            connect = getattr(import_module(self.name), self.client)
        except ImportError:
            raise ProviderRefused(
                f"the package {self.name} is not installed",
                hint=f"pip install 'recollect[{self.name}]'",
            ) from None
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        async with (
            deadline(request.timeout_s, self._url),
            connect(
                api_key=key or "none", base_url=self._url, max_retries=0, timeout=request.timeout_s
            ) as client,
        ):
            try:
                return await self._stream(client, request)
            except (ProviderError, TimeoutError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever the SDK raises is translated
                raise explained(error, self._url, key) from None

    async def _stream(self, client: Any, request: ModelRequest) -> Completion:
        raise NotImplementedError

    def _completion(
        self, request: ModelRequest, text: str, tokens_in: int | None, tokens_out: int | None
    ) -> Completion:
        """What a server did not count is estimated."""
        return Completion(
            text,
            self.model,
            count_tokens(request.system + request.prompt) if tokens_in is None else tokens_in,
            count_tokens(text) if tokens_out is None else tokens_out,
            estimated=tokens_in is None or tokens_out is None,
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
