"""Settings: about two dozen, each with its default, range and help in one frozen dataclass.

In: `settings.toml` (only what the user changed), then `RECOLLECT_*` in the environment, then
flags. Out: `Settings`. A name nobody knows or a value out of range raises BadSetting with both.
"""

import dataclasses
import getpass
import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.core.addresses import wrong_with, wrong_with_store
from recollect.core.errors import BadSetting

PREFIX = "RECOLLECT_"
# What else is read from the environment: the guard against our own calls, and what tests set.
OTHER_VARIABLES = frozenset(
    PREFIX + name for name in ("INTERNAL", "SEED", "FUZZ", "KILLS", "CLIENTS")
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
    wrong: Callable[[str], str]
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


def _setting(default: Any, help: str, allowed: Range | tuple[str, ...] | Form | None = None) -> Any:
    return field(default=default, metadata={"help": help, "allowed": allowed})


@dataclass(frozen=True)
class Settings:
    home: str = _setting("~/.recollect", "Where everything is kept; moved by RECOLLECT_HOME.")
    actor: str = _setting("", "Whose memory this is; empty means the name of the user.")
    store: str = _setting(
        "",
        "Where memory lies: empty for a file of SQLite in home, or a PostgreSQL database.",
        _STORE,
    )
    port: int = _setting(
        7325,
        "Where the API listens on 127.0.0.1; the next free port if it is taken.",
        Range(1024, 65535),
    )
    log_level: str = _setting(
        "info", "How much the log tells.", ("debug", "info", "warning", "error")
    )
    log_days: int = _setting(14, "How many days of logs are kept.", Range(1, 365))
    commit_wait_ms: int = _setting(
        5, "How long a write may wait for others to share its commit.", Range(0, 100)
    )
    commit_rows: int = _setting(64, "How many writes share one commit at the most.", Range(1, 1024))
    reserve_mb: int = _setting(
        16, "Disk space held back, released when the disk is full; 0 for none.", Range(0, 1024)
    )
    archive_days: int = _setting(
        30, "How long merged, edited and deleted memories can be brought back.", Range(1, 3650)
    )
    backup_days: int = _setting(
        1, "How many days lie between two backups; 0 for none by itself.", Range(0, 365)
    )
    backups_kept: int = _setting(7, "How many backups are kept.", Range(1, 100))
    catch_up: bool = _setting(
        True,
        "Whether a start looks for what connected agents did while their hooks were silent.",
    )
    maintain: bool = _setting(
        True, "Whether memories are shortened and forgotten with age, when nothing else happens."
    )
    retention_observations: int = _setting(
        90, "How many days observations are kept; 0 for ever.", Range(0, 36500)
    )
    retention_summaries: int = _setting(
        365, "How many days summaries and distilled episodes are kept; 0 for ever.", Range(0, 36500)
    )
    retention_episodes: int = _setting(
        30, "How many days turns and receipts are kept at the most; 0 for ever.", Range(0, 36500)
    )
    retention_knowledge: int = _setting(
        0, "How many days knowledge is kept; 0 for ever.", Range(0, 36500)
    )
    embedding: bool = _setting(True, "Whether memories are also found by meaning, not words alone.")
    cache_mb: int = _setting(
        160, "How much memory the search indexes of all projects may take.", Range(16, 8192)
    )
    recall_ms: int = _setting(
        500, "How long recall may take before the prompt goes on without it.", Range(10, 5000)
    )
    start_tokens: int = _setting(
        2000, "The most tokens that are injected when a session starts; 0 for none.", Range(0, 8000)
    )
    prompt_tokens: int = _setting(
        1200, "The most tokens that are injected with one prompt; 0 for none.", Range(0, 8000)
    )
    extract_idle_s: int = _setting(
        30, "How long a project is quiet before its events are extracted.", Range(5, 300)
    )
    extract_kb: int = _setting(
        256, "How many KiB of events are extracted without waiting for quiet.", Range(16, 4096)
    )
    reconcile: bool = _setting(
        True, "Whether new memories are compared with each other and with stored ones."
    )
    batch_similarity: float = _setting(
        0.85, "How alike (cosine) two new memories are one thing.", Range(0.5, 1.0)
    )
    neighbour_similarity: float = _setting(
        0.8, "How alike (cosine) a stored memory is shown to the judge.", Range(0.5, 1.0)
    )
    compact_backlog: bool = _setting(
        False, "Whether a model condenses a backlog of over 1 MiB before it is extracted."
    )
    share_sensitive: bool = _setting(
        False, "Whether what tells of pay, health or where people live may be put before an agent."
    )
    model_dir: str = _setting(
        "", "Where the embedding model lies; empty means models/ in the data directory."
    )
    provider: str = _setting(
        "none",
        "Who extracts memories: a language model by this route, or rules alone.",
        ("none", "acp", "anthropic", "openai", "claude-code"),
    )
    llm_model: str = _setting("", "The model to ask; empty means the route's pinned small one.")
    llm_base_url: str = _setting(
        "", "Where provider anthropic or openai is asked, if not at its maker's.", _ADDRESS
    )
    acp_command: str = _setting(
        "kiro-cli acp --agent {agent}",
        "What provider acp runs; {agent} is the tool-less agent that install wrote.",
        _COMMAND,
    )
    daily_tokens: int = _setting(
        2_000_000,
        "The most tokens, in and out, that language models may use in a day (UTC).",
        Range(0, 1_000_000_000),
    )
    daily_usd: float = _setting(
        2.0,
        "The most that they may cost in a day, estimated; 0 allows only what is free.",
        Range(0, 10_000),
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
        return self.actor or getpass.getuser()

    def path(self, *parts: str) -> str:
        """A path inside the data directory."""
        return os.path.join(self.directory, *parts)


def load(
    environ: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> Settings:
    """Read all three sources, the later ones winning."""
    environ = os.environ if environ is None else environ
    home = (flags or {}).get("home") or environ.get(PREFIX + "HOME") or Settings.home
    path = os.path.join(os.path.expanduser(home), "settings.toml")
    chosen: dict[str, Any] = {}
    for values, hint in (
        (_from_file(path), f"It stands in {path}."),
        (_from_environment(environ), "It comes from the environment: {variable}."),
        (flags or {}, ""),
    ):
        for name, value in values.items():
            chosen[name] = _told(name, value, hint)
    loaded = Settings(**chosen)
    if loaded.llm_base_url and loaded.provider == "openai" and not loaded.llm_model:
        raise BadSetting(
            "llm_model = '' names no model: a server of your own at llm_base_url needs one",
            field="llm_model",
        )
    return loaded


def strangers(environ: Mapping[str, str] | None = None) -> list[str]:
    """Variables that look like settings and are none, each with what was perhaps meant."""
    import difflib  # only when somebody asks

    names = {PREFIX + item.name.upper() for item in dataclasses.fields(Settings)}
    found = []
    for variable in sorted(os.environ if environ is None else environ):
        if variable.startswith(PREFIX) and variable not in names | OTHER_VARIABLES:
            near = difflib.get_close_matches(variable, names, 1)
            meant = f" (perhaps {near[0]}?)" if near else ""
            found.append(f"{variable} is no setting and is ignored{meant}")
    return found


def nearest(name: str) -> str:
    """The setting that was perhaps meant, as the end of a sentence."""
    import difflib  # only when somebody asks

    near = difflib.get_close_matches(name, [item.name for item in dataclasses.fields(Settings)], 1)
    return f"; did you mean {near[0]}?" if near else ""


def checked(name: str, value: Any) -> Any:
    """A value as the setting takes it: text is converted; BadSetting when it does not fit."""
    return _checked(name, value)


def written(text: str, name: str, value: Any) -> str:
    """The text of a settings file with one setting changed, or, with None, taken out. Everything
    else stays as it is, comments too; BadSetting when that cannot be done."""
    line = None if value is None else f"{name} = {_toml(value)}"
    lines = text.splitlines()
    # Ours stand before the first table.
    end = next((at for at, one in enumerate(lines) if one.lstrip().startswith("[")), len(lines))
    pattern = re.compile(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=(?P<rest>.*)$")
    places = [at for at in range(end) if pattern.match(lines[at])]
    if places:
        comment = _comment(lines[places[0]])
        lines[places[0] : places[0] + 1] = [] if line is None else [line + comment]
    elif line is not None:
        lines.insert(end, line)
    result = "\n".join(lines) + ("\n" if lines else "")
    try:
        wanted = {**tomllib.loads(text), name: value}
        same = tomllib.loads(result) == {key: one for key, one in wanted.items() if one is not None}
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise BadSetting(f"{name} cannot be changed by itself in settings.toml", hint="Edit it.")
    return result


def _comment(line: str) -> str:
    """A comment at the end of a line, if what stands before it has no quotes around one."""
    head, mark, tail = line.rpartition(" #")
    return f"  #{tail}" if mark and "'" not in tail and '"' not in tail and "=" in head else ""


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _told(name: str, value: Any, hint: str) -> Any:
    """Who is at fault is told too: the file or the environment."""
    try:
        return _checked(name, value)
    except BadSetting as error:
        variable = PREFIX + name.upper()
        told = hint.replace("{variable}", variable)
        raise BadSetting(str(error), field=name, hint=told or error.hint) from None


def described() -> list[dict[str, Any]]:
    """Name, type, default, range and help of every setting, for `recollect settings`."""
    return [
        {
            "name": item.name,
            "type": _kind(item).__name__,
            "default": item.default,
            "allowed": _allowed_text(item),
            "help": item.metadata["help"],
        }
        for item in dataclasses.fields(Settings)
    ]


def _from_file(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path} is not valid TOML: {error}", hint=f"Mend {path}.") from error
    except OSError as error:
        folder = os.path.dirname(path)
        raise BadSetting(
            f"{path} cannot be read: {error.strerror}",
            hint=f"ls -ld {folder}: it must be a directory that is yours (chmod 700), or "
            "RECOLLECT_HOME another one.",
        ) from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        item.name: environ[PREFIX + item.name.upper()]
        for item in dataclasses.fields(Settings)
        if environ.get(PREFIX + item.name.upper())
    }


def _checked(name: str, value: Any) -> Any:
    fields = {item.name: item for item in dataclasses.fields(Settings)}
    if name not in fields:
        raise BadSetting(f"there is no setting {name!r} (its value was {value!r})"
                         + nearest(name), field=name)  # fmt: skip
    item = fields[name]
    converted = _converted(name, value, _kind(item))
    allowed = item.metadata["allowed"]
    if isinstance(allowed, Form):
        if problem := allowed.wrong(converted):
            told = name if allowed.secret and "@" in converted else f"{name} = {value!r}"
            raise BadSetting(f"{told} is not valid: {problem}", field=name)
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
    raise BadSetting(f"{name} = {value!r} is not of type {kind.__name__}", field=name)


def _kind(item: "dataclasses.Field[Any]") -> Any:
    return type(item.default)


def _allowed_text(item: "dataclasses.Field[Any]") -> str:
    allowed = item.metadata["allowed"]
    if isinstance(allowed, Range):
        return f"{allowed.low:g} to {allowed.high:g}"
    if isinstance(allowed, tuple):
        return " or ".join(repr(choice) for choice in allowed)
    return allowed.name if isinstance(allowed, Form) else ""
