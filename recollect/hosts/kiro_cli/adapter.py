"""Kiro CLI's payloads and answers, from its documentation.

In: JSON on stdin, from hooks in agent files and, since version 3, from the hook file that Kiro IDE
reads too. Out: captures, and plain text. It spawns its agent on every prompt and gives no session
id without a terminal: the start is keyed, so that the pipeline sees it once a session. Some
versions give an empty prompt: then the session's file has it.
"""

from dataclasses import replace

from recollect.hosts.adapter import Adapter, Reading
from recollect.hosts.kiro_cli.facts import FACTS
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import Data, lines_from_the_end, prose, section, word

SESSIONS = "~/.kiro/sessions/cli"


class KiroCliAdapter(Adapter):
    answered = ("agentSpawn", "sessionStart", "userPromptSubmit", "promptSubmit")
    prints_text = True
    runs_hooks_of = ("kiro-ide",)
    signs = frozenset({"session_id", "prompt"})
    sent_by = "shape"

    def sent(self, payload: Payload, data: Data) -> bool:
        """The IDE spells fields in camelCase, or gives its prompt in a variable or an argument."""
        ides = payload.args or "USER_PROMPT" in payload.env or "sessionId" in data
        return not ides and bool(word(data, "session_id") or word(data, "prompt"))

    def on_start(self, reading: Reading) -> Capture:
        return self.signalled(
            reading,
            "session-start",
            word(reading.data, "source") or "spawn",
            wants="session-start",
            once=True,
        )

    def on_prompt(self, reading: Reading) -> Capture:
        found = super().on_prompt(reading)
        named = word(reading.data, "transcript_path")
        if not found.drafts and reading.empty.session_id and not named:
            named = f"{SESSIONS}/{self.file_name(reading.empty.session_id)}.jsonl"
        return found if found.drafts else replace(found, prompt_file=named or None)

    def prompt_in(self, file: bytes) -> tuple[str, str]:
        for line in lines_from_the_end(file):
            data = section(line, "data") or section(line, "message")
            if line.get("kind") == "Prompt" or data.get("role") == "user":
                content = data.get("content")
                parts = content if isinstance(content, list) else [content]
                texts = [one.get("data") if isinstance(one, dict) else one for one in parts]
                return word(data, "message_id"), prose([text for text in texts if text])
        return "", ""


ADAPTER = KiroCliAdapter(FACTS)
