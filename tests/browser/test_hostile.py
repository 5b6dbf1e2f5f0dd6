"""Hostile strings through every field that somebody can write, to every page, in a real browser.

Nothing in them may run: no script, no handler, no request, no dialog, no violation of the policy. They are shown as
what they are: text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Dialog, Error, Page, Request

from qassay.formats.folder import open_folder
from qassay.store.assignment.assignments import all_assignments
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import begin_session, make_token
from qassay.store.pool.items import items_of
from qassay.web import health, pages, single_sign_on
from qassay.web.demonstration import give_out

Make: TypeAlias = Callable[..., Any]
Which: TypeAlias = Literal["series", "answers", "justifications", "free-text"]
LONG = "long " * 20_000
ZALGO = "Z" + "".join(map(chr, range(0x300, 0x36F))) * 20
# What a script that got through would do; and where the policy had to stop one, the page was at fault anyway.
WATCH = """
  window.odd = [];
  window.ran = (what) => window.odd.push(`ran: ${what}`);
  addEventListener("securitypolicyviolation", (event) => window.odd.push(event.violatedDirective), true);
"""
# Resolves when the page has shown what it got, and what that starts has been started.
IDLE = "() => new Promise((done) => requestIdleCallback(() => setTimeout(done, 50)))"
# Everything that a reader of the page can see.
SHOWN = """() => [document.title, document.body.innerText,
  ...[...document.querySelectorAll("input, textarea, option")].map((one) => one.value || one.textContent),
  ...[...document.querySelectorAll("details")].map((one) => one.textContent)].join("\\n")"""


# Elements that no page of ours has: made of a string, they could run or fetch something.
STRANGE = """() => [...document.querySelectorAll(["script", "iframe", "object", "embed", "[onerror]", "[onload]",
  "a[href^='javascript:' i]", "img[src='x']", "form[action]:not([action^='/'])"]
  .map((one) => `main ${one}`).join(", "))]
  .map((one) => one.outerHTML.slice(0, 200))"""


# Text with a character that turns it around and is not seen; choices and fields are text alone and cannot mark it.
TURNED = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const odd = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    const plain = parentElement.closest("script, style, option, textarea, svg, .control");
    if (plain || !/[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(data)) continue;
    odd.push(parentElement.outerHTML.slice(0, 120));
  }
  return odd;
}"""


def bad(field: str) -> str:
    """A string that tries everything at once, beginning with something to know it by."""
    return (
        f"{field} {{{{7*7}}}}<script>ran('{field}')</script><img src=x onerror=ran('{field}')>"
        f"\"'`><svg onload=ran('{field}')></textarea></title></style>--><a href=javascript:ran('{field}')>x</a>"
        f"${{7*7}} \u2028\u2029 \u202eoverride\u202c \u2066isolate {ZALGO[:50]} \U0001f600 \ufeff"
    )


def bad_name(field: str) -> str:
    """The same where white space and slashes are refused."""
    return f"{field}{{{{7*7}}}}\"'><script>ran('{field}')<img\u202e"


def known_by(field: str) -> tuple[str, str]:
    """How a string is recognised when it is shown: as it was written, whichever kind it is."""
    return f"{field} {{{{7*7}}}}<script>", f"{field}{{{{7*7}}}}\"'><script>"


# ---- an evaluation of hostile strings -------------------------------------------------------------------------------

SERIES = [
    {"id": "1.1", "type": "factoid", "text": bad("question-text"), "series": "1", "target": bad("target")},
    {"id": bad_name("1.2"), "type": "list", "text": bad("list-text") + LONG, "series": "1", "target": bad("target")},
    {"id": "1.3", "type": "other", "text": "", "series": "1", "target": bad("target")},
]
DOC = bad_name("doc")
TAGS = (bad_name("tag"), "=tag+2")
LABEL = "label{{7*7}}\"'><script>ran('label')</script>"
FILE = "file {{7*7}}<script>ran('file')<img src=x onerror=ran('file')>.txt"


