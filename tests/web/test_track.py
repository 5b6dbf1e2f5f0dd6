"""A small track from end to end through the API: submissions, pool, assessors, adjudication, result pages, export."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from limits import parse
from tracks import AFTER, PEOPLE, Track, make_folder, run_text, served
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


def judge(track: Track, name: str, label_of: Callable[[str, str], str], *, look: bool = True) -> list[str]:
    """Judge everything that is assigned, by question and answer; all that the assessor was shown.

    Without `look` items are judged from the list of the question, each with one request.
    """
    client = track.client(name)
    seen = [client.get("/work").text, client.get("/api/work").text]
    while (number := client.get("/api/work").json()["next"]) is not None:
        sheet = client.get(f"/api/judge/{number}")
        seen.append(sheet.text)
        for place in sheet.json()["items"]:
            text = place["label"]
            if look:
                shown = client.get(f"/api/judge/{number}/items/{place['id']}")
                seen.append(shown.text)
                text = shown.json()["body"]["text"]
            label = label_of(sheet.json()["question"]["id"], text)
            sent = {"key": key(), "item": place["id"], "part": "", "expected": 0, "verdict": {"judgment": label}}
            saved = client.post(f"/api/judge/{number}/decisions", json=sent)
            assert saved.status_code == 200, saved.text
            seen.append(saved.text)
    return seen


def strict(question: str, text: str) -> str:
    return "R" if text in RIGHT.values() else "W"


def generous(question: str, text: str) -> str:
    return "R" if text == "100 m" else strict(question, text)


def adjudicate(track: Track, label_of: Callable[[str, str], str]) -> list[str]:
    """Rule on everything that is left; the answers that were ruled on."""
    client, ruled = track.client("carl"), []
    while (question := client.get("/api/adjudication").json()["next"]) is not None:
        for disagreement in client.get("/api/adjudication/question", params={"id": question}).json()["disagreements"]:
            text = disagreement["shown"]["text"]
            sent = {"key": key(), "question": question, "item": disagreement["item"], "part": disagreement["part"]}
            verdict = {"expected": disagreement["version"], "verdict": {"judgment": label_of(question, text)}}
            assert client.post("/api/adjudication/rulings", json=sent | verdict).status_code == 200
            ruled.append(text)
    return ruled


def result_of(track: Track, name: str) -> dict[str, Any]:
    result: dict[str, Any] = track.client(name).get("/api/organisation-results").json()["result"]
    return result


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
        shown = judge(track, "ann", generous) + judge(track, "bob", strict)
        words = set(json.dumps(shown).replace('"', " ").replace("\\", " ").split())
        assert not words & set(SECRETS), "who is who stays hidden from assessors"
        assert adjudicate(track, strict) == ["100 m"]
        published = organiser.post("/api/results/published", json={"title": "Bridges 2026"})
        assert published.status_code == 201, published.text
        check_results(track, published.json()["id"])
        check_release(track, tmp_path, capsys)


def check_results(track: Track, number: str) -> None:
    """Each organisation sees its runs, the median and the best, and nothing of the other."""
    north, south = result_of(track, "nils"), result_of(track, "sara")
    sentences = [sentence.replace("\u2068", "").replace("\u2069", "") for sentence in north["sentences"]]
    assert sentences == [
        "n1 scores 1.000, rank 1 of 3; the median run scores 0.722, the best 1.000.",
        "n2 scores 0.722, rank 2 of 3; the median run scores 0.722, the best 1.000.",
    ]
    overall = south["tables"][0]
    assert [column["header"] for column in overall["columns"]] == ["", "s1", "median", "best"]
    assert overall["rows"][0][0] == "cws"
    assert overall["rows"][0][1:] == pytest.approx([SCORES["s1"], SCORES["n2"], SCORES["n1"]], abs=1e-12)
    answers = south["tables"][-1]
    assert answers["title"] == "Answers of s1, and how they were judged"
    assert [(row[0], row[3], row[5]) for row in answers["rows"]] == [
        ("1", "1850", "W"),
        ("2", "Ann Lee", "R"),
        ("3", "100 m", "W"),
    ]
    client = track.client("sara")
    [figure] = south["figures"]
    numbers = client.get(figure["files"]["csv"]).text.splitlines()
    assert numbers[0] == "question,s1,median,best"
    assert set(numbers[1:]) == {"1,0.0,1.0,1.0", "2,1.0,1.0,1.0", "3,0.0,1.0,1.0"}
    assert client.get(figure["files"]["svg"]).status_code == 200
    assert client.get(f"/organisation-results/figure?number={number}&figure=run-2-by-unit").status_code == 404
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


# ---- of the size that TREC 2002 had ----------------------------------------------------------------------------------

ORGANISATIONS, RUNS, QUESTIONS, CHOICES = 34, 67, 500, 6
JUDGES = ("ann", "bob", "cleo")


def answer_of(run: int, question: int) -> str:
    """What a run returns: the right answer (choice 0) more often the lower its number, else one of the wrong ones."""
    drawn = random.Random(f"{run} {question}")
    wrong = drawn.randrange(1, CHOICES)
    return f"answer {0 if drawn.random() < 0.75 - run / 100 else wrong}"


def label_by(judge: str | None, question: str, text: str) -> str:
    """R for the right answer; a judge is wrong on one item in twelve."""
    is_right = text == "answer 0"
    errs = judge is not None and random.Random(f"{judge} {question} {text}").random() < 1 / 12
    return "R" if is_right != errs else "W"


def settled(question: str, text: str) -> str:
    """What is adjudicated: the label of all three where they agree, else the truth."""
    labels = {label_by(judge, question, text) for judge in JUDGES}
    return labels.pop() if len(labels) == 1 else label_by(None, question, text)


def score_of(run: int) -> float:
    """The confidence-weighted score, by its definition."""
    right, total = 0, 0.0
    for place in range(1, QUESTIONS + 1):
        right += settled(str(place), answer_of(run, place)) == "R"
        total += right / place
    return total / QUESTIONS


@pytest.mark.slow
def test_a_track_of_67_runs_and_500_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Submissions, pool, three assessors, adjudication, result pages, facts, tables, release; the same scores again.

    2,997 answers, 8,991 judgments and a release take 2 minutes 12 seconds of one core and 0.5 GB.
    """
    asked = "".join(
        json.dumps({"id": str(place), "type": "factoid", "text": f"Question {place}?"}) + "\n"
        for place in range(1, QUESTIONS + 1)
    )
    members = {f"member {number}": ("participant", f"Group {number}") for number in range(ORGANISATIONS)}
    people = {**PEOPLE, "cleo": ("assessor", None), **members}
    folder = make_folder(tmp_path / "track", questions=asked)
    monkeypatch.setattr(page, "BY_ORGANISATION", parse("10000/hour"))
    with served(folder, monkeypatch, people=people) as track:
        for run in range(RUNS):
            lines = (f"{place} run{run} D{place} {answer_of(run, place)}\n" for place in range(1, QUESTIONS + 1))
            [report] = track.send(f"member {run // 2}", "".join(lines))
            assert report["tag"] == f"run{run}", report
        monkeypatch.setattr(page, "_now", lambda: AFTER)
        distinct = {(place, answer_of(run, place)) for place in range(1, QUESTIONS + 1) for run in range(RUNS)}
        assert track.pool() == len(distinct)
        organiser = track.client("olga")
        given = organiser.post(
            "/api/assignments", json={"assessors": 3, "accounts": [track.people[name] for name in JUDGES]}
        )
        assert given.json()["done"] == 3 * QUESTIONS
        for name in JUDGES:
            judge(track, name, partial(label_by, name), look=False)
        apart = [item for item in distinct if len({label_by(name, str(item[0]), item[1]) for name in JUDGES}) > 1]
        assert len(adjudicate(track, partial(label_by, None))) == len(apart)
        published = organiser.post("/api/results/published", json={"title": "Final", "intervals": "no"})
        assert published.status_code == 201, published.text
        own = result_of(track, "member 33")
        assert own["tables"][0]["rows"][0][1] == pytest.approx(score_of(66), abs=1e-9)
        packed = organiser.get("/export.zip")
        zipfile.ZipFile(io.BytesIO(packed.content)).extractall(tmp_path / "copy")
        (tmp_path / "copy" / "qassay.toml").write_text((folder / "qassay.toml").read_text())
    check_large(tmp_path, capsys, len(distinct))


