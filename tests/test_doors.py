"""Every kind of judgment through every door: what one door refuses, no other lets in (METHOD 4, FORMATS 4).

The doors are a judgment file, `qassay import` (into files and into a store), the API for programs, the client, the
judging page, adjudication, a sheet that comes back, and an automatic assessor. Verdicts are generated, good and bad;
`is_allowed` below says which is which and is written from the method alone. A door refuses with a message, exit status
1 or status 422, and stores nothing.

A new kind of judgment needs its verdict in `FIELDS`, `fault` and `VALUES`, and in `EVALUATIONS` a question to judge.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qassay
from nursery import call, nursery
from qassay import assessors
from qassay.client import Client

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
Verdict = dict[str, Any]

# ---- what neither commands nor HTTP reach ----------------------------------------------------------------------------


def _script(name: str) -> Any:
    """A module of the folder of scripts: how a served evaluation is reached."""
    if str(SCRIPTS) not in sys.path:
        sys.path.insert(0, str(SCRIPTS))
    return importlib.import_module(name)


class MadeUp:
    """An automatic assessor who has one verdict on the first thing of a kind, and no opinion on any other."""

    name = "made-up"

    def __init__(self, kind: str, verdict: Verdict) -> None:
        self.kind, self.verdict, self.asked = kind, verdict, False

    def judge(self, case: Any) -> Any:
        """The verdict, once."""
        if case.kind != self.kind or self.asked:
            return None
        self.asked = True
        return assessors.Opinion(self.verdict)

    @contextmanager
    def on_duty(self, token: str) -> Iterator[None]:
        """Have `qassay judge` take this assessor, whatever it is asked for, to judge with a token for a server."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(assessors, "open_assessor", lambda *_, **__: self)
            patch.setenv("QASSAY_TOKEN", token)
            yield


# ---- the rules, from METHOD 4 and FORMATS 4 -------------------------------------------------------------------------

FIELDS: Mapping[str, tuple[str, ...]] = {
    "item": ("judgment",),
    "extract": ("judgment",),
    "list": ("judgment", "answer"),
    "match": ("nuggets",),
    "support": ("support",),
    "citation": ("support",),
    "pair": ("judgment",),
    "holistic": ("content", "organization"),
    "rating": ("understandability", "correctness"),
    "label": ("judgment",),
    "context": ("support",),
}
KINDS = tuple(FIELDS)
# Extracts are items of another shape, in a task with fewer labels.
STORED_AS = {"extract": "item"}
LABELS = {
    "item": ("R", "X", "U", "W"),
    "extract": ("R", "U", "W"),
    "list": ("R", "X", "U", "W"),
    "pair": ("YES", "NO", "UNKNOWN"),
    "label": ("correct", "partly", "incorrect"),
}
NUGGETS = ("1", "2", "3")
# In files and from programs, `distinct` stands in place of `answer` where classes are unknown.
ONLY_IN_ROWS = {"list": ("distinct",)}
# Fields that make a row one of another kind, whatever else it has: what such a row says is not this kind's to judge.
MARKS = {
    **{"nuggets": "match", "content": "holistic", "organization": "holistic", "understandability": "rating"},
}


def is_allowed(kind: str, verdict: Verdict, *, row: bool) -> bool:
    """Whether a verdict may be given; a `row` of a file or program may carry fields that nobody knows."""
    own = {*FIELDS[kind], "note", *(ONLY_IN_ROWS.get(kind, ()) if row else ())}
    if not row and not set(verdict) <= own:
        return False
    given = {name: value for name, value in verdict.items() if value is not None}
    note = given.get("note", "")
    # A row may carry anything beside its verdict; what a person or a program says itself has a short note.
    if not row and (not isinstance(note, str) or len(note) > 2_000):
        return False
    return is_text(verdict) and fault(kind, given) is None


