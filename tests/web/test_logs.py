"""The log and the numbers: what they hold, and what they never hold."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from acting import act
from qassay.store.people import invite
from qassay.web import logs

PASSWORD = "a long enough password"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What is logged, as JSON lines."""
    stream = io.StringIO()
    changed = (logs.log, logging.getLogger("uvicorn.error"))
    before = [(logger.handlers[:], logger.propagate, logger.level) for logger in changed]
    logs.set_up("json", stream)
    yield stream
    for logger, (handlers, propagate, level) in zip(changed, before, strict=True):
        logger.handlers[:] = handlers
        logger.propagate = propagate
        logger.setLevel(level)


def test_a_line_a_request(site, written: io.StringIO, accounts) -> None:
    site.client("assessor").get("/account?secret=1")
    site.client().get("/nowhere/with/secrets")
    first, second = map(json.loads, written.getvalue().splitlines())
    assert (first["method"], first["route"], first["status"]) == ("GET", "/account", 200)
    assert first["account"] == accounts["assessor"]
    assert first["milliseconds"] > 0
    assert (second["route"], second["status"], "account" in second) == ("(none)", 404, False)
    assert first["request"] != second["request"]
    assert "secret" not in written.getvalue()


def test_no_secret_gets_into_the_log(site, written: io.StringIO) -> None:
    with site.store.write() as connection:
        link = invite(act(connection), "assessor")
    browser = site.client()
    browser.post("/api/welcome", json={"token": link, "name": "Ada", "password": PASSWORD})
    browser.post("/api/sign-in", json={"name": "Ada", "password": PASSWORD})
    browser.post("/api/sign-in", json={"name": "Ada", "password": "wrong " + PASSWORD})
    token = browser.post("/api/account/tokens", json={"name": "x"}).json()["token"]
    browser.get("/api/account", headers={"Authorization": f"Bearer {token}"})
    browser.get("/sign-in", params={"then": f"/{link}"})
    text = written.getvalue()
    assert len(text.splitlines()) == 6
    for secret in (link, PASSWORD, token, browser.cookies["qassay"], "Ada"):
        assert secret not in text


def test_a_bug_is_logged_by_place_and_kind_alone(site, written: io.StringIO) -> None:
    from qassay.web.routing import EVERYBODY, GuardedRoute

    def broken() -> None:
        try:
            raise KeyError(" ".join(["an answer that an assessor", "wrote"]))
        except KeyError as error:
            raise RuntimeError("another one") from error

    site.app.router.routes.append(GuardedRoute("/api/break", broken, roles=EVERYBODY))
    answer = site.client("reader").get("/api/break")
    line = json.loads(written.getvalue().splitlines()[0])
    assert line["level"] == "error"
    assert line["request"] == answer.headers["x-request-id"]
    assert "in broken" in line["error"]
    assert "KeyError" in line["error"]
    assert line["error"].endswith("RuntimeError")
    assert "assessor wrote" not in written.getvalue()


def test_lines_for_people() -> None:
    record = logging.makeLogRecord(
        {"msg": "request", "method": "GET", "route": "/people", "status": 200, "milliseconds": 3.2, "account": 7}
    )
    assert logs.TextLines().format(record).endswith("200 GET /people 3 ms account 7")


def test_metrics(site) -> None:
    organiser = site.client("organiser")
    organiser.get("/people")
    organiser.get("/people")
    organiser.get("/nowhere")
    text = organiser.get("/metrics").text
    assert 'qassay_requests_total{method="GET",route="/people",status="200"} 2' in text
    assert 'qassay_requests_total{method="GET",route="(none)",status="404"} 1' in text
    assert 'qassay_request_seconds_bucket{route="/people",le="+Inf"} 2' in text
    assert 'qassay_request_seconds_count{route="/people"} 2' in text
    assert "qassay_sessions 1" in text
    assert "qassay_judgments_saved_total 0" in text
    for line in text.splitlines():
        assert line.startswith(("# TYPE ", "qassay_"))
    assert site.client("assessor").get("/metrics").status_code == 403
    token = organiser.post("/api/account/tokens", json={"name": "prometheus"}).json()["token"]
    assert site.client().get("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_buckets_grow() -> None:
    counted = logs.Metrics()
    for seconds in (0.004, 0.02, 3.0, 60.0):
        counted.request("GET", "/x", 200, seconds)
    buckets = [int(line.rsplit(" ", 1)[1]) for line in counted.lines() if "_bucket" in line]
    assert buckets == sorted(buckets)
    assert (buckets[0], buckets[-1]) == (1, 4)


def test_health_reads_the_store(site) -> None:
    assert site.client().get("/health").json() == {"status": "ok"}
    site.store.engine.dispose()
    (site.folder / "qassay.db").rename(site.folder / "gone")
    (site.folder / "qassay.db").mkdir()
    assert site.client().get("/health").status_code == 500
    (site.folder / "qassay.db").rmdir()
    (site.folder / "gone").rename(site.folder / "qassay.db")
