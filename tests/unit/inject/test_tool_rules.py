"""What a hook answers after a command: the rules about it, once a session, and else nothing."""

import json
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from recollect.capture import frames
from recollect.capture.frames import Frame
from recollect.core.clock import ManualClock
from recollect.core.ids import new_ulid
from recollect.core.settings import Settings
from recollect.core.values import Preference, Procedure, Receipt, Record
from recollect.daemon.runtime import Runtime
from recollect.inject import render
from recollect.store.sqlite import SqliteStore
from tests.fakes.stored import put_graph
from tests.make import record


class Desk:
    """A daemon's parts, a project, and hooks that report commands in it."""

    def __init__(
        self, store: SqliteStore, clock: ManualClock, settings: Settings, directory: str
    ) -> None:
        self.store, self.directory = store, directory
        subprocess.run(["git", "init", "-q", directory], check=True)
        self.runtime = Runtime(replace(settings, embedding=False), clock, store)
        self.parts = self.runtime.load_recall()
        self.parts.recall_now.limit_ms = 5000
        self.namespace = self.runtime.namespaces.of(directory)

    def hook(self, event: str, host: str = "claude-code", **payload: Any) -> bytes:
        stdin = {"session_id": "s", "cwd": self.directory, "hook_event_name": event, **payload}
        one = Frame(
            ulid=new_ulid(), boot_id="boot", mono_ns=1, wall_ns=10**18,
            argv=(host.encode(), event.encode()), cwd=b"/", stdin=json.dumps(stdin).encode(),
        )  # fmt: skip
        reply = self.runtime.pipeline.frame(one, frames.digest(frames.encode_payload(one)))
        assert reply.status == frames.STORED
        return reply.stdout

    def run(self, command: str, event: str = "PostToolUse", **payload: Any) -> str:
        """What the agent is told after a command; empty when the hook prints nothing."""
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}}
        printed = self.hook(event, **{**call, "tool_use_id": new_ulid(), **payload})
        if not printed:
            return ""
        answer = json.loads(printed)
        answer.pop("systemMessage", None)  # the line for the user
        (name,) = answer
        assert name == "hookSpecificOutput"
        assert set(answer[name]) == {"hookEventName", "additionalContext"}, "nothing is decided"
        assert answer[name]["hookEventName"] == event
        return render.parse(answer[name]["additionalContext"]) or ""

    def receipts(self) -> list[Receipt]:
        self.parts.receipts.flush()
        return list(self.store.receipts.page(self.namespace).items)

    def prefer(self, value: str, key: str = "package_manager") -> Preference:
        one = Preference(
            preference_id=f"p-{key}", namespace=self.namespace, category="tools", key=key,
            value=value,
        )  # fmt: skip
        put_graph(self.store, one)
        return one

    def believe(self, title: str, **fields: Any) -> Record:
        one = record(
            title, kind="knowledge", knowledge_type="constraint", namespace=self.namespace, **fields
        )
        return self.runtime.memories.add([one])[0]


@pytest.fixture
def desk(store: SqliteStore, clock: ManualClock, settings: Settings, tmp_path: Any) -> Any:
    made = Desk(store, clock, settings, str(tmp_path))
    yield made
    made.parts.close()


def test_a_command_brings_the_rule_about_it_once_a_session(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    assert "Use uv, not pip" in desk.run("cd api && pip install requests")
    assert desk.run("pip install httpx") == "", "told already"
    assert "Use uv" in desk.run("pip install httpx", session_id="another")
    (_, told) = desk.receipts()
    assert told.trigger == "tool" and told.query == "cd api && pip install requests"
    assert told.detail["rules"] == {"p-package_manager": "the command runs pip"}
    assert [one["injected"] for one in told.detail["known"]] == [True]


def test_what_a_prompt_or_a_start_told_is_not_told_again(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    assert b"Use uv" in desk.hook("SessionStart", source="startup")
    assert desk.run("pip install requests") == ""
    desk.hook("PreCompact", trigger="auto")
    assert "Use uv" in desk.run("pip install requests"), "the context is gone"


def test_a_command_that_no_rule_is_about_costs_no_receipt(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    for command in ("ls", "pytest -q", "uv add httpx", "grep pip README.md"):
        assert desk.run(command) == ""
    assert desk.receipts() == []


def test_beliefs_and_procedures_come_too_and_follow_every_change(desk: Desk) -> None:
    assert desk.run("terraform apply") == ""
    rule = desk.believe("Never run terraform apply")
    put_graph(
        desk.store,
        Procedure(
            procedure_id="deploy", namespace=desk.namespace, name="Deploy: make build … fly deploy",
            trigger="asked to deploy", steps=("make build", "fly deploy", "scripts/smoke.sh"),
        )
    )  # fmt: skip
    assert "Never run terraform apply" in desk.run("terraform apply")
    assert "scripts/smoke.sh" in desk.run("fly deploy")
    desk.runtime.memories.delete(desk.namespace, [rule.record_id], "ada")
    assert desk.run("terraform apply", session_id="another") == ""


def test_a_failed_command_brings_its_rule_too(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    told = desk.run("pip install requests", "PostToolUseFailure", error="no such command")
    assert "Use uv, not pip" in told


def test_a_rule_that_may_not_be_told_is_not(desk: Desk) -> None:
    rule = desk.believe("Never run terraform apply")
    desk.parts.feedback.give(desk.namespace, rule.record_id, "never", "ada")
    assert desk.run("terraform apply") == ""
    assert desk.receipts() == []


def test_private_sessions_and_projects_that_are_off_hear_nothing(desk: Desk, tmp_path: Any) -> None:
    desk.prefer("Use uv, not pip")
    desk.hook("UserPromptSubmit", prompt="recollect: private")
    assert desk.run("pip install requests") == ""
    (tmp_path / ".recollect.toml").write_text("capture = false\n")
    assert desk.run("pip install requests", session_id="another") == ""
    assert desk.receipts() == []


def test_a_tool_that_is_kept_out_brings_nothing(desk: Desk, settings: Settings) -> None:
    desk.prefer("Use uv, not pip")
    with open(settings.path("settings.toml"), "w") as file:
        file.write('ignore = ["tool:Bash"]\n')
    assert desk.run("pip install requests") == ""
    assert desk.receipts() == []


def test_only_what_ran_a_command_is_answered(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    edited = {"file_path": "x.py", "old_string": "a", "new_string": "pip install requests"}
    assert desk.run("", tool_name="Edit", tool_input=edited) == ""
    assert desk.hook("PreToolUse", tool_name="Bash", tool_input={"command": "pip list"}) == b""


def test_a_host_that_was_not_seen_to_take_it_is_answered_nothing(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    call = {"tool_name": "Bash", "tool_input": {"command": "pip install x"}, "tool_response": {}}
    assert desk.hook("PostToolUse", "factory-droid", **call) == b""


def test_a_secret_of_a_command_is_in_no_receipt(desk: Desk) -> None:
    desk.prefer("Use uv, not pip")
    secret = "ghp_" + "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6"
    assert desk.run(f"pip install git+https://{secret}@github.com/o/r")
    (receipt,) = desk.receipts()
    assert secret not in receipt.query and "pip install" in receipt.query
