"""Kiro CLI 2.x and 3 (documented, not run)."""

from recollect.hosts.facts import Facts, HookSpec

# The agents that provider acp runs, and their model.
COMPRESSOR = "recollect-compressor"
RECONCILER = "recollect-reconciler"
MODEL = "claude-haiku-4.5"

FACTS = Facts(
    name="kiro-cli",
    title="Kiro CLI",
    aliases=("kiro", "q", "amazon-q"),
    programs=("kiro-cli",),
    places=(".kiro/agents",),
    hooks=(
        HookSpec("agentSpawn", timeout_s=10, injects=True),
        HookSpec("userPromptSubmit", injects=True),
        HookSpec("postToolUse", matcher="*"),
        HookSpec("stop"),
    ),
    starts=("agentSpawn",),
    prompts=("userPromptSubmit",),
)
