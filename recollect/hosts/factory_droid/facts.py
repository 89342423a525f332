"""Factory Droid (documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="factory-droid",
    title="Factory Droid",
    aliases=("droid", "factory"),
    programs=("droid",),
    places=(".factory",),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", matcher="*"),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("SessionEnd"),
    ),
    project_env=("FACTORY_PROJECT_DIR",),
)
