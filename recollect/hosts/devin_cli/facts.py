"""Devin CLI (documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="devin-cli",
    title="Devin CLI",
    aliases=("devin",),
    programs=("devin",),
    places=(".config/devin",),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", matcher="*"),
        HookSpec("Stop"),
        HookSpec("SessionEnd"),
    ),
    project_env=("DEVIN_PROJECT_DIR",),
)
