"""Attacks on the first version (ASSESSING 6), each as the attacker made it."""

from __future__ import annotations

import gzip
import json
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

import qassay
from acting import act
from qassay import questions
from qassay.errors import UsageError
from qassay.formats.folder import open_folder
from qassay.store.development import answers
from qassay.store.folder.importing import import_folder
from qassay.store.people import RESET, add_account, invite
from qassay.store.people.sessions import hash_password
from qassay.store.schema import assignment
from qassay.tasks import task as load_task
from qassay.web.checking import Checker, Upload
from qassay.web.pages import judging_aids, runs

PASSWORD = "a long enough password"
NEW = "another long password"


def sleeps(upload: Upload, report: object) -> None:
    """A reader that does not come to an end."""
    time.sleep(60)


def aborts(upload: Upload, report: object) -> None:
    """A reader that a damaged file ends."""
    os.abort()


def hoards(upload: Upload, report: object) -> None:
    """A reader that takes all memory."""
    kept = []
    while True:
        kept.append(b"x" * (10 << 20))


def token_of(link: str) -> str:
    return link.rpartition("#")[2]


def program_of(site: Any, role: str) -> TestClient:
    """A program with a token of this role's account."""
    token = site.client(role).post("/api/account/tokens", json={"name": "attack"}).json()["token"]
    return TestClient(site.app, headers={"Authorization": f"Bearer {token}"})


# ---- names, and who a proxy vouches for -----------------------------------------------------------------------------


def behind_proxy(site: Any) -> TestClient:
    served = site.with_settings(trusted_header="X-Remote-User", trusted_proxies=("127.0.0.1",))
    return served.client(client=("127.0.0.1", 1))


@pytest.mark.parametrize("name", ["Some organiser", "SOME ORGANISER", "some organiser", " Some organiser "])
def test_a_proxy_name_that_equals_a_display_name_is_not_that_account(site, name: str) -> None:
    answer = behind_proxy(site).get("/api/account", headers={"X-Remote-User": name})
    assert answer.status_code == 403, answer.text


def test_an_invitation_for_a_proxy_name_does_not_open_an_account_of_that_name(site) -> None:
    with site.store.write() as connection:
        invite(act(connection), "reader", name="mallory")
        add_account(connection, "Mallory", "organiser")
    answer = behind_proxy(site).get("/api/account", headers={"X-Remote-User": "mallory"})
    assert answer.status_code == 400
    assert "already" in answer.json()["message"]


def test_a_reset_link_binds_an_account_to_the_name_of_the_proxy(site, accounts) -> None:
    link = site.client("organiser").post(f"/api/people/{accounts['reader']}/reset").json()["link"]
    browser = behind_proxy(site)
    header = {"X-Remote-User": "reader@example.org"}
    assert browser.post("/api/welcome", json={"token": token_of(link)}, headers=header).status_code == 200
    browser.cookies.clear()
    assert browser.get("/api/account", headers=header).json()["name"] == "Some reader"
    second = site.client("organiser").post(f"/api/people/{accounts['assessor']}/reset").json()["link"]
    assert browser.post("/api/welcome", json={"token": token_of(second)}, headers=header).status_code == 400


@pytest.mark.parametrize(
    "name",
    [
        *("Sоme organiser", "Some  organiser", "Sóme organiser", "Ｓome organiser", "Some 0rganlser"),
        *("Some\ufe0f organiser", "Some organiser\U000e0100", "ꓢome organiser", "Ꮪome organiser", "Sօme organiser"),
        *("Sⲟme organiser", "ꜱome organiser", "Some \u180borganiser"),
    ],
)
def test_names_that_look_like_an_account_are_refused(site, name: str) -> None:
    with pytest.raises(UsageError, match="looks like that of another account"), site.store.write() as connection:
        add_account(connection, name, "reader")
    answer = site.client("organiser").post("/api/people/invitations", json={"role": "reader", "name": name})
    assert answer.status_code == 400