def fault(kind: str, verdict: Verdict) -> str | None:
    """What is wrong with what is said, whatever the door."""
    if kind in LABELS and not (isinstance(verdict.get("judgment"), str) and verdict["judgment"] in LABELS[kind]):
        return "no label of the task"
    if kind == "list":
        answer, distinct = verdict.get("answer"), verdict.get("distinct")
        if answer is not None and not (isinstance(answer, str) and answer.strip() and len(answer) <= 500):
            return "no class"
        if distinct is not None and not isinstance(distinct, bool):
            return "distinct is true or false"
        if verdict["judgment"] != "R" and (answer is not None or distinct):
            return "only R items are distinct"
    if kind == "match":
        nuggets = verdict.get("nuggets")
        if not isinstance(nuggets, list) or not all(isinstance(nugget, str) for nugget in nuggets):
            return "no list of nuggets"
        if len(set(nuggets)) < len(nuggets) or not set(nuggets) <= set(NUGGETS):
            return "a nugget twice, or one that the list does not have"
    if kind in ("support", "citation") and verdict.get("support") not in ("full", "partial", "none"):
        return "no support"
    if kind == "context" and verdict.get("support") not in ("supported", "unsupported"):
        return "no support by the contexts"
    if kind == "holistic" and not all(is_whole(verdict.get(name), 0, 10) for name in FIELDS[kind]):
        return "both are whole numbers from 0 to 10"
    if kind == "rating":
        understood = verdict.get("understandability")
        if not is_whole(understood, 1, 5):
            return "understandability is from 1 to 5"
        if "correctness" in verdict and not is_whole(verdict["correctness"], 1, 5):
            return "correctness is from 1 to 5"
        if understood < 3 and "correctness" in verdict:
            return "correctness is not asked below 3"
    return None


def is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_text(value: object) -> bool:
    """Whether every string can be written: half a character (a lone surrogate) cannot."""
    if isinstance(value, dict):
        return all(map(is_text, value)) and all(map(is_text, value.values()))
    if isinstance(value, list):
        return all(map(is_text, value))
    return not isinstance(value, str) or all(not 0xD800 <= ord(character) <= 0xDFFF for character in value)


# ---- verdicts, good and bad -----------------------------------------------------------------------------------------

HALF = "\ud800"
NOT_LABELS = ("", "r", " R", "Z", "yes", "correct", 5, True, 1.5, ["R"], {"R": 1}, None, HALF)
NUMBERS = (-1, 0, 1, 2, 3, 5, 6, 10, 11, 3.0, 7.5, True, False, "3", [3], None, 10**30, -(10**30))
NOTES = ("", "a note", "x" * 2_000, "x" * 2_001, "\u2028", 5, True, ["a"], {"a": 1}, None, HALF)
# Values to try in a field, by kind and name; no whole numbers for a class or a nugget, whose digits files read.
VALUES: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "item": {"judgment": ("R", "X", "U", "W", "YES", *NOT_LABELS)},
    "extract": {"judgment": ("R", "X", "U", "W", *NOT_LABELS[:5])},
    "pair": {"judgment": ("YES", "NO", "UNKNOWN", "R", "ENTAILMENT", *NOT_LABELS)},
    "list": {
        "judgment": ("R", "X", "U", "W", *NOT_LABELS),
        "answer": ("Atlanta", "x" * 500, "x" * 501, "", " ", None, True, 1.5, ["Atlanta"], {"a": 1}, HALF),
        "distinct": (True, False, None, "yes", 1, [True]),
    },
    "match": {
        "nuggets": (
            *([], ["1"], ["3", "1"], ["1", "2", "3"]),
            *(["9"], ["1", "9"], ["1", "1"], [None], [True], [1.5], [["1"]], [{}], [HALF], [""]),
            *(None, "1", "", {"1": True}, True, 0),
        )
    },
    "support": {"support": ("full", "partial", "none", "Full", "", "R", 1, True, 0.5, ["full"], {}, None, HALF)},
    "citation": {"support": ("full", "partial", "none", "Full", "", "R", 1, True, 0.5, ["full"], {}, None, HALF)},
    "holistic": {"content": NUMBERS, "organization": NUMBERS[::2]},
    "rating": {"understandability": NUMBERS, "correctness": NUMBERS[::2]},
    "label": {"judgment": ("correct", "partly", "incorrect", "Correct", "R", *NOT_LABELS[:5], *NOT_LABELS[6:])},
    "context": {"support": ("supported", "unsupported", "full", "", "R", 1, True, 0.5, ["supported"], {}, None, HALF)},
}
GOOD: Mapping[str, Verdict] = {
    "item": {"judgment": "R"},
    "extract": {"judgment": "U"},
    "list": {"judgment": "R"},
    "match": {"nuggets": ["1"]},
    "support": {"support": "full"},
    "citation": {"support": "none"},
    "pair": {"judgment": "NO"},
    "holistic": {"content": 7, "organization": 5},
    "rating": {"understandability": 4, "correctness": 4},
    "label": {"judgment": "partly"},
    "context": {"support": "supported"},
}
FOREIGN: Verdict = {
    **{"judgment": "R", "answer": "Atlanta", "nuggets": ["1"], "support": "full"},
    **{"content": 5, "organization": 5, "understandability": 1, "correctness": 3},
}
RANDOM = 8


