"""Names of the likely files that a session may need."""

from recollect.core.tuning import WORK_FILES
from recollect.core.values import TurnWork
from recollect.inject.gather import files_line
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask, Likely, likely_names, rank
from tests.unit.work.test_likely_files import ask, project, turn

CAP = turn(
    "cap the retries of the billing client",
    ("edit", "src/retry.py"),
    defines=(("capRetries", "src/retry.py"), ("main", "src/retry.py")),
)
OTHER = turn(
    "draw the chart of the dashboard",
    ("edit", "src/chart.py"),
    session="s2",
    defines=(("drawChart", "src/chart.py"),),
)


def test_a_name_of_a_turn_like_the_prompt_is_told_with_its_file() -> None:
    work = project(CAP, OTHER)
    question = ask("the billing client retries too often")
    line = files_line(work, question, rank(work, question), set())
    assert line is not None and "retry.py (capRetries)" in line.line
    assert "name capRetries" in line.keys and "main" not in line.line
    again = likely_names(work, question, rank(work, question), set(line.keys))
    assert "src/retry.py" not in again


def test_a_name_that_the_prompt_holds_or_that_many_sessions_hold_tells_nothing() -> None:
    work = project(CAP, OTHER)
    question = ask("why does capRetries of the billing client retry?")
    assert likely_names(work, question, rank(work, question), ()) == {}
    everywhere = [
        turn("cap the retries of the billing client", ("edit", "src/retry.py"), session=f"x{n}",
             defines=(("capRetries", "src/retry.py"),))
        for n in range(9)
    ]  # fmt: skip
    work = project(*everywhere)
    question = ask("the billing client retries too often")
    assert likely_names(work, question, rank(work, question), ()) == {}


def edits(number: int, *, days: float = 1.0, text: str = "", **names: tuple[str, ...]) -> TurnWork:
    """A turn that edited `src/NAME.py` for each name here, with these names in the text."""
    edited = {f"src/{file}.py": some for file, some in names.items()}
    touched = [("edit", path) for path in edited]
    text = text or "cap the retries of the billing client"
    return turn(text, *touched, session=f"e{number}", days=days, edited=edited)  # type: ignore[arg-type]


def told(work: ProjectWork, question: Ask) -> dict[str, list[str]]:
    return likely_names(work, question, rank(work, question), ())


def test_a_name_in_the_text_of_an_edit_is_told_with_its_file() -> None:
    work = project(edits(1, retry=("maxAttempts",), chart=("axisColor",)), OTHER)
    question = ask("the billing client retries too often")
    line = files_line(work, question, rank(work, question), set())
    assert line is not None and "retry.py (maxAttempts)" in line.line
    assert "chart.py (axisColor)" in line.line and "name axisColor" in line.keys


def test_what_was_edited_lately_comes_first_however_often_it_was_read() -> None:
    read = turn("cap the retries of the billing client", ("read", "src/retry.py"), session="r",
                days=0.1, defines=(("readOnly", "src/retry.py"),))  # fmt: skip
    work = project(edits(1, retry=("longAgo",), days=20), edits(2, retry=("lately",), days=1), read)
    found = told(work, ask("the billing client is slow"))["src/retry.py"]
    assert found[0] == "lately" and set(found) == {"lately", "longAgo", "readOnly"}


def test_a_name_of_several_files_stands_behind_the_likeliest_one() -> None:
    work = project(edits(1, chart=("maxAttempts",), text="draw the chart"),
                   edits(2, retry=("maxAttempts",)))  # fmt: skip
    likely = [Likely("src/chart.py", 1.0), Likely("src/retry.py", 2.0)]
    question = ask("the billing client retries too often")
    assert likely_names(work, question, likely, ()) == {"src/retry.py": ["maxAttempts"]}


def test_a_name_that_many_sessions_edited_tells_nothing() -> None:
    work = project(
        *(edits(n, retry=("TrimSpace",)) for n in range(9)), edits(10, retry=("capNow",))
    )
    assert told(work, ask("the billing client")) == {"src/retry.py": ["capNow"]}


def test_the_first_prompt_is_told_more_names_than_a_later_one() -> None:
    many = tuple(f"retryName{letter}" for letter in "abcdefghij")
    work = project(edits(1, retry=many))
    likely = [Likely("src/retry.py", 1.0)]
    first, later = ask("cap the retries"), ask("cap the retries", session="here")
    assert len(likely_names(work, first, likely, ())["src/retry.py"]) == WORK_FILES.names
    work.add(turn("look at it", ("read", "src/chart.py"), session="here"))
    assert len(likely_names(work, later, likely, ())["src/retry.py"]) == WORK_FILES.names_later


def test_a_line_of_files_stays_within_its_tokens() -> None:
    long = [
        turn("cap the retries", ("edit", f"src/{'very_long_name_of_a_module_' * 3}{n}.py"))
        for n in range(8)
    ]
    work = project(*long)
    question = ask("cap the retries")
    line = files_line(work, question, rank(work, question), set())
    assert line is not None and 0 < line.line.count(".py") < 8
    assert len(line.keys) == line.line.count(".py")