def _series(folder: Path) -> None:
    (folder / "collection").mkdir()
    document = {"id": DOC, "title": bad("title"), "text": f"{bad('document')} {bad('string')} {LONG}"}
    _rows(folder / "collection" / "all.jsonl", [document])
    _rows(
        folder / "answers.jsonl",
        [{"question": question["id"], "answer": bad("answer"), "doc": DOC} for question in SERIES[:2]],
    )
    lists = SERIES[1]["id"]
    for tag in TAGS:
        lines = [
            f"1.1 {tag} {DOC} {bad('string')}",
            f"{lists} {tag} {DOC} {bad('string')}",
            f"{lists} {tag} {DOC} {LONG}",
        ]
        lines += [f"1.3 {tag} {DOC} {bad('string')}", f"1.3 {tag} {DOC} {ZALGO}"]
        (folder / "runs" / f"{len(list((folder / 'runs').iterdir()))}.txt").write_text("\n".join(lines) + "\n")
    _rows(folder / "runs.jsonl", [{"run": TAGS[0], "organisation": bad("team"), "description": bad("description")}])


def _answers(folder: Path) -> None:
    sentences = [{"text": bad("string"), "citations": [0]}, {"text": LONG, "citations": [0]}]
    for tag in TAGS:
        row = {"run_id": tag, "topic_id": "r1", "topic": bad("topic"), "references": [DOC], "answer": sentences}
        _rows(folder / "runs" / f"{TAGS.index(tag)}.jsonl", [row])
    (folder / "nuggets").mkdir()
    _rows(folder / "nuggets" / "all.jsonl", [{"question": "r1", "nugget": "1", "vital": True, "text": bad("nugget")}])


def _justifications(folder: Path) -> None:
    for tag in TAGS:
        row = {"run": tag, "question": "1", "decision": "YES", "justification": bad("justification") + LONG}
        _rows(folder / "runs" / f"{TAGS.index(tag)}.jsonl", [row])
    (folder / "judgments").mkdir()
    _rows(folder / "judgments" / "official.jsonl", [{"question": "1", "judgment": "YES"}])


def _free_text(folder: Path) -> None:
    with (folder / "qassay.toml").open("a", encoding="utf-8") as configuration:
        configuration.write(f"labels = {{good = 1, {json.dumps(LABEL)} = 0}}\nsupport = true\n")
    contexts = [{"doc": DOC, "text": bad("context")}, {"text": LONG}]
    for tag in TAGS:
        row = {"run": tag, "question": "q1", "items": [{"text": bad("string") + LONG}], "contexts": contexts}
        _rows(folder / "runs" / f"{TAGS.index(tag)}.jsonl", [row])


KINDS: dict[Which, tuple[str, list[dict[str, Any]], Callable[[Path], None]]] = {
    "series": ("series2004", SERIES, _series),
    "answers": ("nuggets", [{"id": "r1", "type": "other", "text": bad("question-text")}], _answers),
    "justifications": (
        "justification",
        [{"id": "1", "type": "pair", "text": bad("question-text"), "hypothesis": bad("hypothesis")}],
        _justifications,
    ),
    "free-text": (
        "qa",
        [{"id": "q1", "type": "qa", "text": bad("question-text"), "gold": [bad("gold"), LONG]}],
        _free_text,
    ),
}


def _rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


class HostileEvaluation:
    """The evaluation before it is served: its people, and what they wrote."""

    def __init__(self, folder: Path, which: Which) -> None:
        task, questions, fill = KINDS[which]
        (folder / "runs").mkdir(parents=True)
        name = json.dumps(bad("evaluation"), ensure_ascii=False)
        (folder / "qassay.toml").write_text(f'name = {name}\ntask = "{task}"\n', encoding="utf-8")
        _rows(folder / "questions.jsonl", questions)
        fill(folder)
        self.folder, self.which = folder, which
        self.programs: list[httpx.Client] = []
        self.store: Store = open_store(folder, create=True)
        import_folder(self.store, open_folder(folder))
        names = {role: f"{role}{{{{7*7}}}}\"'><script>ran('{role}')</script>" for role in ROLES}
        with self.store.write() as connection:
            self.people = {
                role: add_account(connection, name, _role(role), organisation=_organisation(role)).id
                for role, name in names.items()
            }
        self._give_out()

    def _give_out(self) -> None:
        judges = [self.people["assessor"], self.people["second"]]
        give_out(self.store, self.folder, judges, holistic=self.which == "series", citations=True)

    def session(self, role: str) -> str:
        """The secret of a new session."""
        with self.store.write() as connection:
            return begin_session(connection, self.people[role], address=bad("address"), agent=bad("agent"))

    def program(self, server: Any, role: str) -> httpx.Client:
        """A program with a token of this person."""
        with self.store.write() as connection:
            token = make_token(connection, self.people[role], "program")
        client = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self.programs.append(client)
        return client


