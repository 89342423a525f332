"""Cline: the CLI as seen, the extension as documented.

The CLI reports no prompt and takes nothing before its first tool, with a terminal or without.
"""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="cline",
    title="Cline",
    aliases=("cline-vscode",),
    verified="3.0.65",
    programs=("cline",),
    places=(".cline", "Documents/Cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"),
    hooks=(
        HookSpec("TaskStart", timeout_s=10, injects=True),
        HookSpec("TaskResume", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PreToolUse", injects=True),
        HookSpec("PostToolUse", injects=True),
        HookSpec("PreCompact"),
        HookSpec("TaskComplete"),
        HookSpec("TaskCancel"),
        HookSpec("SessionShutdown"),
    ),
    starts=("TaskStart", "TaskResume"),
    injects_at_prompt=False,
)
