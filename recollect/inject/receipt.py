"""Last stage: what was told and why, as a receipt.

In: a draft and the text that was made of it. Out: a `Receipt`. It keeps the very text and every
line that was found, with the parts of its score and the reason why it was left out.
"""

from datetime import datetime
from typing import Any

from recollect.core import ids
from recollect.core.text_words import count_tokens
from recollect.core.values import Receipt
from recollect.inject import render
from recollect.inject.draft import BriefLine, Draft
from recollect.inject.receipts import TEXT_KEPT

MOST_LINES = 60
QUERY_KEPT = 2000
FOUND = 4


def make_receipt(
    draft: Draft, text: str, injected: tuple[str, ...], latency_us: int, now: datetime
) -> Receipt:
    question = draft.question
    memories = [line for line in draft.lines if line.record is not None]
    others = [line for line in draft.lines if line.record is None]
    chosen = set(injected)
    return Receipt(
        receipt_id=ids.new_id(ids.RECEIPT),
        namespace=question.namespaces[0],
        session_id=question.session_id,
        event_id=question.event_id,
        trigger=question.trigger,
        query=question.text[:QUERY_KEPT],
        injected=injected,
        detail={
            "text": text[:TEXT_KEPT],
            "candidates": [_memory(line, chosen) for line in memories[:MOST_LINES]],
            "known": [_other(line, told=bool(text)) for line in others[:MOST_LINES]],
            "told": list(told_by(draft)) if text else [],
            "stages_us": draft.stages,
            "confidence": round(draft.confidence, FOUND),
            "idle": round(draft.idle, FOUND),
            **draft.notes,
        },
        tokens=count_tokens(text),
        latency_us=latency_us,
        created_at=now,
    )


def told_by(draft: Draft) -> dict[str, None]:
    """What the session need not be told again."""
    return dict.fromkeys(key for line in draft.kept for key in line.told_as)


def _memory(line: BriefLine, chosen: set[str]) -> dict[str, Any]:
    assert line.record is not None
    return {
        "record_id": line.id,
        "title": "" if line.sensitive else line.record.title,
        "score": round(line.score, FOUND),
        "chance": round(line.chance, FOUND),
        "parts": line.parts,
        "injected": line.id in chosen,
        "freshness": line.record.freshness,
        "why_not": line.why_not,
    }


def _other(line: BriefLine, *, told: bool) -> dict[str, Any]:
    return {
        "id": line.id,
        "kind": line.section,
        "text": "" if line.sensitive else render.forms(line, as_sections=True)[0],
        "score": round(line.score, FOUND),
        "chance": round(line.chance, FOUND),
        "why": line.why,
        "injected": told and not line.why_not,
        "why_not": line.why_not,
    }
