"""GitHub Copilot CLI, in both spellings of its hooks (sessionStart and SessionStart).

In: hook payloads, also those of Claude's project hooks, which Copilot runs
too. Out: captures, and a top-level `additionalContext`, the only thing that Copilot injects.
"""

from recollect.hosts.adapter import Adapter
from recollect.hosts.copilot.facts import FACTS
from recollect.hosts.payloads import Payload
from recollect.hosts.reading import (
    Data,
    lines_from_the_end,
    prose,
    section,
    word,
)


class CopilotAdapter(Adapter):
    answered = ("sessionStart", "userPromptSubmitted", "userPromptSubmit", "postToolUse")
    runs_hooks_of = ("claude-code",)
    signs = frozenset(
        {"COPILOT_PROJECT_DIR", "sessionId", "tool_result", "initial_prompt", "timestamp"}
    )
    sent_by = "shape"

    def sent(self, payload: Payload, data: Data) -> bool:
        """The shape decides, for either may have been started from within the other: Claude sends
        no time, and always a transcript; Copilot sends a time, and a transcript only when it stops.
        """
        if not data or "sessionId" in data or "tool_result" in data or "initial_prompt" in data:
            return True
        transcript = word(data, "transcript_path")
        return "timestamp" in data and (not transcript or "copilot" in transcript)

    def output(self, event: str, context: str) -> Data:
        return {"additionalContext": context} if context else {}

    def final_answer(self, transcript: bytes) -> str:
        """agentStop does not say the answer; the session's events.jsonl does, on its last lines."""
        for line in lines_from_the_end(transcript):
            if line.get("type") == "user.message":
                break
            if line.get("type") == "assistant.message":
                answer = prose(section(line, "data").get("content"))
                if answer:
                    return answer
        return ""


ADAPTER = CopilotAdapter(FACTS)
