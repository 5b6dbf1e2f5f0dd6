"""A document, with what an assessor looks for marked."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from qassay.web.documents import DocumentView, show
from qassay.web.routing import ASSESSORS, Router, TheSite

router = Router()


@router.page("/document", template="document.html", roles=ASSESSORS)
def document(
    site: TheSite,
    id: Annotated[str, Query(max_length=1000)],  # noqa: A002  # the name in the address
    find: Annotated[str | None, Query(max_length=5_000)] = None,
    start: Annotated[int | None, Query(ge=0)] = None,
    length: Annotated[int | None, Query(ge=0)] = None,
) -> DocumentView:
    """A document of the collection, with a string or a stretch marked."""
    return show(site, id, find=find, start=start, length=length)