@pytest.mark.parametrize("blank", "\u034f\u115f\u1160\u17b4\u2800\u3164\uffa0\u200b")
def test_a_name_has_nothing_that_cannot_be_seen(site, blank: str) -> None:
    for name in (f"Some{blank} organiser", blank):
        with pytest.raises(UsageError, match="no control or invisible characters"), site.store.write() as connection:
            add_account(connection, name, "reader")


def test_names_that_differ_at_a_glance_are_not_refused(site) -> None:
    with site.store.write() as connection:
        for name in (
            "Ana",
            "Ania",
            "Anna",
            "Ana B.",
            "Анна",
            "Άννα",
            "안나",
            "安娜",
            "آنا",
            "ana2",
            "ana3",
            "葛\U000e0100",
        ):
            add_account(connection, name, "reader")


# ---- links and invitations ------------------------------------------------------------------------------------------


def test_a_new_reset_link_ends_the_earlier_one(site, accounts) -> None:
    organiser = site.client("organiser")
    first, second = (organiser.post(f"/api/people/{accounts['reader']}/reset").json()["link"] for _ in range(2))
    stranger = site.client()
    accepting = {"token": token_of(first), "password": NEW}
    assert stranger.post("/api/welcome", json=accepting).status_code == 400
    assert stranger.post("/api/welcome", json={**accepting, "token": token_of(second)}).status_code == 200


def test_a_changed_password_ends_open_reset_links(site, accounts) -> None:
    link = site.client("organiser").post(f"/api/people/{accounts['assessor']}/reset").json()["link"]
    changed = site.client("assessor").put("/api/account/password", json={"current": PASSWORD, "new": NEW})
    assert changed.status_code == 200
    answer = site.client().post("/api/welcome", json={"token": token_of(link), "password": "a third long password"})
    assert answer.status_code == 400


@pytest.mark.parametrize("change", [{"active": False}, {"role": "reader"}])
def test_invitations_end_with_the_access_of_their_maker(site, accounts, change: dict[str, Any]) -> None:
    with site.store.write() as connection:
        other = add_account(connection, "Second", "organiser")
        token = invite(act(connection, account=other.id), "organiser", name="backdoor")
        reset = invite(act(connection, account=other.id), RESET, name="Some organiser")
    assert site.client("organiser").patch(f"/api/people/{other.id}", json=change).status_code == 200
    for link in (token, reset):
        answer = site.client().post("/api/welcome", json={"token": link, "password": NEW})
        assert answer.status_code == 400, answer.text


def test_somebody_who_left_does_not_come_back_by_a_reset_link(site, accounts) -> None:
    organiser = site.client("organiser")
    link = organiser.post(f"/api/people/{accounts['reader']}/reset").json()["link"]
    organiser.patch(f"/api/people/{accounts['reader']}", json={"active": False})
    organiser.patch(f"/api/people/{accounts['reader']}", json={"active": True})
    assert site.client().post("/api/welcome", json={"token": token_of(link), "password": NEW}).status_code == 400


# ---- tokens and passwords -------------------------------------------------------------------------------------------


def test_a_token_ends_no_session_and_revokes_no_token(site, accounts) -> None:
    program, browser = program_of(site, "organiser"), site.client("organiser")
    own = browser.get("/api/account").json()
    for method, path, sent in (
        ("DELETE", "/api/account/sessions", None),
        ("DELETE", f"/api/account/sessions/{own['sessions'][0]['id']}", None),
        ("DELETE", f"/api/account/tokens/{own['tokens'][0]['id']}", None),
        ("DELETE", f"/api/people/{accounts['assessor']}/sessions", None),
        ("POST", f"/api/people/{accounts['organiser']}/reset", None),
        ("PATCH", f"/api/people/{accounts['assessor']}", {"role": "organiser"}),
        ("POST", "/api/people/invitations", {"role": "organiser"}),
    ):
        answer = program.request(method, path, json=sent)
        assert (answer.status_code, "sign in with a browser" in answer.text) == (403, True), (path, answer.text)
    assert browser.get("/api/account").status_code == 200


