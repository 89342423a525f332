"""Which events we ask each host for, and how long the host shall wait for our hook at most.

The hook itself stops after 1 s (3 s when it had to start the daemon), so these are safety nets.
Kept equal to `capture.hosts.*.events`, in whose place this table stands until both rooms meet.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class HookEvent:
    event: str
    timeout_s: int = 5
    matcher: str | None = None

    @property
    def timeout_ms(self) -> int:
        """Gemini, Qwen and Kiro CLI count so; honcho mixed the two up and waited 60 s a prompt."""
        return self.timeout_s * 1000

    @property
    def matched(self) -> dict[str, str]:
        return {} if self.matcher is None else {"matcher": self.matcher}


def _of(
    names: str, matchers: dict[str, str] | None = None, limits: dict[str, int] | None = None
) -> tuple[HookEvent, ...]:
    """The first is the session's start, which may have to wait for the daemon."""
    matchers, limits = matchers or {}, limits or {}
    return tuple(
        HookEvent(name, limits.get(name, 5 if at else 10), matchers.get(name))
        for at, name in enumerate(names.split())
    )


EVENTS: dict[str, tuple[HookEvent, ...]] = {
    "claude-code": _of(
        "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop PreCompact PostCompact"
        " SessionEnd"
    ),
    # Codex gives the end of a session 3 s at the most, and warns at every start about more.
    "codex": _of(
        "SessionStart UserPromptSubmit PostToolUse Stop PreCompact SessionEnd",
        limits={"SessionEnd": 3},
    ),
    # No PreCompress: it fires before every model call, so it says nothing.
    "gemini": _of("SessionStart BeforeAgent AfterTool AfterAgent SessionEnd", {"AfterTool": "*"}),
    "copilot": _of(
        "sessionStart userPromptSubmitted postToolUse postToolUseFailure agentStop preCompact"
        " sessionEnd"
    ),
    "qwen": _of(
        "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop PreCompact SessionEnd"
    ),
    "kiro-cli": _of("agentSpawn userPromptSubmit postToolUse stop", {"postToolUse": "*"}),
    "kiro-ide": _of("SessionStart UserPromptSubmit PostToolUse Stop", {"PostToolUse": ".*"}),
    "cursor": _of(
        "sessionStart beforeSubmitPrompt afterFileEdit afterShellExecution afterMCPExecution"
        " afterAgentResponse preCompact stop sessionEnd"
    ),
    "windsurf": _of(
        "pre_user_prompt post_write_code post_run_command post_mcp_tool_use post_cascade_response"
    ),
    "cline": _of(
        "TaskStart TaskResume UserPromptSubmit PostToolUse PreCompact TaskComplete TaskCancel"
    ),
}
