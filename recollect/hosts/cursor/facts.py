"""Cursor (documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="cursor",
    title="Cursor",
    aliases=("cursor-ide", "cursor-agent"),
    programs=("cursor", "cursor-agent"),
    places=(".cursor",),
    hooks=(
        HookSpec("sessionStart", timeout_s=10, injects=True),
        # Taken by the client of 2026-07, ignored by older ones.
        HookSpec("beforeSubmitPrompt", injects=True),
        HookSpec("afterFileEdit"),
        # Instead of afterShellExecution, whose answer Cursor does not take.
        HookSpec("postToolUse", injects=True, matcher="Shell"),
        HookSpec("postToolUseFailure", matcher="Shell"),
        HookSpec("afterMCPExecution"),
        HookSpec("afterAgentResponse"),
        HookSpec("preCompact"),
        HookSpec("stop"),
        HookSpec("sessionEnd"),
    ),
    prompts=("beforeSubmitPrompt",),
    project_env=("CURSOR_PROJECT_DIR",),
    other_env=("CURSOR_VERSION",),
)
