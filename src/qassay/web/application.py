"""The application, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from qassay._version import __version__
from qassay.errors import QassayError
from qassay.formats.folder import open_folder, read_configuration
from qassay.store.engine import Store, open_store
from qassay.web import health, pages, single_sign_on
from qassay.web.errors import GoTo, Refusal, answer
from qassay.web.security import SecurityMiddleware
from qassay.web.settings import Settings
from qassay.web.site import Site


def create_app(folder: Path | str, settings: Settings | None = None, *, store: Store | None = None) -> FastAPI:
    """The application for the evaluation in a folder, which has a store.

    The store is opened here and closed when the application ends, unless it is handed in.
    """
    opened = open_folder(folder)
    site = Site(
        folder=opened,
        store=store or open_store(opened),
        configuration=read_configuration(opened),
        settings=settings or Settings(),
    )

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        for kept in site.kept.values():
            if callable(close := getattr(kept, "close", None)):
                close()
        if store is None:
            site.store.close()

    app = FastAPI(title="Qassay", version=__version__, lifespan=life, openapi_url=None, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.state.site = site
    app.state.pages = pages.load()
    if site.settings.sign_on is not None:
        single_sign_on.check_installed()
    for router in (health.router, single_sign_on.router, *(module.router for module in app.state.pages.values())):
        app.router.routes.extend(declared.route() for declared in router.declared)
    for kind in (Refusal, GoTo, QassayError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, answer)
    app.add_middleware(SecurityMiddleware, site=site)
    return app
