"""Kilo, a fork of OpenCode."""

from recollect.hosts.facts import Facts, HookSpec

FACTS = Facts(
    name="kilo",
    title="Kilo",
    aliases=("kilocode", "kilo-code"),
    verified="7.7.7",
    programs=("kilo", "kilocode"),
    places=(".config/kilo",),
    headless=("run", "{}"),
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
