"""Codex CLI: Claude's shape, a strict reader of answers, and `notify` where hooks are not trusted.

In: hook payloads, or the notification as last argument. Out: captures, and
`hookSpecificOutput` with nothing beside it: one key more and Codex drops it all.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from recollect.hosts.adapter import Reading, answer_draft, prompt_draft
from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.codex.facts import FACTS
from recollect.hosts.payloads import Capture, ContextSize, Payload
from recollect.hosts.reading import Data, count, lines_from_the_end, read_object, section

_MAX_MESSAGES = 20
# It compacts at nine tenths of a model's window, unless its user sets a lower limit, and names 95 %
# of the window (openai/codex issue 40095).
_COMPACTS = 0.9 / 0.95


class CodexAdapter(ClaudeFormat):
    session_fields = ("session_id", "thread-id")
    routes: ClassVar[Mapping[str, str]] = {
        **ClaudeFormat.routes,
        "notify": "on_notify",
    }

    compacts_at: ClassVar[tuple[int, ...]] = (244_800,)  # where it names no window

    def context_size(self, transcript: bytes) -> ContextSize | None:
        for line in lines_from_the_end(transcript):
            told = section(line, "payload")
            if told.get("type") == "token_count":  # told again after a compaction
                info = section(told, "info")
                tokens = count(section(info, "last_token_usage"), "total_tokens")
                limit = round(count(info, "model_context_window") * _COMPACTS)
                return ContextSize(tokens, compacts_at=limit) if tokens else None
        return None

    def read(self, payload: Payload) -> tuple[Data | None, bool]:
        if payload.event == "notify" and payload.args:
            return read_object(payload.args[-1].encode("utf-8", "replace"))
        return super().read(payload)

    def on_notify(self, reading: Reading) -> Capture:
        """A whole turn. The keys are those of the hooks, so what they captured is not doubled."""
        data = reading.data
        if data.get("type") != "agent-turn-complete":
            return reading.nothing("notification not used")
        messages = data.get("input-messages")
        texts = messages[:_MAX_MESSAGES] if isinstance(messages, list) else []
        prompts = (prompt_draft(text, reading.turn) for text in texts)
        drafts = (*prompts, answer_draft(data.get("last-assistant-message"), turn=reading.turn))
        return replace(
            reading.empty,
            signal="stop",
            reason="notify",
            drafts=tuple(draft for draft in drafts if draft),
        )


ADAPTER = CodexAdapter(FACTS)
