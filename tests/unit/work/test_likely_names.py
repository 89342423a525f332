"""Names of the likely files that a session may need."""

from recollect.inject.gather import files_line
from recollect.work.likely_files import likely_names, rank
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
