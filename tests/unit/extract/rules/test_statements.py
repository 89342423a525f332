"""What people state, in their own words, and what sounds like it and is not.

Written by a second reader in three rounds, each before the rules were run on it (figures of first
contact: docs/decisions/rules.md). Each round was mended after it was measured, so this list shows
what holds now, not how the next list would do.
"""

from collections.abc import Callable

import pytest

from recollect.core.values import StoredEvent
from recollect.extract.rules.statements import BeliefStatement, statements_of
from recollect.extract.rules.turns import turns_of
from tests.fakes.growth import assert_linear
from tests.make import NOON
from tests.unit.extract.session import Told

STATED = r"""
Please keep commit messages in the imperative mood.
When you write SQL, put keywords in uppercase.
No emojis in code or docs please.
I don't like default exports, use named ones.
Every new endpoint needs an integration test.
Don't touch the files under vendor/.
Do not push to main directly, open a PR.
Stop adding comments that just repeat the code.
You don't need to explain what you did, just show the diff. That holds for all answers.
Tests go next to the source file, not in a separate folder.
Use pnpm here, not npm.
we use tabs in this repo
Please run make lint before every commit.
All timestamps have to be stored in UTC.
Our API responses are camelCase, database columns snake_case.
Never log the customer's email address.
from now on ask me before you install new packages
Only use the staging database for experiments.
Avoid global state wherever possible.
I want you to write the tests first.
Whenever you change the schema, regenerate the client with `make gen`.
Bitte immer auf Deutsch antworten.
Kommentare bitte auf Englisch schreiben, nie auf Deutsch.
make sure you never commit .env files
Keep functions under 40 lines.
we don't do default parameters in this codebase
Let's go with Redis for the queue, RabbitMQ is too heavy for us.
We'll use Postgres instead of SQLite because we need concurrent writers.
ok do it with a cron job then, not a daemon
I decided to drop Windows support for now.
The second approach is better, take that one since it keeps the API stable.
We are not going to support Python 3.9 anymore.
Forget GraphQL, we stay with REST.
We agreed in the team to ship on Thursdays only.
Use option 2, the cache in front of the API.
No, we tried Celery before and it was a nightmare to operate, so not that.
Don't add another dependency for this, the stdlib can do it.
The staging server runs on fly.io in the fra region.
The payments service is written in Go and lives in services/pay.
our CI is Buildkite, not GitHub Actions
The customer table has about 40 million rows.
No, the limit is 50 requests per minute, not per second.
That's wrong, invoices are created by the billing worker, not by the API.
you misread the spec: the header must come after the magic bytes
Commit messages should follow conventional commits.
Indent with two spaces in all YAML files.
I'd rather have small PRs than one big one.
Error messages must not contain file paths of the server.
Type hints everywhere please.
Don't use abbreviations in variable names.
We squash merge, so the PR title matters.
Put helper functions at the bottom of the file.
Use single quotes in JavaScript.
If you add a setting, document it in docs/settings.md.
Changelog entries go under Unreleased.
Ask before you delete anything.
Short answers please, I read on my phone.
The tests have to run without network.
Prefer composition over inheritance in this project.
don't reformat files you didn't change
Always write the test before the fix.
Never run migrations against production.
Money amounts are integers in cents, never floats.
new components should be function components with hooks
We deploy with `make ship`, not with the GitHub workflow.
Production runs on Kubernetes 1.29 in eu-west-1.
The API gateway listens on port 8443.
Alice owns the billing module, ask her for reviews.
We switched from Jest to Vitest last week.
Node 20 is the minimum version.
Let's keep the monolith and not split the services.
I'd go with the simple version, no caching.
We chose Tailwind because the designers know it.
No microservices for this one, a single binary is enough.
Let's not use an ORM, raw SQL is fine for five tables.
We decided against Kafka since the volume is tiny.
I meant the retry count, not the timeout.
Actually the config is read from the environment, not from a file, so this should be os.environ.
Wir verwenden hier immer ruff statt black.
Nunca hagas push a main sin pedir permiso.
Usa sempre pytest per i test.
Don't ask me to confirm each step.
Logs must be JSON in production because Datadog parses them.
please never use sleep in tests
Please use British spelling in the docs.
Feature flags live in flags.yaml.
We version the API in the URL, not in headers.
Don't catch bare exceptions.
Every public function gets a docstring.
I prefer early returns over nested ifs.
no force pushes please
Screenshots belong in docs/img.
Make sure that all new code has tests.
Backend is FastAPI, frontend is Svelte.
We have two environments: staging and prod.
The nightly job runs at 3am UTC.
Secrets come from Vault, never from env files.
Let's use Zod for validation rather than writing it by hand.
We'll drop support for IE11.
I'd like to go with approach B because it needs no migration.
That's not right, the id is a UUID and not an integer.
No, I meant the other repo, the one with the CLI.
Constants should be uppercase.
Don't bump versions yourself, the release bot does that.
When we add a migration we also need a rollback.
Tests must be deterministic.
never use var
Leave the generated files alone.
all dates in ISO 8601 please
We write commit messages in English.
""".strip().splitlines()

