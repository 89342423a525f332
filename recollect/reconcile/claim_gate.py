"""Keeps empty claims out of the graph.

In: claims. Out: why a claim is kept out; empty when it is not. Tables and rules, no model.
"""

from recollect.core.entity_keys import key, says_nothing
from recollect.extract.interface import (
    ChangeClaim,
    FactClaim,
    PreferenceClaim,
    ProcedureClaim,
    RelationClaim,
)
from recollect.extract.normalised_text import word_set
from recollect.reconcile.contradict import predicate

MOST_OBJECT = 400
_EMPTY_PREDICATES = word_set(
    """is are was were be been has have had do does did get gets got go goes make makes made can
    could will would should may might need needs want wants see sees say says said mention mentions
    mentioned mentioned_in relates_to related_to related associated_with about of in on at with is_a
    is_an thing property attribute value exists appears contains_text other unknown"""
)


def why_not(
    claim: FactClaim | ChangeClaim | RelationClaim | PreferenceClaim | ProcedureClaim,
) -> str:
    """Why a claim may not enter the graph; empty when it may."""
    if isinstance(claim, ChangeClaim):
        return ""  # it is judged as the fact that it turns out to be
    if isinstance(claim, FactClaim):
        return _fact(claim)
    if isinstance(claim, RelationClaim):
        if says_nothing(claim.source) or says_nothing(claim.target):
            return "names nothing"
        if key(claim.source) == key(claim.target):
            return "of itself"
        return "empty predicate" if predicate(claim.type) in _EMPTY_PREDICATES else ""
    if isinstance(claim, PreferenceClaim):
        if claim.source_type not in ("stated", "corrected"):
            return "not the user's own words"
        return "" if claim.key.strip() and claim.value.strip() else "says nothing"
    steps = [step for step in claim.steps if step.strip()]
    return "" if len(steps) >= 2 and claim.name.strip() else "too few steps"


def _fact(claim: FactClaim) -> str:
    said = " ".join(claim.object.split())
    if says_nothing(claim.subject):
        return "names nothing"
    if predicate(claim.predicate) in _EMPTY_PREDICATES or not claim.predicate.strip():
        return "empty predicate"
    if not said or len(said) > MOST_OBJECT or not any(char.isalnum() for char in said):
        return "says nothing"
    if key(said) == key(claim.subject):
        return "of itself"
    return ""
