"""A conversation that outgrows its budget."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.lifecycle.conversation import (
    ConversationMessage,
    TokenBudget,
    compact_conversation,
    episode_of,
    left_for_memories,
    tokens_of,
)


def talk(count: int) -> list[ConversationMessage]:
    lines = [
        f"We decided that service_{n} listens on port {8000 + n} because the proxy needs it. "
        "Then we looked around for a while and drank some coffee and went on."
        for n in range(count)
    ]
    return [
        ConversationMessage("user" if n % 2 else "assistant", line) for n, line in enumerate(lines)
    ]


def test_nothing_happens_below_three_quarters() -> None:
    messages = talk(10)
    assert compact_conversation(messages, tokens_of(messages) * 2) is None


def test_the_last_ones_stay_and_the_rest_is_summed_up() -> None:
    messages = talk(40)
    budget = tokens_of(messages)
    found = compact_conversation(messages, budget)
    assert found is not None
    assert found.messages[1:] == tuple(messages[-10:])
    assert found.messages[0].role == "system" and "service_" in found.summary
    assert tokens_of(found.messages) < budget * 0.75
    few = compact_conversation(talk(10), tokens_of(talk(10)))
    assert few is not None and few.messages[1:] == tuple(talk(10)[-3:])
    tight = compact_conversation(talk(10), 1)
    assert tight is not None and tight.messages[1:] == tuple(talk(10)[-1:]), "the last one stays"


def test_the_summary_is_an_episode_that_keeps_the_words() -> None:
    found = compact_conversation(talk(40), 100)
    assert found is not None
    kept = episode_of(found, "/actor/ada/", "s1", datetime(2026, 1, 1, tzinfo=UTC))
    assert (kept.kind, kept.level, kept.importance) == ("episode", "compressed", 5)
    assert "service_3 listens on port 8003" in kept.detail and "auto-compaction" in kept.concepts


def test_what_is_left_of_a_window_is_for_memories() -> None:
    budget = TokenBudget(total=1000, system_prompt=100, response_reserve=200, conversation=400)
    assert left_for_memories(budget, talk(20)) == 0
    shorter = compact_conversation(talk(20), budget.conversation)
    assert shorter is not None and tokens_of(shorter.messages) < tokens_of(talk(20))
    assert left_for_memories(budget, ()) == 650


@given(st.lists(st.text(max_size=300), max_size=30), st.integers(1, 2000))
def test_any_conversation_keeps_its_end(texts: list[str], budget: int) -> None:
    messages = [ConversationMessage("user", text) for text in texts]
    found = compact_conversation(messages, budget)
    if found is not None:
        keep = min(10, int(len(messages) * 0.3))
        fits = tokens_of(messages[len(messages) - keep :]) <= budget * 0.8
        assert len(found.messages) - 1 == keep if fits else len(found.messages) - 1 <= keep
        assert keep == 0 or len(found.messages) > 1, "the last one stays, however tight it is"
        assert found.summarised + found.messages[1:] == tuple(messages)
