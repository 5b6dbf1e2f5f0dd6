"""Runs: uploaded files are checked at once, nothing of a faulty one stays, and what they are can be said."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from sqlalchemy import select
from tracks import Here, Track, served

from qassay.cli import main
from qassay.formats.folder import open_folder
from qassay.store.folder.importing import import_folder
from qassay.store.pool.uploads import count_runs
from qassay.store.schema import run
from qassay.web import uploading as page_module
from qassay.web.pages import runs as runs_page
from qassay.web.uploading import clean_name


@pytest.fixture
def organiser(site: Any) -> Any:
    """The organiser of the demo, whose files are in the store."""
    import_folder(site.store, open_folder(site.folder))
    return site.client("organiser")


@pytest.fixture
def good(site: Any) -> bytes:
    """A faultless run with the tag `fresh`."""
    text = (site.folder / "runs" / "crane.txt").read_text()
    return text.replace(" crane ", " fresh ").encode()


def send(client: Any, *files: tuple[str, bytes], **fields: Any) -> list[dict[str, Any]]:
    answer = client.post("/api/runs", files=[("files", file) for file in files], data=fields)
    assert answer.status_code == 200, answer.text
    reports: list[dict[str, Any]] = answer.json()["files"]
    return reports


def runs(site: Any) -> int:
    with site.store.read() as connection:
        return count_runs(connection)[0]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstandard"])
def test_a_faultless_run_is_kept_with_its_description(organiser: Any, site: Any, good: bytes, pack: Any) -> None:
    [report] = send(organiser, ("any name.txt", pack(good)), organisation="North", manual="true", priority="2")
    assert (report["tag"], report["faults"]) == ("fresh", 0)
    run = next(run for run in organiser.get("/api/runs").json()["runs"] if run["tag"] == "fresh")
    assert (run["organisation"], run["manual"], run["priority"], run["by"]) == ("North", True, 2, "Some organiser")
    page = organiser.get("/runs").text
    assert 'fresh</bdi><abbr class="star" title="manual run">*' in page


def test_all_errors_are_reported_with_their_lines_and_nothing_stays(organiser: Any, site: Any, good: bytes) -> None:
    before = runs(site)
    lines = good.decode().splitlines()
    lines[0] = lines[0].replace(lines[0].split()[2], "NO-SUCH-DOC")
    lines[2] = "1.3 fresh"
    broken = "\n".join([*lines, "99.9 fresh demo-curie-1 x"]).encode()
    bad, other = send(organiser, ("bad.txt", broken), ("fine.txt", good))
    problems = [(problem["line"], problem["rule"]) for problem in bad["first"]]
    assert problems == [(1, "unknown-doc"), (3, "syntax"), (len(lines) + 1, "unknown-question")]
    assert bad["tag"] is None
    assert other["tag"] == "fresh"
    assert runs(site) == before + 1
    [again] = send(organiser, ("again.txt", good))
    assert [problem["rule"] for problem in again["first"]] == ["second-tag"]
    page = organiser.get("/runs/report", params={"number": bad["report"]})
    assert "NO-SUCH-DOC is not in the collection" in page.text
    text = organiser.get("/runs/report.txt", params={"number": bad["report"]})
    assert text.text.startswith("bad.txt:1: question 1.1: document NO-SUCH-DOC")
    assert text.headers["content-disposition"].startswith("attachment")


def test_a_run_whose_answers_are_in_another_field_is_pointed_out(organiser: Any, site: Any, good: bytes) -> None:
    rows = [{"run": "odd", "question": line.split()[0], "nil": True} for line in good.decode().splitlines()]
    content = "".join(
        f"{json.dumps(row | {'answers': ['x']})}\n" for row in {row["question"]: row for row in rows}.values()
    )
    [odd, fine] = send(organiser, ("odd.jsonl", content.encode()), ("fresh.txt", good))
    assert (odd["tag"], fine["tag"], fine["warnings"]) == ("odd", "fresh", [])
    said = " ".join(warning["message"] for warning in odd["warnings"])
    assert "is it meant as 'items'?" in said
    assert "every answer is empty or NIL" in said


def test_many_errors_are_paged(organiser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "FAULTS_A_PAGE", 40)
    [report] = send(organiser, ("bad.txt", b"1.1 bad NIL\n"))
    assert (report["faults"], len(report["first"])) == (108, 40)
    page = organiser.get("/api/runs/report", params={"number": report["report"], "page": 3}).json()
    assert (page["pages"], page["first"], len(page["faults"])) == (3, 81, 28)
    assert organiser.get("/runs/report", params={"number": "nobody"}).status_code == 404


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PK\x03\x04 whatever", "is a zip archive; unpack it"),
        (b"\0" * 257 + b"ustar\0", "is a tar archive"),
        (b"BZh91AY", "is a bzip2 file"),
        (b"\x1f\x8b not really", "broken gzip file"),
        (gzip.compress(b"1.1 x NIL\n" * 1000)[:-20], "broken gzip file"),
        (b"\x28\xb5\x2f\xfd not really", "broken zstandard file"),
        (b"", "is empty"),
        (b"\xff\xfe\x00", "UTF-16; save it as UTF-8"),
        (b"1.1 x \0\0\0\0 d\n", "NUL bytes"),
        (b"1.1 x d \xff\n", "is not UTF-8"),
    ],
    ids=["zip", "tar", "bzip2", "no gzip", "cut gzip", "no zstandard", "empty", "UTF-16", "NUL", "latin"],
)
def test_a_file_that_is_not_a_run_is_refused_with_a_reason(
    organiser: Any, site: Any, content: bytes, says: str
) -> None:
    before = runs(site)
    [report] = send(organiser, ("odd", content))
    assert says in report["first"][0]["message"]
    assert runs(site) == before


def test_a_real_zip_file_is_refused(organiser: Any, good: bytes) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../../fresh.txt", good)
    [report] = send(organiser, ("runs.zip", out.getvalue()))
    assert "zip archive" in report["first"][0]["message"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstandard"])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(site: Any, pack: Any) -> None:
    import_folder(site.store, open_folder(site.folder))
    served = site.with_settings(upload_limit=1 << 20)
    [report] = send(served.client("organiser"), ("bomb.gz", pack(b"0" * (5 << 20))))
    assert "unpacks to more than 4 MiB" in report["first"][0]["message"]
    answer = served.client("organiser").post("/api/runs", files=[("files", ("a", b"0" * (2 << 20)))])
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../../etc/passwd", "passwd"),
        ("..\\evil\\run.txt", "run.txt"),
        ("....//..", "run"),
        ("a\u202eb\u0000c.txt", "abc.txt"),
        ("", "run"),
        ("ü" * 300 + ".txt", "ü" * 98 + ".txt"),
    ],
)
def test_a_file_name_is_only_a_name(name: str, shown: str) -> None:
    assert clean_name(name) == shown


def test_a_name_with_a_path_goes_nowhere(organiser: Any, site: Any, good: bytes) -> None:
    [report] = send(organiser, ("../../../../tmp/qassay-evil.txt", good))
    assert (report["file"], report["tag"]) == ("qassay-evil.txt", "fresh")


def test_a_run_is_described_withdrawn_and_restored(organiser: Any, site: Any) -> None:
    organiser.post("/api/assignments/pool", json={})
    site.app.state.site.memory["job pool"].ended.wait(20)
    items = organiser.get("/api/assignments/pool").json()["items"]
    body = {"tag": "ibis", "organisation": " South ", "description": "<i>x</i>", "priority": 0}
    run = organiser.put("/api/runs", json=body).json()
    assert (run["organisation"], run["priority"], run["manual"]) == ("South", 0, False)
    assert "&lt;i&gt;x" in organiser.get("/runs").text
    organiser.post("/api/runs/withdraw", json={"tag": "ibis", "reason": "a mistake"})
    site.app.state.site.memory["job pool"].ended.wait(20)
    pool = organiser.get("/api/assignments/pool").json()
    assert (pool["items"] < items, pool["stale"]) == (True, False)
    assert organiser.get("/api/runs").json()["withdrawn"] == 1
    assert organiser.post("/api/runs/withdraw", json={"tag": "ibis"}).status_code == 400
    organiser.post("/api/runs/restore", json={"tag": "ibis"})
    site.app.state.site.memory["job pool"].ended.wait(20)
    assert organiser.get("/api/assignments/pool").json()["items"] == items
    assert organiser.post("/api/runs/restore", json={"tag": "nobody"}).status_code == 404


def test_a_run_that_comes_after_the_pool_makes_it_stale(organiser: Any, site: Any, good: bytes) -> None:
    organiser.post("/api/assignments/pool", json={})
    site.app.state.site.memory["job pool"].ended.wait(20)
    assert "have changed since the pool was made" not in organiser.get("/runs").text
    send(organiser, ("fresh.txt", good))
    assert "have changed since the pool was made" in organiser.get("/runs").text


def test_advice_about_a_run_fits_the_page(organiser: Any, good: bytes) -> None:
    series = organiser.post("/api/development/series", json={"target": "Hudson Bay Company"}).json()["series"]
    asked = {"series": series, "type": "factoid", "text": "Was it founded in London?"}
    assert organiser.post("/api/development/questions", json=asked).status_code in (200, 201)
    lines = [line for line in good.decode().splitlines() if not line.startswith("1.1 ")]
    [bad] = send(organiser, ("bad.txt", "\n".join([*lines, "17.1 fresh NIL", "99.9 fresh NIL"]).encode()))
    assert [problem["message"] for problem in bad["first"]] == [
        "question 17.1 is a draft; publish it on the page Questions, or remove the line",
        "question 99.9 is not in the test set; remove the line or correct the id",
        "question 1.1 has no response; a run answers every question",
    ]


def test_runs_wait_for_questions(site: Any) -> None:
    [report] = send(site.client("organiser"), ("a.txt", b"1.1 a NIL\n"))
    assert "there are no questions yet" in report["first"][0]["message"]
    assert "no questions in the test set yet" in site.client("organiser").get("/runs").text


def test_the_tag_of_a_form_without_tags_is_the_name_of_the_file(site: Any) -> None:
    (site.folder / "qassay.toml").write_text('name = "Pairs"\ntask = "entailment3"\n')
    for name in ("runs", "judgments", "nuggets", "collection"):
        for path in (site.folder / name).iterdir():
            path.unlink()
        (site.folder / name).rmdir()
    for name in ("answers.jsonl", "runs.jsonl", "patterns.txt"):
        (site.folder / name).unlink()
    row = '{"id": "1", "type": "pair", "text": "It rains.", "hypothesis": "It is wet."}\n'
    (site.folder / "questions.jsonl").write_text(row)
    import_folder(site.store, open_folder(site.folder))
    client = site.with_settings().client("organiser")
    [report] = send(client, ("dir/mine.txt.gz", gzip.compress(b"ranked: no\n1 YES\n")))
    assert (report["tag"], report["first"]) == ("mine", [])


# ---- tables of answers -----------------------------------------------------------------------------------------------

QUESTIONS = {"1": "When was it built?", "2": "Who built it?"}
TABLE = "id,question,answer,system\n" + "".join(
    f"{number},{text},{system} says,{system}\n" for system in ("alpha", "beta") for number, text in QUESTIONS.items()
)
ROWS = [{"question": text, "answer": "x", "contexts": ["a context"]} for text in QUESTIONS.values()]


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Track]:
    """An evaluation of free-text answers, served."""
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "qa"\n')
    rows = [{"id": number, "type": "qa", "text": text} for number, text in QUESTIONS.items()]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with served(folder, monkeypatch) as track:
        monkeypatch.setattr(runs_page, "Checker", Here)
        yield track


@pytest.mark.parametrize(
    ("name", "content", "tags"),
    [
        ("table.csv", TABLE.encode(), ["alpha", "beta"]),
        ("table.csv.gz", gzip.compress(TABLE.encode()), ["alpha", "beta"]),
        ("gamma.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS).encode(), ["gamma"]),
        ("delta.json", json.dumps(ROWS).encode(), ["delta"]),
    ],
    ids=["CSV", "packed", "JSON lines", "JSON list"],
)
def test_the_page_takes_the_answers_that_import_takes(
    answers: Track, tmp_path: Path, name: str, content: bytes, tags: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    imported = tmp_path / "imported"
    imported.mkdir()
    for file in ("qassay.toml", "questions.jsonl"):
        (imported / file).write_bytes((answers.folder / file).read_bytes())
    assert main(["import", str(imported), str(path)]) == 0
    organiser = answers.client("olga")
    [report] = send(organiser, (name, content))
    assert (report["tag"], report["tags"], report["faults"]) == (tags[0], tags, 0), report
    with answers.store.read() as connection:
        stored = {tag: bytes(data) for tag, data in connection.execute(select(run.c.tag, run.c.data))}
    assert stored == {tag: (imported / "runs" / f"{tag}.jsonl").read_bytes() for tag in tags}
    [again] = send(organiser, (name, content))
    assert (again["tags"], again["first"][0]["rule"]) == ([], "second-tag")
    assert "table of answers" in organiser.get("/runs").text


def test_a_participant_submits_a_table_of_answers(answers: Track) -> None:
    [report] = answers.send("nina", TABLE)
    assert report["tags"] == ["alpha", "beta"]
    assert list(answers.runs("nina")) == ["alpha", "beta"]


def test_answers_to_other_questions_are_refused(answers: Track) -> None:
    table = "question,answer\nWhen was it built?,1901\nWho built it?,Bo\nWhy is it red?,paint\n"
    [report] = send(answers.client("olga"), ("epsilon.csv", table.encode()))
    assert (report["tags"], {problem["rule"] for problem in report["first"]}) == ([], {"unknown-question"})
    with answers.store.read() as connection:
        assert count_runs(connection)[0] == 0
