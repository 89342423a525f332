"""The weights of the second embedding model, fetched once where those of the first one are."""

import os

from recollect.embedding import weights


def with_multilingual() -> str:
    """The directory of the models, complete."""
    models = os.environ["RECOLLECT_MODEL_DIR"]
    assert weights.fetch(models, name=weights.MULTILINGUAL).ready
    return models
