"""The agents that can be installed from npm, and how each is pointed at the fake model.

In: the model's address. Out: a command line, an environment and the files a clean home needs.
What they would send elsewhere is switched off; what they still try goes to a proxy that refuses.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from recollect.hosts import registry
from tests.clients.fake_model import FEW

Files = dict[str, str]  # path below home -> content
MANY = 1_000_000  # tokens: more than any of them takes


@dataclass(frozen=True)
class Client:
    """One agent: where it comes from, how one headless turn is run, what it is known to do."""

    host: str
    package: str
    program: str
    first: Callable[[str, str], list[str]]  # model's address, prompt -> arguments
    # The same in the last session; None when it cannot go on without a terminal.
    again: Callable[[str, str], list[str]] | None
    env: Callable[[str], dict[str, str]]
    files: Callable[[str], Files] = lambda url: {}
    # How `/recollect WORDS` is run: model's address, words -> arguments.
    slash: Callable[[str, str], list[str]] | None = None
    # How a session is compacted without a terminal: by a command, by itself when the answers of a
    # turn say that it has so many tokens, or by settings of the project.
    compact: tuple[str, ...] = ()
    fills: tuple[int, ...] = ()
    compact_settings: tuple[str, str] | None = None  # file in the project, content
    nearly_full: int = 0  # tokens with which we ask for a summary; 0: it does not say how many
    says_compaction: bool = True  # tells its hooks that it compacts
    has_mcp: bool = True
    shows_command: bool = True  # puts the text of `/recollect` before the model at once
    # Headless, it puts what its start was told before the prompt, which then is no command to it.
    start_before_slash: bool = False
    says_end: bool = True  # headless, it fires its hook for the end of a session
    says_failures: bool = True  # what it tells its hook of a command says that it failed
    injects_before: bool = True  # takes text before its model is first asked, not with a tool only
    stop: tuple[str, ...] = ()  # ends what it leaves running
    prints_in_order: bool = True  # else a line may come before or after what a command prints
    noise: str = "(?!)"  # its own lines on stderr that come and go, or tell of any hook

    def command(self, url: str, words: str) -> list[str]:
        return self.slash(url, words) if self.slash else self.first(url, f"/recollect {words}")

    @property
    def version(self) -> str:
        """The verified one of the host's facts: to try a newer one, change it there."""
        return registry.facts()[self.host].verified


def _claude(*more: str) -> Callable[[str, str], list[str]]:
    return lambda url, prompt: ["-p", prompt, *more, "--allowedTools", "Bash,Write"]


def _codex(*more: str) -> Callable[[str, str], list[str]]:
    def arguments(url: str, prompt: str) -> list[str]:
        return ["exec", "--dangerously-bypass-approvals-and-sandbox", *more, prompt]

    return arguments


def _opencode_config(url: str) -> str:
    limit = {"context": 100_000, "output": 8_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake"},
        "models": {"fake-model": {"name": "Fake", "tool_call": True, "limit": limit}},
    }
    return json.dumps(
        {
            "$schema": "https://opencode.ai/config.json",
            "model": "fake/fake-model",
            "small_model": "fake/fake-model",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"fake": provider},
        },
        indent=2,
    )


def _cline_provider(url: str) -> str:
    settings = {
        "provider": "openai-compatible",
        "apiKey": "fake",
        "model": "fake-model",
        "baseUrl": f"{url}/v1",
    }
    used = {"settings": settings, "updatedAt": "2026-01-01T00:00:00Z", "tokenSource": "manual"}
    name = "openai-compatible"
    chosen = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": {name: used}}
    return json.dumps(chosen, indent=2)


def _pi_provider(url: str) -> dict[str, object]:
    return {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "fake",
        "models": [{"id": "fake-model"}],
    }


def _opencode(name: str, package: str, config: str) -> Client:
    """OpenCode, or a fork that names its folder and its variables after itself."""
    run = ("run", "--auto", "--print-logs", "--log-level", "WARN")
    switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "SESSION_INGEST", "PRESENCE")
    return Client(
        host=name,
        package=package,
        program=name,
        first=lambda url, prompt: [*run, prompt],
        again=lambda url, prompt: [*run, "--continue", prompt],
        env=lambda url: {f"{name.upper()}_DISABLE_{one}": "true" for one in switches},
        files=lambda url: {
            f".config/{name}/{config}": _opencode_config(url),
            f".config/{name}/plugins/mine.js": "export const Mine = async () => ({})\n",
        },
        slash=lambda url, words: [*("run", "--auto", "--command", "recollect"), words],
        fills=(FEW, MANY),
        says_end=False,
        prints_in_order=False,
        # The registry is out of reach, and so is whoever counts Kilo's users.
        noise=r'.*(dependency install failed|model fetch error|PostHog|"date": |at async ).*',
    )


_CLAUDE_SETTINGS = """\
{
  "includeCoAuthoredBy": false,
  "permissions": {"allow": ["WebSearch"], "deny": []},
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    "PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "true"}]}]
  }
}
"""
_GEMINI_SETTINGS = """\
{
  // a comment of the user's own, and a hook that is not ours
  "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "true", "name": "mine"}]}]},
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
"""
_QWEN_SETTINGS = """\
{
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"disableAutoUpdate": true},
  "telemetry": {"enabled": false}
}
"""

