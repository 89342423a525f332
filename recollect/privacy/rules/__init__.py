"""The known shapes of secrets, as data.

In: nothing. Out: `RULES`, one entry per shape, each with its own examples.
What can go wrong: a vendor changes a shape; add the new one beside the old, with its example.
"""

from recollect.privacy.rules.definition import Rule, Vendor
from recollect.privacy.rules.services import SERVICES
from recollect.privacy.rules.tools import TOOLS
from recollect.privacy.rules.vendors import VENDORS

RULES: tuple[Rule, ...] = SERVICES + TOOLS

__all__ = ["RULES", "VENDORS", "Rule", "Vendor"]
