"""Qwen Code."""

from recollect.hosts.facts import Facts, HookSpec, ModelRun

FACTS = Facts(
    name="qwen",
    title="Qwen Code",
    aliases=("qwen-code", "qwen-cli"),
    verified="0.24.4",
    programs=("qwen",),
    places=(".qwen",),
    headless=("-p", "{}"),
    model_run=ModelRun(route="acp", arguments=("--acp", "--safe-mode"), own_tokens=20_000),
    hooks=(
        HookSpec("SessionStart", timeout_s=10, injects=True),
        HookSpec("UserPromptSubmit", injects=True),
        HookSpec("PostToolUse", injects=True),
        HookSpec("PostToolUseFailure", injects=True),
        HookSpec("Stop"),
        HookSpec("PreCompact"),
        HookSpec("SessionEnd"),
    ),
    shows_message=True,
    project_env=("QWEN_PROJECT_DIR",),
    session_env=("QWEN_CODE_SESSION_ID",),
    transcript_env=("QWEN_HOME",),
)
