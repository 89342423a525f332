# ruff: noqa: E501  (one case a line)
"""The title of an outcome: it stands alone, and says what was done."""

import pytest

from recollect.extract.rules.outcome import as_title, headline, informative

PROJECT = "/work/orbit"


@pytest.mark.parametrize(
    ("answer", "asked", "title"),
    [
        ("Done. I've successfully removed the lock around the cache.", "", "Removed the lock around the cache."),
        ("All checks pass: fmt, lint and test:ci.\n\nAdded `retry()` to client.py.", "", "Added retry() to client.py."),
        ("If the fetch fails, it falls back to the old hint.\n\n- Added `fetch_branch()` in git.py", "", "Added fetch_branch() in git.py"),
        ("When a session is found, shows:\n- its branch\n- its age", "can we also show the branch name in the session list?", "Show the branch name in the session list"),
        ("Now both readers use `is_binary()` from git.\n\n- reader.py\n- diff.py", "", "Now both readers use is_binary() from git."),
        ("This will help us see why. The check is in run.py now.", "", "The check is in run.py now."),
        ("Moved /home/ada/work/other/deep/settings.toml to /work/orbit/conf/app.toml.", "", "Moved deep/settings.toml to conf/app.toml."),
        ("Plan: Cache the tokens of the gateway", "", "Cache the tokens of the gateway"),
    ],
)  # fmt: skip
def test_titles(answer: str, asked: str, title: str) -> None:
    lead = informative(answer)
    assert as_title(headline(answer, lead, asked) or lead[0], PROJECT) == title
