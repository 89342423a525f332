"""Messages of a role with blocks of text and tool calls, as several hosts keep their sessions.

In: one message after the other, in the form of Anthropic's API or of pi. Out: events.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from recollect.hosts.claude_format import text_parts
from recollect.hosts.reading import Data, word
from recollect.hosts.transcript import TranscriptEvent, TurnJoiner


def told(
    talk: TurnJoiner,
    key: str,
    at: datetime | None,
    message: Data,
    typed: Callable[[str], str] = str.strip,
) -> Iterator[TranscriptEvent]:
    """`typed` gives what the user typed of a text that stands in the user's name."""
    content = message.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    match message.get("role"):
        case "user":
            for block in blocks:
                if block.get("type") == "tool_result":
                    failed = True if block.get("is_error") is True else None
                    output = block.get("content")
                    yield from talk.result(key, word(block, "tool_use_id"), at, output, failed)
            yield from talk.prompt(key, at, typed(text_parts(content)))
        case "assistant":
            talk.text(at, text_parts(content))
            for block in blocks:
                if block.get("type") in ("tool_use", "toolCall"):
                    given: Any = block.get("input", block.get("arguments"))
                    talk.calls(word(block, "id"), word(block, "name"), given)
        case "toolResult":
            failed = True if message.get("isError") is True else None
            output = {"output": text_parts(content)}
            yield from talk.result(key, word(message, "toolCallId"), at, output, failed)
