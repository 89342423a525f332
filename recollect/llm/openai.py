"""OpenAI's chat completions, also spoken by Ollama, LM Studio, vLLM and OpenRouter.

In: a ModelRequest. Out: a Completion, streamed so that it can be ended by a deadline or a length.
Errors as in `web_api.py`; a missing package, or a missing key where one is needed, is a
ProviderRefused with a hint.
"""

from typing import Any

from recollect.core.addresses import is_local
from recollect.core.errors import ProviderDown, ProviderError, ProviderRefused
from recollect.core.token_count import count_tokens
from recollect.llm import api_keys, web_api
from recollect.llm.base import Completion, ModelRequest
from recollect.llm.bounded_call import BoundedCalls, deadline

MODEL = "gpt-5.4-nano"
KEY = "OPENAI_API_KEY"
URL = "https://api.openai.com/v1"


class OpenAIProvider:
    name = "openai"

    def __init__(self, model: str = "", base_url: str = "") -> None:
        self.model = model or MODEL
        self._url = base_url or URL
        self._calls = BoundedCalls()

    def complete(self, request: ModelRequest) -> Completion:
        key = api_keys.find(KEY)
        if not key and not is_local(self._url):
            raise ProviderRefused(
                f"there is no key for {self._url}", hint=api_keys.how_to_give(KEY)
            )
        return self._calls.run(self._ask(request, key))

    def close(self) -> None:
        self._calls.close()

    async def _ask(self, request: ModelRequest, key: str) -> Completion:
        try:
            from openai import AsyncOpenAI
        except ImportError:
            raise web_api.missing("openai") from None
        web_api.hush()
        async with (
            deadline(request.timeout_s, self._url),
            AsyncOpenAI(
                api_key=key or "none",
                base_url=self._url,
                max_retries=0,
                timeout=request.timeout_s,
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
        said = (("system", request.system), ("user", request.prompt))
        # OpenAI renamed the limit, other servers know only the old name.
        limit = "max_completion_tokens" if self._url == URL else "max_tokens"
        more: dict[str, Any] = {limit: request.max_tokens}
        if self.model == MODEL:
            more["reasoning_effort"] = "none"
        stream = await client.chat.completions.create(
            model=self.model,
            messages=[{"role": role, "content": text} for role, text in said if text],
            stream=True,
            stream_options={"include_usage": True},
            **more,
        )
        reason = tokens_in = tokens_out = None
        async for chunk in stream:
            for choice in chunk.choices or ():
                answer.add(choice.delta.content if choice.delta else None)
                reason = choice.finish_reason or reason
            if usage := getattr(chunk, "usage", None):
                tokens_in = web_api.counted(getattr(usage, "prompt_tokens", None))
                tokens_out = web_api.counted(getattr(usage, "completion_tokens", None))
        if reason is None:
            raise ProviderDown(f"{self._url} broke off in the middle of its answer")
        if reason == "content_filter":
            raise ProviderRefused(f"{self._url} refused to answer", spent=True)
        return Completion(
            answer.text,
            self.model,
            count_tokens(request.system + request.prompt) if tokens_in is None else tokens_in,
            count_tokens(answer.text) if tokens_out is None else tokens_out,
            estimated=tokens_in is None or tokens_out is None,
        )
