"""What the hook must know about hosts, made from their facts: `python -m tests.docs --write`.

In: facts and adapters. Out: the lists in `capture/hook_lists.h` and, between the lines BEGIN and
END, in the Python modules that the hook loads: it is too quick to load the hosts themselves.
"""

import json
import pathlib
from collections.abc import Callable, Iterable

from recollect.capture import frames, hook_keepout
from recollect.hosts import registry
from recollect.hosts.adapter import UnknownHost
from recollect.hosts.facts import Facts

COMMAND = "python -m tests.docs --write"
BEGIN = f"# --- made from hosts/*/facts.py and adapter.py: {COMMAND} ---\n"
END = "# --- end of what is made ---\n"
HEADER = pathlib.Path(frames.__file__).with_name("hook_lists.h")
FIXED = "What a host must be told when no daemon says anything: host, event or all, text."
# The name under which somebody who writes a hook of their own may report a start.
OWN_START = "session-start"


def files() -> dict[pathlib.Path, str]:
    """Every file that holds such a list, as it should be."""
    return {
        HEADER: _header(),
        pathlib.Path(frames.__file__): _between(frames.__file__, _frames()),
        pathlib.Path(hook_keepout.__file__): _between(hook_keepout.__file__, _keepout()),
    }


def environment() -> list[str]:
    return _names(lambda known: known.environment)


def session_starts() -> list[str]:
    return sorted({OWN_START, *(name.lower() for name in _names(lambda known: known.starts))})


def prompts() -> list[str]:
    return sorted({name.lower() for name in _names(lambda known: known.prompts)})


def fixed_answers() -> list[tuple[str, str, str]]:
    """What a host must be told even when there is nothing to tell: host, event (empty: each of its
    events) and text."""
    found = []
    for host, one in sorted(registry.adapters().items()):
        if text := one.answer("", "").decode():
            found.append((host, "", text))
            continue
        told = ((event, one.answer(event, "").decode()) for event in sorted(one.routes))
        found += [(host, event, text) for event, text in told if text]
    return found


def session_fields() -> list[str]:
    """The most common first: the first that a payload has is its session."""
    common = UnknownHost("").session_fields
    all_fields = {name for one in registry.adapters().values() for name in one.session_fields}
    return [*common, *sorted(all_fields.difference(common))]


def session_ends() -> list[str]:
    routes = (one.routes.items() for one in registry.adapters().values())
    return sorted({event for route in routes for event, method in route if method == "on_end"})


def _names(of: Callable[[Facts], Iterable[str]]) -> list[str]:
    return sorted({name for known in registry.facts().values() for name in of(known)})


def _header() -> str:
    return "".join(
        (
            f"/* Made from hosts/<name>/facts.py: {COMMAND} */\n",
            _c("environment", "Variables that are passed on", environment()),
            _c("session_starts", "Events that start a session", session_starts()),
            _c_rows("fixed_answers", FIXED, fixed_answers()),
        )
    )


def _c(name: str, what: str, values: list[str]) -> str:
    lines = "".join(f'    "{value}",\n' for value in values)
    return f"\n/* {what}. */\nstatic const char *const {name}[] = {{\n{lines}}};\n"


def _c_rows(name: str, what: str, rows: list[tuple[str, str, str]]) -> str:
    lines = "".join(f"    {{{', '.join(map(json.dumps, row))}}},\n" for row in rows)
    return f"\n/* {what} */\nstatic const char *const {name}[][3] = {{\n{lines}}};\n"


def _frames() -> str:
    return (
        _python("ENVIRONMENT", "The variables that are sent; hook_lists.h has the same.",
                environment(), "b")
        + _python("SESSION_STARTS", "Events that may start the daemon and may wait longer.",
                  session_starts(), "b")
        + _python("PROMPTS", "Events that start a daemon which is down, but never wait for it.",
                  prompts(), "b")
        + f"# {FIXED}\nFIXED_ANSWERS = (\n"
        + "".join(f"    (b\"{host}\", b\"{event}\", b'{text}'),\n"
                  for host, event, text in fixed_answers())
        + ")\n"
    )  # fmt: skip


def _keepout() -> str:
    variables = _names(lambda known: known.session_env)
    return (
        _python("SESSION_FIELDS", "Where payloads name their session.", session_fields())
        + _python("SESSION_VARIABLES", "Variables that name it.", variables)
        + _python("SESSION_ENDS", "Events that end it, in letters and digits alone.",
                  session_ends())
    )  # fmt: skip


def _python(name: str, what: str, values: list[str], prefix: str = "") -> str:
    lines = "".join(f'    {prefix}"{value}",\n' for value in values)
    return f"# {what}\n{name} = (\n{lines})\n"


def _between(path: str, made: str) -> str:
    text = pathlib.Path(path).read_text()
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    assert begin and end, f"{path} has lost the lines between which its lists are written"
    return head + begin + made + end + tail
