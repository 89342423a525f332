"""Which files a session will need, from what earlier ones did."""

from datetime import UTC, datetime, timedelta

from recollect.core.ids import new_ulid
from recollect.core.values import Action, How, TurnWork
from recollect.inject.gather import branch_line, files_line, likely_line, runs_line
from recollect.work import bm25
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask, rank
from recollect.work.terms import terms
from tests.make import NAMESPACE

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def turn(
    text: str,
    *touches: tuple[How, str],
    session: str = "s1",
    days: float = 1.0,
    branch: str = "main",
    person: str = "ada",
    **more: object,
) -> TurnWork:
    counts: dict[str, int] = {}
    for term in terms(text):
        counts[term] = counts.get(term, 0) + 1
    actions = tuple(Action(how=how, path=path) for how, path in touches)
    fields: dict[str, object] = {"actions": actions, **more}
    return TurnWork(
        turn_id=new_ulid(),
        namespace=NAMESPACE,
        session_id=session,
        at=NOW - timedelta(days=days),
        person=person,
        branch=branch,
        terms=counts,
        **fields,  # type: ignore[arg-type]
    )


def ask(text: str, session: str = "now", branch: str = "main", person: str = "ada") -> Ask:
    return Ask(text, NOW.timestamp(), session, person, branch)


def project(*turns: TurnWork) -> ProjectWork:
    work = ProjectWork()
    for one in turns:
        work.add(one)
    return work


def best(work: ProjectWork, question: Ask) -> str:
    return rank(work, question)[0].path


# As often and as lately touched as what the tests look for, by somebody else.
OTHERS = [
    turn("build the parser", ("edit", f"src/{name}.py"), session=name, person="bob")
    for name in ("parser", "printer", "lexer")
]


def test_a_turn_like_the_prompt_votes_for_what_it_touched() -> None:
    liked = turn("cap the retries with backoff", ("edit", "src/net.py"), person="bob")
    work = project(*OTHERS, liked)
    assert best(work, ask("retries still have no backoff")) == "src/net.py"
    assert best(work, ask("the parser is slow")) == "src/parser.py"


def test_a_branch_goes_on_where_it_was() -> None:
    there = turn("something", ("edit", "src/net.py"), branch="retry-cap", person="bob")
    work = project(*OTHERS, there)
    assert best(work, ask("go on", branch="retry-cap")) == "src/net.py"


def test_a_test_comes_with_what_it_tests() -> None:
    tests = turn("other", ("read", "tests/test_net.py"), person="bob")
    work = project(*OTHERS, tests)
    assert best(work, ask("look at src/net.py please")) == "tests/test_net.py"


def test_a_file_is_found_by_a_name_that_it_defines() -> None:
    named = turn("x", ("read", "src/a.py"), person="bob", defines=(("RetryPolicy", "src/a.py"),))
    work = project(*OTHERS, named)
    assert best(work, ask("why does RetryPolicy give up?")) == "src/a.py"


def test_what_the_session_touched_or_the_prompt_names_is_no_news() -> None:
    work = project(*OTHERS, turn("x", ("edit", "src/parser.py"), session="now", days=0))
    assert rank(work, ask("go on", session="now"))[0].path != "src/parser.py"
    named = rank(project(*OTHERS), ask("open src/parser.py"))
    assert "src/parser.py" not in [one.path for one in named]


def test_a_bare_name_in_a_command_is_the_file_that_is_known() -> None:
    work = project(*OTHERS, turn("x", ("run", "parser.py"), ("run", "unknown.py")))
    assert "parser.py" not in work.number and "unknown.py" not in work.number


def test_a_turn_that_grew_takes_the_place_of_what_it_was() -> None:
    first = turn("cap the retries", ("edit", "a.py"))
    work = project(first)
    again = TurnWork(**{name: getattr(first, name) for name in first.__struct_fields__} | {
        "terms": {"parser": 1}
    })  # fmt: skip
    work.add(again)
    assert bm25.search(work.words, ["parser"]).any()
    assert not bm25.search(work.words, terms("retries")).any()


def test_lines_name_what_is_new_to_the_session() -> None:
    runs = tuple(
        turn("x", session=f"s{n}", actions=(Action(how="run", command="make test"),))
        for n in (1, 2)
    )
    broken = turn(
        "x",
        session="s3",
        days=0.1,
        actions=(Action(how="run", command="make test", failed=True, error="E no fixture"),),
    )
    done = turn("x", ("edit", "a.py"), branch="fix", session="s4", commits=("Cap retries at 5",))
    work = project(*runs, broken, done)
    question = ask("go on", branch="fix")
    line = runs_line(work, question, set())
    assert line is not None and line.line == "Runs: make test (failed last: E no fixture)"
    assert runs_line(work, question, set(line.keys)) is None
    line = branch_line(work, question, set())
    assert line is not None
    assert line.line == "Branch fix (1 session, last 2026-11-15): Cap retries at 5"
    line = files_line(work, question, rank(work, question), set())
    assert line is not None and line.line == "Likely files: a.py"
    assert files_line(work, question, rank(work, question), set(line.keys)) is None


def test_of_few_files_none_is_called_likely() -> None:
    def told(count: int) -> list[str]:
        touches: list[tuple[How, str]] = [("edit", f"src/part{n}.py") for n in range(count)]
        work = project(turn("build the parts", *touches))
        line = likely_line(work, ask("build the parts"), set(), later=False, idle=0.0)
        return line.line.removeprefix("Likely files: ").split(", ") if line else []

    assert told(3) == []
    assert len(told(9)) == 2
    assert len(told(100)) == 8
