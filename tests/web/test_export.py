"""The export of a served evaluation: neither empty nor stale."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder
from qassay.store.folder.importing import import_folder


def test_a_downloaded_evaluation_scores_the_same(site: Any, tmp_path: Path) -> None:
    import_folder(site.store, open_folder(site.folder))
    answer = site.client("organiser").get("/export.zip")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="Qassay%20demo.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path / "out")
    served = open_evaluation(site.folder, store=site.store).score()
    plain = open_evaluation(tmp_path / "out").score()
    assert plain.as_json() == served.as_json()


def test_nobody_else_gets_it(site: Any) -> None:
    for role in ("adjudicator", "assessor", "reader", None):
        assert site.client(role).get("/export.zip").status_code in (303, 401, 403)
