"""The API as it describes itself: what is documented holds for whatever is sent, by an organiser and by an assessor."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import hypothesis
import pytest
import requests
import schemathesis
import worksheets as sheets
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode

from qassay.store.assignment.assignments import assignments_of
from qassay.store.people.sessions import make_token
from qassay.store.pool.items import items_of
from qassay.store.schema import ROLES
from qassay.web.health import MEANS, REFUSED
from qassay.web.results.jobs import CrowdedError

CHECKED = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
    *("response_schema_conformance", "negative_data_rejection"),
)


@pytest.fixture
def described(site: Any) -> dict[str, Any]:
    answer = site.client("reader").get("/api/openapi.json")
    assert answer.status_code == 200
    document: dict[str, Any] = answer.json()
    return document


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation) for path, ways in described["paths"].items() for method, operation in ways.items()
    ]


def test_no_two_models_share_a_name(described: dict[str, Any]) -> None:
    """Where two do, the framework tells them apart by the modules that they are in."""
    assert [name for name in described["components"]["schemas"] if "__" in name] == []


def test_everybody_who_is_signed_in_gets_the_description(site: Any) -> None:
    for role in ROLES:
        assert site.client(role).get("/api/openapi.json").status_code == 200
    assert site.client().get("/api/openapi.json").status_code == 401


def test_every_json_route_is_described(site: Any, described: dict[str, Any]) -> None:
    declared = {
        (route.path, method.lower())
        for route in site.app.routes
        if isinstance(route, APIRoute) and route.path.startswith("/api")
        for method in route.methods or ()
    }
    assert {(path, method) for path, method, _ in operations(described)} == declared
    assert len(declared) > 80


def test_an_operation_says_what_it_is_and_who_may(described: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in described["tags"]}
    assert {"judging", "adjudication", "runs"} <= tags
    schemes = described["components"]["securitySchemes"]
    assert schemes["session"] == {"type": "apiKey", "in": "cookie", "name": "qassay"}
    assert (schemes["token"]["type"], schemes["token"]["scheme"]) == ("http", "bearer")
    for path, method, operation in operations(described):
        context = f"{method} {path}"
        assert set(operation["tags"]) <= tags, context
        assert len(operation["summary"]) > 5, context
        assert operation["operationId"], context
        assert bool(operation["security"]) == ("x-roles" in operation), context
        assert ("401" in operation["responses"]) or not operation["security"], context


def test_bodies_and_answers_are_typed(described: dict[str, Any]) -> None:
    for path, method, operation in operations(described):
        good = [status for status in operation["responses"] if status.startswith("2")]
        assert len(good) == 1, path
        schema = operation["responses"][good[0]]["content"]["application/json"]["schema"]
        assert "$ref" in schema or path == "/api/openapi.json", f"{method} {path}"
        for kind, body in operation.get("requestBody", {}).get("content", {}).items():
            assert kind in ("application/json", "multipart/form-data")
            assert body["schema"], path


def test_refusals_have_one_form(site: Any, described: dict[str, Any]) -> None:
    schema = {"$ref": f"#/components/schemas/{REFUSED}"}
    for path, _, operation in operations(described):
        for status, answer in operation["responses"].items():
            if not status.startswith("2"):
                assert int(status) in MEANS, path
                assert answer["content"]["application/json"]["schema"] == schema, path
    assert "HTTPValidationError" not in str(described)
    refused = site.client("reader").get("/api/people").json()
    assert set(described["components"]["schemas"][REFUSED]["required"]) <= set(refused)


# ---- whatever is sent -----------------------------------------------------------------------------------------------


class Idle:
    """A queue that never has room: what it computes is tested elsewhere."""

    def submit(self, *_: Any, **__: Any) -> None:
        raise CrowdedError

    def find(self, _: str) -> None:
        return None


class Sender:
    """Sends what is generated with a token; every other time with numbers that exist in place of generated ones."""

    def __init__(self, site: Any, account: int, known: dict[str, list[Any]]) -> None:
        with site.store.write() as connection:
            self.token = make_token(connection, account, "test")
        self.client = site.client(raise_server_exceptions=False)
        self.known = {name: cycle(values) for name, values in known.items()}
        self.turn = cycle((True, False))
        self.statuses: dict[int, int] = {}
        self.forbidden: set[str] = set()
        self.harmless = False

    def send(self, case: Any) -> Any:
        self.harmless = False
        if next(self.turn):
            for given in (case.path_parameters, case.body):
                if isinstance(given, dict):
                    known = {name: next(values) for name, values in self.known.items() if name in given}
                    given |= known
                    self.harmless |= bool(known)
        case.headers = {"Authorization": f"Bearer {self.token}"}
        case.cookies = {}
        sent = case.as_transport_kwargs(base_url="http://testserver")
        prepared = requests.Request(**{name: value for name, value in sent.items() if name in _TAKEN}).prepare()
        # An empty list leaves nothing in the address, a longer one repeats the name, of which the last value is read.
        sent_names = [name for name, _ in parse_qsl(urlsplit(str(prepared.url)).query, keep_blank_values=True)]
        self.harmless |= any(sent_names.count(name) != 1 for name in case.query or {})
        # Nothing at all is sent as the word null, which may be the name of a set.
        self.harmless |= None in (case.query or {}).values()
        self.harmless |= case.media_type == "multipart/form-data" and _has_numbers(case.body)
        answer = self.client.request(
            prepared.method, prepared.url, headers=dict(prepared.headers), content=prepared.body
        )
        self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
        if answer.status_code == 403:
            self.forbidden.add(answer.json()["message"])
        return answer


def _has_numbers(form: Any) -> bool:
    """Whether a form has a number in place of a text: it is sent by its digits, which are a text."""
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return isinstance(form, int | float) or any(map(_has_numbers, parts))


_TAKEN = ("method", "url", "params", "headers", "json", "data", "files")


def _known(site: Any, account: int) -> dict[str, list[Any]]:
    with site.store.read() as connection:
        own = assignments_of(connection, account)
        items = [item.id for assignment in own for item in items_of(connection, assignment.question)]
    return {
        "assignment": [assignment.id for assignment in own],
        "item": items,
        "question": ["1.6", "1.7"],
        "name": ["first", "x"],
    }


def _sender(site: Any, accounts: dict[str, int], role: str) -> Sender:
    site.app.state.site.memory["results"] = Idle()
    sheets.give_out(site, accounts)
    worker = accounts["assessor"] if role == "assessor" else accounts["adjudicator"]
    return Sender(site, accounts[role], _known(site, worker))


def _faults(sender: Sender, case: Any) -> list[str]:
    """Where the answer to a case is not what is documented."""
    try:
        answer = sender.send(case)
    except httpx2.InvalidURL:
        return []  # an address that is longer than what the client sends
    # A body that is too long is refused too, and a queue without room (`Idle`) is a documented answer: the library
    # counts neither among refusals. Where nothing wrong was sent after all, the case may be right.
    left_out = {{413: "negative_data_rejection", 503: "not_a_server_error"}.get(answer.status_code)}
    if sender.harmless:
        left_out.add("negative_data_rejection")
    checks = [CHECKS.get_one(name) for name in CHECKED if name not in left_out]
    try:
        case.validate_response(answer, checks=checks)
    except (Failure, FailureGroup) as error:
        why = getattr(error, "exceptions", [error])
        context = "; ".join(f"{fault.title}: {fault.message[:400]}" for fault in why)
        return [f"{case.method} {answer.request.url} {answer.status_code}: {context}"]
    return []


def _fuzz(senders: list[Sender], described: dict[str, Any], examples: int) -> None:
    """Send what is generated with every sender: to make it up takes longer than to send it."""
    load_all_checks()
    faults: list[str] = []
    for result in schemathesis.openapi.from_dict(described).get_all_operations():
        operation = result.ok()
        for mode in GenerationMode:

            @hypothesis.settings(
                max_examples=examples,
                database=None,
                deadline=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
            def check(case: Any) -> None:
                generated = case.path_parameters, case.body
                for sender in senders:
                    case.path_parameters, case.body = (
                        dict(part) if isinstance(part, dict) else part for part in generated
                    )
                    faults.extend(_faults(sender, case))

            # What takes nothing cannot be sent anything wrong.
            with suppress(Unsatisfiable):
                check()
    assert not faults, "\n".join(faults)


def test_answers_are_as_documented(sites: Any, accounts: dict[str, int], described: dict[str, Any]) -> None:
    # Each in a place of its own: what one changes is not what the other finds.
    senders = {role: _sender(sites(role), accounts, role) for role in ("organiser", "assessor")}
    _fuzz(list(senders.values()), described, examples=1)
    for role, sender in senders.items():
        statuses = sender.statuses
        assert statuses[200] > 10
        assert statuses[422] > 10
        # An organiser may do everything but what a token may not, and submit; an assessor is refused for more reasons.
        refusals = {"a token cannot do this; sign in with a browser", "this is not for the role you have (organiser)"}
        assert (sender.forbidden == refusals) == (role == "organiser")


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_many_more_answers_are_as_documented(
    site: Any, accounts: dict[str, int], described: dict[str, Any], role: str
) -> None:
    _fuzz([_sender(site, accounts, role)], described, examples=20)
