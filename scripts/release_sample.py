"""Make the sample of a release that `tests/release` keeps: small evaluations of every task, with their outputs.

    PYTHONPATH=src python scripts/release_sample.py tests/release/samples

For each task one evaluation is judged in the application, over HTTP: several assessors with second thoughts, undone
verdicts and notes, unanimous and ruled adjudication, a program's set. Another one is random, and in files alone. A
sample is NAME.tar.gz (the folder, and the store as SQL) and NAME.json (what the commands print, digests of what is
exported, all that is stored). It is made with the release, and later code has to give the same.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
import json
import os
import shutil
import sqlite3
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import served
from served import Person

Row = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ("entailment2", "entailment3", "justification")
TASKS = (
    *("ranked5", "confidence", "passages", "main2003", "series2004", "definition", "qaciad"),
    *(*PAIRS, "nuggets"),
)
# Random evaluations, in files alone: the first seed of each task whose evaluation has several sets and runs.
SEEDS = range(1, 60)
LENIENT = ("--unjudged", "wrong", "--missing", "zero")
COMMANDS: Mapping[str, Sequence[str]] = {
    "check": ("check",),
    "pool": ("pool",),
    "agree": ("agree",),
    "score": ("score",),
    "score wrong": ("score", *LENIENT),
    "score first": ("score", "--key", "first", *LENIENT),
    "stability": ("stability", *LENIENT),
}
# Tasks whose assessors write their own nuggets, and questions per task that stay unfinished.
OWN_LISTS = ("definition", "main2003")
UNFINISHED = ("confidence", "nuggets")
ASSESSORS = {"series2004": 3, "confidence": 3}
# What an assessor sees is recorded too, for a task of every kind of item.
SEEN = ("series2004", "passages", "definition", "nuggets", "entailment3", "justification")
PEOPLE = ("Ada", "Bob", "Cleo")
STRINGS = (
    "Atlanta",
    "atlanta",
    "Atlanta, Georgia",
    "caf\u00e9",
    "cafe\u0301",
    'a "quoted" one',
    "line\u2028two",
    "1901",
)
STORED = 'SELECT "set", kind, thing, version, body FROM judgment ORDER BY "set", kind, thing, version'


# ---- an evaluation of each task -------------------------------------------------------------------------------------


class Maker:
    """Writes the files of one evaluation that is to be judged."""

    def __init__(self, folder: Path, task: str) -> None:
        self.folder, self.task, self.rng = folder, task, Random(f"sample {task}")
        self.questions: list[Row] = []
        self.nuggets: list[Row] = []

    def make(self) -> None:
        """Write questions, runs, known answers, nuggets and a set that was judged elsewhere."""
        self.folder.mkdir(parents=True)
        more = 'two_way = ["main"]\n' if self.task in PAIRS else ""
        (self.folder / "qassay.toml").write_text(f'task = "{self.task}"\n{more}', encoding="utf-8")
        self._ask()
        self._rows("questions.jsonl", self.questions)
        for tag in ("alpha", "beta_2", "d:4"):
            self._rows(
                f"runs/{tag.replace(':', '%3A')}.jsonl", [self._response(tag, question) for question in self.questions]
            )
        self._rows("runs.jsonl", [{"run": "alpha", "organisation": "one"}, {"run": "d:4", "organisation": "two"}])
        self._known()
        self._judged_elsewhere()

    def _rows(self, name: str, rows: Sequence[Row]) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

    def _ask(self) -> None:
        types = {
            "main2003": ["factoid", "factoid", "list", "definition"],
            "definition": ["definition"] * 3,
            "nuggets": ["other"] * 3,
            "series2004": ["factoid", "factoid", "list", "other"],
            "qaciad": ["list"] * 2,
        }.get(self.task, ["pair"] * 5 if self.task in PAIRS else ["factoid"] * 4)
        series = ("1", "2") if self.task in ("series2004", "qaciad") else ("",)
        for name in series:
            for number, type_ in enumerate(types, 1):
                more: Row = {"hypothesis": "It is so."} if type_ == "pair" else {}
                if name:
                    more = {"series": name, "target": f"target {name}"}
                if self.task == "qaciad":
                    more["series_type"] = "gathering" if name == "1" else "browsing"
                question_id = f"{name}.{number}" if name else f"q{number}"
                self.questions.append({"id": question_id, "type": type_, "text": f"Question {question_id}?", **more})

    def _response(self, tag: str, question: Row) -> Row:
        row: Row = {"run": tag, "question": question["id"]}
        if self.task == "confidence":
            row["confidence"] = 0.5
        if question["type"] == "pair":
            labels = ("YES", "NO") if self.task == "entailment2" else ("YES", "NO", "UNKNOWN")
            return {**row, "decision": self.rng.choice(labels), "justification": f"{tag} says why"}
        if question["type"] == "factoid" and self.task != "ranked5":
            if self.rng.random() < 0.2:
                return {**row, "items": [], "nil": True}
            items = [self._item()]
        else:
            items = [self._item() for _ in range(self.rng.randint(1, 3))]
        return {**row, "items": items}

    def _item(self) -> Row:
        doc = self.rng.choice(("NYT1", "APW2", "XIE-\u00fc"))
        if self.task == "passages":
            return {"doc": doc, "start": self.rng.randint(0, 3), "length": self.rng.randint(1, 9)}
        item: Row = {"doc": doc, "text": self.rng.choice(STRINGS)}
        return {**item, "citations": [doc, "d#4"]} if self.task == "nuggets" else item

    def _known(self) -> None:
        answers = [
            {"question": question["id"], "answer": answer, **more}
            for question in self.questions
            if question["type"] == "list" or (question["type"] == "factoid" and self.rng.random() < 0.5)
            for answer, more in (("Atlanta", {}), ("Zoe", {"doc": "NYT1"}), ("gone", {"withdrawn": True}))
        ]
        if answers:
            self._rows("answers.jsonl", answers)
        self.nuggets = [
            {"question": question["id"], "nugget": str(number), "vital": number % 2 == 1, "text": f"fact {number}"}
            for question in self.questions
            if question["type"] in ("definition", "other")
            for number in (1, 2, 3)
        ]
        # Where assessors write their own lists, a set that came from elsewhere needs its own too.
        lists = ("development", "panel") if self.task in OWN_LISTS else ("development",)
        for name in lists if self.nuggets else ():
            self._rows(f"nuggets/{name}.jsonl", self.nuggets)

    def _judged_elsewhere(self) -> None:
        """The set `panel`: a history, several assessors, notes, unknown fields; and a two-way key."""
        rows: list[Row] = []
        for number, question in enumerate(self.questions):
            origin: Row = {
                "assessor": PEOPLE[number % 2],
                "at": f"2004-07-21T09:30:{number:02}Z",
                "strange": {"kept": 1},
            }
            rows += [{**origin, **row} for row in self._verdicts(question)]
        self._rows("judgments/panel.jsonl", rows)
        if self.task in PAIRS:
            labels = [
                {"question": question["id"], "judgment": self.rng.choice(("YES", "NO"))} for question in self.questions
            ]
            self._rows("judgments/main.jsonl", labels)

    def _verdicts(self, question: Row) -> Iterator[Row]:
        of_question: Row = {"question": question["id"]}
        of_run = {**of_question, "run": "alpha"}
        if question["type"] == "factoid":
            place = {"start": 1, "length": 2} if self.task == "passages" else {"text": "Atlanta"}
            for label in "WUR":
                yield {**of_question, "doc": "NYT1", **place, "judgment": label, "note": f"once {label}"}
        elif question["type"] == "list":
            for text, more in (("Atlanta", {"answer": "Atlanta"}), ("1901", {}), ("atlanta", {"distinct": True})):
                yield {**of_run, "doc": "NYT1", "text": text, "judgment": "R", **more}
            yield {**of_run, "doc": "NYT1", "text": "no", "judgment": "W", "distinct": False}
        elif question["type"] == "pair":
            yield {**of_question, "judgment": "YES"}
            yield {**of_question, "judgment": "NO", "note": "on second thoughts"}
            if self.task == "justification":
                for judge, (understood, correct) in {"Dan": (4, 3), "Eve": (5, 5), "Fay": (2, None)}.items():
                    rating: Row = {"understandability": understood, "correctness": correct}
                    yield {**of_run, "assessor": judge, **{key: value for key, value in rating.items() if value}}
        elif self.task == "nuggets":
            for nugget, support in (("1", "full"), ("2", "partial"), ("3", "none"), ("3", "full")):
                yield {**of_run, "nugget": nugget, "support": support}
            yield {**of_run, "sentence": 0, "doc": "NYT1", "support": "partial"}
        else:
            yield {**of_run, "nuggets": ["1", "3"]}
            yield {**of_question, "run": "beta_2", "item": 0, "nuggets": ["2"]}
            yield {**of_question, "run": "beta_2", "item": 1, "nuggets": []}
            yield {**of_run, "content": 8, "organization": 6}


# ---- judging it in the application ----------------------------------------------------------------------------------


class Judging:
    """People at work on a served evaluation. Most of what they say, they agree on."""

    def __init__(self, task: str, organiser: Person) -> None:
        self.task, self.organiser, self.rng = task, organiser, Random(f"judging {task}")
        number = ASSESSORS.get(task, 2)
        self.people = [served.invite(organiser, name, "assessor") for name in PEOPLE[:number]]
        self.adjudicator = served.invite(organiser, "Jo", "adjudicator")

    def everything(self) -> None:
        """Pool, assign, judge, adjudicate; and a program judges too."""
        has_nuggets = self.task in ("definition", "nuggets")
        served.pool(
            self.organiser, holistic=has_nuggets and self.task == "definition", citations=self.task == "nuggets"
        )
        served.give_out(self.organiser, self.people, assessors=len(self.people))
        for person in self.people:
            for piece in list(person.pieces()):
                self.judge(person, piece)
        for row in self.organiser.get("/adjudication")["questions"]:
            if row["closed"]:
                self.adjudicate(row["question"])
        self.automatic()

    def judge(self, person: Person, piece: Row) -> None:
        """One question of one person."""
        number = piece["assignment"]
        leave = self.task in UNFINISHED and person is self.people[-1] and piece["question"] == "q3"
        nuggets = ["1", "2", "3"]
        if piece["type"] in ("definition", "other") and self.task in OWN_LISTS:
            person.post(f"/judge/{number}/nuggets/begin")
            sent = {"key": served.new_key(), "text": f"what {person.name} found", "vital": True}
            view = person.post(f"/judge/{number}/nuggets/add", **sent)
            nuggets = [nugget["nugget"] for nugget in view["nuggets"]]
            person.post(f"/judge/{number}/matching")
        if self.task == "series2004" and piece["type"] == "list" and person is self.people[0]:
            person.post(f"/judge/{number}/answers", answer=f"known to {person.name}", doc="NYT1")
        for item in list(person.items(number))[: 1 if leave else None]:
            for part in item["parts"]:
                if part["required"] or self.rng.random() < 0.5:
                    self._decide(person, number, item, part, nuggets)

    def _decide(self, person: Person, number: int, item: Row, part: Row, nuggets: list[str]) -> None:
        """Say what all say, or something else; now and then after second thoughts, or undoing the first."""
        same = Random(f"{self.task} {json.dumps(item['body'], sort_keys=True)} {part['part']}")
        verdict = self.verdict(part["kind"], item, same if self.rng.random() < 0.7 else self.rng, nuggets)
        place = (number, item["id"], part["part"])
        version = 0
        if self.rng.random() < 0.25:
            first = self.verdict(part["kind"], item, self.rng, nuggets)
            version = person.decide(*place, first, expected=version)["version"]
            if self.rng.random() < 0.5:
                version = person.undo(*place, expected=version, to=0)["version"]
        if self.rng.random() < 0.2:
            verdict["note"] = f"{person.name} \u2014 \u201cnoted\u201d"
        version = person.decide(*place, verdict, expected=version)["version"]
        if version > 1 and self.rng.random() < 0.2:
            person.undo(*place, expected=version, to=version)

    def verdict(self, kind: str, item: Row, rng: Random, nuggets: Sequence[str]) -> Row:
        """A verdict of a kind."""
        if kind in ("item", "list"):
            label = rng.choice("RUW" if self.task in ("ranked5", "passages") else "RRXUW")
            has_class = kind == "list" and label == "R" and rng.random() < 0.7
            return {"judgment": label} | ({"answer": rng.choice(("Atlanta", "caf\u00e9", "Zoe"))} if has_class else {})
        if kind == "pair":
            return {"judgment": rng.choice(("YES", "NO") if self.task == "entailment2" else ("YES", "NO", "UNKNOWN"))}
        if kind == "match":
            return {"nuggets": [nugget for nugget in nuggets if rng.random() < 0.5]}
        if kind in ("support", "citation"):
            return {"support": rng.choice(("full", "partial", "none"))}
        if kind == "holistic":
            return {"content": rng.randint(0, 10), "organization": rng.randint(0, 10)}
        understood = rng.randint(1, 5)
        return {"understandability": understood} | ({"correctness": rng.randint(1, 5)} if understood >= 3 else {})

    def adjudicate(self, question: str) -> None:
        """Rule on most of what the assessors disagree on; undo some rulings, and rule again on some of these."""
        sheet = self.adjudicator.get("/adjudication/question", id=question)
        nuggets = [nugget["nugget"] for nugget in sheet["nuggets"]]
        for disagreement in sheet["disagreements"]:
            if disagreement["kind"] == "lists":
                chosen = {"list": disagreement["verdicts"][0]["name"], "seen": disagreement["seen"]}
                self.adjudicator.post("/adjudication/adopt", key=served.new_key(), question=question, **chosen)
            elif self.rng.random() < 0.85:
                version = self._rule(question, disagreement, nuggets, expected=disagreement["version"])
                if self.rng.random() < 0.25:
                    place = {"question": question, "item": disagreement["item"], "part": disagreement["part"]}
                    sent = {**place, "key": served.new_key(), "expected": version, "to": 0}
                    version = self.adjudicator.post("/adjudication/undo", **sent)["version"]
                    self._rule(question, disagreement, nuggets, expected=version)

    def _rule(self, question: str, disagreement: Row, nuggets: Sequence[str], *, expected: int) -> int:
        place = {"question": question, "item": disagreement["item"], "part": disagreement["part"], "expected": expected}
        verdict = self.verdict(disagreement["kind"], disagreement, self.rng, nuggets)
        sent = {**place, "key": served.new_key(), "verdict": verdict}
        version: int = self.adjudicator.post("/adjudication/rulings", **sent)["version"]
        return version

    def automatic(self) -> None:
        """The set of a program: rows of what the pool asks for, with a trace."""
        rows = []
        for item in self.organiser.get("/pool")["items"]:
            fields = {"question": item["question"], "trace": {"model": "none"}, "assessor": "robot"}
            if item["kind"] in ("item", "extract"):
                rows.append({**fields, **item["body"], "judgment": "R"})
            elif item["kind"] == "pair":
                rows.append({**fields, "judgment": "YES"})
            elif item["kind"] == "rating":
                rows.append({**fields, "run": item["run"], "understandability": 3, "correctness": 3})
        for row in rows:
            row.pop("group", None)
        if rows:
            self.organiser.post("/sets/robot/judgments", rows=rows)

    def seen(self) -> Row:
        """The judgments that each assessor sees of their own."""
        return {person.name: shown(person) for person in self.people}


def shown(person: Person) -> Row:
    """The items of a person's questions as shown, with the verdicts."""
    return {piece["question"]: list(person.items(piece["assignment"])) for piece in person.pieces()}


