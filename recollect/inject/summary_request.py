"""The line that asks an agent, once a session, for a summary before its host compacts.

In: a draft of a prompt, and the host's file of its session. Out: one line of fixed wording, for an
agent that has our tools and whose context is nearly full, or nothing. Receipts remember which
sessions were asked; what is known of the windows of models is in memory: after a restart of the
daemon a session with a large window may be asked early, never twice.
"""

import threading
from collections import OrderedDict

from recollect.capture.foreign import SUMMARY_REQUEST
from recollect.core.settings import Settings
from recollect.core.text_words import count_tokens
from recollect.core.tuning import SUMMARY_REQUESTS
from recollect.hosts import hooks
from recollect.hosts.payloads import ContextSize
from recollect.ingest.origins import FileEnds
from recollect.inject.draft import Draft
from recollect.inject.hints import HaveTools
from recollect.store.interface import Store

ASKED = "summary_request"  # in a receipt: the line went with its text
# What hosts write between the last answer and a prompt is shorter in 1,591 of 1,599 prompts.
TAIL = 128 << 10
_SESSIONS = 500
_MODELS = 100


class ContextLimits:
    """With how many tokens hosts compact. A host that does not say it for a session has the
    smallest window that holds what was seen of its model. It may run one model with two windows:
    then the smaller one is asked too late, or not at all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._largest: dict[tuple[str, str], int] = {}  # context seen, by host and model

    def of(self, host: str, size: ContextSize) -> int:
        """Called with every size that is seen, it learns."""
        if size.compacts_at:
            return size.compacts_at
        key = host, size.model
        with self._lock:
            if len(self._largest) > _MODELS:
                self._largest.clear()
            seen = self._largest[key] = max(size.tokens, self._largest.get(key, 0))
        limits = hooks.adapter(host).compacts_at
        fitting = (one for one in limits if seen <= one * SUMMARY_REQUESTS.above)
        return next(fitting, limits[-1])

    def nearly_full(self, host: str, size: ContextSize) -> int:
        """The tokens with which it will be compacted, when that is near; else 0."""
        limit = self.of(host, size)
        return limit if size.tokens >= SUMMARY_REQUESTS.full * limit else 0


class SummaryRequest:
    def __init__(self, store: Store, settings: Settings, have_tools: HaveTools) -> None:
        self._store = store
        self._most_tokens = settings.prompt_tokens
        self._have_tools = have_tools
        self._files = FileEnds()
        self._lock = threading.Lock()
        self._asked: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._limits = ContextLimits()

    def add_to(self, draft: Draft) -> None:
        """Put the line on a draft, with a note for the receipt. Only a hook's prompt that was
        stored just now names a file, so it is none of a private session."""
        question = draft.question
        if question.trigger != "prompt":
            return
        if not question.size_file or not self._have_tools(question.namespaces[0]):
            return
        end = self._files.end_of(question.size_file, TAIL)
        size = hooks.adapter(question.host).context_size(end) if end else None
        limit = self._limits.nearly_full(question.host, size) if size else 0
        if size is None or not limit:
            return
        if count_tokens(draft.hint) + count_tokens(SUMMARY_REQUEST) > self._most_tokens:
            return
        if self._was_asked(question.namespaces[0], question.session_id):
            return
        draft.summary_request = SUMMARY_REQUEST
        draft.notes[ASKED] = {"tokens": size.tokens, "compacts_at": limit}

    def given(self, draft: Draft) -> None:
        """The line went to the agent."""
        self._remember(draft.question.namespaces[0], draft.question.session_id)

    def _was_asked(self, namespace: str, session_id: str) -> bool:
        with self._lock:
            if (namespace, session_id) in self._asked:
                return True
        before = None
        while True:  # once a session, when it is first full; receipts remember after a restart
            page = self._store.receipts.page(namespace, session_id=session_id, before=before)
            if any(isinstance(one.detail, dict) and ASKED in one.detail for one in page.items):
                self._remember(namespace, session_id)
                return True
            before = page.next
            if before is None:
                return False

    def _remember(self, namespace: str, session_id: str) -> None:
        with self._lock:
            self._asked[namespace, session_id] = None
            while len(self._asked) > _SESSIONS:
                self._asked.popitem(last=False)
