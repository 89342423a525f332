"""Sessions of one project, played through the hooks of Claude Code in a `RuntimeHome`.

In: prompts, calls of tools and answers. Out: what the agent was told, and the beliefs that came of
it. Each session ends, is extracted, and the next one begins a day and a half later.
"""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

from recollect.core.ids import new_ulid
from recollect.core.values import Record
from recollect.service import tools
from tests.fakes.runtime import RuntimeHome

DAY_AND_A_HALF_S = 36 * 3600
DONE = "Done, and the tests pass."


class ProjectSessions:
    def __init__(self, home: RuntimeHome, project: pathlib.Path) -> None:
        (project / ".git").mkdir(parents=True, exist_ok=True)
        (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.home = home
        self.project = project
        self._session: dict[str, str] = {}
        home.runtime.recall().recall_now.limit_ms = 60_000

    @property
    def session_id(self) -> str:
        return self._session["session_id"]

    def hook(self, event: str, **payload: Any) -> str:
        """What the agent is told."""
        given = {**self._session, **payload}
        said = self.home.run_hook("claude-code", event, given).stdout.decode()
        answer = json.loads(said) if said.strip() else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def start(self) -> str:
        self._session = {"session_id": new_ulid(), "cwd": str(self.project)}
        return self.hook("SessionStart", source="startup")

    def prompt(self, text: str, answer: str = DONE) -> str:
        told = self.hook("UserPromptSubmit", prompt=text)
        self.hook("Stop", last_assistant_message=answer)
        return told

    def ran(self, command: str, output: str = "10 passed") -> None:
        """The agent ran a command that worked."""
        given = {"tool_name": "Bash", "tool_input": {"command": command}}
        done = {"stdout": output, "stderr": "", "interrupted": False}
        self.hook("PostToolUse", **given, tool_response=done, tool_use_id=new_ulid())

    def end(self) -> None:
        self.hook("SessionEnd", reason="exit")
        self.learn()
        self.home.clock.advance(seconds=DAY_AND_A_HALF_S)

    def learn(self) -> None:
        self.home.extract()
        self.home.embed()

    def session(self, *prompts: str) -> str:
        """A whole session; what it was told at its start."""
        told = self.start()
        for text in prompts:
            self.prompt(text)
        self.end()
        return told

    def told_at_start(self) -> str:
        told = self.start()
        self.end()
        return told

    def asked(self, question: str) -> str:
        """What a session is told to its first question."""
        self.start()
        told = self.prompt(question)
        self.end()
        return told

    def tool(self, name: str, **arguments: Any) -> str:
        return tools.call(self.home.runtime, name, arguments, str(self.project))

    @property
    def namespace(self) -> str:
        return self.home.runtime.namespaces.of(str(self.project))

    def beliefs(self, *states: str) -> list[Record]:
        """The beliefs of the project and of its owner, oldest first."""
        records = self.home.runtime.store.records
        found = [
            one
            for namespace in self.home.runtime.store.projects.namespaces()
            for one in records.page(namespace, limit=300).items
            if one.traits.is_belief and (not states or one.state in states)
        ]
        return sorted(found, key=lambda one: (one.valid_from, one.record_id))

    def titles(self, *states: str) -> Sequence[str]:
        return [one.title for one in self.beliefs(*states)]
