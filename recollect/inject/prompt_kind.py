"""What kind of prompt it is: one about the past, or one that only carries the conversation on.

In: a prompt, and its vector if there is one. Out: features for `speaking`, which decides.
"""

import math
import os
import re
from functools import cache
from typing import Any

from recollect.core import safe_files
from recollect.core.text_words import STOP_WORDS
from recollect.retrieve.query import parse

_WEIGHTS = os.path.join(os.path.dirname(__file__), "idle_prompts.f32")
_WEIGHT_BYTES = 4 * 385
_PAST = re.compile(
    r"\b(?:remember (?:when|how|what|that|the|our|why)|do you (?:remember|recall)"
    r"|recall (?:when|how|what|why)|(?:what|how|why|where|when|which \w{1,30}) did (?:we|i|you)"
    r"|remind me|where (?:we|i) (?:left|were|stopped)|where (?:were|was) (?:we|i)"
    r"|last time|the other (?:day|time)|(?:we|i) (?:already|previously)"
    r"|as we (?:did|decided|discussed)|earlier (?:we|you|today|this week)"
    r"|have we (?:ever|already)|did we (?:ever|already|decide|agree|settle|choose)|when did)\b",
    re.IGNORECASE,
)
_PUBLISHING = frozenset(
    ("commit", "push", "merge", "rebase", "tag", "pr", "pull", "request", "branch", "message",
     "open", "create", "changes", "please", "now", "ok", "yes")
)  # fmt: skip
# Words that a question about the past may hold and that name nothing to look for.
_ABOUT_TIME = frozenset(
    ("leave", "left", "off", "stop", "stopped", "work", "working", "worked", "do", "doing", "done",
     "yesterday", "today", "session", "last", "time", "again", "week", "morning", "please", "pick",
     "continue", "start", "back", "things", "stuff")
)  # fmt: skip


def asks_about_past(text: str) -> bool:
    return _PAST.search(text[:4000]) is not None


def names_nothing(text: str) -> bool:
    """Whether a question about the past names nothing to look for ("where were we?")."""
    rest = _PAST.sub(" ", text[:4000])
    return all(word in STOP_WORDS or word in _ABOUT_TIME for word in parse(rest).words)


def only_publishes(text: str) -> bool:
    """Whether a prompt asks to commit or publish what was done, and nothing else: then the work is
    over."""
    own = [word for word in parse(text[:1000]).words if word not in STOP_WORDS]
    return bool(own) and all(word in _PUBLISHING for word in own)


def idleness(text: str, vector: Any) -> float:
    """Between 0 and 1: how likely a prompt only carries the conversation on ("ok, go on"). By its
    meaning, with weights that `tests/bench/fit_idle_prompts.py` fits on labelled prompts; without
    a vector, by how many words mean something."""
    if vector is None:
        words = parse(text[:1000]).words
        own = [word for word in words if word not in STOP_WORDS and len(word) > 1]
        return {0: 1.0, 1: 0.6}.get(len(own), 0.0)
    weights = _weights()
    return 1 / (1 + math.exp(-(float(vector @ weights[:-1]) + float(weights[-1]))))


@cache
def _weights() -> Any:
    import numpy as np

    return np.frombuffer(safe_files.read_whole(_WEIGHTS, _WEIGHT_BYTES), dtype="<f4")
