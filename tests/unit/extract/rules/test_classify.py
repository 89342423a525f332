"""Concepts, categories and importance."""

import pytest

from recollect.extract.rules import classify


# A28
def test_concepts_come_from_paths_commands_and_words() -> None:
    found = classify.concepts(
        "The cache was stale", ["src/api/app.py", "tests/test_app.py"], ["docker compose up"]
    )
    assert set(found) >= {"python", "testing", "caching"}
    many = classify.concepts("slow cache, flaky login, retry after the release, SQL", ["a.py"])
    assert len(many) == 5 and "python" not in many  # words weigh more than one file


# A29
@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        ("Closed the XSS vulnerability in the form", [], "security"),
        ("The crash was a bug in the parser: fixed the failing path", [], "debugging"),
        ("More coverage with fixtures", ["tests/test_a.py"], "testing"),
        ("We decided on this design instead of the other strategy", [], "architecture"),
        ("Renamed and simplified, cleaned up", [], "refactoring"),
        ("Helm settings for staging", ["deploy/values.yaml"], "config"),
        ("README and documentation", ["docs/a.md"], "docs"),
        ("Implemented the new feature", [], "feature-dev"),
        ("Hm", [], "general"),
    ],
)
def test_nine_categories(text: str, files: list[str], expected: str) -> None:
    assert classify.category(text, files) == expected


# D20
def test_importance_stays_in_its_range_and_rules_lead() -> None:
    assert classify.importance("constraint", "general") > classify.importance("error", "general")
    assert classify.importance("error", "general", verified=True) > classify.importance(
        "error", "general"
    )
    assert classify.importance("constraint", "security", files=9, verified=True) == 10
