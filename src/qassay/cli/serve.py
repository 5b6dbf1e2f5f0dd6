"""`qassay serve`: the web application."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from qassay.errors import UsageError
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.store.engine import Store
    from qassay.web.site import Settings


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The evaluation.")],
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", metavar="URL", help="The https address that people open (that of a proxy)."),
    ] = None,
    trusted_header: Annotated[
        str | None,
        typer.Option(
            "--trusted-header", metavar="NAME", help="A header in which a proxy names the person who signed in."
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", metavar="ADDRESS", help="Address of this proxy; may be repeated."),
    ] = None,
    invite_organiser: Annotated[
        bool, typer.Option("--invite-organiser", help="Print a one-time link for another organiser.")
    ] = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen to the network without https: passwords are sent unencrypted.")
    ] = False,
    log: Annotated[
        str, typer.Option("--log", metavar="FORM", help="Form of the log on stderr: text, json or none.")
    ] = "text",
) -> None:
    """Start the web application: questions, runs, judging, adjudication, results.

    On its first start it makes the store (qassay.db in the folder, or the database that qassay.toml or QASSAY_DATABASE
    names), imports the files of the folder, and prints a link: open it to become the first organiser.

    Single sign-on is set up with QASSAY_SSO_ISSUER, QASSAY_SSO_CLIENT, QASSAY_SSO_SECRET and QASSAY_SSO_NAME. On
    SIGTERM the application finishes open requests and exits with 0; Ctrl-C exits with 130.

    Examples

      qassay serve my-eval --open
      qassay serve my-eval --port 8080 --log json
      qassay serve my-eval --host 0.0.0.0 --public-url https://qa.example.org
    """
    from qassay.web.site import Settings, sign_on_from

    if log not in ("text", "json", "none"):
        raise UsageError(f"--log {log}: it is text, json or none")
    settings = Settings(
        host=host,
        port=port,
        public_url=public_url,
        insecure=insecure,
        trusted_header=trusted_header,
        trusted_proxies=tuple(trusted_proxy or ()),
        sign_on=sign_on_from(os.environ),
        log=cast('Literal["text", "json", "none"]', log),
    )
    serve_folder(folder, settings, open_browser=open_browser, invite_organiser=invite_organiser)


def serve_folder(
    folder: Path,
    settings: Settings,
    *,
    before: Callable[[str], None] | None = None,
    open_browser: bool = False,
    invite_organiser: bool = False,
) -> None:
    """Serve the evaluation in a folder until told to stop.

    `before` prepares it, once the port is known to be free, and gets the address.
    """
    with _on_sigterm(signal.default_int_handler), closing(_listen(settings.host, settings.port)) as listening:
        if before is not None:
            before(_address(settings, listening))
        from qassay.formats.folder import open_folder
        from qassay.store.engine import open_store
        from qassay.store.folder.importing import import_folder
        from qassay.store.folder.snapshot import is_new

        opened = open_folder(folder)
        with closing(open_store(opened, create=True)) as store:
            # Only into a new store: later the store is ahead, and an old file would undo what was changed since.
            if is_new(store) and (imported := import_folder(store, opened)):
                files = plural(len(imported), "file")
                print(f"Imported {files} of {opened.path} into its store, which is the evaluation from now on.")
            _serve(folder, settings, store, listening, open_browser=open_browser, invite_organiser=invite_organiser)


@contextmanager
def _on_sigterm(handler: Callable[..., Any]) -> Iterator[None]:
    """Handle SIGTERM meanwhile, so that files are closed and temporary ones removed."""
    earlier = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


def _address(settings: Settings, listening: socket.socket) -> str:
    """The address that people open."""
    where = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.origin or f"http://{where}:{listening.getsockname()[1]}"


def is_free(host: str, port: int) -> bool:
    """Whether this port can be listened on now."""
    try:
        _listen(host, port).close()
    except UsageError:
        return False
    return True


def _listen(host: str, port: int) -> socket.socket:
    """The socket, bound before anything else is done: a port that is taken is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"port {port} is taken by another program; choose one with --port, or 0 for any that is free"
        else:
            message = f"cannot listen on {host}, port {port}: {error.strerror or error}"
        raise UsageError(message) from None


def _serve(
    folder: Path,
    settings: Settings,
    store: Store,
    listening: socket.socket,
    *,
    open_browser: bool,
    invite_organiser: bool,
) -> None:
    import uvicorn

    from qassay.store.acts import Act
    from qassay.store.people import has_organiser, invite
    from qassay.web import logs
    from qassay.web.application import Serving, create_app
    from qassay.web.site import LOOPBACK

    address = _address(settings, listening)
    app = create_app(folder, settings, store=store)
    logs.set_up(settings.log)
    if settings.insecure and not settings.is_secure and settings.host not in LOOPBACK:
        print(
            "warning: --insecure: passwords and judgments cross the network unencrypted, and anyone on it can read and "
            "change them. For https: --public-url",
            file=sys.stderr,
        )
    print(f"{app.state.site.configuration.name} is served at {address} (stop with Ctrl-C)")
    with store.write() as connection:
        is_first = not has_organiser(connection)
        token = (
            invite(Act(connection, app.state.site.configuration.task), "organiser")
            if is_first or invite_organiser
            else None
        )
    if token is not None:
        print(f"This link makes {'the first' if is_first else 'another'} organiser; it works once:")
        print(f"  {address}/welcome#{token}")
    sys.stdout.flush()
    if open_browser:
        at = f"{address}/welcome#{token}" if token is not None else address
        # The socket takes connections already; they are answered as soon as the server runs.
        threading.Thread(target=webbrowser.open, args=(at,), daemon=True).start()
    server = uvicorn.Server(Serving(app))

    def stop(*_: object) -> None:
        server.should_exit = True

    # The server catches the signal, stops, and sends it once more to the handler before it: ending is not an error.
    with _on_sigterm(stop):
        server.run(sockets=[listening])
