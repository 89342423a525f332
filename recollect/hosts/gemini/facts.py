"""Gemini CLI."""

from recollect.hosts.facts import Facts, HookSpec, ModelRun

FACTS = Facts(
    name="gemini",
    title="Gemini CLI",
    aliases=("gemini-cli",),
    verified="0.61.0",
    programs=("gemini",),
    places=(".gemini",),
    variables=("GEMINI_CLI_HOME",),
    headless=("-p", "{}"),
    model_run=ModelRun(
        route="acp",
        arguments=(
            *("--acp", "--skip-trust", "-e", "none", "--allowed-mcp-server-names", "none"),
            *("--approval-mode", "plan"),
        ),
        model="gemini-2.5-flash-lite",
        own_tokens=9_000,
    ),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("BeforeAgent", injects=True),
        HookSpec("AfterTool", injects=True, matcher="*"),
        HookSpec("AfterAgent"),
        HookSpec("SessionEnd"),
    ),
    prompts=("BeforeAgent",),
    shows_message=True,
    project_env=("GEMINI_PROJECT_DIR",),
    session_env=("GEMINI_SESSION_ID",),
    transcript_env=("GEMINI_CLI_HOME",),
)
