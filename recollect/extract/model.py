"""Extraction by a language model, in up to three attempts.

In: a batch, and what a model wrote of the same sessions before. Out: an Extraction. After three
unreadable answers ExtractionFailed is raised; a provider that does not answer raises its own error.
Nothing is written.
"""

import logging
from collections.abc import Callable, Sequence

from recollect.core.errors import ExtractionFailed
from recollect.core.kinds import RecordKind
from recollect.core.values import Record
from recollect.extract.entries import Entry, cut, entries, fit_to_size
from recollect.extract.interface import Extraction
from recollect.extract.model_answer import UnreadableAnswer, parse
from recollect.extract.model_prompt import SYSTEM, batch_prompt
from recollect.llm.base import ModelRequest, Provider
from recollect.store.interface import Batch, RecordFilter, Records

log = logging.getLogger(__name__)

ATTEMPTS = 3
TIMEOUT_S = 60.0
PROMPT_CHARS = 256 << 10
MOST_KNOWN = 30  # of a session; the newest
_KINDS: tuple[RecordKind, ...] = ("observation", "knowledge")

Condense = Callable[[str, list[Entry]], tuple[str, list[Entry]]]


class ModelExtractor:
    """An Extractor. `condense` shortens an oversized batch before it is sent; `known` finds what
    was written of its sessions before."""

    def __init__(
        self,
        provider: Provider,
        condense: Condense | None = None,
        known: Callable[[Batch], Sequence[Record]] = lambda batch: (),
    ) -> None:
        self._provider = provider
        self._condense = condense
        self._known = known

    def extract(self, batch: Batch) -> Extraction:
        shown = entries(batch.events)
        earlier = ""
        if self._condense is not None and sum(one.size for one in shown) > PROMPT_CHARS:
            earlier, shown = self._condense(batch.namespace, shown)
        known = self._known(batch)
        prompt = batch_prompt(fit_to_size(cut(shown), PROMPT_CHARS), earlier, known)
        for attempt in range(1, ATTEMPTS + 1):
            request = ModelRequest(
                namespace=batch.namespace,
                purpose="extract",
                system=SYSTEM,
                prompt=prompt,
                timeout_s=TIMEOUT_S,
            )
            try:
                return parse(self._provider.complete(request).text, batch, known)
            except UnreadableAnswer:
                log.warning("extraction: attempt %d of %d was unreadable", attempt, ATTEMPTS)
        raise ExtractionFailed(f"{self._provider.name} gave {ATTEMPTS} unreadable answers")


def known_memories(records: Records, batch: Batch) -> Sequence[Record]:
    """What a model wrote of these sessions before, and nobody has changed since."""
    found = [
        record
        for session_id in dict.fromkeys(one.event.session_id for one in batch.events)
        for kind in _KINDS
        for record in records.page(
            batch.namespace, RecordFilter(kind=kind, session_id=session_id), limit=MOST_KNOWN
        ).items
        if record.strategy == "llm-summary" and record.version == 1 and not record.pinned
    ]
    return sorted(found, key=lambda one: (one.valid_from, one.record_id))[-MOST_KNOWN:]