@pytest.mark.parametrize("password", ["aaaaaaaaaaaa", "AaAaAaAaAaAa", " " * 12, "1" * 200])
def test_a_password_of_one_repeated_character_is_refused(site, accounts, password: str) -> None:
    with pytest.raises(UsageError, match="one character repeated"):
        hash_password(password)
    changed = site.client("assessor").put("/api/account/password", json={"current": PASSWORD, "new": password})
    assert changed.status_code == 400


# ---- uploads --------------------------------------------------------------------------------------------------------


@pytest.fixture
def organiser(site: Any) -> Any:
    """The organiser of the demo, whose files are in the store."""
    import_folder(site.store, open_folder(site.folder))
    return site.client("organiser")


def upload(client: Any, name: str, content: bytes) -> dict[str, Any]:
    answer = client.post("/api/runs", files=[("files", (name, content))])
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = answer.json()["files"][0]
    return report


def test_a_small_file_with_very_many_faulty_lines_takes_no_memory_of_the_server(site, organiser) -> None:
    lines = 300_000
    packed = gzip.compress(b"x\n" * lines)
    assert len(packed) < 3_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = upload(organiser, "bomb.txt.gz", packed)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert report["tag"] is None
    assert report["faults"] >= lines
    assert len(report["first"]) == 200
    assert grown < 100_000, f"{grown:,} KiB"
    [stored_report] = site.app.state.site.memory["upload reports"].values()
    assert len(stored_report.problems) == 200
    text = organiser.get("/runs/report.txt", params={"number": report["report"]}).text
    assert text.count("\n") == 201
    assert "these are the first 200" in text