ROLES = ("organiser", "adjudicator", "assessor", "second", "reader", "participant")


def _role(name: str) -> str:
    return "assessor" if name == "second" else name


def _organisation(role: str) -> str | None:
    return "group{{7*7}}\"'><script>ran('group')</script>" if role == "participant" else None


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Callable[[Which], HostileEvaluation]]:
    """`hostile("series")`: an evaluation of hostile strings."""
    made: list[HostileEvaluation] = []

    def make(which: Which) -> HostileEvaluation:
        made.append(HostileEvaluation(tmp_path / "hostile", which))
        return made[-1]

    yield make
    for evaluation in made:
        evaluation.store.close()
        for program in evaluation.programs:
            program.close()


# ---- what people write ----------------------------------------------------------------------------------------------

KEYS = iter(range(1_000_000))


def send(program: httpx.Client, path: str, *, method: str = "POST", **body: Any) -> Any:
    """Send a change, which is taken."""
    answer = program.request(method, f"/api{path}", json=body)
    assert answer.is_success, f"{path}: {answer.status_code} {answer.text[:500]}"
    return answer.json()


def _key() -> str:
    return f"hostile-key-{next(KEYS):012}"


VERDICTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "item": ({"judgment": "R"}, {"judgment": "W"}),
    "list": ({"judgment": "R", "answer": bad("class")}, {"judgment": "X"}),
    "match": ({"nuggets": []}, {"nuggets": []}),
    "support": ({"support": "full"}, {"support": "none"}),
    "citation": ({"support": "full"}, {"support": "none"}),
    "holistic": ({"content": 7, "organization": 5}, {"content": 1, "organization": 1}),
    "rating": ({"understandability": 4, "correctness": 4}, {"understandability": 1}),
    "pair": ({"judgment": "YES"}, {"judgment": "NO"}),
    "label": ({"judgment": "good"}, {"judgment": LABEL}),
    "context": ({"support": "supported"}, {"support": "unsupported"}),
}


def judge(program: httpx.Client, second: bool) -> list[str]:
    """Judge everything with notes; write nuggets, note answers and impressions. The addresses of every stage."""
    stages = []
    for piece in program.get("/api/work").json()["pieces"]:
        at = f"/judge/{piece['assignment']}"
        sheet = program.get(f"/api{at}").json()
        if sheet["screen"] == "nuggets":
            send(program, f"{at}/nuggets/begin")
            send(program, f"{at}/nuggets/add", key=_key(), text=bad("nugget"), vital=True)
            send(program, f"{at}/matching")
        send(program, f"{at}/answers", answer=bad("noted"))
        for stage in sheet["stages"]:
            stages.append(f"{at}?stage={stage['screen']}")
            for entry in program.get(f"/api{at}", params={"stage": stage["screen"]}).json()["items"]:
                for part in program.get(f"/api{at}/items/{entry['id']}").json()["parts"]:
                    if part["required"]:
                        verdict = {**VERDICTS[part["kind"]][second], "note": bad("note")}
                        sent = {"item": entry["id"], "part": part["part"], "expected": part["version"]}
                        send(program, f"{at}/decisions", key=_key(), verdict=verdict, **sent)
    send(program, "/impressions", text=bad("impression"))
    return stages


def organise(program: httpx.Client, evaluation: HostileEvaluation) -> dict[str, str]:
    """Drafts, descriptions, reasons, tokens, invitations, a faulty upload, a set of a program, a publication."""
    identifiers: dict[str, str] = {}
    if evaluation.which == "series":
        made = send(program, "/development/series", target=bad("draft-target")[:400], target_type=bad("type")[:90])
        drafted = {"type": "factoid", "text": bad("draft"), "series": made["series"], "answer": bad("draft-answer")}
        identifiers["draft"] = send(program, "/development/questions", **drafted, doc=DOC)["question"]
        wrong = {"id": "1.1", "answer": " ".join(bad("answer").split()), "doc": DOC}
        program.post("/api/development/question/answers/withdraw", json={**wrong, "reason": bad("withdrawn")})
        send(program, "/development/question/nuggets", id="1.3", text=bad("fact"), vital=True)
        row = {"question": "1.1", "doc": DOC, "text": bad("string"), "judgment": "R", "note": bad("set-note")}
        address = httpx.URL("/").copy_with(path=f"/sets/{bad_name('set')}/judgments").raw_path.decode()
        send(program, address, rows=[row])
    about = {"organisation": bad("team")[:200], "description": bad("description")}
    send(program, "/runs", method="PUT", tag=TAGS[0], **about, manual=True)
    send(program, "/runs/withdraw", tag=TAGS[1], reason=bad("why"))
    send(program, "/runs/restore", tag=TAGS[1], reason=bad("why-not"))
    faulty = f"{bad_name('faulty')} {bad_name('faulty')} nowhere {bad('faulty')}\n".encode()
    uploaded = program.post("/api/runs", files={"files": (FILE, faulty)})
    identifiers["report"] = uploaded.json()["files"][0]["report"]
    send(program, "/people/invitations", role="reader", name="invited{{7*7}}\"'><script>ran(1)</script>")
    return identifiers


