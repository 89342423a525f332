# ruff: noqa: E501  (sentences are read line by line)
"""The plain forms of saying what something is, and what is left alone."""

import pytest

from recollect.extract.rules.grammar import triples


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("billing-api uses MySQL.", ("billing-api", "uses_database", "MySQL")),
        ("We moved billing-api from MySQL to Postgres.", ("billing-api", "uses_database", "Postgres")),
        ("ok we switched ledger to CockroachDB last night", ("ledger", "uses_database", "CockroachDB")),
        ("The message broker of orders is RabbitMQ now.", ("orders", "message_broker", "RabbitMQ")),
        ("orders switched to NATS as its message broker.", ("orders", "message_broker", "NATS")),
        ("The importer's timeout is 45 seconds.", ("importer", "timeout", "45 seconds")),
        ("I moved the rate limiter to src/edge/limits.ts.", ("rate limiter", "located_in", "src/edge/limits.ts")),
        ("The deploy script is scripts/deploy.sh.", ("deploy script", "located_in", "scripts/deploy.sh")),
        ("mailer no longer uses Redis.", ("mailer", "no_longer_uses_database", "Redis")),
        ("Actually, mailer uses Valkey 8, not Redis 7.", ("mailer", "cache", "Valkey 8")),
        ("Actually, mailer uses Valkey 8, not Redis 7.", ("mailer", "no_longer_uses_database", "Redis 7")),
        ("mailer uses Valkey 8 instead of Redis 7.", ("mailer", "no_longer_uses_database", "Redis 7")),
        ("The cache of mailer is Valkey rather than Redis.", ("mailer", "cache", "Valkey")),
        ("notifier is owned by Ruth, not Jonas.", ("notifier", "no_longer_owned_by", "Jonas")),
        ("Sorry, I was wrong: notifier is owned by Ruth.", ("notifier", "owned_by", "Ruth")),
        ("Priya took over the search service from Jonas.", ("search service", "owned_by", "Priya")),
        ("gateway requires Node 22 now.", ("gateway", "node_version", "22")),
        ("gateway listens on port 8080.", ("gateway", "port", "8080")),
        ("blog is back on Netlify.", ("blog", "deployed_on", "Netlify")),
        ("mobile left CircleCI, its ci is Buildkite.", ("mobile", "ci", "Buildkite")),
        ("We no longer use npm in dashboard, it's pnpm now.", ("dashboard", "package_manager", "pnpm")),
        ("The build command of toolbox is bazel build //...", ("toolbox", "build_command", "bazel build //...")),
    ],
)  # fmt: skip
def test_a_sentence_states(sentence: str, stated: tuple[str, str, str]) -> None:
    assert stated in list(triples(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "Does billing use Postgres?",
        "billing should not use Postgres",
        "If billing uses Postgres we are fine.",
        "It uses Postgres.",
        "The function uses a helper for that.",
        "I moved on to the next task.",
        "We should move billing to Postgres one day.",
        "A/B tests live in the analytics platform, which owns assignment.",
        "Please clean up the checkout handler, it is getting hard to follow.",
        "The change is small and stays within one file.",
    ],
)
def test_a_sentence_states_nothing(sentence: str) -> None:
    assert list(triples(sentence)) == []
