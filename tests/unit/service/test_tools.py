"""What agents are shown: small schemas, no surprise; and when alarms ring."""

import json
import os
import pathlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tokenizers import Tokenizer

from recollect.core.text_words import count_tokens
from recollect.core.tool_schemas import BY_NAME, INSTRUCTIONS, TOOLS
from recollect.daemon.runtime import Runtime
from recollect.service import conversation_compaction, tools
from recollect.service.alarms import AlarmInputs, alarms
from tests.make import NAMESPACE

MOST_TOKENS = 2500
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def test_all_schemas_together_are_small() -> None:
    text = json.dumps([tool.described for tool in TOOLS], separators=(",", ":"))
    (path, *_) = pathlib.Path(os.environ["RECOLLECT_MODEL_DIR"]).rglob("tokenizer.json")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    shorten = "agents pay for the schemas in every session: shorten texts, the limit is a promise"
    assert len(tokenizer.encode(text).ids) < MOST_TOKENS, shorten
    assert count_tokens(text) < MOST_TOKENS, shorten  # our own count, which is never too low


def test_there_are_ten_tools_with_the_names_that_agents_know() -> None:
    assert [tool.name for tool in TOOLS] == [
        "search_memory", "get_context", "timeline", "get_observations", "remember", "correct",
        "store_summary", "resume_session", "generate_report", "recall_entity",
    ]  # fmt: skip
    for tool in TOOLS:
        assert tool.name in INSTRUCTIONS or tool.name == "generate_report"
        assert set(tool.required) <= set(tool.properties)
    assert BY_NAME.keys() == tools.RUN.keys()


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"hosts": {"codex": NOW - timedelta(days=8)}}, "silent_host"),
        (
            {"waiting": 3, "waiting_newest": NOW - timedelta(hours=7)},
            "dead_extraction",
        ),
        ({"quarantined": 1}, "quarantined"),
        ({"verdicts": {"useful": 3, "wrong": 2}}, "junk_rate"),
        ({"added": 10, "superseded": 3}, "contradiction_rate"),
        ({"cache_bytes": 96, "cache_limit": 100}, "cache_size"),
        ({"embedding_problem": "no weights"}, "embedding_off"),
        ({"embedding_problem": "embedding took too long", "model_loaded": True}, "embedding_off"),
    ],
)
def test_an_alarm_rings_for_its_own_reason(facts: dict[str, Any], name: str) -> None:
    (alarm,) = alarms(AlarmInputs(**{"now": NOW, "hosts": {}, **facts}))
    assert alarm.name == name and alarm.message and alarm.hint
    assert ("model fetch" in alarm.hint) == ("no weights" in alarm.message)


@pytest.mark.parametrize(
    "facts",
    [
        {"hosts": {"codex": NOW - timedelta(days=2)}},
        {"hosts": {"codex": NOW - timedelta(days=90)}},  # not used any more: nobody waits for it
        {
            "waiting": 3, "waiting_newest": NOW - timedelta(hours=7),
            "last_run": NOW - timedelta(hours=1),
        },
        {"verdicts": {"wrong": 4}},  # too few to say anything
        {"verdicts": {"useful": 8, "wrong": 2}},
        {"added": 9, "superseded": 9},
        {"cache_bytes": 90, "cache_limit": 100},
    ],
)  # fmt: skip
def test_no_alarm_rings_when_all_is_well(facts: dict[str, Any]) -> None:
    assert alarms(AlarmInputs(**{"now": NOW, "hosts": {}, **facts})) == ()


def test_a_long_conversation_is_made_to_fit_keeps_its_end_and_is_stored_when_asked(
    runtime: Runtime,
) -> None:
    turns = tuple(
        conversation_compaction.ConversationTurn(
            role="user", content=f"turn {number}. " + "words and more words " * 30
        )
        for number in range(40)
    )
    fitted = conversation_compaction.compact(
        runtime, conversation_compaction.CompactRequest(turns=turns, token_budget=2000)
    )
    assert fitted.tokens <= 2000 and fitted.turns[-1] == turns[-1]
    assert 5 < fitted.kept <= 10 and fitted.kept + fitted.summarised == 40
    assert fitted.record_id is None
    assert fitted.summary and fitted.summary in fitted.turns[0].content
    short = conversation_compaction.compact(
        runtime, conversation_compaction.CompactRequest(turns=turns[:1], token_budget=2000)
    )
    assert short.turns == turns[:1] and short.summarised == 0
    asked = conversation_compaction.CompactRequest(
        turns=turns, store=True, namespace=NAMESPACE, session_id="s1", token_budget=2000
    )
    kept = conversation_compaction.compact(runtime, asked)
    assert kept.record_id
    (episode,) = runtime.store.records.get(NAMESPACE, [kept.record_id])
    assert (episode.kind, episode.level, episode.session_id) == ("episode", "compressed", "s1")
    assert "turn 0." in episode.detail and "turn 29." in episode.detail


def test_the_window_says_how_many_tokens_are_left_for_memories(runtime: Runtime) -> None:
    turns = (conversation_compaction.ConversationTurn(role="user", content="words " * 100),)
    window = conversation_compaction.ContextWindow(
        total=10_000, system_prompt=2_000, user_profile=100, preferences=100, response_reserve=1_000
    )
    asked = conversation_compaction.CompactRequest(turns=turns, window=window)
    answer = conversation_compaction.compact(runtime, asked)
    assert answer.retrieval_tokens == 10_000 - 3_200 - answer.tokens - 500  # 5 % of the whole
    text = tools.call(
        runtime,
        "compact_conversation",
        {"turns": [{"role": "user", "content": "hello"}], "window": {"total": 100}},
        None,
    )
    told = json.loads(text)
    assert told["kept"] == 1 and told["retrieval_tokens"] == 95 - told["tokens"]


def test_the_names_that_agents_of_other_memories_know_answer_and_cost_no_token(
    runtime: Runtime, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "Makefile").touch()

    def call(name: str, **given: Any) -> str:
        return tools.call(runtime, name, given, str(tmp_path))

    assert "Stored: mr_" in call("save_observation", title="The cache is warm", type="discovery")
    assert "Stored: mr_" in call("save_memory", title="Ports start at 7000", content="all of them")
    kept = call(
        "save_session_summary",
        request="Move the cache",
        investigated="the pool\nthe shard map",  # lines, as some agents send a list
        completed=["moved it"],
        learned=["it was cold"],
        next_steps=["warm it"],
        files=["cache.py"],
        session_id="s1",
    )
    text = call("get_observations", ids=[kept.split()[1]])
    assert "### Investigated\n- the pool\n- the shard map" in text and "Files: cache.py" in text
    for name in ("search", "hybrid_search", "semantic_search"):
        assert "The cache is warm" in call(name, query="cache warm"), name
    assert "The cache is warm" in call("search", query="cache", fusion="rrf", k=10, fetch_depth=2)
    assert call("embedding_stats").startswith("0 of 3 memories (0 %) have vectors of")
    listed = {tool.name for tool in TOOLS}
    assert not listed & {"search", "save_memory", "embedding_stats", "compact_conversation"}
