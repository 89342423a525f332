"""A host that Recollect does not know: store what can be read, answer nothing.

In: any payload. Out: captures, by the names that the known hosts give to events and fields.
"""

from recollect.hosts.adapter import Adapter
from recollect.hosts.facts import Facts


class UnknownHost(Adapter):
    session_fields = (*Adapter.session_fields, "conversation_id", "trajectory_id", "taskId")
    injects_prompt = False

    def __init__(self, given: str) -> None:
        """Under the given name, as far as it can be one."""
        letters = (letter for letter in given.lower() if letter.isalnum() or letter in "-_.")
        name = "".join(letters)[:64] or "unknown"
        super().__init__(Facts(name=name, title=name))
