"""pi: no hooks and no MCP, but extensions."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="pi",
    title="pi",
    aliases=("pi-coding-agent", "pi-agent"),
    verified="0.87.1",
    programs=("pi",),
    places=(".pi/agent",),
    variables=("PI_CODING_AGENT_DIR",),
    headless=("-p", "{}"),
    hooks=(
        HookSpec("SessionStart", timeout_s=1, injects=True),
        HookSpec("UserPromptSubmit", timeout_s=1, injects=True),
        HookSpec("PostToolUse", timeout_s=1, injects=True),
        HookSpec("PostToolUseFailure", timeout_s=1, injects=True),
        HookSpec("Stop", timeout_s=1),
        HookSpec("PreCompact", timeout_s=1),
        HookSpec("SessionEnd", timeout_s=1),
    ),
    transcript_env=("PI_CODING_AGENT_DIR",),
)
