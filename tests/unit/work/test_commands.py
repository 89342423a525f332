"""Command lines in their normal form."""

import pytest

from recollect.work.commands import commit_subject, first_error, steps


def forms(line: str) -> list[str]:
    return [step.form for step in steps(line) if step.form]


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("make test", ["make test"]),
        ("cd /w/repo && make  test 2>&1 | tail -20", ["make test"]),
        ("CI=1 timeout 300 go test ./... > out.txt", ["go test ./..."]),
        ("time uv run pytest -k 'a or b; c' -q", ["uv run pytest -k 'a or b; c' -q"]),
        ("npm run lint; npm test", ["npm run lint", "npm test"]),
        ("git status && ls -la && grep -r foo .", []),
        ("python3 -c 'print(1)'", []),
        ("python3 scripts/build.py --fast", ["python3 scripts/build.py --fast"]),
        ("cat > a.py <<'EOF'\nmake mess\nEOF\nmake test", ["make test"]),
        ('echo "a && make nothing"', []),
        ("# just a remark", []),
    ],
)
def test_the_same_thing_has_the_same_form(line: str, same: list[str]) -> None:
    assert forms(line) == same


def test_files_are_named_without_flags_lines_and_addresses() -> None:
    line = "pytest tests/test_a.py:12 --cov=src/retry.py https://x.org/a.html main..HEAD -v"
    (step,) = steps(line)
    assert step.files == ("tests/test_a.py", "src/retry.py")


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("git commit -m 'Cap retries at 5'", "Cap retries at 5"),
        ('git add . && git commit -am "Say \\"why\\"" && git push', 'Say "why"'),
        (
            "git commit -m \"$(cat <<'EOF'\nCap retries\n\nBecause of the storm.\nEOF\n)\"",
            "Cap retries",
        ),
        ("git commit -q -F - <<'EOF'\nCap retries\n\nBecause of the storm.\nEOF", "Cap retries"),
        ("cat > m <<EOF\nCap retries\nEOF\ngit commit --file=m", "Cap retries"),
        ("git commit -F message.txt", ""),
        ("git commit --amend --no-edit", ""),
        ("echo commit -m 'no'", ""),
    ],
)
def test_the_subject_of_a_commit(line: str, subject: str) -> None:
    assert commit_subject(line) == subject


def test_the_first_line_that_reads_like_an_error() -> None:
    output = {"stdout": "collected 3 items\n0 errors so far\n\x1b[31mE  fixture not found\x1b[0m\n"}
    assert first_error(output) == "E fixture not found"
    assert first_error("Exit code 1\nKeyError: 'g'") == "KeyError: 'g'"
    assert first_error("connect to 127.0.0.1:5433 refused") == "connect to 127.0.0.1:5433 refused"
    assert first_error("all well") == ""
    assert first_error(None) == ""
