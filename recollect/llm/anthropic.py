"""Anthropic's Messages API."""

from typing import Any

from recollect.core.errors import ProviderDown, ProviderRefused
from recollect.llm import web_api
from recollect.llm.base import Completion, ModelRequest

MODEL = "claude-haiku-5-5"


class AnthropicProvider(web_api.WebProvider):
    name = "anthropic"
    client = "AsyncAnthropic"
    default_model = MODEL
    default_url = "https://api.anthropic.com"
    key = "ANTHROPIC_API_KEY"

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
        return self._completion(request, answer.text, tokens_in, tokens_out)
