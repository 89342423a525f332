"""What each cue and each veto is worth: `python -m tests.bench.statements [LIST.json ...]`.

In: the labelled sentences of `tests/bench/data/statements`, and lists by others, if any are given:
sentences of their `statements` and changes count as stating something, those of `near_misses` and
`one_off` as stating nothing. Out: hits and precision of each cue (one that never fires, or is right
in less than 90 %, should go), hits of each veto, and how many are noticed, and held, per kind.
"""

import json
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence

from recollect.core import ids
from recollect.core.values import Event, EventSource, StoredEvent, TextBody
from recollect.extract.rules import vetoes
from recollect.extract.rules.cues import CUES, cue
from recollect.extract.rules.sentence_kind import KINDS
from recollect.extract.rules.statements import BeliefStatement, own_sentences, statements_of
from recollect.extract.rules.turns import turns_of
from tests.make import NOON

DATA = os.path.join("tests", "bench", "data", "statements")


def labelled() -> dict[str, list[str]]:
    return {
        kind: pathlib.Path(DATA, f"{kind}.txt").read_text("utf-8").splitlines() for kind in KINDS
    }


def statements(prompt: str) -> list[BeliefStatement]:
    event = Event(
        event_id=ids.new_ulid(1),
        session_id="s",
        actor_id="ada",
        namespace="/actor/ada/project/x/",
        kind="prompt",
        body=TextBody(content=prompt),
        valid_time=NOON,
        source=EventSource(surface="bench"),
    )
    turns = turns_of([StoredEvent(event=event, seq=1, transaction_time=NOON)])
    return [one for turn in turns for one in statements_of(turn, "")]


def cue_table(sentences: Mapping[str, Sequence[str]]) -> str:
    """Counted where a cue decides: behind the vetoes, before the cues below it; alone, and where
    the grammar of the sentence agrees, so that it is held."""
    lines = [f"{'cue':36s} {'kind':9s} hits  right  held  right"]
    read = [
        (kind, one, found)
        for kind, some in sentences.items()
        for one in some
        if "nothing" not in vetoes.effects(one) and not vetoes.QUESTION.search(one)
        and (found := cue(one))
    ]  # fmt: skip
    for rule in CUES:
        hits = [(kind, one) for kind, one, found in read if found is rule]
        held = [(kind, one) for kind, one in hits
                if any(s.state == "current" for s in statements(one))]  # fmt: skip
        lines.append(f"{rule.name:36s} {rule.kind:9s} {_share(hits)} {_share(held)}")
    return "\n".join(lines)


def _share(hits: Sequence[tuple[str, str]]) -> str:
    right = sum(kind != "none" for kind, _ in hits)
    return f"{len(hits):4d} " + (f"{100 * right / len(hits):4.0f} %" if hits else "     -")


def veto_table(sentences: Mapping[str, Sequence[str]]) -> str:
    lines = [f"{'veto':36s} {'effect':11s} of what states nothing, of what does"]
    for rule in vetoes.VETOES:
        hits = {kind: sum(bool(rule.pattern.search(one)) for one in some)
                for kind, some in sentences.items()}  # fmt: skip
        none = hits.pop("none")
        lines.append(f"{rule.name:36s} {rule.effect:11s} {none:6d} {sum(hits.values()):6d}")
    return "\n".join(lines)


def of_lists(paths: Sequence[str]) -> dict[str, list[str]]:
    """The sentences of lists: what states something, and what does not."""
    found: dict[str, list[str]] = {"stated": [], "none": []}
    for path in paths:
        cases = json.loads(pathlib.Path(path).read_text("utf-8"))
        for name in ("near_misses", "one_off"):
            found["none"] += [one for row in cases[name] for one in own_sentences(row["prompt"])]
        said = [row["prompt"] for row in cases["statements"]]
        said += [row[key] for row in cases["changed_minds"] for key in ("before", "after")]
        said += [row[key] for row in cases["withdrawn"] for key in ("rule", "withdrawal")]
        found["stated"] += [one for prompt in said for one in own_sentences(prompt)]
    return found


def main() -> None:
    sentences = labelled()
    if len(sys.argv) > 1:
        for kind, some in of_lists(sys.argv[1:]).items():
            sentences.setdefault(kind, []).extend(some)
    print(cue_table(sentences))
    print(veto_table(sentences))
    for kind, some in sentences.items():
        found = [statements(one) for one in some]
        held = sum(any(one.state == "current" for one in each) for each in found)
        print(f"{kind:9s} {len(some):5d}: held {held}, noticed {sum(map(bool, found))}")


if __name__ == "__main__":
    main()
