"""The evaluation as a zip file of text files: what `qassay export` writes."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO

from starlette.responses import Response, StreamingResponse

from qassay.formats.exporting import make_export
from qassay.formats.names import file_name
from qassay.store.folder.snapshot import snapshot
from qassay.web.routing import ORGANISERS, Router, TheSite

router = Router()

# Kept in memory up to this many bytes.
SMALL = 8 << 20
CHUNK = 1 << 16


@router.download("/export.zip", roles=ORGANISERS)
def export(site: TheSite) -> Response:
    """Questions, runs, judgments, nuggets and answers as they stand; `qassay` reads them as an evaluation."""
    made = make_export(snapshot(site.store, site.folder))
    packed = tempfile.SpooledTemporaryFile(max_size=SMALL)  # noqa: SIM115  # closed when it has been sent
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in made.names:
            archive.writestr(name, made.contents[name])
    packed.seek(0)
    headers = {"Content-Disposition": f'attachment; filename="{file_name(site.configuration.name)}.zip"'}
    return StreamingResponse(_chunks(packed), media_type="application/zip", headers=headers)


def _chunks(packed: IO[bytes]) -> Iterator[bytes]:
    with packed:
        while chunk := packed.read(CHUNK):
            yield chunk
