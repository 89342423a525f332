"""OpenAI's chat completions, also spoken by Ollama, LM Studio, vLLM and OpenRouter."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from recollect.core.errors import ProviderDown, ProviderRefused
from recollect.llm import web_api
from recollect.llm.base import Completion, ModelRequest

MODEL = "gpt-5.4-nano"
URL = "https://api.openai.com/v1"


MOST_BYTES = 4 << 20


class _Text(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Text = msgspec.field(name="message")
    finish_reason: str | None = "stop"


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class OpenAIProvider(web_api.WebProvider):
    name = "openai"
    client = "AsyncOpenAI"
    default_model = MODEL
    default_url = URL
    key = "OPENAI_API_KEY"

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
        if stream.response.headers.get("content-type", "").startswith("application/json"):
            stream = self._whole(stream.response)  # a server that does not stream
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
        return self._completion(request, answer.text, tokens_in, tokens_out)

    async def _whole(self, response: Any) -> AsyncIterator[_Chunk]:
        """An answer in one piece, as the only chunk of a stream."""
        raw = b""
        async for part in response.aiter_bytes():
            raw += part
            if len(raw) > MOST_BYTES:
                raise ProviderRefused(f"{self._url} said more than can be read", spent=True)
        try:
            yield msgspec.json.decode(raw, type=_Chunk)
        except msgspec.MsgspecError:
            raise ProviderDown(f"{self._url} answered what is not its protocol") from None
