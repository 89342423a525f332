"""The hook file of Kiro IDE 1.x and Kiro CLI 3, which both read: one file of ours for both.

In: a context. Out: a piece. Which of the two has run it is told by the payload (see the adapters).
"""

import os

from recollect.hosts import registry
from recollect.hosts.context import Context
from recollect.hosts.installer import server_file
from recollect.hosts.pieces import Default, Elements, JsonFile

HOST = "kiro-ide"


def hook_file(context: Context) -> JsonFile:
    hooks = Elements(
        ("hooks",),
        tuple(
            {
                "name": f"recollect-{hook.event}",
                "trigger": hook.event,
                **hook.matched,
                "action": {"type": "command", "command": context.hook(HOST, hook.event)},
                "timeout": hook.timeout_s,
                "enabled": True,
            }
            for hook in registry.facts()[HOST].hooks
        ),
    )
    path = os.path.join(context.folder(".kiro"), "hooks", "recollect.json")
    why = "hooks that capture and recall"
    return JsonFile(path, why, (Default(("version",), "v1"), hooks))


def servers(context: Context) -> JsonFile:
    path = os.path.join(context.folder(".kiro"), "settings", "mcp.json")
    return server_file(path, context, allow="autoApprove", disabled=False)