# ---- random evaluations ---------------------------------------------------------------------------------------------


def random_evaluation(folder: Path, task: str) -> None:
    """A random evaluation of several sets and runs, without rows that the rules do not allow (FORMATS 4)."""
    sys.path.insert(0, str(ROOT / "tests"))
    maker = importlib.import_module("random_evaluations")
    for seed in SEEDS:
        shutil.rmtree(folder, ignore_errors=True)
        maker.make(folder, task, seed)
        if (folder / "judgments" / "first.jsonl").exists() and len(list((folder / "runs").iterdir())) > 1:
            break
    for path in (folder / "judgments").iterdir():
        lines = path.read_text(encoding="utf-8").split("\n")
        allowed = [line for line in lines if line.strip() and is_allowed(json.loads(line))]
        path.write_text("".join(line + "\n" for line in allowed), encoding="utf-8")


def is_allowed(row: Row) -> bool:
    """Whether a row is one that every release takes: only R items have a class, correctness is given from 3 up."""
    if row.get("judgment") in ("X", "U", "W") and (row.get("answer") is not None or row.get("distinct")):
        return False
    understood = row.get("understandability")
    return understood is None or (understood >= 3) == (row.get("correctness") is not None)


# ---- recording ------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> Row:
    """Status and JSON of a command."""
    from qassay.cli import main

    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        status = main([*arguments, "--json"])
    return {"status": status, "json": json.loads(output.getvalue() or "null")}


