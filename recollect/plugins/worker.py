"""The process of one plugin: loads its class and answers the daemon's calls.

In: the class, its options file and one descriptor per channel. Out: answers as JSON. It ends when
the daemon closes a channel or is gone, whatever its hooks are doing. What it prints is dropped.
"""

import importlib
import os
import sys
import threading
import tomllib
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from recollect.core import oslayer, safe_files
from recollect.plugins import API_VERSION, HOOKS, Plugin
from recollect.plugins.channel import OPTIONS_BYTES, failure, receive, send


def load(target: str, options_file: str) -> Plugin:
    module, _, name = target.partition(":")
    made = getattr(importlib.import_module(module), name)
    wants = getattr(made, "api_version", None)
    if wants != API_VERSION:
        raise TypeError(f"it is made for version {wants} of the plugin API; this is {API_VERSION}")
    plugin = made(_options(options_file))
    if not isinstance(plugin, Plugin):
        raise TypeError(f"{target} is not a recollect.plugins.Plugin")
    plugin.start()
    return plugin


def hooks(plugin: Plugin) -> list[str]:
    """What it overrides."""
    return [one for one in HOOKS if getattr(type(plugin), one) is not getattr(Plugin, one)]


def serve(plugin: Plugin, line: Connection) -> None:
    """Answer calls until the daemon closes the channel."""
    while True:
        call = receive(line)
        try:
            answer = getattr(plugin, call["hook"])(*call["given"])
            if call["hook"] == "import_source":
                for item in answer:
                    send(line, {"item": item})
                answer = None
            message = msgspec.json.encode({"number": call["number"], "done": answer})
        except BaseException as error:  # noqa: BLE001  whatever a plugin raises, SystemExit too
            message = msgspec.json.encode({"number": call["number"], "failed": failure(error)})
        line.send_bytes(message)


def _options(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(safe_files.read_whole(path, OPTIONS_BYTES).decode())
    except FileNotFoundError:
        return {}


def _serve_and_end(plugin: Plugin, line: Connection) -> None:
    try:
        serve(plugin, line)
    except (EOFError, OSError):
        os._exit(0)  # the daemon is gone; a thread that is busy must not keep the process


def main(target: str, options_file: str, *descriptors: str) -> None:
    lines = [oslayer.inherited_pipe(one) for one in descriptors]
    try:
        plugin = load(target, options_file)
    except BaseException as error:  # noqa: BLE001
        send(lines[0], {"failed": failure(error)})
        return
    send(lines[0], {"hooks": hooks(plugin)})
    for line in lines[1:]:
        threading.Thread(target=_serve_and_end, args=(plugin, line), daemon=True).start()
    _serve_and_end(plugin, lines[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
