"""Whether words that an agent quotes are the user's: found in a prompt of a session that runs.

In: a quotation, the namespace where the agent works. Out: the prompt that holds it, or None. What
the user pasted (code, logs, quoted lines) is not the user's own. An agent does not know its
session, so every session counts that runs in its project; that is still the user typing there.
"""

import re
import unicodedata
from dataclasses import dataclass
from datetime import timedelta

from recollect.core.values import IMPORTED, IMPORTED_FOR_MODEL, Event, TextBody
from recollect.extract.rules import prose
from recollect.extract.statement_match import Words, word_hashes
from recollect.service.runtime import ServiceRuntime

RUNNING = timedelta(hours=12)  # a session that was silent for longer does not run any more
PROMPTS = 200  # the newest of a project, among which a quotation is looked for
LEAST_WORDS = 3
LEAST_WIDE = 6  # characters, in scripts that put no space between words
_WORD = re.compile(r"\w+")
_WIDE = "\u2e80"


@dataclass(frozen=True)
class UserPrompt:
    """What the user typed, without what was pasted."""

    event_id: str
    session_id: str
    text: str

    @property
    def words(self) -> Words:
        return word_hashes(self.text)


def find_prompt(runtime: ServiceRuntime, namespace: str, quote: str) -> UserPrompt | None:
    """The newest prompt that holds these words, whatever their case, spacing and punctuation."""
    wanted = _normal(quote)
    store, running = runtime.visible_store, dict[str, bool]()
    for stored in store.events.page(namespace, kind="prompt", limit=PROMPTS).items:
        event = stored.event
        if event.session_id not in running:
            running[event.session_id] = _runs(runtime, event)
        if not running[event.session_id] or not isinstance(event.body, TextBody):
            continue
        said = " ".join(prose.lines(event.body.content))
        if _holds(_normal(said), wanted):
            return UserPrompt(event.event_id, event.session_id, said)
    return None


def _runs(runtime: ServiceRuntime, event: Event) -> bool:
    if event.source.client_id in (IMPORTED, IMPORTED_FOR_MODEL):
        return False
    session = runtime.store.sessions.get(event.namespace, event.session_id)
    return (
        session is not None
        and session.status == "active"
        and runtime.clock.now() - session.last_event_at < RUNNING
    )


def _normal(text: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _holds(said: str, quote: str) -> bool:
    """A few words, or all that was said."""
    wide = sum(char >= _WIDE for char in quote)
    enough = quote.count(" ") + 1 >= LEAST_WORDS or wide >= LEAST_WIDE
    if wide:
        return enough and quote in said
    return bool(quote) and ((enough and f" {quote} " in f" {said} ") or quote == said)
