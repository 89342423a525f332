"""Cline (hosts.md 8; documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="cline",
    title="Cline",
    aliases=("cline-vscode",),
    programs=("cline",),
    places=(".cline", "Documents/Cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"),
    hooks=(
        HookSpec("TaskStart", timeout_s=10, injects=True),
        HookSpec("TaskResume", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse"),
        HookSpec("PreCompact"),
        HookSpec("TaskComplete"),
        HookSpec("TaskCancel"),
    ),
    starts=("TaskStart", "TaskResume"),
)
