"""Claude Code's payloads and answers; its form is in claude_format.py.

In: hook payloads. Out: captures, and the answer of a turn from the transcript where the payload
does not carry it.
"""

from typing import Any

from recollect.hosts.claude_code.facts import FACTS
from recollect.hosts.claude_format import ClaudeFormat
from recollect.hosts.reading import lines_from_the_end, prose, section


class ClaudeCode(ClaudeFormat):
    def final_answer(self, transcript: bytes) -> str:
        """The text after the last thing the user said, from the lines of the main conversation."""
        for line in lines_from_the_end(transcript):
            message = section(line, "message")
            if line.get("isSidechain") is True or line.get("type") not in ("user", "assistant"):
                continue
            if line["type"] == "user" and not _is_tool_result(message.get("content")):
                break
            answer = _text_parts(message.get("content"))
            if answer:
                return answer
        return ""


def _is_tool_result(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )


def _text_parts(content: Any) -> str:
    if not isinstance(content, list):
        return prose(content)
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return prose(parts)


ADAPTER = ClaudeCode(FACTS)
