"""OpenCode."""

from recollect.hosts.facts import Facts, HookSpec, ModelRun

FACTS = Facts(
    name="opencode",
    title="OpenCode",
    aliases=("open-code",),
    verified="1.18.33",
    programs=("opencode",),
    places=(".config/opencode",),
    headless=("run", "{}"),
    model_run=ModelRun(
        route="acp",
        arguments=("acp", "--pure"),
        model_arguments=(),
        own_tokens=2_500,
        env=(
            (
                "OPENCODE_CONFIG_CONTENT",
                '{"mcp": {"recollect": {"type": "local", "command": ["true"], "enabled": false}},'
                ' "tools": {"*": false}}',
            ),
        ),
    ),
    hooks=(
        HookSpec("session.created", timeout_s=3, injects=True),
        HookSpec("session.resumed", timeout_s=3, injects=True),
        HookSpec("chat.message", timeout_s=1, injects=True),
        HookSpec("tool.execute.after", timeout_s=1),
        HookSpec("session.idle", timeout_s=1),
        HookSpec("session.compacted", timeout_s=1),
        HookSpec("session.deleted", timeout_s=1),
    ),
    starts=("session.created", "session.resumed"),
    prompts=("chat.message",),
    transcript_env=("XDG_DATA_HOME",),
)
