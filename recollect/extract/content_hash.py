"""Content hashes: by which two memories are known to be the same, whatever their ids.

In: a memory. Out: its hash, by the recipe of the way it came. Each way has its own, so that a
memory is only ever taken for the same as one that came by the same way.
"""

import hashlib

from recollect.core.values import Record, encode
from recollect.extract.normalised_text import hash_of_words

REASON = "Reason: "


def hash_of_memory(record: Record) -> str:
    """Of what people and agents write: the same words of the same kind, whatever the spacing and
    the reason given for them. Small words count, unlike in `hash_of_words` of what is
    extracted."""
    facts = (one for one in record.facts if not one.startswith(REASON))
    said = (record.title, record.summary, record.detail, *facts)
    text = [record.kind, record.observation_type, record.knowledge_type,
            *(" ".join(one.split()) for one in said)]  # fmt: skip
    return hashlib.blake2b(encode(text), digest_size=16).hexdigest()


def hash_of_import(record: Record) -> str:
    """Of what is imported: exactly the same texts, from whatever program, are one memory. It must
    not change, or what was imported before would be imported again."""
    said = [record.title, record.summary, record.detail, record.facts]
    return hashlib.blake2b(encode(said), digest_size=16).hexdigest()


def checked_hash(record: Record) -> str:
    """The hash that a memory brings along if it fits its texts, else the right one."""
    by_words = hash_of_words(record.title, record.summary)
    right = {"user": hash_of_memory(record), "import": hash_of_import(record)}
    others = (
        by_words,
        hash_of_words(record.title),  # a statement
        hash_of_words("summary", record.title, record.summary),  # of a session
        "",
    )
    if record.content_hash in (*right.values(), *others):
        return record.content_hash
    return right.get(record.strategy, by_words)
