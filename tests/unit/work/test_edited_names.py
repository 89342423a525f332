"""Names in the text of edits."""

from typing import Any

import pytest

from recollect.core.values import TurnWork
from recollect.work.index import MOST_EDITED as MOST_HELD
from recollect.work.lost_names import LostNames
from recollect.work.turn_work import MOST_EDITED, work_of
from tests.unit.work.test_renames import ROOT, call, edit, project, turn


def edited_by(tool: str, given: Any, *, failed: bool = False) -> dict[str, tuple[str, ...]]:
    made = work_of([call(tool, given, failed=failed)])
    assert made is not None
    return made.edited


def edit_of(path: str, old: str, new: str) -> dict[str, str]:
    return {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}


PATCH = (
    "*** Begin Patch\n*** Update File: src/a.py\n@@\n-old_limit = 1\n+retryLimit = 2\n*** End Patch"
)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", edit_of("src/a.py", "old_limit = 1", "retryLimit = 2")),
        ("MultiEdit", {"file_path": f"{ROOT}/src/a.py", "edits": [
            {"old_string": "old_limit = 1", "new_string": ""},
            {"old_string": "x", "new_string": "retryLimit = old_limit"}]}),
        ("Write", {"file_path": f"{ROOT}/src/a.py", "content": "old_limit = 1\nretryLimit = 2\n"}),
        ("apply_patch", {"input": PATCH}),
    ],
)  # fmt: skip
def test_what_was_removed_and_inserted_is_read_for_names(tool: str, given: Any) -> None:
    assert edited_by(tool, given) == {"src/a.py": ("old_limit", "retryLimit")}


def test_words_ids_and_long_names_are_none() -> None:
    text = f"return value or render(call()) aB1 token9f8A7bC6 {'veryLongName' * 3}"
    assert edited_by("Edit", edit_of("src/a.py", "", f"{text} capRetries")) == {
        "src/a.py": ("capRetries",)
    }


def test_an_edit_that_failed_and_a_read_edited_nothing() -> None:
    given = edit_of("src/a.py", "old_limit", "retryLimit")
    assert edited_by("Edit", given, failed=True) == {}
    assert edited_by("Read", {"file_path": f"{ROOT}/src/a.py"}) == {}


def test_a_turn_keeps_the_first_names_of_all_its_files() -> None:
    many = " ".join(f"some_name{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MOST_EDITED))
    made = work_of([
        call("Edit", edit_of("src/a.py", "", "capRetries")),
        call("Edit", edit_of("src/b.py", "capRetries", many)),
    ])  # fmt: skip
    assert made is not None
    assert made.edited["src/a.py"] == made.edited["src/b.py"][:1] == ("capRetries",)
    assert sum(map(len, made.edited.values())) == MOST_EDITED


def names_of(*turns: TurnWork) -> dict[str, list[str]]:
    work = project(*turns)
    return {work.path[number]: list(names) for number, names in work.edited.items()}


def test_a_renamed_file_keeps_its_names_and_one_in_whose_place_it_comes_has_both() -> None:
    first = turn(1, edit("a.py"), edited={"a.py": ("capRetries", "old_limit")})
    assert names_of(first, turn(2, edit("b.py", was="a.py"))) == {
        "b.py": ["capRetries", "old_limit"]
    }
    other = turn(2, edit("b.py"), edited={"b.py": ("retryLimit", "old_limit")})
    assert names_of(first, other, turn(3, edit("b.py", was="a.py"))) == {
        "b.py": ["capRetries", "retryLimit", "old_limit"]
    }


def test_of_a_file_the_names_that_were_edited_last_are_kept() -> None:
    many = [f"some_name{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MOST_HELD)]
    turns = [
        turn(n, edited={"a.py": (f"{name}_old", name)}) for n, name in enumerate(many, start=1)
    ]
    kept = names_of(*turns, turn(999, edited={"a.py": (f"{many[-100]}_old",)}))["a.py"]
    assert len(kept) == MOST_HELD and kept[-1] == f"{many[-100]}_old" and many[0] not in kept
    assert many[-99] in kept and f"{many[-99]}_old" in kept


def test_how_a_name_came_up() -> None:
    work = project(
        turn(1, edit("a.py"), branch="fix", edited={"a.py": ("capRetries",)}),
        turn(2, edit("a.py"), branch="other", defines=(("capRetries", "a.py"),)),
        turn(3, edit("a.py"), edited={"b.py": ("drawChart",)}),
    )
    cap = work.names["capRetries"]
    first = turn(1).at.timestamp()
    assert (cap.sessions, cap.last_at, cap.branch) == (2, first, "fix"), "edited once, seen twice"
    assert work.names["drawChart"].sessions == 1


def test_a_brief_that_names_what_only_erased_edits_held_is_known() -> None:
    gone = turn(1, edited={"src/zeppelin.py": ("capRetries", "drawChart")})
    lost = LostNames([gone], [turn(2, edited={"src/a.py": ("drawChart",)})])
    assert lost.named_in("Likely files: a.py (capRetries)")
    assert lost.named_in("see zeppelin.py")
    assert not lost.named_in("Likely files: a.py (drawChart)")
