"""What an agent can do to a user's memory by its tools, after real prompts through the hooks."""

import json
import pathlib
from typing import Any

import pytest

from recollect.core.errors import BadInput, NotFound, RecollectError
from recollect.core.values import Record
from recollect.service import tools
from recollect.service.record_ids import resolve
from tests.fakes.runtime import RuntimeHome


class Desk:
    """A user who types prompts in one project, and the agent there that calls our tools."""

    def __init__(self, home: RuntimeHome, place: pathlib.Path) -> None:
        self.home = home
        self.place = str(place)
        self._sessions = 0
        self._running = False

    def hook(self, event: str, **more: Any) -> str:
        said = {"session_id": f"s{self._sessions}", "cwd": self.place, **more}
        reply = self.home.run_hook("claude-code", event, said)
        answer = json.loads(reply.stdout) if reply.stdout.strip() else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def starts(self) -> str:
        """A new session; what its agent is told."""
        self._sessions += 1
        self._running = True
        return self.hook("SessionStart", source="startup")

    def says(self, prompt: str) -> None:
        if not self._running:
            self.starts()
        self.hook("UserPromptSubmit", prompt=prompt)

    def ends(self) -> None:
        self.hook("Stop", last_assistant_message="Done.")
        self.hook("SessionEnd", reason="exit")
        self._running = False
        self.home.extract()
        self.home.embed()
        self.home.clock.advance(hours=20)

    def lived(self, *prompts: str) -> None:
        """A whole session with these prompts."""
        for prompt in prompts:
            self.says(prompt)
            self.hook("Stop", last_assistant_message="Done.")
        self.ends()

    def tool(self, name: str, **arguments: Any) -> str:
        """What the agent is told."""
        return tools.call(self.home.runtime, name, arguments, self.place)

    def refused(self, name: str, **arguments: Any) -> RecollectError:
        with pytest.raises(RecollectError) as refusal:
            self.tool(name, **arguments)
        return refusal.value

    def memories(self, words: str = "") -> list[Record]:
        store = self.home.runtime.store
        found = [
            one
            for namespace in store.projects.namespaces()
            for one in store.records.page(namespace, limit=300).items
        ]
        return [one for one in found if words.lower() in one.title.lower()]

    def belief(self, words: str) -> Record:
        (found,) = [one for one in self.memories(words) if one.traits.is_belief]
        return found


@pytest.fixture
def desk(runtime_home: RuntimeHome, tmp_path: pathlib.Path) -> Desk:
    place = tmp_path / "shop"
    place.mkdir()
    (place / "Makefile").touch()
    return Desk(runtime_home, place)


# --- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["_____", "%____", "%NPEJ3", "mr_%%%%%", "[_____]", "?????"])
def test_an_id_is_no_pattern(desk: Desk, name: str) -> None:
    told = desk.tool("remember", text="Ids are ULIDs in the shop service")
    for action in ("end", "forget"):
        assert isinstance(desk.refused("correct", id=name, action=action), BadInput)
    assert isinstance(desk.refused("timeline", anchor=name), BadInput)
    assert isinstance(desk.refused("get_observations", ids=[name]), BadInput)
    assert desk.belief("ULIDs").state == "current" and desk.belief("ULIDs").record_id in told
    records = desk.home.runtime.store.records
    assert not records.ending(desk.belief("ULIDs").namespace, name)


def test_what_is_no_id_is_not_looked_up(desk: Desk) -> None:
    desk.tool("remember", text="Ids are ULIDs in the shop service")
    with pytest.raises(NotFound, match="no id"):
        resolve(desk.home.runtime, "_____")