# ---- every page -----------------------------------------------------------------------------------------------------


# As whom a page is opened, where several may; questions are developed by organisers unless the track says otherwise.
PREFERRED = ("assessor", "adjudicator", "organiser", "reader", "participant")
BY_ORGANISERS = ("/results", "/development")


def addresses(
    evaluation: HostileEvaluation, identifiers: dict[str, str], stages: list[str]
) -> dict[str, list[tuple[str, str]]]:
    """Every page with what to ask it for, and as whom; `stages` are those of the assessor's own work."""
    with evaluation.store.read() as connection:
        given = all_assignments(connection)
        items = {assignment.id: items_of(connection, assignment.question) for assignment in given}
        question = given[1].question
    own = [assignment for assignment in given if assignment.account == evaluation.people["assessor"]]
    sheets = [f"/judge/{assignment.id}?item={item.id}" for assignment in own for item in items[assignment.id][:3]]
    sheets += [*stages, f"/judge/{own[0].id}?stage=nowhere"]
    asked = [question["id"] for question in KINDS[evaluation.which][1]]
    results = {"provisional": "1", "key": "first", "unjudged": "wrong", "missing": "zero"}
    documents = [_at("/document", id=DOC, find=bad("string")[:2000])] if evaluation.which == "series" else []
    pages_of: dict[str, list[str]] = {
        "/judge/{assignment}": sheets,
        "/document": documents,
        "/adjudication/question": [_at("/adjudication/question", id=question) for question in asked],
        "/development/question": [
            _at("/development/question", id=question) for question in (*asked, identifiers.get("draft", asked[0]))
        ],
        "/development/search": [_at("/development/search", q=bad("query")[:900], question=question)],
        "/development/document": [path.replace("/document", "/development/document") for path in documents],
        "/runs/report": [_at("/runs/report", number=identifiers["report"])],
        "/submissions/report": [_at("/submissions/report", number=identifiers["report"])],
        "/history": ["/history", _at("/history", question=asked[-1]), _at("/history", set=bad_name("set"))],
        "/assignments": ["/assignments", _at("/assignments", find=bad("find")[:190])],
        "/results/published/{number}": [f"/results/published/{identifiers['publication']}"]
        if "publication" in identifiers
        else [],
        "/results/run": [_at("/results/run", run=TAGS[0], **results)],
        "/results/question": [_at("/results/question", question=asked[0], **results)],
        "/sign-in": [_at("/sign-in", then=bad("then")[:900])],
        "/single-sign-on": [],
    }
    wanted: dict[str, list[tuple[str, str]]] = {}
    for path, roles in pages_declared().items():
        role = next(candidate for candidate in (*PREFERRED, "nobody") if candidate in roles)
        for address in pages_of.get(path, [_at(path, **results) if path.startswith("/results") else path]):
            assert "{" not in path or path in pages_of, f"{path}: say here what to ask it for"
            wanted.setdefault("organiser" if path.startswith(BY_ORGANISERS) else role, []).append((path, address))
    return wanted


def pages_declared() -> dict[str, set[str]]:
    """Every page that is served as HTML, and who may see it."""
    modules = (health, single_sign_on, *pages.load().values())
    declared = {route.path: route for module in modules for route in module.router.routes if "GET" in route.methods}
    roles_of = {}
    for path, route in declared.items():
        if f"/api{path}" in declared or (path == "/" and "/api/" in declared):
            roles_of[path] = {"nobody"} if "public" in route.roles else set(route.roles)
    assert len(roles_of) > 25
    return roles_of


def _at(path: str, **query: str) -> str:
    return f"{path}?{urlencode(query)}"


