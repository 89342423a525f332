"""Checkpoints as extraction stores them, in a transaction of their own."""

from recollect.core.values import Checkpoint
from recollect.store.interface import Store


def put_checkpoint(store: Store, checkpoint: Checkpoint) -> Checkpoint:
    return store.transaction(lambda tx: tx.put_checkpoint(checkpoint))
