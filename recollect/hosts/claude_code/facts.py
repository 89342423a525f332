"""Claude Code."""

from recollect.hosts.facts import Facts, HookSpec, ModelRun

FACTS = Facts(
    name="claude-code",
    title="Claude Code",
    aliases=("claude", "claudecode", "claude_code"),
    verified="2.1.326",
    programs=("claude",),
    places=(".claude",),
    variables=("CLAUDE_CONFIG_DIR",),
    headless=("-p", "{}"),
    model_run=ModelRun(
        route="json",
        arguments=(
            *("-p", "--output-format", "json", "--setting-sources", "", "--strict-mcp-config"),
            *("--tools", "", "--no-session-persistence", "--system-prompt", "{system}"),
        ),
        model="claude-haiku-5-5",
        own_tokens=1500,
        without=(
            *("ANTHROPIC_API_KEY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"),
            "CLAUDE_CODE_SSE_PORT",
        ),
        places=("~/.local/bin/claude", "~/.claude/local/claude"),
    ),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", injects=True),
        HookSpec("PostToolUseFailure", injects=True),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("PostCompact"),
        HookSpec("SessionEnd"),
    ),
    shows_message=True,
    project_env=("CLAUDE_PROJECT_DIR",),
    session_env=("CLAUDE_CODE_SESSION_ID",),
    other_env=("CLAUDECODE",),  # set in everything that Claude Code starts
    transcript_env=("CLAUDE_CONFIG_DIR",),
)
