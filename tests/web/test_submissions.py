"""Participants: they submit, replace and withdraw the runs of their organisation, and see nothing of any other."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import tracks
from listening import listening
from sqlalchemy import select
from tracks import AFTER, BEFORE, Track, make_folder, run_text, served

from qassay.cli import main
from qassay.client import Client, ServerError
from qassay.schemas import schema
from qassay.store.pool.uploads import find_run
from qassay.store.schema import record
from qassay.store.schema import run as run_table
from qassay.web.pages import submissions as page


@pytest.fixture
def track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Track]:
    with served(make_folder(tmp_path / "bridges"), monkeypatch) as served_track:
        yield served_track


def stored(track: Track) -> dict[str, tuple[bytes, bool]]:
    """All runs: the file of each, and whether it is withdrawn."""
    with track.store.read() as connection:
        rows = connection.execute(select(run_table.c.tag, run_table.c.data, run_table.c.withdrawn))
        return {tag: (bytes(data), bool(withdrawn)) for tag, data, withdrawn in rows}


def messages(report: dict[str, Any]) -> str:
    return "\n".join(fault["message"] for fault in report["first"])


# ---- submitting ------------------------------------------------------------------------------------------------------


def test_a_run_is_kept_for_the_organisation_of_its_sender(track: Track) -> None:
    text = run_text("n1")
    [report] = track.send("nina", text, description=" first try ", priority="1", manual="true")
    assert (report["tag"], report["faults"]) == ("n1", 0)
    with track.store.read() as connection:
        run = find_run(connection, "n1")
    about = run.information
    assert (about.organisation, about.description, about.manual, about.priority) == ("North", "first try", True, 1)
    assert run.by == "nina"
    assert stored(track) == {"n1": (text.encode(), False)}
    # A member of the same organisation has it too.
    assert list(track.runs("nils")) == ["n1"]
    html = track.client("nils").get("/submissions").text
    assert "1 run of at most 2" in html
    assert "2026-12-01 11:55 UTC (2026-12-01 20:55 UTC+09:00)" in html


def test_an_organisation_cannot_be_named_by_its_sender(track: Track) -> None:
    fields = {"organisation": "South", "account": "1"}
    track.send("nina", run_text("n1"), **fields)
    assert track.runs("sara") == {}
    assert list(track.runs("nina")) == ["n1"]
    sent = {"tag": "n1", "organisation": "South"}
    assert track.client("nina").put("/api/submissions", json=sent).status_code == 422


def test_all_errors_are_shown_at_once_and_nothing_is_kept(track: Track) -> None:
    bad = "1 n1 D1 1901\n1 n1 D2 1902\n9 n1 D1 x\n2 n1\n"
    [report] = track.send("nina", bad)
    faults = {(fault["line"], fault["rule"], fault["question"]) for fault in report["first"]}
    assert faults == {
        (2, "one-answer", "1"),
        (3, "unknown-question", "9"),
        (4, "syntax", "2"),
        (None, "missing-question", "3"),
    }
    assert report["tag"] is None
    assert stored(track) == {}
    shown = track.client("nils").get("/submissions/report", params={"number": report["report"]})
    assert shown.status_code == 200
    assert "not in the test set" in shown.text
    assert 'href="/submissions"' in shown.text
    text = track.client("nina").get("/submissions/report.txt", params={"number": report["report"]}).text
    assert text.count("run-0.txt:") == report["faults"]


def test_a_compressed_run_and_several_at_once_are_taken(track: Track) -> None:
    files = [
        ("files", ("a.gz", gzip.compress(run_text("n1").encode()))),
        ("files", ("b.txt", run_text("n2").encode())),
        ("files", ("c.txt", run_text("n3").encode())),
    ]
    reports = track.client("nina").post("/api/submissions", files=files).json()["files"]
    assert [report["tag"] for report in reports] == ["n1", "n2", None]
    assert "the limit is 2 runs per organisation, and you have 2: n1, n2" in messages(reports[2])


def test_a_run_is_replaced_only_on_request(track: Track) -> None:
    before, after = run_text("n1"), run_text("n1", {"1": "1902"})
    track.send("nina", before, description="old", priority="2")
    [refused] = track.send("nils", after)
    assert "your run n1 is here already" in messages(refused)
    assert stored(track)["n1"][0] == before.encode()
    [report] = track.send("nils", after, replace="true")
    assert report["tag"] == "n1"
    assert stored(track) == {"n1": (after.encode(), False)}
    run = track.runs("nina")["n1"]
    assert (run["description"], run["priority"], run["by"]) == ("old", 2, "nils")
    with track.store.read() as connection:
        actions = list(connection.execute(select(record.c.action)).scalars())
    assert "replace-run" in actions


def test_the_same_file_sent_twice_is_one_run(track: Track) -> None:
    for _ in range(2):
        [report] = track.send("nina", run_text("n1"))
        assert report["tag"] == "n1"
    assert list(stored(track)) == ["n1"]


def test_a_withdrawn_run_counts_no_more_and_comes_back_within_the_limit(track: Track) -> None:
    track.send("nina", run_text("n1"), run_text("n2"))
    client = track.client("nina")
    assert client.post("/api/submissions/withdraw", json={"tag": "n1"}).status_code == 200
    [report] = track.send("nina", run_text("n3"))
    assert report["tag"] == "n3"
    refused = client.post("/api/submissions/restore", json={"tag": "n1"})
    assert refused.status_code == 422
    assert "the limit is 2 runs" in refused.text
    client.post("/api/submissions/withdraw", json={"tag": "n3"})
    assert client.post("/api/submissions/restore", json={"tag": "n1"}).status_code == 200
    assert {tag: run["withdrawn"] for tag, run in track.runs("nina").items()} == {"n1": False, "n2": False, "n3": True}


def test_runs_that_organisers_withdrew_stay_withdrawn(track: Track) -> None:
    track.send("nina", run_text("n1"))
    assert track.client("olga").post("/api/runs/withdraw", json={"tag": "n1"}).status_code == 200
    refused = track.client("nina").post("/api/submissions/restore", json={"tag": "n1"})
    assert (refused.status_code, "the organisers withdrew" in refused.text) == (422, True)
    [report] = track.send("nina", run_text("n1", {"1": "1905"}), replace="true")
    assert "the organisers withdrew" in messages(report)
    assert stored(track)["n1"][1] is True


def test_withdrawn_runs_do_not_fill_the_store(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qassay.store.pool.submissions.WITHDRAWN", 1)
    client = track.client("nina")
    for number in range(3):
        track.send("nina", run_text(f"n{number}"))
        client.post("/api/submissions/withdraw", json={"tag": f"n{number}"})
    [report] = track.send("nina", run_text("n9"))
    assert "use the tag of one of them again" in messages(report)
    [report] = track.send("nina", run_text("n1", {"2": "Bo"}))
    assert report["tag"] == "n1"


def test_runs_are_judged_by_priority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path / "bridges", "limit = 3\npooled = 1\n")
    with served(folder, monkeypatch) as track:
        track.send("nina", run_text("n1", {"1": "1801"}), priority="2")
        track.send("nina", run_text("n2", {"1": "1802"}), priority="1")
        track.send("sara", run_text("s1", {"1": "1803"}))
        assert [(tag, run["judged"]) for tag, run in track.runs("nina").items()] == [("n2", True), ("n1", False)]
        organiser = track.client("olga")
        assert track.pool() == 4
        with track.store.read() as connection:
            from qassay.store.pool.items import items_of

            assert sorted(item.body["text"] for item in items_of(connection, "1")) == ["1802", "1803"]
        # Another priority is another pool.
        assert organiser.get("/api/runs").json()["pool"]["stale"] is False
        organiser.put("/api/runs", json={"tag": "n1", "organisation": "North", "priority": 0})
        assert organiser.get("/api/runs").json()["pool"]["stale"] is True


# ---- the deadline ----------------------------------------------------------------------------------------------------


def test_nothing_changes_after_the_deadline(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    track.send("nina", run_text("n1"))
    monkeypatch.setattr(page, "_now", lambda: AFTER)
    before = stored(track)
    client = track.client("nina")
    answers = [
        client.post("/api/submissions", files=[("files", ("n2.txt", run_text("n2").encode()))]),
        client.post(
            "/api/submissions", files=[("files", ("a", run_text("n1", {"1": "x"}).encode()))], data={"replace": "true"}
        ),
        client.put("/api/submissions", json={"tag": "n1", "priority": 1}),
        client.post("/api/submissions/withdraw", json={"tag": "n1"}),
        client.post("/api/submissions/restore", json={"tag": "n1"}),
    ]
    for answer in answers:
        assert answer.status_code == 409
        assert answer.json()["message"] == (
            "submissions closed on 2026-12-01 11:55 UTC (2026-12-01 20:55 UTC+09:00), "
            "and this one arrived on 2026-12-01 11:55:01 UTC; ask the organisers"
        )
    assert stored(track) == before
    html = client.get("/submissions").text
    assert 'id="upload-form"' not in html
    assert "data-withdraw" not in html
    assert "Submissions closed on 2026-12-01 11:55 UTC" in html
    # The organisers can still act.
    assert track.client("olga").post("/api/runs/withdraw", json={"tag": "n1"}).status_code == 200


def test_without_a_deadline_runs_are_taken_until_they_are_pooled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(make_folder(tmp_path / "bridges", ""), monkeypatch, at=AFTER) as track:
        track.send("nina", run_text("n1"))
        assert track.client("nina").get("/api/submissions").json()["closed"] is None
        track.pool()
        closed = track.client("nina").post("/api/submissions/withdraw", json={"tag": "n1"})
        assert (closed.status_code, "begun to judge" in closed.text) == (409, True)


# ---- nobody sees another's runs --------------------------------------------------------------------------------------

TRICKS = [
    *("n1", "N1", " n1", "n1 ", "n1%00", "../South/n1", "n1/../n1", "..", "runs/n1.txt", "%6e1", "n1' OR 1=1 --"),
    *("n*", "_1", "ｎ1", "n\u200b1"),
]


def test_a_run_of_another_organisation_is_as_if_it_were_not_there(track: Track) -> None:
    track.send("nina", run_text("n1"))
    before = stored(track)
    client = track.client("sara")
    for tag in TRICKS:
        for method, path in (("PUT", ""), ("POST", "/withdraw"), ("POST", "/restore")):
            theirs = client.request(method, f"/api/submissions{path}", json={"tag": tag})
            none = client.request(method, f"/api/submissions{path}", json={"tag": "never-there"})
            assert theirs.status_code == none.status_code == 404
            assert theirs.json()["message"].replace(tag, "") == none.json()["message"].replace("never-there", "")
    assert stored(track) == before
    for address in ("/submissions", "/api/submissions", "/organisation-results", "/api/organisation-results"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "n1" not in answer.text
        assert "North" not in answer.text


def test_a_tag_of_another_organisation_says_nothing_of_its_run(track: Track) -> None:
    track.send("nina", run_text("n1"))
    [same] = track.send("sara", run_text("n1"))
    [other] = track.send("sara", run_text("n1", {"1": "1999"}), replace="true")
    track.client("nina").post("/api/submissions/withdraw", json={"tag": "n1"})
    [withdrawn] = track.send("sara", run_text("n1"), replace="true")
    assert messages(same) == messages(other) == messages(withdrawn)
    assert "the tag n1 cannot be used here" in messages(same)
    assert stored(track)["n1"][0] == run_text("n1").encode()


def test_a_description_that_waits_for_another_organisations_run_is_not_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "bridges")
    (folder / "runs.jsonl").write_text('{"run": "s1", "organisation": "South", "description": "a secret plan"}\n')
    with served(folder, monkeypatch) as track:
        [report] = track.send("nina", run_text("s1"))
        assert "the tag s1 cannot be used here" in messages(report)
        [report] = track.send("sara", run_text("s1"))
        assert report["tag"] == "s1"
        assert track.runs("sara")["s1"]["description"] == "a secret plan"


def test_the_report_on_a_file_is_for_its_organisation(track: Track) -> None:
    [report] = track.send("nina", "1 n1 D1 1901\n")
    for address in ("/submissions/report", "/api/submissions/report", "/submissions/report.txt"):
        assert track.client("nils").get(address, params={"number": report["report"]}).status_code == 200
        refused = track.client("sara").get(address, params={"number": report["report"]})
        assert refused.status_code == 404
        assert "n1" not in refused.text
    assert track.client("olga").get("/runs/report", params={"number": report["report"]}).status_code == 200
    assert track.client("nina").get("/runs/report", params={"number": report["report"]}).status_code == 403


def test_members_see_their_own_organisation_alone(track: Track) -> None:
    north = track.client("nina").get("/api/submissions").json()
    assert (north["organisation"], north["members"]) == ("North", ["nils", "nina"])
    assert track.client("sara").get("/api/submissions").json()["members"] == ["sara"]


def test_questions_are_handed_out_without_what_is_known_of_their_answers(track: Track) -> None:
    sent = track.client("nina").get("/submissions/questions.jsonl")
    rows = [json.loads(line) for line in sent.text.splitlines()]
    assert rows[0] == {"id": "1", "type": "factoid", "text": "When was the bridge built?"}
    assert [row["id"] for row in rows] == ["1", "2", "3"]


def test_participants_reach_nothing_of_the_evaluation(track: Track) -> None:
    track.send("nina", run_text("n1"))
    client = track.client("nina")
    for address in ("/runs", "/results", "/people", "/assignments", "/history", "/work", "/development", "/export.zip"):
        assert client.get(address).status_code == 403, address
    for name in ("ann", "carl", "rita", "olga"):
        for address in ("/submissions", "/api/submissions", "/organisation-results", "/submissions/questions.jsonl"):
            assert track.client(name).get(address).status_code == 403, (name, address)


def test_somebody_who_leaves_an_organisation_loses_its_runs(track: Track) -> None:
    track.send("nina", run_text("n1"))
    client, token = track.client("nils"), track.token("nils")
    moved = track.client("olga").patch(f"/api/people/{track.people['nils']}", json={"organisation": "East"})
    assert (moved.status_code, moved.json()["organisation"]) == (200, "East")
    assert client.get("/api/submissions").status_code == 401
    with pytest.raises(ServerError, match="was revoked"), listening(track.app) as (_, port):
        Client(f"http://127.0.0.1:{port}", token=token).submissions()
    assert track.runs("nils") == {}


# ---- people ----------------------------------------------------------------------------------------------------------


def test_a_participant_is_invited_for_an_organisation(track: Track) -> None:
    organiser = track.client("olga")

    def invite(**sent: Any) -> Any:
        return organiser.post("/api/people/invitations", json={"role": "participant", **sent})

    assert "a participant belongs to an organisation" in invite().text
    assert "a participant belongs to an organisation" in invite(organisation="  ").text
    assert "looks like 'North'" in invite(organisation="N0rth").text
    assert "only a participant" in invite(role="reader", organisation="North").text
    link = invite(organisation="West", name="wanda").json()["link"]
    visitor = track.client("rita")
    visitor.cookies.clear()
    sent = {"token": link.partition("#")[2], "password": "a long enough password"}
    assert visitor.post("/api/welcome", json=sent).json()["role"] == "participant"
    assert visitor.get("/api/submissions").json()["organisation"] == "West"
    people = organiser.get("/api/people").json()
    assert {person["name"]: person["organisation"] for person in people["people"]}["wanda"] == "West"
    assert people["organisations"] == ["North", "South", "West"]
    assert "West" in organiser.get("/people").text


def test_a_role_that_is_not_a_participants_has_no_organisation(track: Track) -> None:
    organiser, number = track.client("olga"), track.people["nils"]
    assert organiser.patch(f"/api/people/{number}", json={"role": "reader"}).json()["organisation"] is None
    refused = organiser.patch(f"/api/people/{number}", json={"role": "participant"})
    assert (refused.status_code, "belongs to an organisation" in refused.text) == (400, True)
    sent = {"role": "participant", "organisation": "North"}
    assert organiser.patch(f"/api/people/{number}", json=sent).json()["organisation"] == "North"


def test_uploads_of_an_organisation_are_limited(track: Track, monkeypatch: pytest.MonkeyPatch) -> None:
    from limits import parse

    monkeypatch.setattr(page, "BY_ORGANISATION", parse("2/hour"))
    track.send("nina", run_text("n1"))
    track.send("nils", run_text("n2"))
    files = [("files", ("n3.txt", run_text("n3").encode()))]
    assert track.client("nina").post("/api/submissions", files=files).status_code == 429
    assert track.client("sara").post("/api/submissions", files=files).status_code == 200


def test_one_upload_of_an_organisation_at_a_time(track: Track) -> None:
    track.app.state.site.memory["submitting"] = {"North"}
    files = [("files", ("n1.txt", run_text("n1").encode()))]
    refused = track.client("nina").post("/api/submissions", files=files)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert track.client("sara").post("/api/submissions", files=files).status_code == 200


# ---- with a token ----------------------------------------------------------------------------------------------------


def test_the_command_submits_replaces_and_withdraws(
    track: Track, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QASSAY_TOKEN", track.token("nina"))
    path = tmp_path / 'first "run".txt'
    path.write_text(run_text("n1"))
    with listening(track.app) as (_, port):
        server = ("--server", f"http://127.0.0.1:{port}")

        def submit(*arguments: str, status: int = 0) -> Any:
            assert main(["submit", *arguments, *server, "--json"]) == status
            document = json.loads(capsys.readouterr().out)
            described = "errors" if set(document) == {"errors", "errors_total"} else "submit"
            jsonschema_rs.validator_for(schema(described)).validate(document)
            return document

        done = submit("bridges", str(path), "--priority", "1", "--description", "första", "--manual")
        assert done["files"] == [{"file": str(path), "run": "n1", "runs": ["n1"], "errors": [], "errors_total": 0}]
        [run] = done["runs"]
        assert (run["run"], run["priority"], run["description"], run["manual"]) == ("n1", 1, "första", True)
        assert (done["organisation"], done["limit"], done["deadline"]) == ("North", 2, "2026-12-01T11:55:00.000Z")
        path.write_text(run_text("n1", {"1": "1902"}))
        refused = submit("bridges", str(path), status=1)
        assert "is here already" in refused["files"][0]["errors"][0]["message"]
        assert submit("bridges", str(path), "--replace")["files"][0]["run"] == "n1"
        assert submit("bridges", "n1", "--withdraw")["runs"][0]["withdrawn"] is True
        odd = tmp_path / "odd.jsonl"
        rows = [{"run": "odd", "question": number, "nil": True, "answers": ["x"]} for number in "123"]
        odd.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        [file] = submit("bridges", str(odd))["files"]
        assert "is it meant as 'items'?" in file["warnings"][0]["message"]
        assert submit("bridges", "odd", "--withdraw")["withdrawn"] == ["odd"]
        path.write_text("1 n2 D1 x\n9 n2 D1 y\n")
        bad = submit("bridges", str(path), status=1)
        assert {error["rule"] for error in bad["files"][0]["errors"]} == {"unknown-question", "missing-question"}
        assert bad["files"][0]["errors_total"] == 3
        # With a folder, the runs are checked there, and nothing is sent.
        assert "errors" in submit(str(track.folder), str(path), status=1)
        assert "the server has the evaluation 'bridges'" in submit("tunnels", status=1)["errors"][0]["message"]
        monkeypatch.setenv("QASSAY_SERVER", server[1])
        assert main(["submit", "bridges"]) == 0
        shown = capsys.readouterr().out
        assert re.search(r"n1 +\S+ +withdrawn +\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC", shown)
        assert "Runs of North: 0 of at most 2" in shown
        assert "until 2026-12-01 11:55 UTC" in shown
    assert stored(track)["n1"] == (run_text("n1", {"1": "1902"}).encode(), True)


def test_the_command_says_why_not(
    track: Track, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "run.txt"
    path.write_text(run_text("n1"))
    monkeypatch.delenv("QASSAY_TOKEN", raising=False)
    assert main(["submit", "bridges", str(path), "--server", "http://127.0.0.1:1"]) == 2
    assert "a token in QASSAY_TOKEN" in capsys.readouterr().err
    assert main(["submit", "bridges", str(path)]) == 2
    with listening(track.app) as (_, port):
        server = ("--server", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("QASSAY_TOKEN", track.token("ann"))
        assert main(["submit", "bridges", str(path), *server]) == 1
        assert "not for the role you have (assessor)" in capsys.readouterr().err
        monkeypatch.setenv("QASSAY_TOKEN", track.token("nina"))
        assert main(["submit", "bridges", "no-such-file", *server]) == 1
        assert "no-such-file: there is no such file" in capsys.readouterr().err
        monkeypatch.setattr(page, "_now", lambda: AFTER)
        assert main(["submit", "bridges", str(path), *server]) == 1
        printed = capsys.readouterr().err
        assert "submissions closed on 2026-12-01 11:55 UTC" in printed
        assert "arrived on 2026-12-01 11:55:01 UTC" in printed
        with pytest.raises(ServerError, match="409"):
            Client(server[1], token=track.token("nina")).withdraw("n1")
    assert stored(track) == {}


def test_names_of_organisations_and_runs_are_text(track: Track) -> None:
    name = "<script>alert(1)</script>&\"'"
    sent = {"organisation": name, "role": "participant"}
    assert track.client("olga").patch(f"/api/people/{track.people['sara']}", json=sent).status_code == 200
    track.send("sara", run_text("<b>s1"), description="<i>hostile</i>")
    pages = {"sara": ("/submissions", "/organisation-results"), "olga": ("/people", "/runs")}
    for who, paths in pages.items():
        for path in paths:
            html = track.client(who).get(path).text
            assert not any(mark in html for mark in ("<script>alert", "<b>s1", "<i>hostile")), path
            assert "&lt;script&gt;alert(1)" in html, path


def test_the_clock_of_these_tests_is_set() -> None:
    """Else they would begin to fail one day."""
    assert BEFORE < AFTER
    assert "2026-12-01T20:55:00+09:00" in tracks.RULES
