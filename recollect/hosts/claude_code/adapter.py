"""Claude Code's payloads and answers; its form is in claude_format.py.

In: hook payloads. Out: captures, and the answer of a turn from the transcript where the payload
does not carry it.
"""

from recollect.hosts.claude_code.facts import FACTS
from recollect.hosts.claude_format import ClaudeFormat, is_tool_result, text_parts
from recollect.hosts.reading import lines_from_the_end, section


class ClaudeCodeAdapter(ClaudeFormat):
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
