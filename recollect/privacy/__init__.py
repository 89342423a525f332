"""Text in, clean text out: without private spans and secrets. Standard library only."""

from recollect.privacy.scrubbing import PRIVATE, scrub, scrub_raw, scrub_tree

__all__ = ["PRIVATE", "scrub", "scrub_raw", "scrub_tree"]
