"""No regular expression of the package can be made to freeze it."""

import json
import subprocess
import sys

import pytest

from tests.regexes import ROOT, Found, slow

# Patterns that meet no text from outside, by file, and what they do meet.
INSIDE = {
    "recollect/store/postgres/dialect.py": "SQL statements of our own, once",
}


def test_the_work_of_every_pattern_grows_no_faster_than_the_text() -> None:
    # In a process of its own: patterns are found by listening while modules are imported.
    done = subprocess.run(
        [sys.executable, "-m", "tests.regexes"],
        cwd=ROOT.parent,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    outside = {
        where: text for where, text in told["slow"].items() if where.partition(":")[0] not in INSIDE
    }
    assert outside == {}, "a text of these, a thousand times as long, would hold the daemon"
    assert told["unknown"] == [], "compile these from something that a module knows at import"
    assert told["count"] > 500, "patterns of the package were not found"


@pytest.mark.parametrize(
    "source",
    [
        r"\s+$",
        r"[\w-]+@",
        r"(?=.*\bkeep\b).*\bquotes\b",
        r"<[^>]*>",
        r"\s*/?\s*name",
        r"(?:now |also (?:now |also )*)*x",
        r"(\w+\s?)*!",
        r"not .* but",
    ],
)
def test_a_careless_pattern_is_found_out(source: str) -> None:
    assert slow(Found("here", source))


@pytest.mark.parametrize(
    "source", [r"(?<!\s)\s++$", r"\b\w++@", r"<[^<>]*+>", r"^(?=.*\bkeep\b).*\bquotes\b", "a|b"]
)
def test_a_careful_pattern_passes(source: str) -> None:
    assert not slow(Found("here", source))


def test_one_that_is_only_matched_at_the_beginning_is_not_searched_with() -> None:
    assert not slow(Found("here", r"\s+x", methods=frozenset({"match"})))
    assert slow(Found("here", r"\s+x", methods=frozenset({"search"})))