def outputs(name: str, commands: Sequence[str] = tuple(COMMANDS)) -> Row:
    """What commands say of an evaluation in the working folder."""
    split = {called: COMMANDS[called] for called in commands}
    return {called: run(verb, name, *options) for called, (verb, *options) in split.items()}


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def stored(database: Path) -> list[Sequence[Any]]:
    """Every judgment of a store: set, kind, digest of what is judged, version, body."""
    with closing(sqlite3.connect(database)) as connection:
        return [list(row) for row in connection.execute(STORED)]


def emptied(dump: str) -> str:
    """The SQL of a store without what is in it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(dump)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        triggers = list(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        for (name,) in list(tables):
            if "alembic" not in name and "version" not in name:
                connection.execute(f'DELETE FROM "{name}"')  # names of our own tables
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
        return "\n".join(connection.iterdump())


def restore(dump: str, database: Path) -> None:
    """Make a store of its SQL."""
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(dump)


def record(place: Path, *, store: str | None) -> Row:
    """All outputs about the evaluation in `place`/eval, and of its export, with the package as it is here.

    With a store, its export is taken into an empty one too: what is stored then has the same digests.
    """
    with chdir(place):
        if store is not None:
            restore(store, Path("eval/qassay.db"))
        recorded: Row = {"outputs": outputs("eval")}
        recorded["export"] = run("export", "eval", "--to", "exported")
        recorded["exported"] = digests(Path("exported"))
        recorded["nist"] = run("export", "eval", "--to", "nist", "--nist")
        recorded["exported_nist"] = digests(Path("nist"))
        recorded["of_export"] = outputs("exported", ("check", "score wrong"))
        if store is not None:
            recorded["stored"] = stored(Path("eval/qassay.db"))
            restore(emptied(store), Path("exported/qassay.db"))
            # A new store takes in the whole folder before anything is imported.
            recorded["import"] = run("import", "exported", "exported/runs.jsonl")
            recorded["stored_again"] = stored(Path("exported/qassay.db"))
    return recorded


def pack(folder: Path, store: str | None, target: Path) -> None:
    """Put a folder and a store into one file, the same bytes for the same contents."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        contents = {f"eval/{name}": (folder / name).read_bytes() for name in digests(folder)}
        if store is not None:
            contents["store.sql"] = store.encode()
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=0))


