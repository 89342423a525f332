"""Antigravity CLI, which follows Gemini CLI (documented, not run).

Sources differ about its hooks: only those after a tool were seen to run, by others, and they name
no prompt. Memory comes by MCP and rules.
"""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="antigravity-cli",
    title="Antigravity CLI",
    aliases=("antigravity", "agy"),
    programs=("agy",),
    places=(".gemini/antigravity-cli", ".gemini/config"),
    hooks=(HookSpec("PostToolUse", matcher=""),),
    starts=(),
    prompts=(),
)
