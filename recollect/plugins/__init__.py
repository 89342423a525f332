"""What a plugin is: a class with some of these hooks, in a process of its own.

A package names its class in the entry point group `recollect.plugins`; the user switches it on with
`recollect plugins enable NAME`. Values are plain JSON data, with the names that the REST API has.
`docs/howto/plugins.md` explains everything that a plugin's author may rely on. This module is that
promise: within one API_VERSION names and meanings only gain.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

API_VERSION = 1
GROUP = "recollect.plugins"

Json = Mapping[str, Any]


class Plugin:
    """Override the hooks you need. A hook that raises, or that takes longer than its limit, counts
    as a failure; after three of one hook in a row the plugin is switched off until it is enabled
    again. So is one that cannot be loaded or started. Hooks of different kinds may be called at
    the same time, from different threads."""

    api_version = API_VERSION

    def __init__(self, options: Json) -> None:
        """`options` is the content of plugins/NAME.toml in the data directory, if there is one."""
        self.options = options

    def start(self) -> None:
        """Called once, before any other hook; at most 10 s."""

    def event_stored(self, event: Json) -> None:
        """An event was stored; at most 10 s."""

    def memory_made(self, memory: Json) -> None:
        """A memory was stored or changed, or, with `"removed": true`, is gone; at most 10 s."""

    def tick(self) -> None:
        """Called once a minute; at most 30 s."""

    def before_inject(self, brief: Json) -> Sequence[str]:
        """The ids of lines of a brief that shall not be told. All plugins together have 0.1 s: the
        brief goes on without whoever answers later."""
        return ()

    def import_source(self, argument: str) -> Iterable[Json]:
        """Memories and prompts for `recollect import plugin:NAME:ARGUMENT`; at most 60 s for each
        item."""
        raise NotImplementedError

    def llm_provider(self, request: Json) -> Json:
        """Answer a prompt, for the setting `provider = "plugin"`: `text` and, if known, `model`,
        `input_tokens`, `output_tokens`. The limit is the request's `timeout_s`."""
        raise NotImplementedError

    def stop(self) -> None:
        """Called when the daemon stops or the plugin is switched off; at most 2 s."""


HOOKS = ("event_stored", "memory_made", "tick", "before_inject", "import_source", "llm_provider")
