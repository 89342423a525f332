"""The packages that a command adds, and the services that it operates.

In: one command of a shell line. Out: names, only where the form of the command leaves no doubt:
options and their values, paths, versions and requirements files are no names.
"""

import re
from collections.abc import Iterator

from recollect.work.paths import base, words_of

MOST_PACKAGES = 10
_ADDS = re.compile(
    r"^(?:(?:pnpm|yarn|bun|uv|poetry|cargo|bundle) add|npm (?:install|i|add)|go get|"
    r"composer require|mix archive\.install|(?:uv )?pip3? install|python[\d.]{0,5} -m pip install)"
    r"\s(?P<rest>.+)",
    re.DOTALL,
)
# Options of these programs that take the next word as their value.
_WITH_VALUE = words_of(
    """
    -r -c -t -i -e -w --requirement --constraint --target --index-url --extra-index-url --prefix
    --filter --group --features --git --path --branch --editable --registry --workspace --python
    """
)
_VERSION = re.compile(r"(?<=\w)(?:@[\w.^~*-]++$|[=<>~!].*|\[.*)", re.DOTALL)
_PACKAGE = re.compile(r"@?[A-Za-z][\w./-]*[\w]")
_FILE_ENDINGS = (".txt", ".whl", ".gz", ".zip", ".toml")

_COMPOSE = re.compile(
    r"^docker(?:-| )compose (?:-[fp] \S+ )*"
    r"(?P<what>up|start|stop|restart|logs|build|pull|exec|run)(?P<rest>\s.*)?$",
    re.DOTALL,
)
_INTO_ONE = ("exec", "run")  # what follows the service is a command inside it
_FLAGS = words_of("-d --detach --build -f --follow --force-recreate --no-deps -T -it -i -t --rm")
_UNIT = re.compile(
    r"^systemctl (?:--user )?(?:start|stop|restart|reload|status|enable|disable|is-active)"
    r"(?: --now)? (?P<name>[A-Za-z][\w@.-]*)$"
)
_RESOURCE = re.compile(
    r"(?:deployment|deploy|service|svc|statefulset|daemonset)s?(?:\.apps)?/(?P<name>[a-z][\w-]*)"
)
_SERVICE = re.compile(r"[A-Za-z][\w-]*")


def packages(command: str) -> Iterator[str]:
    """The packages that a command adds to a project."""
    found = _ADDS.match(_plain(command))
    left, is_value = MOST_PACKAGES, False
    for word in found["rest"].split() if found else ():
        if is_value or word.startswith("-"):
            is_value = not is_value and word in _WITH_VALUE
            continue
        name = _VERSION.sub("", word.strip("\"'"))
        if left and _PACKAGE.fullmatch(name) and not name.endswith(_FILE_ENDINGS):
            left -= 1
            yield name


def services(command: str) -> Iterator[str]:
    """The services that a command starts, stops or looks into."""
    text = _plain(command)
    if unit := _UNIT.match(text):
        yield unit["name"].removesuffix(".service")
    elif text.startswith("kubectl "):
        named = (_RESOURCE.fullmatch(word) for word in text.split())
        yield from (one["name"] for one in named if one)
    elif compose := _COMPOSE.match(text):
        for word in (compose["rest"] or "").split():
            if word in _FLAGS:
                continue
            if not _SERVICE.fullmatch(word):
                return  # an option that may take the next word: what follows is not certain
            yield word
            if compose["what"] in _INTO_ONE:
                return


def _plain(command: str) -> str:
    """With the bare name of its program."""
    program, space, rest = command.partition(" ")
    return base(program) + space + rest
