"""What is known about a host: its names, where it lives, which hooks it has.

In: each host's `facts.py`. Out: plain values. Structs, because the daemon loads all facts when it
starts, and the class of a Struct is made ten times as quickly as that of a dataclass.
"""

from typing import Literal

import msgspec


class HookSpec(msgspec.Struct, frozen=True):
    """One hook to install: its event, how long the host may wait, whether we inject text."""

    event: str
    timeout_s: int = 5
    injects: bool = False
    matcher: str | None = None

    @property
    def timeout_ms(self) -> int:
        """Gemini, Qwen and Kiro CLI count in milliseconds."""
        return self.timeout_s * 1000

    @property
    def matched(self) -> dict[str, str]:
        return {} if self.matcher is None else {"matcher": self.matcher}


class ModelRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a host's program answers one question of ours, apart from the user's sessions: without
    our hooks, without MCP servers, and with no tool that it may use."""

    route: Literal["json", "json lines", "acp"]  # how the question is put and the answer is read
    arguments: tuple[str, ...]  # {system} stands for the instructions
    # The cheapest model that every account has; empty when accounts differ: the host chooses.
    model: str = ""
    model_arguments: tuple[str, ...] = ("--model", "{}")
    # A host that can only leave out MCP servers by name: its TOML file with the table mcp_servers,
    # below the folder that a variable or the home names, and the arguments for each.
    servers: tuple[str, str, str] | None = None  # variable, folder below home, file
    server_arguments: tuple[str, ...] = ()
    own_tokens: int = 0  # what the host adds to a question, as measured with the real program
    env: tuple[tuple[str, str], ...] = ()
    # Variables that are not passed on: a key would be billed, others say "inside a session".
    without: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # of the program, for a service with a short PATH

    def command(self, model: str, system: str = "") -> list[str]:
        named = [one.replace("{}", model) for one in self.model_arguments] if model else []
        return [one.replace("{system}", system) for one in self.arguments] + named


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A host. Names of events and variables are spelt as the host spells them."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    # The version of the real client that was seen running what we write; empty when the host is
    # known from its documentation only.
    verified: str = ""

    # How the host is found: its programs, folders below home, and variables that move a folder.
    programs: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    # The arguments of one run without a person, with {} for the prompt; empty when not known.
    headless: tuple[str, ...] = ()
    # How it can be the language model of extraction; None when that was not tried.
    model_run: ModelRun | None = None

    # The hooks that we install; which events start a session and which are a prompt, older
    # spellings included.
    hooks: tuple[HookSpec, ...] = ()
    starts: tuple[str, ...] = ("SessionStart",)
    prompts: tuple[str, ...] = ("UserPromptSubmit",)

    # Whether the real client was seen to inject what the hook of a prompt says.
    injects_at_prompt: bool = True

    # Whether an answer with a `systemMessage` beside the context was seen to be injected by the
    # real client: it shows that message to the user and not to the model.
    shows_message: bool = False

    # Environment variables that the hook passes on: where the project is, which session it is,
    # and what else the adapter reads.
    project_env: tuple[str, ...] = ()
    session_env: tuple[str, ...] = ()
    other_env: tuple[str, ...] = ()
    # Environment variables that say where the host keeps its transcripts.
    transcript_env: tuple[str, ...] = ()

    @property
    def environment(self) -> tuple[str, ...]:
        return self.project_env + self.session_env + self.other_env
