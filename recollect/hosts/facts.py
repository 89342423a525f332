"""What is known about a host: its names, where it lives, which hooks it has.

In: each host's `facts.py`. Out: plain values. Structs, because the daemon loads all facts when it
starts, and the class of a Struct is made ten times as quickly as that of a dataclass.
"""

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

    # The hooks that we install; which events start a session and which are a prompt, older
    # spellings included.
    hooks: tuple[HookSpec, ...] = ()
    starts: tuple[str, ...] = ("SessionStart",)
    prompts: tuple[str, ...] = ("UserPromptSubmit",)

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
