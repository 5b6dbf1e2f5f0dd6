"""A small track from end to end through the API: submissions, pool, assessors, adjudication, result pages, export."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tracks import AFTER, Track, make_folder, run_text, served
from worksheets import key

from qassay.cli import main
from qassay.evaluation import open_evaluation
from qassay.web.pages import submissions as page

RIGHT = {"1": "1901", "2": "Ann Lee", "3": "90 m"}
SENT = {
    "n1": ("nina", {}),
    "n2": ("nils", {"2": "Bo"}),
    "s1": ("sara", {"1": "1850", "3": "100 m"}),
}
# By hand: of the first 1, 2, 3 answers this many are right, and the mean of the three shares is the score.
SCORES = {"n1": (1 + 1 + 1) / 3, "n2": (1 + 1 / 2 + 2 / 3) / 3, "s1": (0 + 1 / 2 + 1 / 3) / 3}
SECRETS = ("North", "South", "n1", "n2", "s1", "nina", "nils", "sara")


def judge(track: Track, name: str, generous: bool) -> list[str]:
    """Judge everything that is assigned; all that the assessor was shown. Only a generous one calls `100 m` right."""
    client = track.client(name)
    seen = [client.get("/work").text, client.get("/api/work").text]
    while (number := client.get("/api/work").json()["next"]) is not None:
        sheet = client.get(f"/api/judge/{number}")
        seen.append(sheet.text)
        for place in sheet.json()["items"]:
            shown = client.get(f"/api/judge/{number}/items/{place['id']}")
            seen.append(shown.text)
            text = shown.json()["body"]["text"]
            label = "R" if text in RIGHT.values() or (generous and text == "100 m") else "W"
            sent = {"key": key(), "item": place["id"], "part": "", "expected": 0, "verdict": {"judgment": label}}
            saved = client.post(f"/api/judge/{number}/decisions", json=sent)
            assert saved.status_code == 200, saved.text
            seen.append(saved.text)
    return seen


def adjudicate(track: Track) -> int:
    """Rule on everything that is left: `100 m` is wrong. How many rulings there were."""
    client, ruled = track.client("carl"), 0
    while (question := client.get("/api/adjudication").json()["next"]) is not None:
        for one in client.get("/api/adjudication/question", params={"id": question}).json()["disagreements"]:
            assert one["shown"]["text"] == "100 m"
            sent = {"key": key(), "question": question, "item": one["item"], "part": one["part"]}
            verdict = {"expected": one["version"], "verdict": {"judgment": "W"}}
            assert client.post("/api/adjudication/rulings", json=sent | verdict).status_code == 200
            ruled += 1
    return ruled


def result_of(track: Track, name: str) -> dict[str, Any]:
    found: dict[str, Any] = track.client(name).get("/api/organisation-results").json()["result"]
    return found


def test_a_track_from_the_call_to_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(make_folder(tmp_path / "bridges"), monkeypatch) as track:
        for tag, (name, answers) in SENT.items():
            [report] = track.send(name, run_text(tag, answers))
            assert report["tag"] == tag
        monkeypatch.setattr(page, "_now", lambda: AFTER)
        organiser = track.client("olga")
        assert track.pool() == 6
        judges = [track.people["ann"], track.people["bob"]]
        given = organiser.post("/api/assignments", json={"assessors": 2, "accounts": judges})
        assert given.json()["done"] == 6
        assert result_of(track, "nina") is None
        shown = judge(track, "ann", generous=True) + judge(track, "bob", generous=False)
        words = set(json.dumps(shown).replace('"', " ").replace("\\", " ").split())
        assert not words & set(SECRETS), "who is who stays hidden from assessors"
        assert adjudicate(track) == 1
        published = organiser.post("/api/results/published", json={"title": "Bridges 2026"})
        assert published.status_code == 201, published.text
        check_results(track, published.json()["id"])
        check_release(track, tmp_path, capsys)


def check_results(track: Track, number: str) -> None:
    """Each organisation sees its runs, the median and the best, and nothing of the other."""
    north, south = result_of(track, "nils"), result_of(track, "sara")
    said = [sentence.replace("\u2068", "").replace("\u2069", "") for sentence in north["sentences"]]
    assert said == [
        "n1 scores 1.000, rank 1 of 3; the median run scores 0.722, the best 1.000.",
        "n2 scores 0.722, rank 2 of 3; the median run scores 0.722, the best 1.000.",
    ]
    overall = south["tables"][0]
    assert [column["header"] for column in overall["columns"]] == ["", "s1", "median", "best"]
    assert overall["rows"][0][0] == "cws"
    assert overall["rows"][0][1:] == pytest.approx([SCORES["s1"], SCORES["n2"], SCORES["n1"]], abs=1e-12)
    client = track.client("sara")
    for address in ("/organisation-results", "/api/organisation-results", "/submissions", overall["csv"]):
        text = client.get(address).text
        assert "s1" in text
        assert not any(secret in text for secret in ("North", "n1", "n2", "nina"))
    assert client.get(f"/results/published/{number}").status_code == 403
    assert client.get("/organisation-results.csv?number=../../x&table=table-1").status_code == 404
    assert client.get(f"/organisation-results?number={number}").status_code == 200
    assert client.get("/organisation-results?number=0000").status_code == 404
    assert client.get(f"/organisation-results.csv?number={number}&table=../table-1").status_code == 404
    # Readers see all of it, as before.
    assert "n1" in track.client("rita").get(f"/results/published/{number}").text
    track.client("olga").delete(f"/api/results/published/{number}")
    assert result_of(track, "sara") is None


def check_release(track: Track, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is exported is the whole track, and has the same scores and pages."""
    packed = track.client("olga").get("/export.zip")
    copy = place / "copy"
    zipfile.ZipFile(io.BytesIO(packed.content)).extractall(copy)
    (copy / "qassay.toml").write_text((track.folder / "qassay.toml").read_text())
    scores = open_evaluation(copy).score()
    assert {run.run: run.score for run in scores.runs} == pytest.approx(SCORES, abs=1e-12)
    assert {tag: about.organisation for tag, about in scores.information.items()} == {
        **{"n1": "North", "n2": "North"},
        "s1": "South",
    }
    assert main(["report", str(copy), "--by", "organisation", "--to", str(place / "pages"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == {"north.html": "North", "south.html": "South"}