CLIENTS = {
    client.host: client
    for client in (
        Client(
            host="claude-code",
            package="@anthropic-ai/claude-code",
            program="claude",
            first=_claude(),
            again=_claude("--continue"),
            env=lambda url: {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "sk-ant-fake",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_TELEMETRY": "1",
            },
            files=lambda url: {".claude/settings.json": _CLAUDE_SETTINGS},
            compact=("-p", "--continue", "/compact"),
            nearly_full=130_000,
        ),
        Client(
            host="codex",
            package="@openai/codex",
            program="codex",
            first=_codex(),
            again=_codex("resume", "--last"),
            env=lambda url: {"FAKE_KEY": "fake"},
            files=lambda url: {
                ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": []}]}}\n',
                ".codex/config.toml": (
                    "# mine\ncheck_for_update_on_startup = false\n"
                    "model = 'gpt-5.5'\nmodel_provider = 'fake'\n\n"
                    "[analytics]\nenabled = false\n\n[otel]\nexporter = 'none'\n\n"
                    f"[model_providers.fake]\nname = 'Fake'\nbase_url = '{url}/v1'\n"
                    "env_key = 'FAKE_KEY'\nwire_api = 'responses'\n"
                ),
            },
            slash=lambda url, words: _codex()(url, f"$recollect {words}"),
            fills=(FEW, FEW, FEW, MANY),
            nearly_full=200_000,
            says_failures=False,
            noise=r"hook: \w+( Completed)?",
        ),
        Client(
            host="gemini",
            package="@google/gemini-cli",
            program="gemini",
            first=lambda url, prompt: ["--yolo", "-m", "gemini-2.5-pro", "-p", prompt],
            again=lambda url, prompt: [
                *("--yolo", "-m", "gemini-2.5-pro", "--resume", "latest", "-p", prompt)
            ],
            env=lambda url: {
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_API_KEY": "fake",
                "GEMINI_TELEMETRY_ENABLED": "false",
            },
            files=lambda url: {".gemini/settings.json": _GEMINI_SETTINGS},
            start_before_slash=True,
            compact_settings=(
                ".gemini/settings.json",
                '{"model": {"compressionThreshold": 0.0001}}\n',
            ),
            nearly_full=400_000,
            says_compaction=False,
        ),
        Client(
            host="copilot",
            package="@github/copilot",
            program="copilot",
            first=lambda url, prompt: ["-p", prompt, "--allow-all-tools", "--allow-all-paths"],
            again=lambda url, prompt: [
                *("-p", prompt, "--allow-all-tools", "--allow-all-paths", "--continue")
            ],
            env=lambda url: {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
                "COPILOT_PROVIDER_API_KEY": "fake",
                "COPILOT_MODEL": "fake-model",
                "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
                "COPILOT_AUTO_UPDATE": "false",
            },
            shows_command=False,
            fills=(FEW, MANY),
        ),
        Client(
            host="qwen",
            package="@qwen-code/qwen-code",
            program="qwen",
            first=lambda url, prompt: ["--yolo", "-p", prompt],
            again=lambda url, prompt: ["--yolo", "--continue", "-p", prompt],
            env=lambda url: {
                "OPENAI_BASE_URL": f"{url}/v1",
                "OPENAI_API_KEY": "fake",
                "OPENAI_MODEL": "fake-model",
                "QWEN_CODE_DISABLE_AUTO_UPDATE": "1",
            },
            files=lambda url: {".qwen/settings.json": _QWEN_SETTINGS},
            compact=("--yolo", "--continue", "-p", "/compress"),
            fills=(FEW, FEW, FEW, 60_000),
            says_end=False,
        ),
        Client(
            host="cline",
            package="cline",
            program="cline",
            first=lambda url, prompt: [prompt],
            again=None,
            env=lambda url: {"CLINE_TELEMETRY_DISABLED": "1"},
            files=lambda url: {".cline/data/settings/providers.json": _cline_provider(url)},
            injects_before=False,
            says_end=False,
            stop=("hub", "stop"),
            noise=r".*(\[editor\]|edit:).*",  # lines that are cut by the length of the home's name
        ),
        _opencode("opencode", "opencode-ai", "opencode.json"),
        Client(
            host="pi",
            package="@earendil-works/pi-coding-agent",
            program="pi",
            first=lambda url, prompt: ["-p", prompt],
            again=lambda url, prompt: ["--continue", "-p", prompt],
            env=lambda url: {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
            files=lambda url: {
                ".pi/agent/settings.json": json.dumps(
                    {
                        "defaultProvider": "fake",
                        "defaultModel": "fake-model",
                        "compaction": {"keepRecentTokens": 1},
                    }
                ),
                ".pi/agent/extensions/mine.js": "export default function () {}\n",
                ".pi/agent/models.json": json.dumps({"providers": {"fake": _pi_provider(url)}}),
            },
            has_mcp=False,
            fills=(FEW, FEW, FEW, 200_000),
        ),
        _opencode("kilo", "@kilocode/cli", "kilo.jsonc"),
    )
}
