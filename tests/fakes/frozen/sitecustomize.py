"""Put first on PYTHONPATH: an extraction worker that never ends on one word, and holds its
interpreter meanwhile, as a careless pattern did. No other process is touched."""

import re
import sys

WORD = "FREEZE-ME"

if "recollect.extract.rules_worker_main" in sys.orig_argv:
    from recollect.extract.rules import claims

    facts = claims.facts

    def freezing(turn, fresh):  # type: ignore[no-untyped-def]
        if any(WORD in text for _, text in turn.prompts):
            re.match("(a+)+$", "a" * 64 + "b")
        return facts(turn, fresh)

    claims.facts = freezing
