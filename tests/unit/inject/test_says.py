"""A prompt that names nothing brings nothing back."""

import pytest

from recollect.inject.says import says

NOTHING = """
ok|yes|yes please|go ahead|continue|please continue|keep going|do it|fix it|try again|thanks
that didn't work, try again|what now?|what's next?|hello|hi there|thanks, that works|looks good
it still fails|still broken|same error|undo that|revert that change|no, not like that|why?
why did you do that?|explain|explain this|what does this do?|make it faster|clean this up
refactor this|use the other one|the second option|both|stop|wait|are you sure?|what do you think?
y|sounds good, proceed|option 2 please|hmm, that seems wrong|can you do that differently?
great, now the next one|never mind|one more time|not quite what I meant|is it done?|and now?
could you explain that again, more slowly|that's better|perfect, thank you so much!|ignore that
I don't understand|go on then|shorter please|let's move on|do both|do the first one|sure, whatever
lgtm|can you double check?|that's not what I asked for|there's a typo|let's do the next step
how far are we?|what's the status?|sounds like a plan|please fix the bug|why is this so slow?
remind me what we did|pick up where we left off|where were we?
weiter|ja bitte|mach das|oui, continue|sí, gracias|继续|はい|👍|...
"""

CHORES = """
run the tests|run the tests again|commit and push|commit this|looks good to me, commit it
can you fix the failing tests?|add tests|write a test for it|review this|show me the diff|open a PR
now run the linter|update the changelog|merge it to main|does it build?|deploy it|add comments
rebase and push again|write a commit message|bump the version
make the tests pass|ship it|the build is broken|run make check
"""

TOPICS = """
which port?|deploy to fly|alembic?|who owns billing|lint rules for imports|naming of branches
where is the token refreshed?|retry budget|fix the login page|why is the nightly backup slow?
error 404|use postgres instead|rename getUserToken|continue with the migration
tests for the parser|commit the invoice changes|fix src/app.py|what is our code style?
add a cache|undo the redis change|explain the scheduler|is kafka still broken?|PROJ-142
weiter mit der Rechnung|继续迁移数据库|timeouts|the flaky one in checkout|stop the worker
"""


def each(text: str) -> list[str]:
    return [one for line in text.strip().splitlines() for one in line.split("|")]


@pytest.mark.parametrize("prompt", each(NOTHING))
def test_talk_names_nothing(prompt: str) -> None:
    assert says(prompt) == "nothing"


@pytest.mark.parametrize("prompt", each(CHORES))
def test_chores_of_every_project(prompt: str) -> None:
    assert says(prompt) == "chore"


@pytest.mark.parametrize("prompt", each(TOPICS))
def test_topics(prompt: str) -> None:
    assert says(prompt) == "topic"


def test_what_is_long_has_something_to_say() -> None:
    assert says("ok " * 500) == "topic"
    assert says("go on and do it again " * 3) == "nothing"
