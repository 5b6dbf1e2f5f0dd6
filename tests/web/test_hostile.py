"""What a hostile sender tries besides scripts: bombs, odd addresses, forged headers, other people's things."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
import test_openapi
import zstandard

from qassay.errors import InputError, Problem
from qassay.formats.folder import open_folder
from qassay.store.folder.importing import import_folder
from qassay.store.pool.uploads import count_runs
from qassay.store.schema import ROLES
from qassay.tables import Column, table
from qassay.web.errors import Refusal, for_page
from qassay.web.guard import STRANGER_LIMIT, check_json
from qassay.web.results.finding import csv_lines

PASSWORD = "a long enough password"
# Texts that end a statement, a string, a pattern or an expression somewhere.
FRAGMENTS = (
    *("'", '"', "' OR '1'='1", "1; DROP TABLE judgment; --", "id) UNION SELECT password FROM account --"),
    *("password", "account.password", "at DESC", "-at", "(SELECT 1)", "\\", "%", "_", "%25", "%s", "{0}", "{{7*7}}"),
    *("NEAR(a b", "a AND", "col:x", "*", '"unclosed', "^", "a" * 190, "\u202e", "\ud7ff", "1e999", "-1", "0", "NaN"),
    *("../../etc/passwd", "..%2f", "//example.org", "[", "]", "[]", "null", "true"),
)


@pytest.fixture
def organiser(site: Any) -> Any:
    """The organiser of the demo, whose files are in the store."""
    import_folder(site.store, open_folder(site.folder))
    return site.client("organiser", raise_server_exceptions=False)


def addresses(site: Any) -> Iterator[tuple[str, list[str]]]:
    """Every address that can be got, with the names of what it takes in its query."""
    for route in site.app.routes:
        if "GET" in route.methods and "static" not in route.path:
            names: list[str] = []
            for parameter in route.dependant.query_params:
                kind = parameter.field_info.annotation
                names += list(kind.model_fields) if hasattr(kind, "model_fields") else [parameter.alias]
            yield route.path, names


# ---- filters and sorts ----------------------------------------------------------------------------------------------


def _try_fragments(site: Any, fragments: tuple[str, ...]) -> int:
    site.app.state.site.memory["results"] = test_openapi.Idle()
    tried = 0
    participants = {route.path for route in site.app.routes if route.roles == {"participant"}}
    participant = site.client("participant", raise_server_exceptions=False)
    with site.client("organiser", raise_server_exceptions=False) as organiser:
        for path, names in addresses(site):
            client = participant if path in participants else organiser
            needed = {"id": "1.1", "number": "x", "run": "crane", "question": "1.1", "table": "x"}
            filled = re.sub(r"\{(name|job)\}", "first", re.sub(r"\{(assignment|item|number)\}", "1", path))
            for name in names:
                for fragment in fragments:
                    given = {parameter: value for parameter, value in needed.items() if parameter in names} | {
                        name: fragment
                    }
                    answer = client.get(filled, params=given)
                    context = f"{path}?{name}={fragment}: {answer.status_code} {answer.text[:300]}"
                    assert answer.status_code in (200, 303, 400, 404, 409, 422, 503), context
                    for internal in ("Traceback", "sqlite", "argon2"):
                        assert internal not in answer.text, context
                    tried += 1
    return tried


@pytest.mark.parametrize(
    ("fragments", "least"),
    [
        (("id) UNION SELECT password FROM account --", '"unclosed NEAR('), 100),
        pytest.param(FRAGMENTS, 1000, marks=pytest.mark.slow),
    ],
)
def test_every_query_parameter_takes_what_it_knows_and_nothing_else(site: Any, fragments: Any, least: int) -> None:
    import_folder(site.store, open_folder(site.folder))
    assert _try_fragments(site, fragments) > least


@pytest.mark.parametrize("path", ["/api/assignments", "/api/development", "/api/results/units"])
def test_sorts_and_filters_are_from_lists(organiser: Any, path: str) -> None:
    for name in ("sort", "show", "by", "kind"):
        described = organiser.get("/api/openapi.json").json()["paths"][path]["get"]["parameters"]
        if name in {parameter["name"] for parameter in described}:
            assert organiser.get(path, params={name: "password"}).status_code == 422


def test_unknown_words_of_an_address_change_nothing(organiser: Any) -> None:
    plain = organiser.get("/api/people").json()
    assert organiser.get("/api/people", params={"sort": "password", "role": "'"}).json() == plain


def test_numbers_that_no_database_holds(site: Any) -> None:
    for number in (0, -1, 2**31, 2**53, 2**63, 2**63 - 1, 10**30, "1e3", "1.0", "٣", "0x1", "1;2"):
        organiser = site.client("organiser")  # 1.0 is 1, and ends the first session
        assert organiser.get("/api/account").status_code == 200
        _send_number(site, organiser, number)


def _send_number(site: Any, organiser: Any, number: object) -> None:
    for route in site.app.routes:
        if "{" not in route.path or "static" in route.path:
            continue
        path = route.path
        for name in ("assignment", "item", "number", "job", "name"):
            path = path.replace(f"{{{name}}}", str(number))
        for method in route.methods:
            answer = organiser.request(method, path, json={} if method not in ("GET", "HEAD", "DELETE") else None)
            assert answer.status_code < 500, f"{method} {path}: {answer.text[:300]}"
    for sent in ({"item": number, "part": "", "expected": 0, "verdict": {}, "key": "k" * 16, "question": "1.1"},):
        for path in ("/api/adjudication/rulings", "/api/judge/1/decisions"):
            assert organiser.post(path, json=sent).status_code < 500
    for path in ("/api/history?before=", "/api/history?person=", "/api/assignments?person=", "/api/pool?after="):
        assert organiser.get(f"{path}{number}").status_code < 500


# ---- bombs ----------------------------------------------------------------------------------------------------------


def test_strings_that_do_not_end_are_checked_like_any_others() -> None:
    """The search began again at every quote: what is here took hours, and this test would not come to an end."""
    for body in (b'"' + b'\\"' * 400_000, b'"' * 800_000, b'"' + b"\\" * 800_001, b"[]" * 400_000):
        check_json(body, deepest=40)


def test_a_stranger_gets_little_read(site: Any) -> None:
    body = {"name": "x" * STRANGER_LIMIT, "password": "x"}
    assert site.client().post("/api/sign-in", json=body).status_code == 413
    assert (
        site.client("reader").put("/api/account/shortcuts", json={"shortcuts": {"a": "b" * STRANGER_LIMIT}}).status_code
        == 422
    )


def send(client: Any, name: str, content: bytes) -> dict[str, Any]:
    answer = client.post("/api/runs", files=[("files", (name, content))])
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = answer.json()["files"][0]
    assert report["tag"] is None
    assert report["faults"] > 0
    return report


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstandard"])
def test_a_file_that_unpacks_to_too_much_is_refused(site: Any, pack: Any) -> None:
    import_folder(site.store, open_folder(site.folder))
    client = site.with_settings(upload_limit=100_000).client("organiser")
    bomb = pack(b"1.1 bomb NIL\n" * 400_000)
    assert len(bomb) < 100_000
    assert "unpacks to more than" in send(client, "bomb.txt.gz", bomb)["first"][0]["message"]
    twice = pack(pack(b"\0" * 50_000_000))
    assert send(client, "bomb.gz.gz", twice)["faults"]


ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">%s]><r>&i;</r>""" % b"".join(
    b'<!ENTITY %c "%s">' % (letter + 1, b"&%c;" % letter * 10) for letter in b"abcdefgh"
)


