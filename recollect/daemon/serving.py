"""HTTP for the daemon: its listeners, uvicorn, and the watch over the doors.

In: the runtime. Out: an HTTP server on `recollect.sock` and on loopback, until the runtime stops.
StoreBusy when no port is free.
"""

import contextlib
import logging
import os
import socket
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from recollect.core import errors, oslayer
from recollect.server import door_watch

if TYPE_CHECKING:
    from recollect.daemon.runtime import Runtime

log = logging.getLogger("recollect.daemon")

HTTP_SOCKET = "recollect.sock"
PORTS_TRIED = 50
GRACE_S = 1


def serve(runtime: "Runtime") -> None:
    """The slow imports come here, when hooks are already answered."""
    listener = _listen(runtime.settings.port)
    runtime.port = runtime.announce.port = listener.getsockname()[1]
    with runtime.one_importer:
        import uvicorn

        from recollect.server.http_protocol import Connections, DoorProtocol, HttpServer

        app, clones = runtime.app(), runtime.clones
    clones.start()
    runtime.upkeep.catch_up_later()
    address = runtime.socket_path(HTTP_SOCKET)
    local = oslayer.listen_local(address)
    limits = {is_local: Connections(runtime.connections) for is_local in (True, False)}
    config = uvicorn.Config(
        app,
        http=cast(Any, partial(DoorProtocol, doors=limits)),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        backlog=min(32, runtime.connections),
    )

    def ends() -> None:
        runtime.doors.close()
        runtime.live.close()

    server = runtime.http = HttpServer(config, runtime.threads, ends)
    server.should_exit = runtime.stopping.is_set()  # it was stopped while it started
    runtime.announce("ready")
    _watch_doors(runtime, server, address)
    log.info("dashboard and API on http://127.0.0.1:%d", runtime.port)
    try:
        server.run(sockets=[listener, local])
    finally:
        if os.path.exists(address):
            os.unlink(address)


def _watch_doors(runtime: "Runtime", server: Any, address: str) -> None:
    hooks = runtime.hooks
    watched = {
        "socket": door_watch.Door(
            door_watch.http(partial(oslayer.connect_local, address), "localhost"),
            lambda: server.also_serve(oslayer.listen_local(address)),
        ),
        "tcp": door_watch.Door(
            door_watch.http(
                partial(socket.create_connection, ("127.0.0.1", runtime.port)),
                f"127.0.0.1:{runtime.port}",
            )
        ),
    }
    if hooks is not None:
        watched["hooks"] = door_watch.Door(door_watch.hooks(hooks.path), hooks.reopen)
    runtime.doors.start(watched)


def _listen(port: int) -> socket.socket:
    """A listener on loopback, at the port asked for or the next free one."""
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        with contextlib.suppress(OSError):
            return oslayer.listen_tcp(candidate)
    raise errors.StoreBusy(
        f"no free port from {port} to {port + PORTS_TRIED - 1}",
        hint="recollect settings set port NUMBER",
    )
