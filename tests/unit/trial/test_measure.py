"""What was said at a prompt is marked by what the session then did."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.core.values import Event, EventSource, JsonBody, TextBody
from recollect.hosts.adapter import tool_draft
from recollect.portable.transcript_import import derived_id
from recollect.trial import measure
from recollect.trial.measure import Case, Marker, commands_in, files_named
from recollect.trial.transcripts import ACTOR, PastSession, ProjectRoot

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
PROJECT = ProjectRoot("app", "/Users/ana/app")
Call = tuple[str, dict[str, Any]]


def edit(path: str) -> Call:
    return "Edit", {"file_path": f"/Users/ana/app/{path}", "old_string": "a", "new_string": "b"}


def run(command: str) -> Call:
    return "Bash", {"command": command}


def session(
    name: str, *turns: tuple[str, list[Call]], day: int = 0, days: float = 0.1, **more: Any
) -> PastSession:
    at = START + timedelta(days=day)
    source = EventSource(surface="claude-code", project_path=PROJECT.root, root=PROJECT.root)

    def event(kind: Any, body: Any, turn: int, key: str) -> Event:
        then = at + timedelta(minutes=turn)
        return Event(
            event_id=derived_id(then, name, key), session_id=name, actor_id=ACTOR,
            namespace=PROJECT.namespace, kind=kind, body=body, valid_time=then, source=source,
        )  # fmt: skip

    made = []
    for number, (prompt, calls) in enumerate(turns):
        events = [event("prompt", TextBody(content=prompt), number, "prompt")]
        for call, (tool, given) in enumerate(calls):
            body = JsonBody(data=tool_draft(tool, given, "ok").body.data)  # type: ignore[union-attr]
            events.append(event("tool_use", body, number, str(call)))
        made.append(tuple(events))
    return PastSession(name, PROJECT, tuple(made), at + timedelta(days=days), **more)


EARLIER = session(
    "earlier",
    ("start", [edit("src/money.py"), edit("src/invoice.py"), edit("lib/money.py")]),
    ("go on", [run("make test && make lint"), run("cat docs/notes.md")]),
)


def cases(*sessions: PastSession) -> list[Case]:
    return list(measure.cases(sessions, 3))


def only(*sessions: PastSession) -> Case:
    (case,) = cases(*sessions)
    return case


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("see src/a.py, b_test.go: and c.md.", ["src/a.py", "b_test.go", "c.md"]),
        ("/etc/x.conf ../up.ts `Makefile` .gitignore", ["etc/x.conf", "../up.ts", "Makefile",
                                                        ".gitignore"]),
        ("https://x.org/a.html ana@x.org fmt.Println v1.2 e.g. this", []),
        ("a.log.1 b.go-old x@y/z.py pkg@2/c.js d@e.py", ["a.log", "b.go", "x@y/z.py", "pkg@2/c.js",
                                                      "e.py"]),
    ],
)  # fmt: skip
def test_names_of_files_are_found_in_text(text: str, files: list[str]) -> None:
    assert list(files_named(text)) == files


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("cd /Users/ana/app && make test 2>&1 | tail -5", ["make test"]),
        ("CI=1 go test ./... -run X > out.txt; go run .", ["go test ./... -run X"]),
        ("timeout 60 uv run pytest; pytest  -q &", ["pytest -q"]),
        ("cat <<'EOF' > x\nmake wrong\nEOF\nnpm test || npm install", ["npm test"]),
        ("ruff check /Users/ana/app/src", ["ruff check src"]),
        ("git commit -m 'x' && python3 -m pytest tests", ["python3 -m pytest tests"]),
        ("make " + "x" * 200, []),
    ],
)
def test_commands_are_found_in_their_normal_form(line: str, commands: list[str]) -> None:
    assert commands_in(line, "/Users/ana/app") == commands


def test_a_prompt_needs_known_files_that_are_neither_named_nor_touched_yet() -> None:
    later = session(
        "later",
        ("fix Invoice.py please", [edit("src/invoice.py"), edit("src/money.py"), edit("new.py")]),
        ("more", [edit("src/money.py"), run("cat docs/notes.md; make test")]),
        day=1,
    )
    first, second = cases(EARLIER, later)
    assert first.need == {"money.py", "notes.md"}
    assert second.need == {"notes.md"} and second.before == {"invoice.py", "money.py", "new.py"}
    assert first.run == second.run == {"make test"}
    assert first.known_commands == {"make test", "make lint"}


def test_only_sessions_that_had_ended_are_known() -> None:
    long = session("long", ("start", [edit("src/money.py")]), days=3)
    later = session("later", ("fix it", [edit("src/money.py")]), day=1)
    assert cases(long, later) == [], "there is no earlier session"
    assert only(EARLIER, session("next", ("fix it", [edit("src/money.py")]), day=1)).need


def test_history_is_known_and_not_asked_about() -> None:
    past = session("past", ("more", [edit("src/money.py")]), day=1, history_only=True)
    later = session("later", ("fix it", [edit("src/money.py")]), day=2)
    assert [one.session for one in cases(EARLIER, past, later)] == ["later"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("money.py", True),
        ("src/money.py, then", True),
        ("/Users/ana/app/src/money.py", False),  # the path of another machine
        ("lib/money.py", False),
        ("first a.py b.py c.py d.py e.py then money.py", False),  # the sixth
        ("make test", False),
    ],
)
def test_a_file_counts_among_the_first_and_in_its_directory(text: str, right: bool) -> None:
    case = only(EARLIER, session("later", ("fix it", [edit("src/money.py")]), day=1))
    mark = Marker().mark(case, text)
    assert bool(mark.first_right) == mark.needed_by_now == right


def test_what_was_said_earlier_in_the_session_counts_by_now() -> None:
    later = session("later", ("fix it", []), ("go on", [edit("src/money.py")]), day=1)
    first, second = cases(EARLIER, later)
    marker = Marker()
    marks = [marker.mark(first, "look at src/money.py"), marker.mark(second, "")]
    assert [bool(one.first_right) for one in marks] == [True, False]
    assert [one.needed_by_now for one in marks] == [True, True]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Run: `make test`.", {"make test"}),
        ("make tests, remake test, make test:unit", set()),
        ("make test and make lint", {"make test", "make lint"}),
    ],
)
def test_commands_are_named_as_whole_words(text: str, named: set[str]) -> None:
    case = only(EARLIER, session("later", ("fix it", [run("make test")]), day=1))
    assert Marker().mark(case, text).commands == named
    assert Marker().mark(case, text).commands_right == named & {"make test"}


def test_baselines_are_the_most_and_the_last_touched_files() -> None:
    second = session("second", ("x", [edit("src/money.py"), edit("z.py")]), day=1)
    later = session("later", ("about z.py", []), day=2)
    case = cases(EARLIER, second, later)[-1]
    assert case.most_touched == ("money.py", "invoice.py", "notes.md")
    assert case.last_touched == ("money.py", "notes.md", "invoice.py")


def test_figures_count_prompts_with_a_need_only() -> None:
    later = session("later", ("fix it", [edit("src/money.py")]), ("thanks", []), day=1)
    marker = Marker()
    marks = [marker.mark(one, "money.py, x.py" if one.turn == 0 else "") for one in
             cases(EARLIER, later)]  # fmt: skip
    found = measure.figures(marks)
    assert (found.prompts, found.spoke, found.tokens) == (2, 1, len("money.py, x.py") / 4)
    assert (found.need, found.files_hit, found.first_need, found.first_hit) == (1, 1, 1, 1)
    assert (found.files_said, found.files_right, found.run) == (2, 1, 0)
    assert measure.figures([]).tokens == 0
