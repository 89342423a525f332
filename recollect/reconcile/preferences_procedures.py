"""Plans changes of preferences and procedures: what the user wants, and which steps worked.

In: their claims. Out: steps in a `PlanBuilder`. A later preference replaces an earlier one, and an
old one that arrives late is kept out; a procedure is identified by its steps and counts its
outcomes.
"""

import msgspec

from recollect.core import ids
from recollect.core.entity_keys import same_object
from recollect.core.projects import everywhere
from recollect.core.values import Preference, Procedure
from recollect.extract.interface import Dropped, PreferenceClaim, ProcedureClaim
from recollect.reconcile.contradict import AGAIN, MOST_EVENTS
from recollect.reconcile.plan import PlanBuilder
from recollect.store.interface import Graph

MOST_VALUE = 1000


class PreferencePlanner:
    def __init__(self, graph: Graph, book: PlanBuilder) -> None:
        self._graph = graph
        self._book = book
        self._preferences: dict[str, list[Preference]] = {}
        self._procedures: list[Procedure] | None = None

    def preference(self, claim: PreferenceClaim) -> None:
        namespace = everywhere(self._book.namespace) if claim.everywhere else self._book.namespace
        if namespace not in self._preferences:
            self._preferences[namespace] = self._graph.all(namespace, Preference)
        held = self._preferences[namespace]
        new = Preference(
            preference_id=ids.new_id(ids.PREFERENCE),
            namespace=namespace,
            category=_slug(claim.category)[:64],
            key=_slug(claim.key)[:128],
            value=" ".join(claim.value.split())[:MOST_VALUE],
            strength=min(1.0, max(0.0, claim.strength)),
            source_type=claim.source_type,
            source_event_ids=claim.event_ids[-MOST_EVENTS:],
            created_at=claim.at,
        )
        known = next(
            (one for one in held if (one.category, one.key) == (new.category, new.key)), None
        )
        if known is None:
            held.append(new)
            self._book.put(new)
        elif same_object(known.value, new.value):
            if not set(new.source_event_ids) <= set(known.source_event_ids):
                surer = msgspec.structs.replace(
                    known,
                    strength=round(min(1.0, max(known.strength, new.strength) + AGAIN), 4),
                    source_event_ids=(*known.source_event_ids, *new.source_event_ids)[
                        -MOST_EVENTS:
                    ],
                )
                held[held.index(known)] = surer
                self._book.put(surer)
        elif known.created_at is not None and claim.at < known.created_at:
            title = f"{claim.category}.{claim.key}: {claim.value}"
            self._book.dropped.append(Dropped(title[:200], "older than what is held"))
        else:
            held[held.index(known)] = new
            self._book.decide(
                "supersede",
                (known.preference_id,),
                (new,),
                (new.preference_id,),
                f"{new.category}.{new.key}: {new.value}, not {known.value}",
                {"preference": f"{new.category}.{new.key}", "object": new.value,
                 "ended": [known.value], "by": "newer"},
                namespace,
            )  # fmt: skip

    def procedure(self, claim: ProcedureClaim) -> None:
        if self._procedures is None:
            self._procedures = self._graph.all(self._book.namespace, Procedure)
        steps = tuple(" ".join(step.split())[:1000] for step in claim.steps if step.strip())
        wanted = tuple(step.casefold() for step in steps)
        known = next(
            (p for p in self._procedures if tuple(s.casefold() for s in p.steps) == wanted), None
        )
        successes = claim.successes
        if known is None:
            known = Procedure(
                procedure_id=ids.new_id(ids.PROCEDURE),
                namespace=self._book.namespace,
                name=" ".join(claim.name.split())[:200],
                trigger=" ".join(claim.trigger.split())[:1000],
                steps=steps,
                confidence=claim.confidence,
            )
            self._procedures.append(known)
        elif claim.event_ids and set(claim.event_ids) <= set(known.source_event_ids):
            return
        elif claim.new is not None:
            successes = claim.new  # the others were counted when they were new
        successes += known.successes
        failures = known.failures + claim.failures
        tried = successes + failures
        after = msgspec.structs.replace(
            known,
            successes=successes,
            failures=failures,
            confidence=round((successes + 1) / (tried + 2), 4) if tried else known.confidence,
            last_used=max(filter(None, (known.last_used, claim.at))),
            source_event_ids=(*known.source_event_ids, *claim.event_ids)[-MOST_EVENTS:],
        )
        self._procedures[self._procedures.index(known)] = after
        self._book.put(after)


def _slug(text: str) -> str:
    return "_".join(text.casefold().replace("-", " ").split())
