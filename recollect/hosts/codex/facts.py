"""Codex CLI."""

from recollect.hosts.facts import Facts, HookSpec, ModelRun

FACTS = Facts(
    name="codex",
    title="Codex CLI",
    aliases=("codex-cli", "openai-codex"),
    verified="0.169.0",
    programs=("codex",),
    places=(".codex",),
    variables=("CODEX_HOME",),
    headless=("exec", "--skip-git-repo-check", "{}"),
    model_run=ModelRun(
        route="json lines",
        arguments=(
            *("exec", "--skip-git-repo-check", "--ephemeral", "--disable", "hooks", "--json"),
            *("-s", "read-only", "-"),
        ),
        servers=("CODEX_HOME", ".codex", "config.toml"),
        server_arguments=("-c", "mcp_servers.{}.enabled=false"),
        own_tokens=11_000,
    ),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", injects=True),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("SessionEnd", timeout_s=3),  # Codex 0.166 warns at every start when it is more
    ),
    transcript_env=("CODEX_HOME",),
)