def unpack(source: Path, place: Path) -> str | None:
    """Put the folder of a sample into `place`/eval; the SQL of its store, where it has one."""
    with tarfile.open(source) as archive:
        archive.extractall(place, filter="data")
    sql = place / "store.sql"
    return sql.read_text(encoding="utf-8") if sql.exists() else None


def dump_of(database: Path) -> str:
    """The SQL of a store, without sessions, tokens and invitations."""
    with closing(sqlite3.connect(database)) as connection:
        for name in ("session", "token", "invitation"):
            connection.execute(f"DELETE FROM {name}")  # names of our own tables
        connection.commit()
        return "\n".join(connection.iterdump())


def judged_sample(task: str, target: Path) -> None:
    """An evaluation that was judged in the application."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "eval"
        Maker(folder, task).make()
        with served.serving(folder, Path(name) / "log") as link:
            judging = Judging(task, served.join(link, "Olga"))
            judging.everything()
            seen = judging.seen() if task in SEEN else None
        dump = dump_of(folder / "qassay.db")
        for path in folder.glob("qassay.db*"):
            path.unlink()
        save(task, folder, dump, target, seen=seen)


def random_sample(task: str, target: Path) -> None:
    """An evaluation in files alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "eval"
        random_evaluation(folder, task)
        save(f"random-{task}", folder, None, target, seen=None)


def save(name: str, folder: Path, store: str | None, target: Path, *, seen: Row | None) -> None:
    """Write a sample and its record."""
    pack(folder, store, target / f"{name}.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        unpack(target / f"{name}.tar.gz", Path(place))
        recorded = record(Path(place), store=store)
    if seen is not None:
        recorded["seen"] = seen
    text = json.dumps(recorded, ensure_ascii=False, sort_keys=True, indent=None, separators=(",", ":"))
    (target / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{name}: {len(recorded.get('stored', ()))} judgments stored", file=sys.stderr)


def main(arguments: Sequence[str]) -> None:
    """Make all samples in the folder that is named."""
    target = Path(arguments[0]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    os.environ.pop("QASSAY_DATABASE", None)
    for task in arguments[1:] or TASKS:
        judged_sample(task, target)
        random_sample(task, target)


if __name__ == "__main__":
    main(sys.argv[1:])
