"""Auggie: read from its documentation and its program, not run: it needs an account.

A prompt's hook is answered by nobody: memories come at the start and after tools.
"""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="auggie",
    title="Auggie",
    aliases=("augment", "auggie-cli"),
    programs=("auggie",),
    places=(".augment",),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("PromptSubmit"),
        HookSpec("PostToolUse", injects=True, matcher=".*"),
        HookSpec("Stop"),
        HookSpec("SessionEnd"),
    ),
    prompts=("PromptSubmit",),
    project_env=("AUGMENT_PROJECT_DIR",),
    session_env=("AUGMENT_CONVERSATION_ID",),
)
