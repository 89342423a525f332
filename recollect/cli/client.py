"""The commands' way to the daemon; `recollect.client` is the whole of it."""

from recollect.client import TIMEOUT_S, Client, NotRunning, Refused

__all__ = ["TIMEOUT_S", "Client", "NotRunning", "Refused"]
