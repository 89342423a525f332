"""Extraction by rules: provider `none`, the default. Deterministic, and nothing leaves the machine.

In: a batch of events. Out: an Extraction. `extractor.py` connects the parts: `turns.py` reads a
session, `prose.py` finds its sentences, `sentence_ranker.py` those worth keeping, `outcome.py` the
result of a turn, `statements.py` what somebody stated. The patterns are data in `patterns.py`.
"""
