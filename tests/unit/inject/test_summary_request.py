"""An agent with our tools is asked, once a session, for a summary before it is compacted."""

import json
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect.capture.foreign import HINT, SUMMARY_REQUEST, strip_foreign, strip_own
from recollect.core.text_words import count_tokens
from recollect.core.values import Receipt
from recollect.server.mcp import CWD_HEADER, PID_HEADER
from tests.fakes.runtime import RuntimeHome

NEARLY = 125_000  # of the 167,000 with which Claude Code compacts a window of 200,000
COMPACTED = {"type": "system", "subtype": "compact_boundary"}
STATED = "From now on we never use default exports here, okay. The tests are written by hand."


def answered(tokens: int, model: str = "opus") -> dict[str, Any]:
    """A line of Claude Code's transcript: an answer, and how large the context was with it."""
    usage = {"input_tokens": 2, "cache_read_input_tokens": tokens - 2, "output_tokens": 9}
    return {"type": "assistant", "message": {"model": model, "usage": usage}}


class Talk:
    """One project with sessions of Claude Code in it, whose agent has our tools."""

    def __init__(self, folder: pathlib.Path, **given: Any) -> None:
        self.home = RuntimeHome(folder / "home", **{"summary_request": True, **given})
        self.folder = folder
        (folder / "shop" / ".git").mkdir(parents=True, exist_ok=True)
        self.project = str(folder / "shop")
        self.ready()

    def ready(self) -> None:
        self.home.runtime.recall().recall_now.limit_ms = 60_000
        self.mcp("tools/list")

    def mcp(self, method: str, **params: Any) -> str:
        """A request of the agent's MCP proxy, which is this very process: it lives."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        heads = {PID_HEADER: str(os.getpid()), CWD_HEADER: self.project}
        return self.home.http("POST", "/mcp", json.dumps(asked).encode(), heads)[2].decode()

    def prompt(self, *lines: dict[str, Any], text: str = "go on", session: str = "s1") -> str:
        """What the hook prints for a prompt after these lines."""
        path = self.folder / f"{session}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        payload = {
            "session_id": session,
            "cwd": self.project,
            "prompt": text,
            "transcript_path": str(path),
        }
        return self.home.run_hook("claude-code", "UserPromptSubmit", payload).stdout.decode()

    def receipts(self) -> list[Receipt]:
        self.home.runtime.recall().receipts.flush()
        namespace = self.home.runtime.namespaces.of(self.project)
        return list(self.home.runtime.store.receipts.page(namespace).items)


@pytest.fixture
def make(tmp_path: pathlib.Path) -> Iterator[Callable[..., Talk]]:
    made: list[Talk] = []

    def one(**given: Any) -> Talk:
        made.append(Talk(tmp_path / str(len(made)), **given))
        return made[-1]

    yield one
    for talk in made:
        talk.home.close()


def test_it_is_asked_once_when_the_context_is_nearly_full(make: Callable[..., Talk]) -> None:
    talk = make()
    assert SUMMARY_REQUEST not in talk.prompt(answered(90_000), text="one")
    asked = talk.prompt(answered(90_000), answered(NEARLY), text="two")
    assert asked.count(SUMMARY_REQUEST) == 1
    assert json.loads(asked)["systemMessage"].startswith("Recollect: a request for a summary")
    (receipt, *_) = talk.receipts()
    assert receipt.detail["summary_request"] == {"tokens": NEARLY, "compacts_at": 167_000}
    assert SUMMARY_REQUEST in receipt.detail["text"]
    assert SUMMARY_REQUEST not in talk.prompt(answered(140_000), text="three")
    after = (answered(160_000), COMPACTED, answered(NEARLY))
    assert SUMMARY_REQUEST not in talk.prompt(*after, text="four")
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY), text="five", session="s2")


def test_after_a_restart_the_receipts_remember(make: Callable[..., Talk]) -> None:
    talk = make()
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY), text="one")
    for number in range(60):  # more receipts than one page
        talk.prompt(answered(20_000), text=f"go on with {number}")
    talk.receipts()
    talk.home.close()
    talk.home = RuntimeHome(talk.folder / "home", summary_request=True)
    talk.ready()
    assert SUMMARY_REQUEST not in talk.prompt(answered(NEARLY), text="two")
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY), text="three", session="s2")


def test_it_is_asked_once_also_when_no_receipt_is_written(
    make: Callable[..., Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = make()
    monkeypatch.setattr(talk.home.runtime.recall().receipts, "keep", lambda made: None)
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY), text="one")
    assert SUMMARY_REQUEST not in talk.prompt(answered(NEARLY), text="two")


def test_nothing_is_asked_unless_it_is_switched_on_and_fits_in_what_a_prompt_may_take(
    make: Callable[..., Talk],
) -> None:
    assert SUMMARY_REQUEST not in make(summary_request=False).prompt(answered(NEARLY))
    assert SUMMARY_REQUEST not in make(prompt_tokens=0).prompt(answered(NEARLY))
    few = make(prompt_tokens=count_tokens(SUMMARY_REQUEST) + 1)
    assert SUMMARY_REQUEST in few.prompt(answered(NEARLY))


def test_a_hint_goes_first_and_both_only_within_the_budget(make: Callable[..., Talk]) -> None:
    both = make().prompt(answered(NEARLY), text=STATED)
    assert both.index(HINT) < both.index(SUMMARY_REQUEST)
    few = make(prompt_tokens=60)
    first = few.prompt(answered(NEARLY), text=STATED)
    assert HINT in first and SUMMARY_REQUEST not in first
    assert SUMMARY_REQUEST in few.prompt(answered(NEARLY), text="fix the lint errors")


def test_nothing_is_asked_of_an_agent_without_our_tools(
    make: Callable[..., Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = make()
    monkeypatch.setattr(talk.home.runtime.mcp_clients, "_proxies", {})
    assert SUMMARY_REQUEST not in talk.prompt(answered(NEARLY))


def test_a_shadow_session_and_a_private_one_are_asked_nothing(make: Callable[..., Talk]) -> None:
    silent = make(shadow=1.0)
    assert SUMMARY_REQUEST not in silent.prompt(answered(NEARLY))
    (receipt,) = silent.receipts()
    assert "summary_request" not in receipt.detail
    private = make()
    private.prompt(text="recollect: private")
    assert SUMMARY_REQUEST not in private.prompt(answered(NEARLY), text="two")
    assert SUMMARY_REQUEST in private.prompt(answered(NEARLY), text="three", session="s2")


def test_a_hook_that_fires_twice_is_asked_once(make: Callable[..., Talk]) -> None:
    talk = make()
    first, again = talk.prompt(answered(NEARLY)), talk.prompt(answered(NEARLY))
    assert SUMMARY_REQUEST in first and SUMMARY_REQUEST not in again


def test_what_was_too_late_is_asked_with_the_next_prompt(
    make: Callable[..., Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = make()
    recall = talk.home.runtime.recall().recall_now
    monkeypatch.setattr(recall, "limit_ms", 0)
    assert SUMMARY_REQUEST not in talk.prompt(answered(NEARLY), text="one")
    monkeypatch.setattr(recall, "limit_ms", 60_000)
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY), text="two")


def test_a_model_that_was_seen_with_more_has_a_larger_window(make: Callable[..., Talk]) -> None:
    talk = make()
    assert SUMMARY_REQUEST not in talk.prompt(answered(300_000, "new"), text="one")
    assert SUMMARY_REQUEST not in talk.prompt(answered(NEARLY, "new"), text="two", session="s2")
    assert SUMMARY_REQUEST in talk.prompt(answered(700_000, "new"), text="three", session="s3")
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY, "old"), text="four", session="s4")


def test_a_transcript_that_is_not_there_or_says_nothing_is_no_reason_to_ask(
    make: Callable[..., Talk],
) -> None:
    talk = make()
    assert SUMMARY_REQUEST not in talk.prompt(text="one")
    payload = {"session_id": "s1", "cwd": talk.project, "prompt": "two"}
    for path in ("/nowhere/at/all.jsonl", talk.project, "relative.jsonl"):
        given = {**payload, "transcript_path": path, "prompt": f"look at {path}"}
        reply = talk.home.run_hook("claude-code", "UserPromptSubmit", given)
        assert SUMMARY_REQUEST not in reply.stdout.decode()


def test_the_agent_that_follows_it_stores_a_summary_of_the_project(
    make: Callable[..., Talk],
) -> None:
    talk = make()
    assert SUMMARY_REQUEST in talk.prompt(answered(NEARLY))
    told = {"request": "Make the lantern green", "learned": ["Moss paint does not stick to tin"]}
    assert "Stored" in talk.mcp("tools/call", name="store_summary", arguments=told)
    namespace = talk.home.runtime.namespaces.of(talk.project)
    (stored,) = talk.home.runtime.store.records.page(namespace).items
    assert stored.kind == "summary" and stored.author == "assistant"
    assert stored.facts == ("Moss paint does not stick to tin",)


def test_the_line_is_short_and_dropped_at_capture(make: Callable[..., Talk]) -> None:
    assert count_tokens(SUMMARY_REQUEST) <= 45
    for strip in (strip_foreign, strip_own):
        assert strip(f"fix the bug\n{SUMMARY_REQUEST}").strip() == "fix the bug"
    assert strip_foreign("what does store_summary do?") == "what does store_summary do?"
    talk = make()
    talk.prompt(text=f"fix the bug\n{SUMMARY_REQUEST}")
    namespace = talk.home.runtime.namespaces.of(talk.project)
    (stored,) = talk.home.runtime.store.events.page(namespace).items
    assert stored.event.body.content.strip() == "fix the bug"  # type: ignore[union-attr]
