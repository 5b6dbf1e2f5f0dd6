"""An application that listens on a socket, as `qassay serve` lets it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from qassay.web.application import Serving


@contextmanager
def listening(app: FastAPI) -> Iterator[tuple[uvicorn.Server, int]]:
    """The application, served on a free port of this machine; the server, and the port."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        running = uvicorn.Server(Serving(app))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield running, bound.getsockname()[1]
        finally:
            running.should_exit = True
            thread.join()
