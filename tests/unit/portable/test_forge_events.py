"""Events of forges, in the shapes that their documentation gives."""

from typing import Any

import pytest

from recollect.portable.forge_events import note, verified

GITHUB = {"repository": {"full_name": "acme/billing"}, "sender": {"login": "ada"}}
ISSUE = {"number": 7, "title": 'Retries\n"never" stop', "html_url": "https://github.com/acme/7"}
GITLAB = {"project": {"path_with_namespace": "acme/billing"}, "user": {"username": "ada"}}


@pytest.mark.parametrize(
    ("event", "payload", "title"),
    [
        (
            "issues", {**GITHUB, "action": "opened", "issue": ISSUE},
            "acme/billing: issue #7 \"Retries 'never' stop\" was opened by ada",
        ),
        (
            "pull_request",
            {**GITHUB, "action": "closed", "pull_request": {**ISSUE, "merged": True}},
            "acme/billing: change #7 \"Retries 'never' stop\" was merged by ada",
        ),
        (
            "Merge Request Hook",
            {**GITLAB, "object_attributes": {"iid": 7, "title": "Cap", "action": "merge"}},
            'acme/billing: change #7 "Cap" was merged by ada',
        ),
        (
            "push",
            {**GITHUB, "ref": "refs/heads/main",
             "commits": [{"message": "Cap retries\n\nbody"}, {"message": "Test it"}]},
            "acme/billing: 2 commits were pushed to main: Cap retries; Test it",
        ),
        (
            "release", {**GITHUB, "action": "published", "release": {"tag_name": "v1.3"}},
            "acme/billing: release v1.3 was published",
        ),
        (
            "workflow_run",
            {**GITHUB, "workflow_run": {"conclusion": "failure", "name": "CI",
                                        "head_branch": "main"}},
            'acme/billing: the check "CI" failed on main',
        ),
    ],
)  # fmt: skip
def test_what_matters_is_one_line(event: str, payload: dict[str, Any], title: str) -> None:
    found = note(event, payload)
    assert found is not None and found.title == title
    assert found.concepts[0] == "acme/billing" and found.repository == "billing"
    assert ("acme/billing#7" in found.concepts) == ("#7" in title)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("issues", {**GITHUB, "action": "labeled", "issue": ISSUE}),
        ("issues", {"action": "opened", "issue": ISSUE}),
        ("issues", {**GITHUB, "action": "opened", "issue": "text"}),
        ("push", {**GITHUB, "commits": []}),
        ("workflow_run", {**GITHUB, "workflow_run": {"conclusion": "success"}}),
        ("star", {**GITHUB, "action": "created"}),
        ("", {}),
    ],
)
def test_what_tells_little_is_left_out(event: str, payload: dict[str, Any]) -> None:
    assert note(event, payload) is None


def test_a_signature_is_that_of_the_very_bytes() -> None:
    # The example of GitHub's documentation.
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert verified("It's a Secret to Everybody", b"Hello, World!", signature)
    assert not verified("It's a Secret to Everybody", b"Hello, World?", signature)
    assert not verified("another", b"Hello, World!", signature)
