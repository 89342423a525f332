"""GitHub Copilot CLI."""

from recollect.hosts.facts import Facts, HookSpec, ModelRun

FACTS = Facts(
    name="copilot",
    title="GitHub Copilot CLI",
    aliases=("copilot-cli", "github-copilot"),
    verified="1.0.102",
    programs=("copilot",),
    places=(".copilot",),
    variables=("COPILOT_HOME",),
    headless=("-p", "{}"),
    model_run=ModelRun(
        route="acp",
        arguments=(
            *("--acp", "--disable-builtin-mcps", "--no-custom-instructions"),
            *("--disable-mcp-server", "recollect"),
        ),
        own_tokens=11_000,
    ),
    hooks=(
        HookSpec("sessionStart", timeout_s=10, injects=True),
        HookSpec("userPromptSubmitted", injects=True),
        HookSpec("postToolUse", injects=True),
        HookSpec("postToolUseFailure"),
        HookSpec("agentStop"),
        HookSpec("preCompact"),
        HookSpec("sessionEnd"),
    ),
    prompts=("userPromptSubmitted",),
    project_env=("COPILOT_PROJECT_DIR",),
    transcript_env=("COPILOT_HOME",),
)
