"""Devin Desktop, which was Windsurf until 2026-06 (documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="windsurf",
    title="Devin Desktop (Windsurf)",
    aliases=("cascade", "devin-desktop"),
    programs=("windsurf", "devin-desktop"),
    places=(".codeium/windsurf",),
    hooks=(
        HookSpec("pre_user_prompt"),
        HookSpec("post_write_code"),
        HookSpec("post_run_command"),
        HookSpec("post_mcp_tool_use"),
        HookSpec("post_cascade_response"),
    ),
    starts=(),
    prompts=("pre_user_prompt",),
)
