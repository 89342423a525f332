"""Numbers that the acceptance table (docs/reference/features.md) names, each by its line.

A test of behaviour is better, and most of these have one that holds for a range; this one fails
when somebody changes the number itself, so that the table and its reason are changed with it.
"""

from datetime import timedelta
from inspect import signature
from typing import Any, get_type_hints

import pytest

from recollect.capture import fallback, spool_writer, starter
from recollect.cli import process
from recollect.core import oslayer, projects, tuning, values, vector_bytes
from recollect.core.errors import BadInput
from recollect.core.settings import RETENTION_DAYS, Settings
from recollect.embedding import backfill, embedder, multilingual
from recollect.extract import breaker, condense, model, quality_gate, watcher
from recollect.extract.rules import classify, extractor, procedures, summary
from recollect.hosts import reading
from recollect.ingest import origins
from recollect.inject import gather, recall, render
from recollect.lifecycle import consolidate, conversation, decay, episode_compression, retention
from recollect.lifecycle import maintenance_loop as maintenance
from recollect.memory import Memory
from recollect.portable import backups
from recollect.reconcile import contradict, dedupe, judge, neighbours
from recollect.retrieve import engine, graph, graph_index, score
from recollect.server import guard, live
from recollect.server.routes.memories import MemoryIds
from recollect.service import read, report, search, write
from recollect.store.sql.search import MAX_TERMS
from recollect.store.sqlite import connect
from recollect.store.sqlite import engine as engine_of_store


def limits(kind: Any) -> tuple[int, int]:
    """The shortest and the longest text of an annotated type."""
    (meta,) = kind.__metadata__
    return meta.min_length, meta.max_length


