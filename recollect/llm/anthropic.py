"""Anthropic's Messages API, through its SDK (an extra, imported when used).

In: a ModelRequest. Out: a Completion, streamed so that it can be ended by a deadline or a length.
Errors as in `web_api.py`; a missing key or package is a ProviderRefused with a hint.
"""

from typing import Any

from recollect.core.addresses import is_local
from recollect.core.errors import ProviderDown, ProviderError, ProviderRefused
from recollect.core.token_count import count_tokens
from recollect.llm import api_keys, web_api
from recollect.llm.base import Completion, ModelRequest
from recollect.llm.bounded_call import BoundedCalls, deadline

MODEL = "claude-haiku-5-5"
KEY = "ANTHROPIC_API_KEY"
URL = "https://api.anthropic.com"


class AnthropicProvider:
    name = "anthropic"

    def __init__(self, model: str = "", base_url: str = "") -> None:
        self.model = model or MODEL
        self._url = base_url or URL
        self._calls = BoundedCalls()

    def complete(self, request: ModelRequest) -> Completion:
        key = api_keys.find(KEY)
        if not key and not is_local(self._url):
            raise ProviderRefused("there is no key for Anthropic", hint=api_keys.how_to_give(KEY))
        return self._calls.run(self._ask(request, key))

    def close(self) -> None:
        self._calls.close()

    async def _ask(self, request: ModelRequest, key: str) -> Completion:
        try:
            from anthropic import AsyncAnthropic
        except ImportError:
            raise web_api.missing("anthropic") from None
        web_api.hush()
        async with (
            deadline(request.timeout_s, self._url),
            AsyncAnthropic(
                api_key=key or "none", base_url=self._url, max_retries=0, timeout=request.timeout_s
            ) as client,
        ):
            try:
                return await self._stream(client, request)
            except (ProviderError, TimeoutError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever the SDK raises is translated
                raise web_api.explained(error, self._url, key) from None

    async def _stream(self, client: Any, request: ModelRequest) -> Completion:
        answer = web_api.StreamedAnswer(self._url, request.max_tokens)
        tokens_in = tokens_out = reason = None
        # A small model is asked not to think first: thoughts would eat the answer's tokens.
        more: dict[str, Any] = {}
        if "haiku" in self.model:
            more["thinking"] = {"type": "disabled"}
        if request.system:
            more["system"] = request.system
        stream = await client.messages.create(
            model=self.model,
            max_tokens=request.max_tokens,
            messages=[{"role": "user", "content": request.prompt}],
            stream=True,
            **more,
        )
        ended = False
        async for event in stream:
            if event.type == "message_start":
                usage = event.message.usage
                counts = [
                    web_api.counted(getattr(usage, part, None))
                    for part in (
                        "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
                    )
                ]  # fmt: skip
                tokens_in = None if counts[0] is None else sum(one or 0 for one in counts)
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                answer.add(event.delta.text)
            elif event.type == "message_delta":
                tokens_out = web_api.counted(getattr(event.usage, "output_tokens", None))
                reason = event.delta.stop_reason
            elif event.type == "message_stop":
                ended = True
        if not ended:
            raise ProviderDown(f"{self._url} broke off in the middle of its answer")
        if reason == "refusal":
            raise ProviderRefused(f"{self._url} refused to answer", spent=True)
        return Completion(
            answer.text,
            self.model,
            count_tokens(request.system + request.prompt) if tokens_in is None else tokens_in,
            count_tokens(answer.text) if tokens_out is None else tokens_out,
            estimated=tokens_in is None or tokens_out is None,
        )
