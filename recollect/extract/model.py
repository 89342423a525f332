"""Extraction by a language model, in up to three attempts.

In: a batch. Out: an Extraction. After three unreadable answers ExtractionFailed is raised; a
provider that does not answer raises its own error. Nothing is written.
"""

import logging
from collections.abc import Callable

from recollect.core.errors import ExtractionFailed
from recollect.extract.entries import Entry, entries, fit_to_size
from recollect.extract.interface import Extraction
from recollect.extract.model_answer import UnreadableAnswer, parse
from recollect.extract.model_prompt import SYSTEM, batch_prompt
from recollect.llm.base import ModelRequest, Provider
from recollect.store.interface import Batch

log = logging.getLogger(__name__)

ATTEMPTS = 3
TIMEOUT_S = 60.0
PROMPT_CHARS = 256 << 10

Condense = Callable[[str, list[Entry]], tuple[str, list[Entry]]]


class ModelExtractor:
    """An Extractor. `condense` shortens an oversized batch before it is sent."""

    def __init__(self, provider: Provider, condense: Condense | None = None) -> None:
        self._provider = provider
        self._condense = condense

    def extract(self, batch: Batch) -> Extraction:
        shown = entries(batch.events)
        earlier = ""
        if self._condense is not None and sum(one.size for one in shown) > PROMPT_CHARS:
            earlier, shown = self._condense(batch.namespace, shown)
        prompt = batch_prompt(fit_to_size(shown, PROMPT_CHARS), earlier)
        for attempt in range(1, ATTEMPTS + 1):
            request = ModelRequest(
                namespace=batch.namespace,
                purpose="extract",
                system=SYSTEM,
                prompt=prompt,
                timeout_s=TIMEOUT_S,
            )
            try:
                return parse(self._provider.complete(request).text, batch)
            except UnreadableAnswer:
                log.warning("extraction: attempt %d of %d was unreadable", attempt, ATTEMPTS)
        raise ExtractionFailed(f"{self._provider.name} gave {ATTEMPTS} unreadable answers")