@cache
def verdicts(kind: str) -> tuple[Verdict, ...]:
    """The verdicts to try: each field alone and amiss, all that matters of two fields, and some at random."""
    good = GOOD[kind]
    made: list[Verdict] = [{}, good]
    for name, values in VALUES[kind].items():
        made += [good | {name: value} for value in values]
        made.append({other: value for other, value in good.items() if other != name})
    made += [good | {"note": note} for note in NOTES]
    made += [good | {"strange": "kept"}, good | {"strange": {"deep": [1, None]}}, good | {"strange": HALF}]
    others = [name for name in FOREIGN if name not in FIELDS[kind]]
    made += [good | {name: FOREIGN[name]} for name in others] + [good | {others[0]: None}]
    if kind == "list":
        pairs = [(label, more) for label in ("X", "U", "W") for more in ("Atlanta", None)]
        made += [{"judgment": label, "answer": answer} for label, answer in pairs]
        made += [{"judgment": label, "distinct": distinct} for label in "XUW" for distinct in (True, False)]
    if kind == "rating":
        made += [{"understandability": u, "correctness": c} for u in (1, 2, 3, 5) for c in (1, 5, None, 0, 6)]
    rng = Random(f"verdicts {kind}")
    for _ in range(RANDOM):
        verdict = {name: rng.choice(values) for name, values in VALUES[kind].items() if rng.random() < 0.8}
        made.append(verdict | ({"note": rng.choice(NOTES)} if rng.random() < 0.3 else {}))
    unique = {json.dumps(verdict, sort_keys=True): verdict for verdict in made}
    # A class and a mark that stands in its place: neither paper nor format says what both together mean.
    return tuple(
        verdict for verdict in unique.values() if verdict.get("answer") is None or verdict.get("distinct") is None
    )


