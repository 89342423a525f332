"""Continue's `cn`, its program read: 1.5.47 loads hooks and runs none of them yet."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="continue-cli",
    title="Continue",
    aliases=("continue", "cn"),
    programs=("cn",),
    places=(".continue",),
    variables=("CONTINUE_GLOBAL_DIR",),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", injects=True),
        HookSpec("PostToolUseFailure", injects=True),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("SessionEnd"),
    ),
    project_env=("CONTINUE_PROJECT_DIR",),
    transcript_env=("CONTINUE_GLOBAL_DIR",),
)
