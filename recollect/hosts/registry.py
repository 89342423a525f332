"""All hosts, found by their folders; the only place that knows which there are.

In: the folders beside this file that hold a `facts.py`. Out: facts, adapters, installers and
readers of transcripts, each loaded when it is first asked for: capture needs no installers.
"""

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from recollect.hosts.facts import Facts

if TYPE_CHECKING:
    from recollect.hosts.adapter import Adapter
    from recollect.hosts.installer import Installer
    from recollect.hosts.transcript import Reader, Transcript


@cache
def facts() -> Mapping[str, Facts]:
    """By name: first those seen with a real client, then by title."""
    here = os.path.dirname(__file__)
    folders = [name for name in os.listdir(here) if _has(name, "facts")]
    found: list[Facts] = [_part(name, "facts").FACTS for name in folders]
    found.sort(key=lambda known: (not known.verified, known.title))
    return MappingProxyType({known.name: known for known in found})


@cache
def adapters() -> Mapping[str, "Adapter"]:
    """Those of the hosts that have hooks."""
    having = [name for name in facts() if _has(name, "adapter")]
    return MappingProxyType({name: _part(name, "adapter").ADAPTER for name in having})


@cache
def installers() -> Mapping[str, "Installer"]:
    return MappingProxyType({name: _part(name, "installer").INSTALLER for name in facts()})


@cache
def readers() -> Mapping[str, "Reader"]:
    """Readers of transcripts, for the hosts that keep their sessions on disk."""
    having = [name for name in facts() if _has(name, "transcript")]
    return MappingProxyType({name: _part(name, "transcript").READER for name in having})


def transcripts_in(path: str) -> "list[Transcript]":
    """The sessions that a file holds, by the reader that recognises its content."""
    return next(filter(None, (list(one.in_file(path)) for one in readers().values())), [])


def transcript_environment() -> tuple[str, ...]:
    """The variables that say where hosts keep their transcripts."""
    return tuple(sorted({name for known in facts().values() for name in known.transcript_env}))


@cache
def names() -> Mapping[str, str]:
    """The name of each host by its name and by each alias."""
    known = {alias: one.name for one in facts().values() for alias in one.aliases}
    return MappingProxyType(known | {name: name for name in facts()})


def _has(name: str, part: str) -> bool:
    return os.path.isfile(os.path.join(os.path.dirname(__file__), _folder(name), f"{part}.py"))


def _part(name: str, part: str) -> ModuleType:
    return import_module(f"{__package__}.{_folder(name)}.{part}")


def _folder(name: str) -> str:
    return name.replace("-", "_")
