"""Extraction by rules: provider `none`, the default. Deterministic, and nothing leaves the machine.

In: a batch of events. Out: an Extraction. `extractor.py` puts it together; `turns.py` reads a
session, `prose.py` its words; `outcome.py` says what came of a turn, `statements.py` what was
stated; the patterns are data in `patterns.py`.
"""

from recollect.extract.rules.extractor import RulesExtractor
from recollect.extract.rules.store_reads import RuleReads, StoreReads

__all__ = ["RuleReads", "RulesExtractor", "StoreReads"]
