"""HTTP to the address that the user has named, and to no other: no redirect is followed and no proxy is used.

A redirect would carry the questions, and a password or token, to a server that nobody named.
"""

from __future__ import annotations

import urllib.request
from email.message import Message
from typing import IO, Final

# Statuses of a server that is too busy, still starting, or lost behind a proxy: the same request may be answered later.
BUSY: Final = frozenset({408, 425, 429, 502, 503, 504, 529})
# The same, with the mistake of a program that may not be made twice.
PASSING: Final = BUSY | {500}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the response it is."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Follow nothing."""


def direct() -> urllib.request.OpenerDirector:
    """An opener of requests to the named address only."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
