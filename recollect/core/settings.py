"""Settings: what a user can choose, each with its default, range and help in one frozen dataclass.

In: `settings.toml` (only what the user changed), then `RECOLLECT_*` in the environment, then
flags. Out: `Settings`. An unknown name or a value out of range raises BadSetting; the name of a
setting that no longer exists is ignored, and `ignored_names` reports it.
"""

import dataclasses
import getpass
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recollect.core import keepout_rules, oslayer, safe_files, store_key
from recollect.core.addresses import wrong_with, wrong_with_store
from recollect.core.errors import BadInput, BadSetting, CannotWrite
from recollect.core.kinds import KINDS

FILE_BYTES = 1 << 20
EMPTY = "# Every setting is at its default.\n"
NO_MODEL = "llm_model = '' names no model: a server of your own at llm_base_url needs one"
PREFIX = "RECOLLECT_"
# What else is read from the environment: the guard against our own calls, and what tests set.
OTHER_VARIABLES = frozenset(
    PREFIX + name
    for name in ("INTERNAL", "LOOPBACK", "PRIVATE", "SEED", "FUZZ", "KILLS", "CLIENTS")
)


@dataclass(frozen=True)
class Range:
    """What a number may be, both ends included."""

    low: float
    high: float


@dataclass(frozen=True)
class Form:
    """What a text must look like: `wrong` says why it does not, or nothing."""

    name: str
    wrong: Callable[[Any], str]
    secret: bool = False  # a wrong value may hold a password, so it is not repeated


def _wrong_command(text: str) -> str:
    try:
        return "" if shlex.split(text) else "it names no program"
    except ValueError:
        return "its quotes do not close"


_COMMAND = Form("a command line", _wrong_command)
_ADDRESS = Form(
    "an address, or nothing", lambda text: wrong_with(text) if text else "", secret=True
)

_STORE = Form(
    "postgresql://…, or nothing", lambda text: wrong_with_store(text) if text else "", secret=True
)


_KEY = Form("nothing, keychain, file:PATH or passphrase", store_key.wrong_source)
MODELS = ("all-MiniLM-L6-v2", "use-multilingual-v3")


def _wrong_model(text: str) -> str:
    if text in MODELS or text.startswith(("/", "~/")):
        return ""
    return f"it is neither {' nor '.join(MODELS)}, nor the path of a folder"


_MODEL = Form(f"{', '.join(MODELS)}, or a path", _wrong_model)
_IGNORE = Form("project:DIR, file:PATTERN, tool:NAME", keepout_rules.fault_in_rules)

# How many days each kind of memory is kept; the archive holds what was merged, edited or deleted.
RETENTION_DAYS = {one.plural: one.retention_days for one in KINDS.values()} | {"archive": 30}
LONGEST_DAYS = 36500


def _wrong_retention(entries: Sequence[str]) -> str:
    for entry in entries:
        kind, _, days = entry.partition(":")
        if kind not in RETENTION_DAYS:
            return f"{entry!r} names none of {', '.join(RETENTION_DAYS)}"
        shortest = 1 if kind == "archive" else 0  # undo needs an archive
        if not days.isdecimal() or not shortest <= int(days) <= LONGEST_DAYS:
            return f"{entry!r} needs a number of days from {shortest} to {LONGEST_DAYS}"
    return ""


_RETENTION = Form(f"KIND:DAYS for {', '.join(RETENTION_DAYS)}", _wrong_retention)

Fusion = Literal["linear", "rrf"]

# Settings of earlier versions. A file that still names one does not stop the daemon.
REMOVED = frozenset(
    (
        *("archive_days", "backups_kept", "batch_similarity", "catch_up", "commit_rows"),
        *("commit_wait_ms", "extract_kb", "log_days", "maintain", "neighbour_similarity"),
        *("recall_ms", "reconcile", "retention_episodes", "retention_knowledge"),
        *("retention_observations", "retention_summaries"),
    )
)


def _setting(default: Any, help: str, allowed: Range | tuple[str, ...] | Form | None = None) -> Any:
    return field(default=default, metadata={"help": help, "allowed": allowed})


