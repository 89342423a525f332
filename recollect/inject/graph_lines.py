"""What the graph knows about a prompt.

In: a prompt and the graphs. Out: lines: preferences, facts and things that the prompt names, facts
further along, procedures; and of each why it is there.
"""

from collections.abc import Sequence

from recollect.core.values import Entity, Fact, Preference
from recollect.inject.draft import BriefLine, Section
from recollect.retrieve.graph import GraphCache, GraphWalk, content_stems
from recollect.retrieve.query import Intent

SEARCHED = 10  # facts, things and procedures that words alone may find, each
UNASKED = 3  # facts of a named thing that share no word with the prompt
FURTHER = 8  # facts beyond the named things
FURTHER_OVERLAP = 0.34
LONG = 30  # telling words
BY_WORDS = 0.5  # share of the prompt's telling words that a fact found by words must have


def preferences(graphs: GraphCache, namespaces: Sequence[str]) -> list[BriefLine]:
    """Those of all namespaces; what the project says goes before what holds everywhere."""
    held: dict[tuple[str, str], Preference] = {}
    for namespace in namespaces:
        for one in graphs.preferences(namespace):
            held.setdefault((one.category, one.key), one)
    ordered = sorted(held.values(), key=lambda one: (one.category, one.key, one.preference_id))
    return [
        BriefLine(one.preference_id, "rules", one.strength, "stated", thing=one) for one in ordered
    ]


def asked_preferences(
    graphs: GraphCache, namespaces: Sequence[str], text: str, *, by_likeness: bool
) -> list[BriefLine]:
    """Of the preferences those that a prompt is about. A rule comes by what it is about or by the
    action (`inject/actions.py`); by two words in common only to those who ask on purpose."""
    asked = content_stems(text)
    found = []
    for line in preferences(graphs, namespaces):
        one = line.thing
        assert isinstance(one, Preference)
        about = content_stems(one.key.replace("_", " "))
        whole = f"{one.category} {one.key} {one.value}"
        shared = len(asked & content_stems(whole.replace("_", " ").replace(".", " ")))
        if (about and about <= asked) or (by_likeness and shared >= 2):
            line.why = "the prompt is about it"
            found.append(line)
    return found


def facts(walks: Sequence[GraphWalk]) -> list[BriefLine]:
    """Things that the prompt names, with what is known of them and around them."""
    items: list[BriefLine] = []
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
                items.append(
                    _fact(reached.fact, "known", reached.worth, f"of {start}", reached.overlap)
                )
            elif reached.overlap >= FURTHER_OVERLAP and further < FURTHER:
                further += 1
                way = " > ".join(reached.path)
                items.append(_fact(reached.fact, "related", reached.worth, f"by way of {way}"))
    return items


def by_words(
    graphs: GraphCache, namespaces: Sequence[str], text: str, intent: Intent, have: set[str]
) -> list[BriefLine]:
    """Facts, described things and procedures that words alone find; each must share enough with
    the prompt."""
    asked = content_stems(text[:4000])
    items: list[BriefLine] = []
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
            items.append(
                BriefLine(
                    one.procedure_id, "procedures", one.confidence, _shares(shared), thing=one
                )
            )
    return items


def _shares(words: int) -> str:
    return f"shares {words} words with the prompt"


def _entity(entity: Entity, why: str) -> BriefLine:
    return BriefLine(entity.entity_id, "known", 1.0, why, thing=entity)


def _fact(fact: Fact, section: Section, score: float, why: str, overlap: float = 1.0) -> BriefLine:
    line = BriefLine(fact.fact_id, section, round(score, 4), why, thing=fact)
    line.sensitive, line.parts = fact.sensitive, {"overlap": overlap}
    return line
