"""Damaged bodies for every address of the interface that changes something, from people of every role."""

from __future__ import annotations

import json
import re
import shutil
import warnings
import zlib
from pathlib import Path
from typing import Any

import argon2

from qassay.demo import demo_folder
from qassay.formats.folder import open_folder
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people import sessions as passwords
from qassay.store.people.sessions import begin_session
from qassay.store.schema import ROLES
from qassay.web import demonstration
from qassay.web.application import create_app
from qassay.web.results.jobs import CrowdedError
from qassay.web.site import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

ORIGIN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
# What was sent may have closed accounts and ended sessions: the evaluation is served again from time to time.
SERVED_FOR = 400
# Values for fields of these names, so that bodies get further than the check of their form.
KNOWN: dict[str, Any] = {
    **{"question": "1.1", "id": "1.1", "tag": "alpha", "key": "k" * 16, "part": "", "expected": 0, "item": 1},
    **{"verdict": {"judgment": "R"}, "accounts": [5], "assessors": 1, "role": "reader", "password": "long enough 1"},
    **{"answer": "x", "doc": "demo-curie-1", "text": "x", "vital": True, "nugget": "1", "set": "first"},
}


class Idle:
    """A queue of analyses that never has room: starting its process takes seconds, and what it computes is no input."""

    def submit(self, *_: Any, **__: Any) -> None:
        """Refuse a job."""
        raise CrowdedError

    def find(self, _: str) -> None:
        """No job is known."""


class Interface:
    """The demonstration, served to tests, and one body for each of its addresses."""

    def __init__(self, work: Path) -> None:
        passwords.HASHER = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        self._work, self._sent, self._number = work, 0, 0
        self._prepared = Path(shutil.copytree(demo_folder("series"), work / "prepared"))
        self._prepare()
        self._serve()
        self.bodies = {name: json.dumps(body).encode() for name, body in self._described().items()}

    def _prepare(self) -> None:
        store = open_store(self._prepared, create=True)
        import_folder(store, open_folder(self._prepared))
        with store.write() as connection:
            for role in ROLES:
                organisation = "North" if role == "participant" else None
                hashed = passwords.hash_password("a long enough password")
                add_account(connection, f"Some {role}", role, password=hashed, organisation=organisation)
        assessors = [1 + ROLES.index(role) for role in ("assessor", "adjudicator")]
        demonstration.give_out(store, self._prepared, assessors)
        store.close()

    def _serve(self) -> None:
        if self._number:
            for resource in self._app.state.site.memory.values():
                if callable(close := getattr(resource, "close", None)):
                    close()
            self._store.close()
            shutil.rmtree(self._work / f"served-{self._number}", ignore_errors=True)
        self._number += 1
        folder = Path(shutil.copytree(self._prepared, self._work / f"served-{self._number}"))
        self._store = open_store(folder)
        self._app = create_app(folder, Settings(more_hosts=("testserver",), log="none"), store=self._store)
        self._app.state.site.memory["results"] = Idle()
        self._clients = [self._client(role) for role in (*ROLES, None)]

    def _client(self, role: str | None) -> TestClient:
        client = TestClient(self._app, follow_redirects=False, headers=ORIGIN)
        if role is not None:
            with self._store.write() as connection:
                secret = begin_session(connection, 1 + ROLES.index(role), address="test", agent="test")
            client.cookies.set(self._app.state.site.settings.cookie, secret)
        return client

    def _described(self) -> dict[str, Any]:
        described = self._clients[0].get("/api/openapi.json").json()
        self._schemas = described.get("components", {}).get("schemas", {})
        made: dict[str, Any] = {}
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                content = operation.get("requestBody", {}).get("content", {})
                if "application/json" in content:
                    name = f"{method.upper()} {path}".replace("/", "|")
                    made[name] = self._example(content["application/json"]["schema"], "")
        assert len(made) > 20
        return made

    def _example(self, schema: dict[str, Any], name: str) -> Any:
        """A value that a schema allows, with known values for known names."""
        if "$ref" in schema:
            return self._example(self._schemas[schema["$ref"].rpartition("/")[2]], name)
        if name in KNOWN:
            return KNOWN[name]
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._example(schema[several][0], name)
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kind = schema.get("type")
        if kind == "object":
            return {key: self._example(part, key) for key, part in schema.get("properties", {}).items()}
        if kind == "array":
            return [self._example(schema.get("items", {}), "")]
        return {"string": "x" * max(1, schema.get("minLength", 1)), "integer": 1, "number": 0.5, "boolean": True}.get(
            kind
        )

    def send(self, name: str, data: bytes) -> None:
        """Send a body; an answer of the server's own failure is an error."""
        self._sent += 1
        if self._sent % SERVED_FOR == 0:
            self._serve()
        method, _, path = name.replace("|", "/").partition(" ")
        code = zlib.crc32(data)
        client = self._clients[code % len(self._clients)] if code % 3 else self._clients[0]
        headers = {"Content-Type": "application/json"}
        answer = client.request(method, re.sub(r"\{[^}]*\}", "1", path), content=data, headers=headers)
        # 503: a body may ask for a lock; 507 is a full disk. Neither is a failure of the server's own.
        if answer.status_code in (500, 502) or "Traceback" in answer.text:
            raise AssertionError(f"{name}: {answer.status_code} {answer.text[:500]}")
