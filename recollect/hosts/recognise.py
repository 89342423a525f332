"""Who sent a payload. Some hosts also run hooks that were written for another.

In: the adapter that the hook command names, and the payload. Out: the adapter of the host that
sent it. Asked first are hosts that are recognised by a field of their own, then those recognised
by the shape of the payload; within each by name. Where none says yes, the named one sent it.
"""

from functools import cache

from recollect.hosts import registry
from recollect.hosts.adapter import Adapter
from recollect.hosts.payloads import Payload
from recollect.hosts.reading import Data

ORDER = ("own field", "shape")


def sender(named: Adapter, payload: Payload, data: Data) -> Adapter:
    return next((guest for guest in guests(named.name) if guest.sent(payload, data)), named)


@cache
def guests(name: str) -> tuple[Adapter, ...]:
    """The hosts that run this one's hooks too, in the order in which they are asked."""
    found = [one for one in registry.adapters().values() if name in one.runs_hooks_of]
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.sent_by), one.name)))
