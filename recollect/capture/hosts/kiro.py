"""Kiro, as command line (2.x agent files) and as IDE (hooks of their own), from its documentation.

In: JSON on stdin; from the IDE also the USER_PROMPT variable or JSON as an argument, in either
spelling. Out: captures, and plain text. The command line spawns its agent on every prompt and gives
no session id without a terminal: the start is keyed, so that the pipeline sees it once a session.
"""

from collections.abc import Mapping
from typing import ClassVar

from recollect.capture.hosts.adapter import Adapter, Reading, event_key, turn_of
from recollect.capture.hosts.base import Capture, HookSpec, Payload
from recollect.capture.hosts.reading import Data, pick, plain_text, prose, read_object, word

_ANSWERED = frozenset(["agentspawn", "sessionstart", "userpromptsubmit", "promptsubmit"])


class _Kiro(Adapter):
    routes: ClassVar[Mapping[str, str]] = {
        "agentspawn": "on_start",
        "sessionstart": "on_start",
        "sessionend": "on_end",
        "userpromptsubmit": "on_prompt",
        "promptsubmit": "on_prompt",
        "posttooluse": "on_tool",
        "stop": "on_stop",
        "agentstop": "on_stop",
    }

    def answer(self, event: str, context: str) -> bytes:
        return plain_text(context).encode() if event_key(event) in _ANSWERED else b""


class KiroCli(_Kiro):
    name = "kiro-cli"
    aliases = ("kiro", "q", "amazon-q")
    events = (
        HookSpec("agentSpawn", timeout_s=10, injects=True),
        HookSpec("userPromptSubmit", injects=True),
        HookSpec("postToolUse", matcher="*"),
        HookSpec("stop"),
    )

    def on_start(self, reading: Reading) -> Capture:
        return self.signalled(
            reading,
            "session-start",
            word(reading.data, "source") or "spawn",
            wants="session-start",
            once=True,
        )


class KiroIde(_Kiro):
    name = "kiro-ide"
    aliases = ("kiroide",)
    events = (
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", matcher=".*"),
        HookSpec("Stop"),
    )
    other_env = ("USER_PROMPT",)

    def read(self, payload: Payload) -> tuple[Data | None, bool]:
        """The first argument or input that is an object; older versions give only a variable."""
        for raw in (payload.stdin, *(arg.encode("utf-8", "replace") for arg in payload.args)):
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
        return self.prompted(reading, prompt, turn_of(data))


KIRO_CLI = KiroCli()
KIRO_IDE = KiroIde()
