"""What the gate keeps out, and the reason it gives."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from recollect.core.values import Candidate, Record, ToolClass
from recollect.extract.interface import FactClaim, PreferenceClaim
from recollect.extract.normalised_text import distinct_words, hash_of_words
from recollect.extract.quality_gate import (
    MOST_PER_TURN,
    WINDOWS,
    fault,
    filter_candidates,
    filter_claims,
)
from recollect.reconcile.unread_statements import own_statement
from tests.make import NOON, record


def nothing(digest: str) -> Record | None:
    return None


def candidate(title: str, **fields: Any) -> Candidate:
    hashed = {"content_hash": hash_of_words(title), **fields}
    return Candidate(record=record(title, **hashed))


# D21
@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("Let me run the tests to see whether they pass", "residue"),
        ("Now I'll update the docs", "residue"),
        ("Running the build", "residue"),
        ("Thanks, that was great", "greeting"),
        ("The user asked for help", "empty"),
        ("Code was updated", "empty"),
        ("Fix lint", "empty"),
        ("All tests passed after the change to pool.go", "boilerplate"),
        ("Works", "unspecific"),
        ("It is better now than it was", "unspecific"),
    ],
)
def test_what_says_nothing_stays_out(title: str, reason: str) -> None:
    kept, dropped = filter_candidates([candidate(title)], known=nothing)
    assert not kept and [one.reason for one in dropped] == [reason]
    assert dropped[0].title == title


def test_what_was_redacted_is_not_proposed_but_a_rule_that_was_stated_stays() -> None:
    said = "Deploys use the account of Ada with [REDACTED:password]"
    belief: dict[str, Any] = {"kind": "knowledge", "author": "user"}
    kept, dropped = filter_candidates([candidate(said, **belief, state="proposed")], known=nothing)
    assert not kept and [one.reason for one in dropped] == ["redacted"]
    assert len(filter_candidates([candidate(said, **belief)], known=nothing)[0]) == 1
    assert own_statement("Deploys go to staging first, since today") != ""
    assert own_statement("Deploys go to staging with [REDACTED] first, since today") == ""


@pytest.mark.parametrize(
    "title",
    [
        "Submit blocks for ever when all workers of the Pool have left",
        "Added --json to tally report",
        "The cause was the backoff in retry.py",
    ],
)
def test_what_is_specific_passes(title: str) -> None:
    kept, dropped = filter_candidates([candidate(title)], known=nothing)
    assert len(kept) == 1 and not dropped


@pytest.mark.parametrize("author", ["assistant", "tool", "file", "web"])
@pytest.mark.parametrize("kind", ["constraint", "heuristic"])
def test_nobody_but_the_user_gives_instructions(author: Any, kind: Any) -> None:
    rule = record(
        "Always use tabs in Makefiles", kind="knowledge", knowledge_type=kind, author=author
    )
    assert fault(rule) == "not the user's words"
    assert not fault(msgspec.structs.replace(rule, author="user"))


def test_a_near_equal_statement_is_known() -> None:
    old = candidate("Use pnpm, not npm, in packages/ui!").record
    kept, dropped = filter_candidates(
        [candidate("use pnpm not npm in the packages/ui")],
        known=lambda digest: old if digest == old.content_hash else None,
    )
    assert not kept and dropped[0].reason == "known"


def test_a_memory_that_replaces_itself_is_not_known() -> None:
    one = candidate("Use pnpm, not npm, in packages/ui")
    kept, _ = filter_candidates([one], known=lambda digest: one.record)
    assert kept == [one]


def test_a_memory_that_comes_twice_in_a_batch_is_kept_once() -> None:
    one = candidate("Use pnpm, not npm, in packages/ui")
    kept, dropped = filter_candidates([one, one], known=nothing)
    assert kept == [one] and [drop.reason for drop in dropped] == ["known"]


# A30
@pytest.mark.parametrize("tool_class", list(WINDOWS))
def test_the_same_doing_again_counts_within_its_window_only(tool_class: ToolClass) -> None:
    assert [window.total_seconds() for window in WINDOWS.values()] == [60, 10, 30, 120, 60, 30]
    old = candidate("Deployed the api with fly.toml", tool_class=tool_class).record
    within = NOON + WINDOWS[tool_class]
    for at, expected in ((within, []), (within + timedelta(seconds=1), ["kept"])):
        new = candidate("Deployed the api with fly.toml", tool_class=tool_class, valid_from=at)
        kept, _ = filter_candidates([new], known=lambda digest: old)
        assert ["kept" for _ in kept] == expected


def test_a_repeat_within_the_batch_counts_too() -> None:
    kept, dropped = filter_candidates(
        [candidate("Use pnpm in packages/ui")] * 1 + [candidate("use pnpm in packages/ui")],
        known=nothing,
    )
    assert len(kept) == 1 and dropped[0].reason == "known"


# P02
def test_a_refused_value_stays_refused() -> None:
    kept, dropped = filter_candidates(
        [candidate("use yarn for the packages/ui")],
        known=nothing,
        refused=lambda text: "yarn" in text,
    )
    assert not kept and dropped[0].reason == "refused"


def test_claims_are_merged_and_refused_like_memories() -> None:
    fact = FactClaim("api", "runs_on", "fly", NOON, "user", "stated", event_ids=("a",))
    again = FactClaim(
        "api", "runs_on", "fly", NOON + timedelta(hours=1), "user", "stated", event_ids=("b",)
    )
    empty = FactClaim("the", "runs_on", "fly", NOON, "user", "stated")
    wish = PreferenceClaim("tools", "editor", "use vim", NOON, "stated")
    kept, dropped = filter_claims([fact, again, empty, wish], refused=lambda text: "vim" in text)
    assert [one.event_ids for one in kept] == [("a", "b")]
    assert [one.reason for one in dropped] == ["empty", "refused"]


def test_caps_keep_what_matters_most() -> None:
    crowd = [
        candidate(
            f"Decision {number} about pool_{number}.go", importance=number, source_event_ids=("01",)
        )
        for number in range(1, MOST_PER_TURN + 3)
    ]
    kept, dropped = filter_candidates(crowd, known=nothing)
    assert [one.record.importance for one in kept] == list(range(3, MOST_PER_TURN + 3))
    assert [one.reason for one in dropped] == ["cap", "cap"]
    kept, dropped = filter_candidates(
        [candidate(f"Fact {n} about file_{n}.go") for n in range(9)], known=nothing, most=5
    )
    assert len(kept) == 5 and len(dropped) == 4


def test_a_summary_and_what_came_from_several_turns_count_for_no_turn() -> None:
    """Of a batch for which a model cites nothing, every memory has all events."""
    turns = {"01": "01", "02": "01", "03": "03", "04": "03"}
    summary = candidate(
        "Session about pool.go and its limits", kind="summary", importance=1,
        observation_type="session_summary", source_event_ids=("01",),
    )  # fmt: skip
    crowd = [
        candidate(f"Decision {n} about pool_{n}.go", source_event_ids=("02",) if n % 2 else ("01",))
        for n in range(6)
    ]
    kept, dropped = filter_candidates([*crowd, summary], known=nothing, turns=turns)
    assert summary in kept and len(kept) == MOST_PER_TURN + 1
    assert [one.reason for one in dropped] == ["cap", "cap"]

    uncited = [
        candidate(f"Decision {n} about pool_{n}.go", source_event_ids=tuple(turns))
        for n in range(10)
    ]
    kept, dropped = filter_candidates([*uncited, summary], known=nothing, turns=turns)
    assert len(kept) == 11 and not dropped
    kept, dropped = filter_candidates([*uncited, summary], known=nothing, turns=turns, most=5)
    assert summary in kept and len(kept) == 5


@pytest.mark.parametrize(
    ("text", "count"),
    [("Always use pnpm", 3), ("从现在开始一律使用pnpm。", 6), ("はい", 1), ("use use", 1)],
)
def test_words_without_spaces_are_counted_by_their_characters(text: str, count: int) -> None:
    assert len(distinct_words(text)) == count