NOT_STATED = r"""
can you fix the failing test in parser.py?
It never works on my machine.
I always forget how this works.
Why don't we use the cache here?
The test never finishes, can you look?
don't worry about it
never mind
We should probably look at this tomorrow.
run the tests again
That's great, thanks!
I think the bug is in the parser but I'm not sure.
Let's see what happens when you run it.
Does the server always return 200?
Let me know if you need anything else.
it should print the name of the user, but it prints null
please add a button to the settings page
let's do the next one
I don't see the change
use the file I just uploaded
don't commit yet
push it
go ahead with the plan
wait, don't run that now
Looks like we always get a timeout here.
Let's use this opportunity to clean up
This should always be true but the assert fails
I prefer not to say
Is it better to use a map or a list here?
what do you prefer?
Add a test for the empty list
The user must be logged in to see this page, add a redirect
try again but without the cache
make it blue instead of red
use the second one for now
The build is green now
Rename foo to bar and update the callers
Looking at the changes you did, it has: # Note: .entire is in .gitignore so we don't commit it
the log says: never use this function directly
It says "always run as root" in the README, is that right?
Please look at the failing build.
The deploy failed again, why?
I don't understand this code.
Use the attached screenshot.
Now add the same for the other endpoint.
Can you explain how the cache works?
Should we always retry here?
I never said that was fine...
The function should return None here but returns 0.
Let's start with the first item.
All tests should pass now, check it.
Every time I click the button it crashes.
When you are done, push.
don't forget to push
Do not merge yet, I want to look first.
keep going
Stop the server.
Remove the old file please.
every test fails since this morning
we use the wrong color in the header
Our build is red again.
I like it
I hate that this is so slow
I want to see the logs first
only the first test fails
use another name for the variable
Change the timeout to 30 seconds in config.py
The page has 3 bugs
We tried to reproduce it but couldn't.
Whenever I save, the linter complains about line 3.
fix it please
there is a typo in the readme
it should work now
the tests don't run
what does this do?
Use it in the header too.
Let's keep it simple for now.
All good, thanks.
We should fix that.
The users complain about slow pages.
I don't like it, try again.
put it back
Please add logging to the worker.
do not do that
every row is duplicated in the output
Write a test for the new endpoint.
The buttons should be aligned to the right.
no, still broken
use the new API in client.ts
We run into the same error on CI.
When we call this twice it crashes.
If you change that, the tests fail.
Sort the list by date.
it must be something with the cache
Let's drop that idea and look at the logs.
I never got this to work
never saw that before
Is our API versioned?
Name it parser2
These tests should be skipped on Windows, add a marker.
""".strip().splitlines()


def said(prompt: str) -> list[BeliefStatement]:
    (event,) = Told().ask(prompt).events
    (turn,) = turns_of([StoredEvent(event=event, seq=1, transaction_time=NOON)])
    return statements_of(turn, "")


@pytest.mark.parametrize("prompt", STATED)
def test_what_is_stated_is_kept(prompt: str) -> None:
    assert said(prompt)


@pytest.mark.parametrize("prompt", NOT_STATED)
def test_what_only_sounds_like_it_is_not(prompt: str) -> None:
    assert said(prompt) == []


def test_a_no_is_never_taken_off() -> None:
    (one,) = said("No emojis in code or docs please.")
    assert one.text.startswith("No emojis")


def test_do_not_is_no_question() -> None:
    (one,) = said("Do not push to main directly, open a PR.")
    assert (one.type, one.author, one.rule) == ("constraint", "user", True)


@pytest.mark.parametrize("unit", ["a", "ab ", "a.b-", "("])
def test_a_sentence_without_end_is_linear_work(unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        heads = ("use ", "we ", "all ", "don't ", "the ", "put x.", "I want ")
        return lambda: [said(head + unit * (size // len(unit))) for head in heads]

    assert_linear(work, 2_750)
