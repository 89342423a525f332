"""Kiro IDE 1.x, hook files (documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="kiro-ide",
    title="Kiro IDE",
    aliases=("kiroide",),
    programs=("kiro",),
    places=(".config/Kiro", "Library/Application Support/Kiro"),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", matcher=".*"),
        HookSpec("Stop"),
    ),
    prompts=("UserPromptSubmit", "promptSubmit"),
    other_env=("USER_PROMPT",),
)
