"""How recall treats what has grown old: files that changed, sessions in short, use that counts."""

import os
import pathlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from recollect.core.clock import ManualClock
from recollect.core.projects import locate, namespace
from recollect.core.settings import Settings
from recollect.daemon.runtime import Runtime
from recollect.ingest.messages import RecallQuestion
from recollect.lifecycle.file_freshness import cite
from recollect.store.sqlite import SqliteStore
from tests.make import record

GLOBAL = "/actor/ada/"
LONG_AGO = datetime(2025, 12, 1, tzinfo=UTC)
TEXT = "Retries of the billing API are capped at five with backoff and jitter."


class Here:
    def __init__(
        self, store: SqliteStore, clock: ManualClock, settings: Settings, root: pathlib.Path
    ) -> None:
        self.store, self.root = store, root
        self.space = namespace("ada", store.projects.resolve(locate(str(root))))
        words = replace(settings, embedding=False)
        self.runtime = Runtime(words, clock, store)
        self.memories = self.runtime.memories
        self.it = self.runtime.load_recall()
        self.it.recall_now.limit_ms = 5000
        self.it.index_cache.fill([self.space, GLOBAL])

    def ask(self, text: str, trigger: str = "prompt") -> tuple[str, list[dict[str, object]]]:
        question = RecallQuestion(trigger, text, (self.space, GLOBAL), "now", None, 9500)
        recalled = self.it.recall_now(question)
        self.it.receipts.flush()
        receipt = self.store.receipts.get(self.space, recalled.receipt_id or "")
        assert receipt is not None
        return recalled.context, receipt.detail["candidates"]


@pytest.fixture
def here(
    store: SqliteStore, clock: ManualClock, settings: Settings, tmp_path: pathlib.Path
) -> Iterator[Here]:
    root = tmp_path.resolve() / "work"
    (root / "src").mkdir(parents=True)
    (root / "pyproject.toml").write_text("")
    (root / "src" / "retry.py").write_text("CAP = 5\n")
    made = Here(store, clock, settings, root)
    yield made
    made.runtime.close()


def test_a_memory_whose_file_changed_says_so_sinks_and_is_marked(here: Here) -> None:
    cited = cite(["src/retry.py"], str(here.root))
    one = here.memories.add(
        [record("Cap the retries", kind="episode", detail=TEXT, namespace=here.space,
                files=("src/retry.py",), citations=cited, valid_from=LONG_AGO, session_id="a")]
    )[0]  # fmt: skip
    context, (found,) = here.ask("how are retries of the billing api capped")
    assert found["freshness"] == "fresh" and "drifted" not in context
    fresh_score = found["score"]
    (here.root / "src" / "retry.py").write_text("CAP = 7\n")
    context, (found,) = here.ask("remember how retries of the billing api are capped?")
    assert found["freshness"] == "drifted"
    assert "(drifted: src/retry.py changed since)" in context
    assert here.store.records.get(here.space, [one.record_id])[0].freshness == "drifted"
    os.unlink(here.root / "src" / "retry.py")
    context, (found,) = here.ask("remember how retries of the billing api are capped?")
    assert "(orphaned: src/retry.py is gone)" in context
    assert isinstance(found["score"], float) and isinstance(fresh_score, float)


def test_use_counts_in_the_global_namespace_too(here: Here) -> None:
    one = here.memories.add(
        [record("Cap the retries", kind="knowledge", detail=TEXT, namespace=GLOBAL)]
    )[0]
    context, _ = here.ask("how are retries of the billing api capped")
    assert "Cap the retries" in context
    assert here.store.records.get(GLOBAL, [one.record_id])[0].access_count == 1


def test_a_question_about_the_past_gets_a_turn_in_full_and_a_start_gets_none(here: Here) -> None:
    here.memories.add(
        [
            record("Cap the retries", kind="episode", detail=TEXT, namespace=here.space,
                   session_id="old", position=1),
            record("Cap them, in short", kind="episode", detail=TEXT, namespace=here.space,
                   session_id="old", position=1, level="compressed"),
        ]
    )  # fmt: skip
    context, candidates = here.ask("how did we cap the retries of the billing api")
    assert "Cap the retries" in context and "in short" not in context
    assert "its session is here in full" in {one["why_not"] for one in candidates}
    # The words of turns wait for a question.
    assert here.ask("", trigger="session-start")[0] == ""
