"""The shipped weights tell idle prompts from others, with the real model."""

import os

from recollect.embedding.embedder import Embedder
from recollect.inject.speaking import idleness

# Not among the prompts that the weights were fitted on.
IDLE = ("ok", "go on then", "1", "thx a lot", "yep do that", "nah, leave it", "weiter bitte")
TOPIC = (
    "how does undo work?",
    "where do we handle errors?",
    "the export to Excel loses umlauts",
    "cache the geocoder's answers for a day",
    "which queue do invoices go through?",
)


def test_the_weights_fit_the_model() -> None:
    embedder = Embedder(os.environ["RECOLLECT_MODEL_DIR"], timeout=60)
    idle = [idleness(text, embedder.embed([text])[0]) for text in IDLE]
    topic = [idleness(text, embedder.embed([text])[0]) for text in TOPIC]
    assert all(value > 0.5 for value in idle), list(zip(IDLE, idle, strict=True))
    assert all(value < 0.5 for value in topic), list(zip(TOPIC, topic, strict=True))
