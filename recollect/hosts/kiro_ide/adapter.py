"""Kiro IDE's payloads and answers, from its documentation (hooks of their own).

In: JSON on stdin, as an argument or in the variable USER_PROMPT, in either spelling; else the
variable holds the prompt itself. Out: captures, and plain text.
"""

from recollect.hosts.adapter import Adapter, Reading
from recollect.hosts.kiro_ide.facts import FACTS
from recollect.hosts.payloads import Capture, Payload
from recollect.hosts.reading import Data, pick, prose, read_object


class KiroIdeAdapter(Adapter):
    answered = ("agentSpawn", "sessionStart", "userPromptSubmit", "promptSubmit")
    prints_text = True

    def read(self, payload: Payload) -> tuple[Data | None, bool]:
        """The first input, argument or variable that is an object: of a tool or a stop, some
        versions tell only in the variable."""
        texts = (*payload.args, payload.env.get("USER_PROMPT", ""))
        objects = (text.encode("utf-8", "replace") for text in texts if text[:1] == "{")
        for raw in (payload.stdin, *objects):
            data, repaired = read_object(raw)
            if data is not None:
                return data, repaired
        # Bad JSON beside a usable variable or event is no loss: only the object is missing.
        return {}, bool(payload.stdin.strip())

    def on_prompt(self, reading: Reading) -> Capture:
        data, payload = reading.data, reading.payload
        prompt = prose(pick(data, "prompt", "userPrompt", "user_prompt"))
        prompt = prompt or payload.env.get("USER_PROMPT", "")
        if not prompt and payload.args and not payload.args[0].startswith("{"):
            prompt = " ".join(payload.args)
        return self.prompted(reading, prompt, reading.turn)


ADAPTER = KiroIdeAdapter(FACTS)