HOSTILE = {
    "entities": ENTITIES,
    "external": b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
    "deep-xml": b"<r>" * 100_000,
    "deep-json": b'{"run": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "open-json": b'{"run": "x", "question": ' + b'{"a":' * 50_000,
    "digits": b'{"run": "x", "question": "1.1", "text": ' + b"9" * 100_000 + b"}\n",
    "line": b"1.1 x " + b"y" * 10_000_000 + b"\n",
    "bidi": b"1.1 \xe2\x80\xae NIL\n",
    "quotes": b'"' * 1_000_000,
    "empty-lines": b"\n" * 1_000_000,
}


def test_a_hostile_run_is_refused_with_a_word(site: Any, organiser: Any) -> None:
    with site.store.read() as connection:
        before = count_runs(connection)
    sent = [("files", (f"{name}.xml", content)) for name, content in HOSTILE.items()]
    answer = organiser.post("/api/runs", files=sent)
    assert answer.status_code == 200, answer.text
    for reports in answer.json()["files"]:
        assert (reports["tag"], reports["faults"] > 0) == (None, True), reports["file"]
        assert "root:" not in json.dumps(reports)
        assert len(json.dumps(reports)) < 1_000_000, reports["file"]
    assert len(answer.json()["files"]) == len(HOSTILE)
    with site.store.read() as connection:
        assert count_runs(connection) == before


def test_archives_that_climb_out_of_their_folder_are_not_unpacked(site: Any, organiser: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../../climbed.txt", "1.1 x NIL\n")
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w") as archive2:
        member = tarfile.TarInfo("../../../climbed.txt")
        member.size = 3
        archive2.addfile(member, io.BytesIO(b"abc"))
    for content in (packed.getvalue(), tarred.getvalue(), gzip.compress(tarred.getvalue())):
        message = send(organiser, "a.zip", content)["first"][0]["message"]
        assert "archive; unpack it" in message or "NUL bytes" in message
    assert not list(site.folder.parent.rglob("climbed*"))


def test_a_name_of_a_file_is_not_a_path(site: Any, organiser: Any) -> None:
    before = (site.folder / "qassay.toml").read_bytes()
    names = ("../../qassay.toml", "..", "/etc/passwd", "a\r\nSet-Cookie: x=y", "CON", "x" * 200)
    for sent, statuses in ((names, (200,)), (("",), (200, 400, 422)), (("x" * 5000,), (200, 400, 422))):
        answer = organiser.post("/api/runs", **_form_of(sent))
        assert answer.status_code in statuses, answer.text
        assert "set-cookie" not in answer.headers
        assert (site.folder / "qassay.toml").read_bytes() == before


def _form_of(names: tuple[str, ...]) -> dict[str, Any]:
    """A form with a run under each of these names, written by hand."""
    head = '--b0undary\r\nContent-Disposition: form-data; name="files"; filename="{}"\r\n\r\n1.1 x NIL\r\n'
    parts = [head.format(name.replace("\r", "%0D").replace("\n", "%0A")) for name in names]
    headers = {"Content-Type": "multipart/form-data; boundary=b0undary"}
    return {"content": ("".join(parts) + "--b0undary--\r\n").encode(), "headers": headers}


def test_a_form_of_thousands_of_parts_is_refused(organiser: Any) -> None:
    many = [("files", (f"{number}.txt", b"x")) for number in range(2_000)]
    assert organiser.post("/api/runs", files=many).status_code in (400, 413, 422)


# ---- spreadsheets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://x")'])
def test_no_cell_and_no_heading_of_a_csv_is_a_formula(text: str) -> None:
    """Tags of runs are headings, and whoever sends a run names it."""
    written = "".join(csv_lines(table("", ["run", Column(text)], [[text, 0.5]])))
    for cell in written.replace("\n", ",").replace('"', "").split(","):
        assert not cell.startswith(("=", "+", "@", "\t", "-"))


# ---- who it is ------------------------------------------------------------------------------------------------------


def test_forwarded_headers_make_no_other_address(site: Any) -> None:
    forged = {"X-Forwarded-Host": "example.org", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "//example.org"}
    invitation = (
        site.client("organiser").post("/api/people/invitations", json={"role": "reader"}, headers=forged).json()
    )
    assert invitation["link"].startswith("http://testserver/welcome#")
    moved = site.client().get("/people", headers={**forged, "X-Original-URL": "/api/account"})
    assert (moved.status_code, moved.headers["location"]) == (303, "/sign-in?then=/people")


# ---- what answers carry ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_nothing_that_holds_data_is_kept_by_caches(site: Any, role: str) -> None:
    site.app.state.site.memory["results"] = test_openapi.Idle()
    browser = site.client(role)
    for path, _ in addresses(site):
        answer = browser.get(re.sub(r"\{[^}]*\}", "1", path))
        assert answer.headers["cache-control"] == "no-store", path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert "server" not in answer.headers, path
        if answer.headers.get("content-type", "").startswith("text/html"):
            check_times(answer.text, path)


def check_times(page: str, path: str) -> None:
    """Times for people have one form on every page."""
    for shown in re.findall(r"<time [^>]*>([^<]*)</time>", page):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC|", shown), (path, shown)
    text = re.sub(r"<script.*?</script>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not re.search(r"\d{4}-\d\d-\d\dT\d\d:", text), path


def test_a_problem_does_not_tell_where_the_server_keeps_its_files() -> None:
    inside = Problem("configuration", "several sets", "/srv/secret/place/eval")
    assert str(for_page(inside)) == "eval: several sets"
    assert for_page(Problem("syntax", "x", "runs/a.txt", 3)).file == "runs/a.txt"


def test_refusals_of_views_name_no_path_of_the_server(site: Any) -> None:
    from qassay.web.routing import EVERYBODY, GuardedRoute

    def broken() -> None:
        raise InputError(Problem("configuration", "is wrong", str(site.folder)))

    for path in ("/broken", "/api/broken"):
        site.app.router.routes.append(GuardedRoute(path, broken, roles=EVERYBODY))
        answer = site.client("reader").get(path)
        assert answer.status_code == 422
        assert str(site.folder.parent) not in answer.text


def test_an_address_with_a_null_character_is_answered_in_its_own_form(site: Any) -> None:
    assert site.client("organiser").get("/api/history?question=%00").json()["message"]
    page = site.client("organiser").get("/history?question=%00")
    assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")


def test_every_refusal_has_a_page_in_plain_words(site: Any) -> None:
    from qassay.web.routing import EVERYBODY, GuardedRoute

    titles: dict[int, str] = {}
    for status in (400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503, 507):

        def refuse(status: int = status) -> None:
            raise Refusal(status, "this is why")

        site.app.router.routes.append(GuardedRoute(f"/refused/{status}", refuse, roles=EVERYBODY))
        answer = site.client("reader").get(f"/refused/{status}")
        assert answer.status_code == status
        (titles[status],) = re.findall(r"<h1>(.*?)</h1>", answer.text)
        assert "This is why." in answer.text
        # What may pass can be tried again at the same address.
        assert ('href="">Try again</a>' in answer.text) == (status in (429, 500, 503, 507))
    assert not set(titles.values()) & {HTTPStatus(status).phrase for status in titles}


def test_an_address_with_a_wrong_value_names_the_right_ones(site: Any) -> None:
    page = site.client("organiser").get("/results/units?sort=sideways").text
    assert "Sort: this must be &#39;order&#39;, &#39;name&#39;" in page
    page = site.client("assessor").get("/judge/x").text
    assert "Assignment: this must be a whole number." in page