def test_a_server_answers_others_while_a_file_is_read(site, organiser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: the file of one person stalled everybody."""
    monkeypatch.setattr(runs, "Checker", lambda: Checker(work=sleeps, seconds=2.0))
    others = site.client("assessor")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(upload, organiser, "slow.txt", b"1.1 x NIL\n")
        answered = 0
        while not reading.done():
            started = time.monotonic()
            assert others.get("/api/account").status_code == 200
            assert time.monotonic() - started < 1.5
            answered += 1
        assert answered > 5
        assert "longer than 2 seconds" in reading.result()["first"][0]["message"]


def test_a_file_that_ends_its_reader_is_refused_and_the_next_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("")
    sent = Upload(path, "run.txt", load_task("series2004"), questions.TestSet(()))
    broken: list[tuple[Any, dict[str, Any], int, str]] = [
        (sleeps, {"seconds": 0.5}, 1, "longer than 0.5 seconds"),
        (aborts, {}, 2, "ends the program"),
        (hoards, {"memory": 200 << 20}, 1, "more than 200 MiB of memory"),
    ]
    for target, limits, times, says in broken:
        with Checker(work=target, **limits) as checker:
            for _ in range(times):
                checked = checker.check(sent)
                assert (checked.tag, checked.faults) == (None, 1)
                assert says in str(checked.problems[0])
    with Checker() as checker:
        assert "is empty" in str(checker.check(sent).problems[0])


# ---- what assessors write beside judgments --------------------------------------------------------------------------


def test_known_answers_of_an_assessor_count_under_their_own_judgments_alone(tmp_path: Path) -> None:
    """The attack: one assessor adds answers to a question without any, so that NIL is wrong under every set."""
    folder = tmp_path / "eval"
    (folder / "runs").mkdir(parents=True)
    (folder / "judgments").mkdir()
    (folder / "qassay.toml").write_text('task = "main2003"\n')
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "Who?"}\n')
    (folder / "runs" / "a.txt").write_text("1 a NIL\n")
    (folder / "runs" / "b.txt").write_text("1 b D1 nobody\n")
    for name, assessor in (("first", "ann"), ("second", "bob"), ("adjudicated", "ann")):
        row = {"question": "1", "doc": "D1", "text": "nobody", "judgment": "W", "assessor": assessor}
        (folder / "judgments" / f"{name}.jsonl").write_text(json.dumps(row) + "\n")

    def right(name: str) -> bool:
        evaluation = qassay.open(folder)
        return bool(evaluation.key(name).nil_is_right(evaluation.questions)[0])

    def write(*rows: dict[str, Any]) -> None:
        lines = (json.dumps({"question": "1", "answer": "x", **row}) + "\n" for row in rows)
        (folder / "answers.jsonl").write_text("".join(lines))

    sets = ("first", "second", "adjudicated")
    assert [right(name) for name in sets] == [True, True, True]
    write({"assessor": "ann"})
    assert [right(name) for name in sets] == [False, True, True]
    write({"assessor": "ann"}, {"assessor": "bob"})
    assert [right(name) for name in sets] == [False, False, True]
    write({"assessor": "ann"}, {})  # accepted
    assert [right(name) for name in sets] == [False, False, False]
    write({"assessor": "ann"}, {"withdrawn": True}, {"assessor": "bob"})
    assert [right(name) for name in sets] == [True, True, True]


@pytest.fixture
def judging(site: Any, organiser: Any, accounts: dict[str, int]) -> tuple[Any, int]:
    """An assessor at work, and the number of an assignment."""
    organiser.post("/api/assignments/pool", json={})
    while organiser.get("/api/assignments/pool").json()["state"] == "running":
        time.sleep(0.05)
    assigned = organiser.post("/api/assignments", json={"accounts": [accounts["assessor"]], "assessors": 1})
    assert assigned.status_code in (200, 201), assigned.text
    assessor = site.client("assessor")
    with site.store.read() as connection:
        number = connection.execute(select(assignment.c.id).where(assignment.c.question == "1.1")).scalar_one()
    return assessor, number


def test_known_answers_are_limited(judging, monkeypatch: pytest.MonkeyPatch) -> None:
    assessor, number = judging
    monkeypatch.setattr(answers, "MOST_NOTED", 5)
    statuses = [
        assessor.post(f"/api/judge/{number}/answers", json={"answer": f"answer {n}"}).status_code for n in range(130)
    ]
    assert statuses == [200] * 5 + [400] * 115 + [429] * 10


def test_a_known_answer_names_a_document_that_exists(judging, organiser) -> None:
    assessor, number = judging
    sent = {"answer": "Warsaw", "doc": "NO-SUCH-DOC"}
    answer = assessor.post(f"/api/judge/{number}/answers", json=sent)
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["field"] == "doc"
    assert assessor.post(f"/api/judge/{number}/answers", json={**sent, "doc": "demo-curie-1"}).status_code == 200
    written = organiser.post("/api/development/question/answers", json={"id": "1.1", **sent})
    assert written.status_code == 422


def test_an_organiser_accepts_an_answer_that_an_assessor_added(judging, organiser) -> None:
    assessor, number = judging
    assert assessor.post(f"/api/judge/{number}/answers", json={"answer": "a new one"}).status_code == 200
    page = organiser.get("/development/question", params={"id": "1.1"}).text
    assert "added while judging" in page
    assert (
        organiser.post("/api/development/question/answers", json={"id": "1.1", "answer": "a new one"}).status_code
        == 201
    )
    assert "added while judging" not in organiser.get("/development/question", params={"id": "1.1"}).text


def test_impressions_are_limited(site, monkeypatch: pytest.MonkeyPatch) -> None:
    assessor = site.client("assessor")
    monkeypatch.setattr(judging_aids, "MOST_IMPRESSIONS", 3)
    statuses = [assessor.post("/api/impressions", json={"text": "fine"}).status_code for _ in range(130)]
    assert statuses == [200] * 3 + [409] * 117 + [429] * 10
