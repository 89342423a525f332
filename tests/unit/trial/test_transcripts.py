"""Transcripts become sessions of projects."""

import gzip
import json
import os
import pathlib
import shutil

import pytest

from recollect.core.values import Event
from recollect.hosts import registry
from recollect.trial import transcripts
from recollect.trial.transcripts import PastSession, prompt_text
from tests.conftest import REPOSITORY

RECORDED = os.path.join(REPOSITORY, "tests", "data", "trial")
MANY = 1000


def read(folder: str, unpack: pathlib.Path, newest: int = MANY) -> list[PastSession]:
    found, _ = transcripts.in_folder(folder, str(unpack), newest)
    return transcripts.read(found)


def row(kind: str, content: object, at: str, cwd: str = "/Users/ana/app", **more: object) -> str:
    uuid = more.pop("uuid", f"{kind} {at} {cwd}")
    said = {"role": kind, "content": content}
    told = {"type": kind, "message": said, "timestamp": f"{at}.000Z", "cwd": cwd, "uuid": uuid}
    return json.dumps({**told, **more})


def write(path: pathlib.Path, *rows: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")


def test_turns_are_numbered_without_meta_sidechain_command_and_repeated_rows(
    tmp_path: pathlib.Path,
) -> None:
    """As `replay_bench.load` numbers them; session 4 was resumed from 3 and repeats its rows."""
    sessions = read(RECORDED, tmp_path)
    assert [(one.name[:13], len(one.turns)) for one in sessions] == [
        ("a1c0ffee-0001", 2),
        ("b0b0b0b0-0002", 1),
        ("a1c0ffee-0003", 2),
        ("a1c0ffee-0004", 1),
        ("b0b0b0b0-0005", 2),
        ("a1c0ffee-0006", 1),
    ]
    assert prompt_text(sessions[1].turns[0]) == "The export to CSV still shows three decimals"
    assert prompt_text(sessions[3].turns[0]) == "And JPY, which has no decimals"
    assert all(turn[0].kind == "prompt" for one in sessions for turn in one.turns)


def test_packed_transcripts_are_the_same_sessions(tmp_path: pathlib.Path) -> None:
    packed = tmp_path / "trial"
    packed.mkdir()
    for path in pathlib.Path(RECORDED).iterdir():
        with gzip.open(packed / (path.name + ".gz"), "wb") as file:
            file.write(path.read_bytes())
    assert read(str(packed), tmp_path / "unpacked") == read(RECORDED, tmp_path)


def test_what_follows_a_damage_of_a_packed_transcript_is_missing(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "sessions"
    times = [f"2026-03-01T{hour:02}:{minute:02}:00" for hour in range(24) for minute in range(60)]
    rows = [row("user", f"question {at}", at) for at in times]
    write(folder / "one.jsonl.gz")
    (folder / "one.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode())[:-1000])
    (folder / "two.jsonl.gz").write_bytes(b"no archive at all")
    (folder / "three.jsonl").write_text("no JSON\n")
    (session,) = read(str(folder), tmp_path)
    assert session.name == "one.jsonl" and 0 < len(session.turns) < len(rows)


def sources(host: list[Event]) -> set[tuple[str, str]]:
    return {(one.source.project_path or "", one.source.root) for one in host}


def test_a_folder_is_one_project_and_work_trees_are_cut_off(tmp_path: pathlib.Path) -> None:
    sessions = read(RECORDED, tmp_path)
    assert {one.project.namespace for one in sessions} == {sessions[0].project.namespace}
    assert sources([event for one in sessions for event in one.events]) == {
        ("/Users/ana/src/ledger", "/Users/ana/src/ledger"),
        ("/Users/bo/ledger", "/Users/bo/ledger"),
        ("/Users/bo/ledger/.worktrees/rounding", "/Users/bo/ledger"),
    }


def test_a_folder_can_be_split_by_the_names_of_roots(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "sessions"
    for number, cwd in enumerate(["/Users/ana/app", "/home/bo/app/web", "/home/bo/app", "/x/docs"]):
        said = row("user", f"question {number}", f"2026-03-0{number + 1}T09:00:00", cwd)
        write(folder / f"{number}.jsonl", said)
    found, _ = transcripts.in_folder(str(folder), str(tmp_path), MANY, split=True)
    names = [os.path.basename(one.project.key) for one in transcripts.read(found)]
    assert names == ["app", "app", "app", "docs"]


def test_the_newest_sessions_are_taken_and_the_others_counted(tmp_path: pathlib.Path) -> None:
    found, left_out = transcripts.in_folder(RECORDED, str(tmp_path), 2)
    assert [one.name[:13] for one in transcripts.read(found)] == ["b0b0b0b0-0005", "a1c0ffee-0006"]
    assert left_out == 4


def test_history_is_remembered_but_not_asked_about(tmp_path: pathlib.Path) -> None:
    history, asked = tmp_path / "history", tmp_path / "asked"
    history.mkdir()
    asked.mkdir()
    for path in sorted(pathlib.Path(RECORDED).iterdir()):
        shutil.copy(path, asked if "0004" in path.name or "0006" in path.name else history)
    found, _ = transcripts.in_folder(str(asked), str(tmp_path), MANY, history=str(history))
    sessions = transcripts.read(found)
    assert [one.name[9:13] for one in sessions if not one.history_only] == ["0004", "0006"]
    assert len(sessions) == 6 and len({one.project.key for one in sessions}) == 1
    resumed = next(one for one in sessions if "0004" in one.name)
    assert len(resumed.turns) == 1, "what the history holds already is no turn of a resumed session"


def test_sessions_of_agents_are_found_project_by_project(tmp_path: pathlib.Path) -> None:
    home, there = tmp_path / "home", tmp_path / "home" / "code" / "here"
    (there / "sub").mkdir(parents=True)
    (there / "Makefile").touch()
    for number, cwd in enumerate([str(there), str(there / "sub"), "/gone/away", "/gone/away/sub"]):
        said = row("user", f"question {number}", f"2026-03-0{number + 1}T09:00:00", cwd)
        write(home / ".claude" / "projects" / "p" / f"{number}.jsonl", said)
    found, left_out = transcripts.of_agents(registry.readers(), str(home), {}, MANY)
    names = [os.path.basename(one.project.key) for one in transcripts.read(found)]
    assert (names, left_out) == (["here", "here", "away", "away"], 0)


def test_what_is_kept_out_of_memory_is_kept_out(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "sessions"
    write(folder / "1.jsonl", row("user", "about pay", "2026-03-01T09:00:00", "/Users/ana/pay"))
    write(
        folder / "2.jsonl",
        row("user", "open question", "2026-03-02T09:00:00"),
        row("user", "recollect: private\nmy salary", "2026-03-02T09:01:00"),
        row("user", "and more of it", "2026-03-02T09:02:00"),
    )
    found, _ = transcripts.in_folder(str(folder), str(tmp_path), MANY)
    sessions = transcripts.read(found, ("project:/Users/ana/pay",))
    assert [[prompt_text(turn) for turn in one.turns] for one in sessions] == [["open question"]]


@pytest.mark.parametrize("name", ["events.jsonl", "same.jsonl"])
def test_sessions_whose_files_have_the_same_name_stay_apart(
    name: str, tmp_path: pathlib.Path
) -> None:
    for day in (1, 2):
        said = row("user", f"question {day}", f"2026-03-0{day}T09:00:00", sessionId=f"s{day}")
        write(tmp_path / "sessions" / str(day) / name, said)
    assert [one.name for one in read(str(tmp_path / "sessions"), tmp_path)] == ["s1", "s2"]
