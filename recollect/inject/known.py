"""What the graph has to say to a prompt, before it is cut to its budget.

In: a prompt, the graphs and what the session was told already. Out: `Item`s by kind: preferences,
facts and things that the prompt names, facts further along, procedures; and of each why it is there
or why not. What is sensitive needs consent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.values import Entity, Fact, Preference
from recollect.inject import context
from recollect.inject.private import SENSITIVE
from recollect.privacy.sensitive import is_sensitive
from recollect.retrieve.graph import GraphCache, GraphWalk, content_stems
from recollect.retrieve.query import Intent

SEARCHED = 10  # facts, things and procedures that words alone may find, each
UNASKED = 3  # facts of a named thing that share no word with the prompt
FURTHER = 8  # facts beyond the named things
FURTHER_OVERLAP = 0.34
LONG = 30  # telling words
BY_WORDS = 0.5  # share of the prompt's telling words that a fact found by words must have


@dataclass
class Item:
    """One line that may be injected."""

    id: str
    kind: str  # one of budget.SHARES
    line: str
    score: float
    why: str
    why_not: str = ""
    sensitive: bool = False


def preferences(graphs: GraphCache, namespaces: Sequence[str]) -> list[Item]:
    """Those of all namespaces; what the project says goes before what holds everywhere."""
    held: dict[tuple[str, str], Preference] = {}
    for namespace in namespaces:
        for one in graphs.preferences(namespace):
            held.setdefault((one.category, one.key), one)
    ordered = sorted(held.values(), key=lambda one: (one.category, one.key, one.preference_id))
    return [
        Item(one.preference_id, "preferences", context.preference_line(one), one.strength, "stated")
        for one in ordered
    ]


def asked_preferences(graphs: GraphCache, namespaces: Sequence[str], text: str) -> list[Item]:
    """Of the preferences those that a prompt is about."""
    asked = content_stems(text)
    found = []
    for item in preferences(graphs, namespaces):
        name = item.line.partition(":")[0]
        about = content_stems(name.rpartition(".")[2].replace("_", " "))
        shared = len(asked & content_stems(item.line.replace("_", " ").replace(".", " ")))
        if (about and about <= asked) or shared >= 2:
            item.why = "the prompt is about it"
            found.append(item)
    return found


def facts(walks: Sequence[GraphWalk]) -> list[Item]:
    """Things that the prompt names, with what is known of them and around them."""
    items: list[Item] = []
    for walk in walks:
        unasked: dict[str, int] = {}
        further = 0
        for entity_id, words in walk.named.items():
            entity = walk.entities[entity_id][0]
            if entity.description:
                items.append(_entity(entity, f"named as {words!r}"))
        for reached in walk.facts:
            if reached.depth == 0:
                start = reached.path[0]
                if reached.overlap == 0:
                    unasked[start] = unasked.get(start, 0) + 1
                    if unasked[start] > UNASKED:
                        continue
                items.append(_fact(reached.fact, "known", reached.worth, f"of {start}"))
            elif reached.overlap >= FURTHER_OVERLAP and further < FURTHER:
                further += 1
                way = " > ".join(reached.path)
                items.append(_fact(reached.fact, "related", reached.worth, f"by way of {way}"))
    return items


def by_words(
    graphs: GraphCache, namespaces: Sequence[str], text: str, intent: Intent, have: set[str]
) -> list[Item]:
    """Facts, described things and procedures that words alone find; each must share enough with
    the prompt."""
    asked = content_stems(text[:4000])
    items: list[Item] = []
    # No fact has half of the words of a long prompt: it is not looked for.
    least = max(2, BY_WORDS * len(asked)) if len(asked) <= LONG else float("inf")
    for namespace in namespaces:
        facts, things, procedures = graphs.sharing(
            namespace, asked, least, 1 if intent == "procedure" else 2
        )
        for fact, shared in facts[:SEARCHED]:
            if fact.fact_id not in have:
                items.append(_fact(fact, "known", fact.confidence, _shares(shared)))
        for thing, shared in things[:SEARCHED]:
            if thing.entity_id not in have:
                items.append(_entity(thing, _shares(shared)))
        for one, shared in procedures[:SEARCHED]:
            line = context.procedure_line(one)
            items.append(
                Item(one.procedure_id, "procedures", line, one.confidence, _shares(shared))
            )
    return items


def judge(items: Sequence[Item], told: frozenset[str], *, consent: bool, repeat: bool) -> None:
    """Say of each item why it may not be injected, if so."""
    for item in items:
        if not consent and (item.sensitive or is_sensitive(item.line)):
            item.sensitive = True
            item.why_not = SENSITIVE
        elif item.id in told and not repeat:
            item.why_not = "injected earlier in this session"


def value_of(item: Item) -> str:
    """What a preference says, without its name."""
    return plain(item.line.partition(": ")[2])


def plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".! ")


def _shares(words: int) -> str:
    return f"shares {words} words with the prompt"


def _entity(entity: Entity, why: str) -> Item:
    return Item(entity.entity_id, "known", context.entity_line(entity), 1.0, why)


def _fact(fact: Fact, kind: str, score: float, why: str) -> Item:
    line = context.fact_line(fact)
    return Item(fact.fact_id, kind, line, round(score, 4), why, sensitive=fact.sensitive)