def underway(page: Page) -> set[Request]:
    """What a page asks for and has not got yet, kept from now on."""
    asked: set[Request] = set()
    page.on("request", lambda request: asked.add(request))
    page.on("requestfinished", lambda request: asked.discard(request))
    page.on("requestfailed", lambda request: asked.discard(request))
    return asked


def settle(page: Page, asked: set[Request]) -> None:
    """Wait until a page has got all it asked for, and has had time to show it and to ask for more."""
    quiet = 0
    for _ in range(200):
        try:
            page.evaluate(IDLE)
        except Error:  # it loads itself again just now
            quiet = 0
        else:
            quiet = 0 if asked else quiet + 1
        if quiet == 2:
            return
    raise AssertionError(f"{page.url} still waits for {[request.url for request in asked]}")


def look(page: Page, asked: set[Request], address: str) -> str:
    """Open a page as whoever is signed in; what it shows. Nothing odd may have happened."""
    path = address.partition("//")[2].partition("/")[2]
    for _ in range(200):
        answer = page.goto(address)
        assert answer is not None
        assert answer.status in (200, 404, 409), f"{path}: {answer.status}"
        settle(page, asked)
        if "being computed" not in page.inner_text("main"):
            break
    odd = page.evaluate("window.odd")
    assert not odd, f"{path}: {odd}"
    strange = page.evaluate(STRANGE)
    assert not strange, f"{path}: {strange}"
    turned = page.evaluate(TURNED)
    assert not turned, f"{path}: {turned}"
    shown: str = page.evaluate(SHOWN)
    assert not re.search(r"[a-z-]+ ?49<script>", shown), path
    return shown


def _refuse(dialog: Dialog) -> None:
    raise AssertionError(f"a dialog: {dialog.message}")


EXPECTED: dict[Which, set[str]] = {
    "series": {
        *("evaluation", "question-text", "list-text", "target", "answer", "string", "doc", "title", "document"),
        *("tag", "team", "description", "note", "class", "nugget", "noted", "impression", "why", "draft", "fact"),
        *("draft-target", "draft-answer", "faulty", "file", "organiser", "assessor", "second", "invited", "set"),
        *("token", "1.2", "publication", "query", "agent", "participant", "group"),
    },
    "answers": {"evaluation", "question-text", "string", "nugget", "tag", "note", "description"},
    "justifications": {"evaluation", "question-text", "hypothesis", "justification", "tag", "note"},
    "free-text": {"evaluation", "question-text", "string", "gold", "context", "doc", "label", "tag", "note"},
}


@pytest.mark.parametrize(
    "which",
    [
        "series",
        pytest.param("answers", marks=pytest.mark.slow),
        pytest.param("justifications", marks=pytest.mark.slow),
        pytest.param("free-text", marks=pytest.mark.slow),
    ],
)
def test_hostile_strings_are_shown_and_never_run(hostile: Any, serve: Make, visit: Make, which: Which) -> None:
    evaluation = hostile(which)
    server = serve(evaluation.folder)
    organiser = evaluation.program(server, "organiser")
    identifiers = organise(organiser, evaluation)
    stages = judge(evaluation.program(server, "assessor"), second=False)
    judge(evaluation.program(server, "second"), second=True)
    if which == "series":
        sent = {
            "title": bad("publication")[:190],
            "key": "first",
            "provisional": True,
            "unjudged": "wrong",
            "missing": "zero",
        }
        identifiers["publication"] = send(organiser, "/results/published", **sent)["id"]
    send(organiser, "/adjudication/reopen", question=KINDS[which][1][0]["id"], reason=bad("reopened"))
    shown = ""
    for role, wanted in addresses(evaluation, identifiers, stages).items():
        page = visit(server, expected=("404", "409"))
        page.on("dialog", _refuse)
        asked = underway(page)
        page.add_init_script(WATCH)
        if role != "nobody":
            page.context.add_cookies([{"name": "qassay", "value": evaluation.session(role), "url": server.url}])
            token = page.request.post(
                f"{server.url}/api/account/tokens",
                data={"name": "token{{7*7}}\"'><script>ran('token')</script>"},
                headers={"Origin": server.url},
            )
            assert token.status == 201, token.text()
        for _, path in wanted:
            shown += look(page, asked, server.url + path)
    missing = {field for field in EXPECTED[which] if not any(sign in shown for sign in known_by(field))}
    assert not missing
