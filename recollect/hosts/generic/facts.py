"""Any other agent that reads a rules file and runs MCP servers (not run)."""

from recollect.hosts.facts import Facts

FACTS = Facts(
    name="generic",
    title="Other agents (MCP and a rules file)",
    aliases=("agents-md", "amp", "crush", "goose", "junie", "vscode", "zed"),
    starts=(),
    prompts=(),
)
