"""Factory Droid's payloads and answers: Claude Code's form, from its documentation.

In: hook payloads; some report camelCase names for the common fields, so both are read. Out:
captures; a stop does not carry the answer, the session's JSONL file does.
"""

from recollect.hosts.claude_format import ClaudeFormat, is_tool_result, text_parts
from recollect.hosts.factory_droid.facts import FACTS
from recollect.hosts.reading import lines_from_the_end, section


class FactoryDroidAdapter(ClaudeFormat):
    def final_answer(self, transcript: bytes) -> str:
        """The text after the last thing the user said."""
        for line in lines_from_the_end(transcript):
            message = section(line, "message")
            content = message.get("content")
            if message.get("role") == "user" and not is_tool_result(content):
                break
            if message.get("role") == "assistant" and (answer := text_parts(content)):
                return answer
        return ""


ADAPTER = FactoryDroidAdapter(FACTS)