@dataclass(frozen=True)
class Settings:
    home: str = "~/.recollect"  # the data directory: it holds settings.toml, so only
    # RECOLLECT_HOME or a flag can name it
    actor: str = _setting(
        "", "The person whose memory this is; empty for the user who runs the daemon."
    )
    store: str = _setting(
        "",
        "The database: empty for a SQLite file in the data directory, or a PostgreSQL address.",
        _STORE,
    )
    encryption_key: str = _setting(
        "",
        "Where the key of an encrypted SQLite store is kept: `keychain`, `file:PATH`, or "
        "`passphrase`, which `recollect up` asks for; empty for no encryption. `recollect encrypt` "
        "and `recollect decrypt` change it.",
        _KEY,
    )
    port: int = _setting(
        7325,
        "The port of the API and the dashboard on 127.0.0.1; the next free one if it is taken.",
        Range(1024, 65535),
    )
    log_level: str = _setting(
        "info", "The least severe messages that are logged.", ("debug", "info", "warning", "error")
    )
    reserve_mb: int = _setting(
        16,
        "Megabytes of disk space held back, and released when the disk is full; 0 for none.",
        Range(0, 1024),
    )
    backup_days: int = _setting(1, "Days between automatic backups; 0 for none.", Range(0, 365))
    retention: tuple[str, ...] = _setting(
        tuple(f"{kind}:{days}" for kind, days in RETENTION_DAYS.items()),
        "Days that memories are kept, by kind; 0 keeps them for ever. The archive is what can be "
        "undone. A kind that is not named keeps its default.",
        _RETENTION,
    )
    embedding: bool = _setting(
        True, "Whether memories are also found by meaning, not by words alone."
    )
    embedding_model: str = _setting(
        MODELS[0],
        f"The model that embeds: {MODELS[0]} for English, {MODELS[1]} for sixteen languages, or "
        "the path of a folder that sentence-transformers exported to ONNX.",
        _MODEL,
    )
    model_dir: str = _setting(
        "", "The directory of the embedding models; empty for models/ in the data directory."
    )
    fusion: Literal["linear", "rrf"] = _setting(
        "linear",
        "How the rankings by words and by meaning become one: linear adds their scores, which "
        "finds more; rrf adds 1/(60 + rank) of each.",
        ("linear", "rrf"),
    )
    cache_mb: int = _setting(
        160, "Megabytes of memory that the search indexes may take in all.", Range(16, 8192)
    )
    start_tokens: int = _setting(
        400, "The most tokens injected when a session starts; 0 for none.", Range(0, 8000)
    )
    prompt_tokens: int = _setting(
        150, "The most tokens injected with one prompt; 0 for none.", Range(0, 8000)
    )
    hints: bool = _setting(
        True,
        "Whether an agent that has Recollect's tools is asked, by a line with a prompt, to record "
        "a rule, decision or fact that the prompt may set, change or end.",
    )
    summary_request: bool = _setting(
        False,
        "Whether an agent that has Recollect's tools is asked, once a session and when its context "
        "is nearly full, to store a summary before the conversation is compacted. For Claude Code, "
        "Codex and Gemini CLI.",
    )
    visible_line: bool = _setting(
        True, "Whether agents that can do so show you one line when something was injected."
    )
    shadow: float = _setting(
        0.0,
        "The share of sessions, chosen at random, in which memory is silent on purpose, so that "
        "`recollect report --effect` can compare; 0 for none.",
        Range(0, 1),
    )
    extract_idle_s: int = _setting(
        30, "Seconds without events after which a project's events are extracted.", Range(5, 300)
    )
    compact_backlog: bool = _setting(
        False,
        "Whether a language model condenses a backlog of more than 1 MiB before extraction.",
    )
    ignore: tuple[str, ...] = _setting(
        (), "What is never captured: directories, files by pattern, tools by name.", _IGNORE
    )
    share_sensitive: bool = _setting(
        False, "Whether memories about pay, health or where people live may be injected."
    )
    provider: str = _setting(
        "none",
        "The route to the language model that extracts memories; none extracts by rules alone.",
        ("none", "agent", "acp", "anthropic", "openai", "claude-code", "plugin"),
    )
    agent: str = _setting(
        "claude-code",
        "The agent that provider agent asks, with your account there and apart from your sessions.",
        ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode"),
    )
    llm_model: str = _setting(
        "", "The language model to ask; empty for the small one chosen for the provider."
    )
    llm_base_url: str = _setting(
        "",
        "The address to ask instead of the maker's own, for provider anthropic or openai.",
        _ADDRESS,
    )
    acp_command: str = _setting(
        "kiro-cli acp --agent {agent}",
        "The command that provider acp runs; {agent} is the agent without tools that install "
        "wrote.",
        _COMMAND,
    )
    daily_tokens: int = _setting(
        2_000_000,
        "The most tokens, in and out, that language models may use in a day (UTC).",
        Range(0, 1_000_000_000),
    )
    daily_usd: float = _setting(
        2.0,
        "The most dollars that language models may cost in a day, estimated; 0 allows only free "
        "ones.",
        Range(0, 10_000),
    )

    plugins: tuple[str, ...] = _setting(
        (), "The plugins that are switched on, by name; `recollect plugins list` shows all."
    )

    @property
    def directory(self) -> str:
        return os.path.abspath(os.path.expanduser(self.home))

    @property
    def models(self) -> str:
        chosen = os.path.expanduser(self.model_dir)
        return os.path.abspath(chosen) if chosen else os.path.join(self.directory, "models")

    @property
    def actor_id(self) -> str:
        try:
            return self.actor or getpass.getuser()
        except (KeyError, OSError):  # a user without a name, as in many containers
            return f"user-{oslayer.user_id()}"

    def kept_days(self, kind: str) -> int:
        """How many days a kind in RETENTION_DAYS is kept; 0 for ever."""
        chosen = dict(entry.split(":") for entry in self.retention)
        return int(chosen.get(kind, RETENTION_DAYS[kind]))

    def path(self, *parts: str) -> str:
        """A path inside the data directory."""
        return os.path.join(self.directory, *parts)


