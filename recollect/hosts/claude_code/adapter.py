"""Claude Code's payloads and answers; its form is in claude_format.py.

In: hook payloads. Out: captures, and the answer of a turn from the transcript where the payload
does not carry it; how full the context is.
"""

from typing import ClassVar

from recollect.hosts.claude_code.facts import FACTS
from recollect.hosts.claude_format import ClaudeFormat, is_tool_result, text_parts
from recollect.hosts.payloads import ContextSize
from recollect.hosts.reading import count, lines_from_the_end, section, word

_CONTEXT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class ClaudeCodeAdapter(ClaudeFormat):
    # Windows of 200,000 and of 1,000,000 tokens: 64 compactions of real sessions came at 155,000 to
    # 178,000 (median 167,000); of larger windows only one is known, at 998,659.
    compacts_at: ClassVar[tuple[int, ...]] = (167_000, 967_000)

    def context_size(self, transcript: bytes) -> ContextSize | None:
        for line in lines_from_the_end(transcript):
            if line.get("subtype") == "compact_boundary" or line.get("isCompactSummary") is True:
                break
            message = section(line, "message")
            if line.get("type") != "assistant" or line.get("isSidechain") is True:
                continue
            tokens = sum(count(section(message, "usage"), name) for name in _CONTEXT)
            if tokens:  # an error that the host shows as an answer has none
                return ContextSize(tokens, word(message, "model"))
        return None

    def final_answer(self, transcript: bytes) -> str:
        """The text after the last thing the user said, from the lines of the main conversation."""
        for line in lines_from_the_end(transcript):
            message = section(line, "message")
            if line.get("isSidechain") is True or line.get("type") not in ("user", "assistant"):
                continue
            if line["type"] == "user" and not is_tool_result(message.get("content")):
                break
            answer = text_parts(message.get("content"))
            if answer:
                return answer
        return ""


ADAPTER = ClaudeCodeAdapter(FACTS)