def some(kind: str) -> tuple[Verdict, ...]:
    """A few verdicts of a kind, for a door that is slow: some that are allowed, and more that are not."""
    cases = verdicts(kind)
    good = [verdict for verdict in cases if is_allowed(kind, verdict, row=False)]
    bad = [verdict for verdict in cases if not is_allowed(kind, verdict, row=False)]
    return (*good[:: -(-len(good) // 4)], *bad[:: -(-len(bad) // 10)])


# ---- an evaluation for each kind, in files and served ---------------------------------------------------------------


@dataclass(frozen=True)
class Evaluation:
    """A task, what the pool asks for beside, and its questions by kind of judgment: judged on the page, ruled on."""

    task: str
    kinds: Mapping[str, tuple[str, str]]
    questions: Sequence[Mapping[str, Any]]
    pooled: Mapping[str, bool] = field(default_factory=dict)
    options: Sequence[str] = ()


def _series(name: str) -> list[dict[str, Any]]:
    types = ("factoid", "list", "other")
    return [
        {"id": f"{name}.{number}", "type": type_, "text": "What?", "series": name, "target": f"target {name}"}
        for number, type_ in enumerate(types, 1)
    ]


def _asked(type_: str, number: int, **more: str) -> list[dict[str, Any]]:
    return [{"id": f"q{place}", "type": type_, "text": "What?", **more} for place in range(1, number + 1)]


EVALUATIONS: Mapping[str, Evaluation] = {
    "series": Evaluation(
        "series2004",
        {"item": ("1.1", "2.1"), "list": ("1.2", "2.2"), "match": ("1.3", "2.3")},
        [*_series("1"), *_series("2")],
    ),
    "passages": Evaluation("passages", {"extract": ("q1", "q2")}, _asked("factoid", 2)),
    "definition": Evaluation(
        "definition", {"holistic": ("q1", "q2")}, _asked("definition", 2), {"holistic": True}, ["--holistic"]
    ),
    "nuggets": Evaluation(
        "nuggets",
        {"support": ("q1", "q2"), "citation": ("q1", "q2")},
        _asked("other", 2),
        {"citations": True},
        ["--citations"],
    ),
    "pairs": Evaluation("entailment3", {"pair": ("q1", "q2")}, _asked("pair", 2, hypothesis="So.")),
    "ratings": Evaluation("justification", {"rating": ("q1", "q2")}, _asked("pair", 2, hypothesis="So.")),
    "qa": Evaluation("qa", {"label": ("q1", "q2"), "context": ("q1", "q2")}, _asked("qa", 2, gold="Atlanta")),
}
HOME = {kind: name for name, evaluation in EVALUATIONS.items() for kind in evaluation.kinds}
# The fields of a row that say what is judged.
ABOUT: Mapping[str, dict[str, Any]] = {
    "item": {"doc": "D1", "text": "Atlanta"},
    "extract": {"doc": "D1", "start": 3, "length": 7},
    "list": {"run": "alpha", "doc": "D1", "text": "Atlanta"},
    "match": {"run": "alpha"},
    "support": {"run": "alpha", "nugget": "2"},
    "citation": {"run": "alpha", "sentence": 0, "doc": "D1"},
    "pair": {},
    "holistic": {"run": "alpha"},
    "rating": {"run": "alpha", "assessor": "Olga"},
    "label": {"text": "Atlanta"},
    "context": {"run": "alpha"},
}


def write_evaluation(folder: Path, evaluation: Evaluation) -> None:
    """The files of an evaluation with one run."""
    folder.mkdir()
    asks = "support = true\n" if evaluation.task == "qa" else ""
    (folder / "qassay.toml").write_text(f'task = "{evaluation.task}"\n{asks}')
    shapes = {"nuggets": {"text": "Atlanta", "citations": ["D1"]}, "passages": {"start": 3, "length": 7}}
    items = [{"doc": "D1", **shapes.get(evaluation.task, {"text": "Atlanta"})}]
    decision = {"decision": "YES", "justification": "because"} if "hypothesis" in evaluation.questions[0] else None
    asked = [question["id"] for question in evaluation.questions]
    contexts = {"contexts": [{"doc": "D1", "text": "In Atlanta."}]} if evaluation.task == "qa" else {}
    rows = [{"run": "alpha", "question": question, **(decision or {"items": items}), **contexts} for question in asked]
    write_rows(folder / "questions.jsonl", evaluation.questions)
    write_rows(folder / "runs" / "alpha.jsonl", rows)
    of = {
        type_: [q["id"] for q in evaluation.questions if q["type"] == type_]
        for type_ in ("list", "other", "definition")
    }
    if of["list"]:
        write_rows(folder / "answers.jsonl", [{"question": question, "answer": "Zoe"} for question in of["list"]])
    if nuggeted := of["other"] + of["definition"]:
        nuggets = [(question, nugget) for question in nuggeted for nugget in NUGGETS]
        facts = [{"question": q, "nugget": nugget, "vital": True, "text": "a fact"} for q, nugget in nuggets]
        write_rows(folder / "nuggets" / "development.jsonl", facts)


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class House:
    """One evaluation with all its doors: its files, a store to import into, and a server with its organiser."""

    def __init__(self, place: Path, name: str) -> None:
        self.place, self.evaluation = place, EVALUATIONS[name]
        self.folder = place / "served"
        write_evaluation(self.folder, self.evaluation)
        self.olga: Any = None
        self.token = ""

    @property
    def database(self) -> Path:
        return self.folder / "qassay.db"

    def move_in(self, link: str) -> None:
        """Make the organiser's account, pool, and assign everything to her."""
        self.olga = _script("served").join(link, "Olga")
        self.token = self.olga.post("/account/tokens", name="test")["token"]
        self.copy("with-store", store=True)
        _script("served").pool(self.olga, **self.evaluation.pooled)
        _script("served").give_out(self.olga, [self.olga], assessors=1)

    def copy(self, name: str, *, store: bool = False) -> Path:
        """The evaluation as it was before anything was judged."""
        target = self.place / name
        shutil.copytree(self.folder, target, ignore=shutil.ignore_patterns("qassay.db*"))
        if store:
            with (
                closing(sqlite3.connect(self.database)) as source,
                closing(sqlite3.connect(target / "qassay.db")) as to,
            ):
                source.backup(to)
        return target

    def row(self, kind: str, verdict: Verdict) -> dict[str, Any]:
        """The row of a judgment file."""
        return {"question": self.evaluation.kinds[kind][0], **ABOUT[kind], **verdict}

    def part(self, question: str, kind: str) -> tuple[int, int, str]:
        """Assignment, item and part of a question on which a verdict of this kind is given."""
        number = next(piece["assignment"] for piece in self.olga.pieces() if piece["question"] == question)
        for item in self.olga.items(number):
            for part in item["parts"]:
                if part["kind"] == STORED_AS.get(kind, kind):
                    return number, item["id"], part["part"]
        raise LookupError(kind)

    def finish(self, question: str) -> None:
        """Judge all of a question that is not judged yet."""
        number = next(piece["assignment"] for piece in self.olga.pieces() if piece["question"] == question)
        for item in self.olga.items(number):
            for part in item["parts"]:
                if part["required"] and part["verdict"] is None:
                    place = (number, item["id"], part["part"])
                    verdict = {"judgment": "R"} if part["kind"] == "item" else GOOD[part["kind"]]
                    self.olga.decide(*place, verdict, expected=part["version"])


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, House]]:
    """The evaluations, served."""
    served = _script("served")
    context = nursery(Path(qassay.__file__).parent.parent)
    made = {name: House(tmp_path_factory.mktemp(name), name) for name in EVALUATIONS}
    processes = []
    for house in made.values():
        arguments = (served.arguments(house.folder), str(house.place / "log"))
        processes.append(context.Process(target=call, args=arguments))
        processes[-1].start()
    try:
        for house in made.values():
            house.move_in(served.one_time_link(house.place / "log"))
        yield made
    finally:
        for house in made.values():
            if house.olga is not None:
                house.olga.browser.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _connect(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "qassay.db")


# ---- the doors ------------------------------------------------------------------------------------------------------

# What became of a verdict; everything else is a sentence that says what went wrong.
ACCEPTED, REFUSED = "accepted", "refused"
Outcomes = list[str]


def run(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Status and JSON of a command."""
    return _script("release_sample").run(*map(str, arguments)).values()


def by_file(errors: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The first message of every file, by its stem; an error without a message is none."""
    messages: dict[str, str] = {}
    for problem in errors:
        if problem["message"].strip():
            messages.setdefault(Path(problem["file"] or "").name.partition(".")[0], problem["message"])
    return messages


def names_of(cases: Sequence[Verdict]) -> list[str]:
    return [f"c{place:03}" for place in range(len(cases))]


def stored(database: Path, *, after: int = 0) -> list[tuple[str, str | None]]:
    """Set and body of every judgment in the order of saving, from the one after a number on."""
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.execute('SELECT "set", body FROM judgment WHERE id > ? ORDER BY id', (after,)))


def last(database: Path) -> int:
    """The number of the last judgment."""
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT coalesce(max(id), 0) FROM judgment").fetchone()[0])


def holds(body: str | None, verdict: Verdict) -> bool:
    """Whether a stored row says what the verdict says."""
    row = json.loads(body or "null") or {}
    return all(row.get(name) == value for name, value in verdict.items())


def file_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """A judgment file in the folder: `qassay check` reads every set by all rules, `qassay score` one."""
    folder = house.copy(f"file-{kind}")
    for name, verdict in zip(names_of(cases), cases, strict=True):
        write_rows(folder / "judgments" / f"{name}.jsonl", [house.row(kind, verdict)])
    status, document = run("check", folder)
    wrong = by_file(document["errors"])
    assert status == (1 if wrong else 0)
    outcomes = [REFUSED if name in wrong else ACCEPTED for name in names_of(cases)]
    if kind != "rating":  # ratings of all sets are scored together
        # What a file of an evaluation has is scored, though `check` refuses it; what `check` accepts is scored anyway.
        name = names_of(cases)[outcomes.index(ACCEPTED)]
        status, document = run("score", folder, "--key", name, "--unjudged", "wrong")
        messages = by_file(document.get("errors", ()))
        if name in messages or status not in (0, 1):
            outcomes[outcomes.index(ACCEPTED)] = f"accepted by check, but score ends with {status}: {messages}"
    return outcomes


def import_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """`qassay import` into a folder: a set for each verdict."""
    folder = house.copy(f"import-{kind}")

    def rows() -> dict[str, str]:
        return {path.stem: path.read_text() for path in folder.glob("judgments/*.jsonl")}

    return _imported(house, kind, cases, folder, rows)


def store_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """`qassay import` into a store."""
    folder = house.place / "with-store"
    prefix = f"{kind}-"

    def rows() -> dict[str, str]:
        return {name.removeprefix(prefix): body or "" for name, body in stored(folder / "qassay.db")}

    return _imported(house, kind, cases, folder, rows, prefix=prefix)


def _imported(
    house: House,
    kind: str,
    cases: Sequence[Verdict],
    folder: Path,
    rows: Callable[[], dict[str, str]],
    *,
    prefix: str = "",
) -> Outcomes:
    """All verdicts at once, a file and a set each; then again without those that are refused: these are imported."""
    place = house.place / f"sent-{folder.name}-{kind}"
    place.mkdir()
    files = {
        name: write_rows(place / f"{prefix}{name}.jsonl", [house.row(kind, verdict)])
        for name, verdict in zip(names_of(cases), cases, strict=True)
    }
    before = rows()
    wrong: dict[str, str] = {}
    for _ in range(3):
        left = [path for name, path in files.items() if name not in wrong]
        status, document = run("import", folder, *left, "--as", "judgments")
        if status == 0:
            break
        assert status == 1, document
        wrong |= {name.removeprefix(prefix): text for name, text in by_file(document["errors"]).items()}
        assert rows() == before, "something of a refused import was written"
    assert status == 0, document
    after = rows()
    outcomes = []
    for name, verdict in zip(names_of(cases), cases, strict=True):
        if name in wrong:
            outcomes.append(REFUSED)
        else:
            outcomes.append(ACCEPTED if holds(after.get(name), verdict) else "imported, but not as it was")
    return outcomes


def program_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """The API for programs."""

    def send(name: str, verdict: Verdict) -> Any:
        return post(house, f"/sets/program-{kind}-{name}/judgments", rows=[house.row(kind, verdict)])

    return [
        _answered(house, verdict, lambda name=name, verdict=verdict: send(name, verdict))
        for name, verdict in zip(names_of(cases), cases, strict=True)
    ]


def client_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """`qassay.client.Client`."""
    client = Client(house.olga.address, token=house.token)
    outcomes = []
    for name, verdict in zip(names_of(cases), cases, strict=True):
        before = last(house.database)
        try:
            client.send_judgments(f"client-{kind}-{name}", [house.row(kind, verdict)])
            outcome = ACCEPTED
        except qassay.QassayError as error:
            outcome = REFUSED if str(error).strip() else "refused without a message"
            if "(5" in str(error):
                outcome = f"the server fails: {error}"
        except Exception as error:  # noqa: BLE001  # whatever else it raises is a fault to be told
            outcome = f"{type(error).__name__}: {error}"
        outcomes.append(_checked(house, outcome, verdict, before))
    return outcomes


def page_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """The judging page."""
    number, item, part = house.part(house.evaluation.kinds[kind][0], kind)
    return _on_part(house, kind, cases, f"/judge/{number}/decisions", {"item": item, "part": part})


def ruling_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """Adjudication."""
    question = house.evaluation.kinds[kind][1]
    house.finish(question)
    _, item, part = house.part(question, kind)
    return _on_part(house, kind, cases, "/adjudication/rulings", {"question": question, "item": item, "part": part})


def _on_part(house: House, kind: str, cases: Sequence[Verdict], path: str, place: Mapping[str, Any]) -> Outcomes:
    """Verdicts on one part, one after the other; each that is saved is replaced by the next."""
    new_key = _script("served").new_key
    # A save that expects a version that never was is answered with the one that stands.
    probe = post(house, path, **place, expected=999_999, key=new_key(), verdict=GOOD[kind]).json()
    version = int(probe.get("version", 0))
    outcomes = []
    for verdict in cases:
        sent = {**place, "expected": version, "key": new_key(), "verdict": verdict}
        outcome = _answered(house, verdict, lambda sent=sent: post(house, path, **sent))
        version += outcome == ACCEPTED
        outcomes.append(outcome)
    return outcomes


def post(house: House, path: str, **sent: Any) -> Any:
    """Send what JSON can write, half characters too."""
    content = json.dumps(sent).encode()
    return house.olga.browser.post(path, content=content, headers={"Content-Type": "application/json"})


def _answered(house: House, verdict: Verdict, send: Callable[[], Any]) -> str:
    """What the server made of a verdict."""
    before = last(house.database)
    answer = send()
    if answer.status_code == 200:
        outcome = ACCEPTED
    elif answer.status_code == 422 and str(answer.json().get("message", "")).strip():
        outcome = REFUSED
    else:
        outcome = f"status {answer.status_code}: {answer.text[:200]}"
    return _checked(house, outcome, verdict, before)


def _checked(house: House, outcome: str, verdict: Verdict, before: int) -> str:
    """The outcome, if what is stored goes with it."""
    rows = stored(house.database, after=before)
    if outcome == ACCEPTED:
        given = {name: value for name, value in verdict.items() if value is not None}
        return outcome if any(holds(body, given) for _, body in rows) else "accepted, but not stored as it was"
    return outcome if not rows else f"{outcome}, but something was stored"


def sheet_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """What comes back from a sheet."""
    folder = house.copy(f"sheet-{kind}")
    status, output = run(
        "sheet", folder, "--assessor", "ada", "--to", house.place / f"{kind}.html", *house.evaluation.options
    )
    assert status == 0, output
    key = json.loads((folder / output["key"]).read_text())
    question = house.evaluation.kinds[kind][0]
    item, part = next(
        (int(number), name)
        for number, parts in key["items"].items()
        for name, part in parts.items()
        if part["kind"] == STORED_AS.get(kind, kind) and part["row"]["question"] == question
    )
    place = house.place / f"sheet-sent-{kind}"
    place.mkdir()
    files = {}
    for name, verdict in zip(names_of(cases), cases, strict=True):
        row = {"sheet": key["sheet"], "item": item, "part": part, "verdict": verdict, "at": "2026-01-02T03:04:05Z"}
        files[name] = write_rows(place / f"{name}.jsonl", [row])
    target = folder / "judgments" / "ada.jsonl"
    wrong: dict[str, str] = {}
    for _ in range(3):
        left = [path for name, path in files.items() if name not in wrong]
        status, document = run("import", folder, *left, "--as", "sheet")
        if status == 0:
            break
        assert status == 1, document
        wrong |= by_file(document["errors"])
        assert not target.exists(), "something of a refused sheet was written"
    assert status == 0, document
    rows = target.read_text().split("\n")[:-1] if target.exists() else []
    outcomes = []
    for name, verdict in zip(names_of(cases), cases, strict=True):
        if name in wrong:
            outcomes.append(REFUSED)
        else:
            outcomes.append(ACCEPTED if any(holds(row, verdict) for row in rows) else "imported, but not as it was")
    return outcomes


def assessor_door(house: House, kind: str, cases: Sequence[Verdict]) -> Outcomes:
    """An automatic assessor with this verdict, judging for the server: its pool has all that can be asked for."""
    outcomes = []
    for name, verdict in zip(names_of(cases), cases, strict=True):
        assessor = MadeUp(STORED_AS.get(kind, kind), verdict)
        before = last(house.database)
        options = ("--with", "made-up", "--set", f"made-{kind}-{name}", "--server", house.olga.address)
        try:
            with assessor.on_duty(house.token):
                status, document = run("judge", house.folder, *options)
        except Exception as error:  # noqa: BLE001  # as above
            outcomes.append(f"{type(error).__name__}: {error}")
            continue
        if not assessor.asked:
            outcome = "never asked"
        elif status == 0:
            outcome = ACCEPTED
        else:
            outcome = REFUSED if status == 1 and by_file(document["errors"]) else f"status {status}: {document}"
        outcomes.append(_checked(house, outcome, verdict, before) if assessor.asked else outcome)
    return outcomes


DOORS: Mapping[str, Callable[[House, str, Sequence[Verdict]], Outcomes]] = {
    "file": file_door,
    "import": import_door,
    "store": store_door,
    "program": program_door,
    "client": client_door,
    "page": page_door,
    "ruling": ruling_door,
    "sheet": sheet_door,
    "assessor": assessor_door,
}
# These take rows, as files have them; the others take what an assessor says.
ROW_DOORS = ("file", "import", "store", "program", "client")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_a_door_accepts_what_is_allowed_and_refuses_everything_else(
    door: str, kind: str, houses: dict[str, House]
) -> None:
    cases = some(kind) if door == "assessor" else verdicts(kind)
    if door in ROW_DOORS:
        marks = MARKS | ({"judgment": "label"} if kind == "context" else {})
        cases = tuple(verdict for verdict in cases if all(marks.get(name, kind) == kind for name in verdict))
    outcomes = DOORS[door](houses[HOME[kind]], kind, cases)
    wrong = []
    for verdict, outcome in zip(cases, outcomes, strict=True):
        allowed = is_allowed(kind, verdict, row=door in ROW_DOORS)
        if (
            door == "ruling" and kind == "rating"
        ):  # ratings of all judges are used together: there is nothing to rule on
            allowed = False
        if outcome != (ACCEPTED if allowed else REFUSED):
            wrong.append(f"{shortened(verdict)}: {outcome}")
    if wrong:
        pytest.fail(f"{kind} by {door}: {len(wrong)} of {len(cases)}\n" + "\n".join(wrong), pytrace=False)


def shortened(verdict: Verdict) -> str:
    """A verdict in a line."""
    text = json.dumps(verdict)
    return text if len(text) < 100 else f"{text[:60]}...({len(text)})"


@pytest.mark.parametrize("kind", KINDS)
def test_good_and_bad_verdicts_are_tried(kind: str) -> None:
    for row in (True, False):
        allowed = [is_allowed(kind, verdict, row=row) for verdict in verdicts(kind)]
        assert sum(allowed) >= 4
        assert allowed.count(False) >= 10