def load(
    environ: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> Settings:
    """Read all three sources, the later ones winning."""
    environ = os.environ if environ is None else environ
    path = file_path(environ, (flags or {}).get("home"))
    chosen: dict[str, Any] = {}
    for values, place, hint in (
        (_from_file(path), f"set in {path}", "recollect settings unset {name}"),
        (_from_environment(environ), "set in the environment", "unset {variable}"),
        (flags or {}, "", ""),
    ):
        for name, value in values.items():
            if name not in REMOVED:
                chosen[name] = _located(name, value, place, hint)
    if _lacks_model(chosen):
        raise BadSetting(NO_MODEL, field="llm_model")
    return Settings(**chosen)


def _lacks_model(chosen: Mapping[str, Any]) -> bool:
    """Whether a server of the user's own is named, and no model of it."""
    own_server = bool(chosen.get("llm_base_url")) and chosen.get("provider") == "openai"
    return own_server and not chosen.get("llm_model")


def ignored_names(environ: Mapping[str, str] | None = None) -> list[str]:
    """What looks like a setting and has no effect, one sentence each: variables with an unknown
    name, and settings of earlier versions in the file."""
    import difflib  # only when somebody asks

    environ = os.environ if environ is None else environ
    known = {PREFIX + item.name.upper() for item in dataclasses.fields(Settings)}
    found = []
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in known | OTHER_VARIABLES:
            continue
        near = difflib.get_close_matches(variable, known, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        found.append(f"{variable} is not a setting and is ignored{meant}")
    path = file_path(environ)
    for name in _from_file(path):
        if name in REMOVED:
            instead = "; use retention" if name.startswith(("retention_", "archive_")) else ""
            found.append(f"{name} in {path} is no longer a setting and is ignored{instead}")
    return found


def file_path(environ: Mapping[str, str], home: str | None = None) -> str:
    """Where settings.toml is."""
    directory = home or environ.get(PREFIX + "HOME") or Settings.home
    return os.path.join(os.path.abspath(os.path.expanduser(directory)), "settings.toml")


def is_in_file(name: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether somebody chose it, be it the default."""
    return name in _from_file(file_path(os.environ if environ is None else environ))


def nearest(name: str) -> str:
    """The setting that was perhaps meant, as the end of a sentence."""
    import difflib  # only when somebody asks

    names = [item.name for item in dataclasses.fields(Settings)]
    near = difflib.get_close_matches(name, names, 1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def written(text: str, name: str, value: Any) -> str:
    """The text of a settings file with one setting changed, or, with None, removed. Everything
    else stays as it is, comments too."""
    import tomlkit  # only to write
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise BadSetting(f"settings.toml is not valid TOML: {error}", hint="Correct it.") from error
    if value is None:
        document.pop(name, None)
    else:
        document[name] = list(value) if isinstance(value, tuple) else value
    return tomlkit.dumps(document)


def write(path: str, name: str, value: Any) -> Any:
    """Put a value, or with None the default, into the file; returns the value as it was stored.
    BadInput when it does not fit."""
    try:
        wanted = None if value is None else checked(name, value)
    except BadSetting as error:
        raise BadInput(str(error), field=name, hint=error.hint) from error
    try:
        oslayer.private_directory(os.path.dirname(path))
        try:
            before = safe_files.read_whole(path, FILE_BYTES).decode()
        except FileNotFoundError:
            before = ""
        # Never 0 bytes: that is how a lost file looks, and doctor warns about it.
        after = written(before.removeprefix(EMPTY), name, wanted) or EMPTY
        _refuse_without_model(before, after, name)
        oslayer.replace_file(path, after.encode())
    except UnicodeDecodeError as error:
        raise CannotWrite(f"{path} is not UTF-8 text", hint=f"Correct {path}.") from error
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
    return wanted


def _refuse_without_model(before: str, after: str, name: str) -> None:
    """With an address and no model, no command would work; a file that is so already may change."""
    others = _from_environment(os.environ)
    lacked, lacks = (_lacks_model({**tomllib.loads(text), **others}) for text in (before, after))
    if lacks and not lacked:
        raise BadInput(NO_MODEL, field=name, hint="recollect settings set llm_model NAME")


def _located(name: str, value: Any, place: str, hint: str) -> Any:
    """A checked value; the error says whether the file or the environment is at fault."""
    try:
        return checked(name, value)
    except BadSetting as error:
        told = f"{error} ({place})" if place else str(error)
        repair = hint.replace("{name}", name).replace("{variable}", PREFIX + name.upper())
        raise BadSetting(told, field=name, hint=repair or error.hint) from None


def described() -> list[dict[str, Any]]:
    """Name, type, default, range and help of every setting, for `recollect settings list`."""
    return [
        {
            "name": item.name,
            "type": _called(_kind(item)),
            "default": item.default,
            "allowed": _allowed_text(item),
            "help": item.metadata["help"],
        }
        for item in dataclasses.fields(Settings)
        if item.metadata
    ]


def _from_file(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(safe_files.read_whole(path, FILE_BYTES).decode())
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path} is not valid TOML: {error}", hint=f"Correct {path}.") from error
    except OSError as error:
        folder = os.path.dirname(path)
        raise BadSetting(
            f"{path} cannot be read: {error.strerror}",
            hint=f"ls -ld {folder}: it must be a directory of yours (chmod 700); or set "
            "RECOLLECT_HOME to another one.",
        ) from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        item.name: environ[PREFIX + item.name.upper()]
        for item in dataclasses.fields(Settings)
        if environ.get(PREFIX + item.name.upper())
    }


def checked(name: str, value: Any) -> Any:
    """A value as the setting takes it: text is converted; BadSetting when it does not fit."""
    fields = {item.name: item for item in dataclasses.fields(Settings)}
    if name not in fields:
        raise BadSetting(f"there is no setting {name!r} (its value was {value!r})"
                         + nearest(name), field=name)  # fmt: skip
    item = fields[name]
    converted = _converted(name, value, _kind(item))
    allowed = item.metadata.get("allowed")
    if isinstance(allowed, Form):
        if problem := allowed.wrong(converted):
            shown = name if allowed.secret and "@" in converted else f"{name} = {value!r}"
            raise BadSetting(f"{shown} is not valid: {problem}", field=name)
        return converted
    fits = (
        allowed is None
        or (isinstance(allowed, Range) and allowed.low <= converted <= allowed.high)
        or (isinstance(allowed, tuple) and converted in allowed)
    )
    if not fits:
        raise BadSetting(
            f"{name} = {value!r} is out of range: it takes {_allowed_text(item)}", field=name
        )
    return converted


def _converted(name: str, value: Any, kind: Any) -> Any:
    """Text from the environment becomes the setting's type; other mismatches are refused."""
    if type(value) is kind or (kind is float and type(value) is int):
        return kind(value)
    try:
        if kind is bool and isinstance(value, str):
            return {"true": True, "1": True, "false": False, "0": False}[value.lower()]
        if kind in (int, float) and isinstance(value, str):
            return kind(value)
    except (KeyError, ValueError):
        pass
    if kind is tuple:
        several = re.split(r"[,\n]", value) if isinstance(value, str) else value
        if isinstance(several, list) and all(isinstance(one, str) for one in several):
            return tuple(dict.fromkeys(one.strip() for one in several if one.strip()))
    raise BadSetting(f"{name} = {value!r} is not of type {_called(kind)}", field=name)


def _called(kind: Any) -> str:
    return "list" if kind is tuple else str(kind.__name__)


def _kind(item: "dataclasses.Field[Any]") -> Any:
    return type(item.default)


def _allowed_text(item: "dataclasses.Field[Any]") -> str:
    allowed = item.metadata["allowed"]
    if isinstance(allowed, Range):
        return f"{allowed.low:.12g} to {allowed.high:.12g}"
    if isinstance(allowed, tuple):
        return ", ".join(allowed[:-1]) + f" or {allowed[-1]}"
    return allowed.name if isinstance(allowed, Form) else ""