NUMBERS: dict[str, list[tuple[Any, Any]]] = {
    "A04": [(values.EVENT_BODY_BYTES, 1 << 20), (values.REQUEST_BYTES, 2 << 20)],
    "A05": [(limits(values.ProjectPath), (1, 2048))],
    "A08": [(origins.SeenCache[str]()._limit, 10_000)],
    "A09": [(len(projects.MARKERS), 15)],
    "A12": [(fallback.STOP_SECONDS, 0.95), (fallback.START_STOP_SECONDS, 2.95)],
    "A14": [(reading.STRING_BYTES, 512 * 1024)],
    "A20": [(origins.SAME_SESSION, timedelta(hours=4))],
    "A33": [(summary.MOST_TURNS, 50), (summary.MOST_DONE, 3)],
    "A34": [
        (summary.MOST_FILES, 20), (write.CHECKPOINT_FILES, 20), (extractor.SNAPSHOT, 10),
    ],
    "A36": [(spool_writer.CAP_BYTES, 256 << 20)],
    "A28": [(classify.MOST_CONCEPTS, 5)],
    "A30": [
        ([one.seconds for one in quality_gate.WINDOWS.values()], [60, 10, 30, 120, 60, 30]),
    ],
    "B05": [(oslayer.DIRECTORY_MODE, 0o700), (oslayer.FILE_MODE, 0o600)],
    "B08": [(guard.REQUESTS_PER_MINUTE, 200)],
    "B18": [(live.CLIENTS, 50)],
    "C03": [(watcher.ENOUGH_BYTES, 256 << 10), (Settings.extract_idle_s, 30)],
    "C04": [(watcher.SLOTS, 2)],
    "C09": [(breaker.FAILURES, 3)],
    "C10": [(condense.OVERSIZED, 1 << 20)],
    "C11": [(condense.ATTEMPTS, 2), (condense.TIMEOUT_S, 120.0), (breaker.FAILURES, 3)],
    "D05": [(values.TITLE_CHARS, 200), (write.SUMMARY_CHARS, 4000), (write.FACT_CHARS, 500)],
    "D07": [(model.ATTEMPTS, 3)],
    "D19": [(procedures.FEWEST_RUNS, 3), (procedures.FEWEST_STEPS, 3)],
    "D08": [(model.TIMEOUT_S, 60.0), (judge.TIMEOUT_S, 30.0)],
    "E01": [(dedupe.BATCH_COSINE, 0.85)],
    "E02": [(dedupe.NEIGHBOUR_COSINE, 0.80), (neighbours.MOST, 10)],
    "E04": [(judge.ATTEMPTS, 2)],
    "E09": [(breaker.JudgeBreaker()._limit, 3)],
    "E15": [(contradict.AGAIN, 0.05)],
    "E16": [(consolidate.LEAST, 3)],
    "F01": [(engine_of_store.COMMIT_ROWS, 64), (engine_of_store.COMMIT_WAIT_S, 0.005)],
    "F07": [(vector_bytes.DIMENSIONS, 384), (4 * vector_bytes.DIMENSIONS, 1536)],
    "F27": [(connect.BUSY_MS, 5000)],
    "G02": [(embedder.MAX_CHARS, 10_000)],
    "G03": [(embedder.TIMEOUT, 2.0)],
    "G06": [
        (backfill.FAILURES, 5), (backfill.OPEN_S, 60.0), (backfill.BATCH, 32),
        (backfill.PAUSE_S, 1.0),
    ],
    "G07": [(multilingual.DIMENSIONS, 512)],
    "H02": [(recall.LIMIT_MS, 500)],
    "H03": [(MAX_TERMS, 32)],
    "H07": [(score.DEPTH, 4), (search.SearchQuery(query="x").fetch_depth, 4)],
    "H08": [(score.K, 60), (search.SearchQuery(query="x").k, 60)],
    "H12": [(graph_index._LONGEST, 3)],
    "H13": [(graph.SECONDS, 300.0)],
    "H14": [(graph.SHARING, 20), (gather.SEARCHED, 10)],
    "H16": [
        (graph.DEPTH, 2), (graph.FACTS, 10), (graph.RELATIONS, 10),
        (tuning.GRAPH.least_confidence, 0.3),
    ],
    "H17": [(tuning.GRAPH.rrf_bonus, 0.02)],
    "H18": [(tuning.PRIORS.recent_hours, 168), (tuning.START.fade_hours, 168)],
    "H19": [(tuning.PRIORS.importance, 0.10), (tuning.PRIORS.confidence, 0.20)],
    "H20": [(conversation.MARGIN, 0.05)],
    "H21": [
        ([render.SHARES[one] for one in ("rules", "known", "history", "related", "procedures")],
         [0.15, 0.30, 0.30, 0.15, 0.10]),
    ],
    "H24": [
        (tuning.START.recency, 0.40), (tuning.START.frequency, 0.20),
        (tuning.START.semantic, 0.25), (tuning.START.decay, 0.15),
    ],
    "H25": [(conversation.FULL, 0.75)],
    "H26": [(engine.ENTRIES, 100), (engine.SECONDS, 60.0)],
    "H34": [(read.TimelineQuery().before, 5), (read.TimelineQuery().after, 5)],
    "I01": [
        (episode_compression.RAW_AGE, timedelta(hours=24)),
        (episode_compression.COMPRESSED_AGE, timedelta(days=7)),
    ],
    "I02": [
        (episode_compression.RAW_LEFT, timedelta(days=6)), (episode_compression.IMPORTANT, 8),
        (episode_compression.COMPRESSED_LIFE, timedelta(days=90)),
    ],
    "I03": [
        (conversation.FULL, 0.75), (conversation.KEEP_MOST, 10), (conversation.KEEP_SHARE, 0.3),
    ],
    "I04": [(retention.SIZE_LIMIT, 1 << 30)],
    "I05": [(decay.STEP, timedelta(days=7)), (decay.KEPT, 0.95), (decay.LEAST, 0.10)],
    "I09": [
        (RETENTION_DAYS, {"beliefs": 0, "notes": 90, "summaries": 365, "turns": 30, "archive": 30}),
        (maintenance.EVERY_S, 24 * 3600.0),
    ],
    "J02": [(read.EventsQuery().limit, 50)],
    "J14": [(live.KEEP_ALIVE_S, 15.0)],
    "K01": [(search.QUERY_CHARS, 1000), (search.SearchQuery(query="x").limit, 10)],
    "L03": [(process.STOP_PATIENCE_S, 30.0)],
    "L04": [(starter.FRESH_SECONDS, 3), (starter.PAUSES[0], 10)],
    "L10": [(backups.BACKUPS_KEPT, 7)],
    "N06": [
        (signature(Memory.get_smart_context).parameters["token_budget"].default, 2000),
        (signature(Memory.compact_conversation).parameters["token_budget"].default, 2000),
    ],
    "N01": [(report.HOTSPOTS, 15)],
    "Q02": [(Settings.start_tokens, 400), (Settings.prompt_tokens, 150)],
    "Q11": [(render.PROFILE_TOKENS, 60)],
}  # fmt: skip


@pytest.mark.parametrize("line", NUMBERS)
def test_a_number_is_what_the_table_says(line: str) -> None:
    for number, told in NUMBERS[line]:
        assert number == told, line


MEMORY = "mr_01J00000000000000000000000"
# The line, the field of a request or a row, what it takes, and what is one too many or too few.
LIMITS: list[tuple[str, type, str, Any, Any]] = [
    ("A34", values.Checkpoint, "files", ["a"] * 20, ["a"] * 21),
    ("B18", MemoryIds, "ids", [MEMORY] * 100, [MEMORY] * 101),
    ("B18", MemoryIds, "ids", [MEMORY], []),
    ("B18", write.NewObservation, "content", "x" * 100_000, "x" * 100_001),
    ("B18", write.NewNote, "text", "x" * 100_000, "x" * 100_001),
    ("D20", values.Record, "importance", 10, 11),
    ("D20", values.Entity, "importance", 10, 11),
    ("J02", read.EventsQuery, "limit", 200, 201),
    ("K01", search.SearchQuery, "limit", 100, 101),
    ("K01", search.SearchQuery, "limit", 1, 0),
    ("K01", search.SearchQuery, "query", "x" * 1000, "x" * 1001),
]


@pytest.mark.parametrize(("line", "request_type", "name", "within", "beyond"), LIMITS)
def test_a_field_takes_its_limit_and_refuses_one_more(
    line: str, request_type: type, name: str, within: Any, beyond: Any
) -> None:
    field = get_type_hints(request_type, include_extras=True)[name]
    values.convert(field, within)
    with pytest.raises(BadInput):
        values.convert(field, beyond)