def check_large(place: Path, capsys: pytest.CaptureFixture[str], items: int) -> None:
    """Facts, overview tables, result pages and a release that scores the same after it is imported."""

    def command(*arguments: object) -> Any:
        capsys.readouterr()
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    copy, bundle, again = place / "copy", place / "bundle", place / "again"
    wanted = {f"run{run}": score_of(run) for run in range(RUNS)}
    facts = command("facts", copy)
    assert facts["questions"]["factoid"] == QUESTIONS
    assert facts["assessors"]["ann"]["judgments"] == items
    assert len(command("report", copy, "--by", "organisation", "--to", place / "pages")["pages"]) == ORGANISATIONS
    command("report", copy, "--format", "latex", "--to", place / "overview.tex", "--top", "15")
    assert (place / "overview.tex").read_text().count(r" \\") == 2 * (15 + 1)
    command("export", copy, "--to", bundle, "--release", "--licence", "CC BY 4.0")
    assert main(["init", str(again), "--task", "confidence"]) == 0
    files = [bundle / "questions.jsonl", bundle / "runs.jsonl", *sorted((bundle / "runs").iterdir())]
    assert main(["import", str(again), *map(str, files), *map(str, sorted((bundle / "judgments").iterdir()))]) == 0
    scored = command("score", again, "--no-intervals")
    assert {row["run"]: row["score"] for row in scored["runs"]} == pytest.approx(wanted, abs=1e-9)
