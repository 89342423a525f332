"""The HTTP protocol of uvicorn with one more check: who is at the other end of a unix socket."""

import asyncio
import logging
import os
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.core import oslayer

log = logging.getLogger(__name__)


class PeerCheckedProtocol(H11Protocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer: socket.socket | None = transport.get_extra_info("socket")
        if peer is not None and peer.family == socket.AF_UNIX:
            raw = socket.socket(fileno=os.dup(peer.fileno()))
            with raw:
                stranger = oslayer.peer_uid(raw) != os.getuid()
            if stranger:
                log.warning("a process of another user tried the socket")
                transport.abort()
                return
        super().connection_made(transport)
