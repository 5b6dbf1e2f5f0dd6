"""What is given damaged inputs: every reader, the commands, and the application's interface.

A target has valid inputs by name, and a function that is given a name and the damaged bytes. It may refuse them with a
QassayError or, a command, with its exit status; anything else is a crash.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

import random_evaluations
from qassay.assessors.llm.forms import MalformedError, form_of
from qassay.assessors.llm.nuggets import Texts
from qassay.assessors.llm.prompts import read_prompt
from qassay.assessors.llm.protocol import read_completion
from qassay.checking import check_folder
from qassay.cli import main
from qassay.collections import open_collection
from qassay.demo import DEMOS, demo_folder
from qassay.errors import QassayError
from qassay.formats.folder import open_folder
from qassay.formats.foreign import read_log
from qassay.formats.importing import plan_import
from qassay.formats.looking import look
from qassay.formats.parts import file_part
from qassay.formats.questions import read_questions
from qassay.formats.samples import read_sample
from qassay.formats.scores import read_scores
from qassay.judging import KINDS
from qassay.questions import Question
from qassay.systems import Answer, Asked
from qassay.systems import Item as Answered
from qassay.systems.harness.http import read_message
from qassay.systems.harness.log import Log, header
from qassay.systems.harness.wire import CallError, read_answer
from qassay.tasks import task

Run = Callable[[str, bytes], None]
SAMPLES = Path(__file__).resolve().parents[1] / "formats" / "foreign" / "samples"
TABLE = {"question": [f"q{i}" for i in range(12)], "a": [i / 12 for i in range(12)], "b": [0.5] * 6 + [0.75] * 6}
# Commands on an evaluation: all that read it, with few draws.
FOLDER_COMMANDS: list[list[str]] = [
    *(["check"], ["check", "--json"], ["score", "--json"], ["score", "--unjudged", "wrong", "--missing", "zero"]),
    *(["pool", "--json"], ["facts"], ["agree", "--json"], ["describe", "--json"], ["look"], ["stability", "--json"]),
    *(["export", "--nist"], ["sheet", "--assessor", "x"], ["compare", "--unjudged", "wrong", "--missing", "skip"]),
    *(["reuse", "--json"], ["trust", "--assessor", "first", "--json"], ["plan", "--json"]),
    *(["sensitivity", "--json"], ["report"], ["agree", "--by", "person"], ["export"], ["import", "--json"]),
    *(["sample", "--size", "2", "--for", "first"], ["judge", "--with", "patterns", "--set", "fuzzed"]),
    *(["judge", "--with", "match", "--set", "fuzzed"], ["judge", "--with", "overlap", "--set", "fuzzed"]),
]
SCORE_COMMANDS: list[list[str]] = [
    *(["compare"], ["compare", "--json", "--missing", "skip"], ["look", "--json"], ["describe"]),
    *(["compare", "--metric", "all"], ["compare", "--repeats", "rows"], ["compare", "--runs-as-rows"]),
    *(["plan", "--json"], ["sensitivity", "--json"], ["compare", "a", "b", "--gate"], ["stability"], ["report"]),
]
# Commands that write elsewhere, with the options that say where.
WRITES = {
    "export": ["--to", "export", "--force"],
    "sheet": ["--to", "sheet.html"],
    "report": ["--to", "report.html", "--force"],
}


@dataclass(frozen=True)
class Target:
    """Something that reads: valid inputs, the function, and how often it is tried."""

    inputs: Mapping[str, bytes]
    run: Run
    weight: float = 1.0


def targets(work: Path) -> dict[str, Target]:
    """All targets; everything that they write is below `work`."""
    evaluations = _evaluations(work / "valid")
    nist = _nist(work)
    scores = _score_files(work)
    upload, interface = _application(work)
    return {
        "evaluation": Target(_files(evaluations), _evaluation_reader(evaluations, work / "checked"), 6),
        "import": Target(_importable(evaluations, nist), _importer(evaluations, work / "importing"), 5),
        "store": Target(_files(evaluations), _store_opener(evaluations, work / "stored"), 0.4),
        "sheet": Target(*_sheets(evaluations, work / "sheets")),
        "scores": Target(scores, _file_reader(work / "scores", _read_scores), 4),
        "look": Target({**scores, **_foreign(), **nist}, _file_reader(work / "looked", look), 1),
        "foreign": Target(_foreign(), _file_reader(work / "foreign", read_log), 4),
        "documents": Target(_documents(), _collection_reader(work / "documents"), 1),
        "sample": Target(_sample(), _file_reader(work / "samples", lambda path: read_sample(file_part(path, "s")))),
        "answer": Target(_answers(), _answer_reader, 2),
        "interrupted": Target(*_interrupted(evaluations["qa"], work / "interrupted")),
        "binary": Target(_binary_tables(work), _file_reader(work / "binary", _read_scores), 0.1),
        "backup": Target(*_backups(work / "backups"), 0.3),
        "upload": upload,
        "interface": interface,
        "folder-command": Target(_files(evaluations), _folder_commands(evaluations, work / "commanded"), 0.8),
        "score-command": Target({**scores, **_foreign()}, _score_commands(work / "compared"), 0.8),
    }


# ---- evaluations ----------------------------------------------------------------------------------------------------


def _evaluations(work: Path) -> dict[str, Path]:
    made: dict[str, Path] = {}
    for name in DEMOS:
        made[name] = Path(shutil.copytree(demo_folder(name), work / name))
        shutil.rmtree(made[name] / "collection", ignore_errors=True)
    for name in random_evaluations.TASKS:
        made[name] = random_evaluations.make(work / name, name, 1)
    made["qa"] = _free_text(work / "qa")
    made["own"] = Path(shutil.copytree(made["qa"], work / "own"))
    rules = (files("qassay.tasks") / "qa.toml").read_text()
    (made["own"] / "own.toml").write_text(rules.replace('"qa"', '"own"', 1))
    (made["own"] / "qassay.toml").write_text('task = "own.toml"\n')
    return made


def _free_text(folder: Path) -> Path:
    """An evaluation of answers in free text."""
    for name in ("runs", "judgments"):
        (folder / name).mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "qa"\n')
    asked = [{"id": f"q{i}", "type": "qa", "text": f"What is {i}?", "gold": [str(i)]} for i in range(5)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    judged = []
    for run in ("a", "b"):
        rows = [{"run": run, "question": row["id"], "items": [{"text": f"{run} {row['id']}"}]} for row in asked]
        (folder / "runs" / f"{run}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        judged += [{"question": row["id"], "text": f"{run} {row['id']}", "judgment": "correct"} for row in asked]
    (folder / "judgments" / "first.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged))
    return folder


def _files(evaluations: Mapping[str, Path]) -> dict[str, bytes]:
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for name, folder in evaluations.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "README.md"
    }


@contextlib.contextmanager
def _damaged_copy(evaluations: Mapping[str, Path], work: Path, name: str, data: bytes) -> Iterator[Path]:
    """A copy of an evaluation with the damaged bytes in place of a file; kept for the next damage."""
    which, _, file = name.partition("/")
    folder = work / which
    if not folder.exists():
        shutil.copytree(evaluations[which], folder)
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    try:
        yield folder
    finally:
        original = evaluations[which] / file
        if original.exists():
            shutil.copyfile(original, path)
        else:
            path.unlink(missing_ok=True)


def _evaluation_reader(evaluations: Mapping[str, Path], work: Path) -> Run:
    def run(name: str, data: bytes) -> None:
        with _damaged_copy(evaluations, work, name, data) as folder:
            check_folder(folder)

    return run


def _folder_commands(evaluations: Mapping[str, Path], work: Path) -> Run:
    def run(name: str, data: bytes) -> None:
        verb, *options = FOLDER_COMMANDS[zlib.crc32(data) % len(FOLDER_COMMANDS)]
        with _damaged_copy(evaluations, work, name, data) as folder:
            options += _where(verb, work)
            files = [] if verb != "import" else [str(folder / name.partition("/")[2])]
            command([verb, str(folder), *files, *options])
        shutil.rmtree(work / "export", ignore_errors=True)
        if verb in ("sheet", "sample", "judge", "import"):  # these write into the evaluation
            shutil.rmtree(folder)

    return run


def _where(verb: str, work: Path) -> list[str]:
    """The options that have a command write below a folder."""
    return [str(work / word) if word.startswith(verb) else word for word in WRITES.get(verb, ())]


def command(arguments: list[str]) -> int:
    """The exit status of a command; an error where it is none that is documented, or where a traceback is shown."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    if status not in ((0, 1, 2, 3, 4) if "--gate" in arguments else (0, 1, 2)) or "Traceback" in err.getvalue():
        raise AssertionError(f"{arguments}: {status}\n{err.getvalue()[-2000:]}")
    if status in (1, 2) and "--json" not in arguments and not err.getvalue().strip():
        raise AssertionError(f"{arguments}: status {status} without a word")
    if "--json" in arguments and status < 2:
        document = json.loads(out.getvalue())
        if status and not document["errors"]:
            raise AssertionError(f"{arguments}: status {status} without an error")
    return status


# ---- files that are imported ----------------------------------------------------------------------------------------


def _nist(work: Path) -> dict[str, bytes]:
    """Files in the forms of NIST."""
    made: dict[str, bytes] = {}
    for name in DEMOS:
        folder = Path(shutil.copytree(work / "valid" / name, work / "nist" / name))
        with contextlib.redirect_stdout(io.StringIO()):
            main(["export", str(folder), "--nist", "--to", str(work / "nist-forms" / name), "--force"])
        for path in sorted((work / "nist-forms" / name / "nist").rglob("*")):
            if path.is_file():
                made[f"{name}/{path.name}"] = path.read_bytes()
    assert made
    return made


def _importable(evaluations: Mapping[str, Path], nist: Mapping[str, bytes]) -> dict[str, bytes]:
    rows = [
        {"question": f"What is {i}?", "answer": str(i), "gold": [str(i)], "contexts": ["a", "b"], "model": "m"}
        for i in range(4)
    ]
    labels = [{"question": "1.1", "run": "alpha", "judgment": "R", "assessor": "x"}]
    csv = "id,question,answer,gold\n" + "".join(f"{i},What is {i}?,{i},{i}\n" for i in range(4))
    assigned = [{**row, "run_id": "r"} for row in _nuggetized(1)]
    own = {
        "qa/answers.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode(),
        "qa/answers.json": json.dumps(rows).encode(),
        "qa/answers.csv": csv.encode(),
        "series/labels.csv": b"question,run,judgment\n1.1,alpha,R\n",
        "series/labels.jsonl": "".join(json.dumps(row) + "\n" for row in labels).encode(),
        "nuggets/assignments.jsonl": "".join(json.dumps(row) + "\n" for row in assigned).encode(),
        "nuggets/lists.jsonl": "".join(json.dumps(row) + "\n" for row in _nuggetized(2)).encode(),
        "nuggets/weights.txt": b"".join(b"n%d\t%d\t0.%d\tA fact\n" % (i, j, j) for i in (1, 2) for j in (1, 5)),
    }
    files = {name: data for name, data in _files(evaluations).items() if not name.endswith(".toml")}
    return {**files, **nist, **own}


def _nuggetized(number: int) -> list[dict[str, Any]]:
    """Lines of nuggetizer: nugget lists, and with a run their assignments to its answers."""
    nuggets = [
        {"text": f"fact {n}", "importance": importance, "assignment": support}
        for n, (importance, support) in enumerate([("vital", "support"), ("okay", "partial_support")])
    ]
    return [
        {"qid": f"{number}-{n}", "query": f"why {n}?", "answer_text": "Because.", "nuggets": nuggets} for n in range(4)
    ]


def _importer(evaluations: Mapping[str, Path], work: Path) -> Run:
    def run(name: str, data: bytes) -> None:
        which, _, file = name.partition("/")
        folder = work / which
        if not folder.exists():
            shutil.copytree(evaluations[which], folder)
        path = work / "coming" / Path(file).name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        try:
            plan_import(open_folder(folder), [path])
        finally:
            path.unlink()

    return run


def _store_opener(evaluations: Mapping[str, Path], work: Path) -> Run:
    """What `serve` does with an evaluation before it listens."""
    from qassay.store.engine import open_store
    from qassay.store.folder.importing import import_folder

    def run(name: str, data: bytes) -> None:
        with _damaged_copy(evaluations, work, name, data) as folder:
            try:
                opened = open_folder(folder)
                with contextlib.closing(open_store(opened, create=True)) as store:
                    import_folder(store, opened)
            finally:
                for made in folder.glob("*.db*"):
                    made.unlink()

    return run


def _sheets(evaluations: Mapping[str, Path], work: Path) -> tuple[dict[str, bytes], Run]:
    """What comes back from a sheet, and the key that stays."""
    folder = Path(shutil.copytree(evaluations["series"], work / "eval"))
    (folder / "sheets").mkdir()
    (folder / "sheets" / "order.json").write_text('{"seed": "the same key every time"}')
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["sheet", str(folder), "--assessor", "ann", "--to", str(work / "ann.html"), "--no-documents"]) == 0
    (key_path,) = [path for path in (folder / "sheets").glob("*.json") if path.name != "order.json"]
    key = json.loads(key_path.read_bytes())
    rows: list[dict[str, Any]] = []
    for item, parts in list(key["items"].items())[:12]:
        for part in parts:
            at = {"sheet": key["sheet"], "item": int(item), "part": part, "at": "2024-05-01T10:00:00Z"}
            rows.append({**at, "verdict": {"judgment": "R"}})
    rows.append({"sheet": key["sheet"], "question": "1.1", "known_answer": "x", "at": "2024-05-01T10:00:00Z"})
    inputs = {"rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode(), "key.json": key_path.read_bytes()}
    back = work / "back.jsonl"

    def run(name: str, data: bytes) -> None:
        back.write_bytes(data if name == "rows.jsonl" else inputs["rows.jsonl"])
        key_path.write_bytes(data if name == "key.json" else inputs["key.json"])
        plan_import(open_folder(folder), [back])

    return inputs, run


def _sample() -> dict[str, bytes]:
    rows = [
        {"question": str(i), "position": i, "probability": 0.1, "seed": 1, "judge": "gpt", "measure": "accuracy"}
        for i in range(1, 6)
    ]
    return {"sample.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode()}


# ---- what models and systems answer, and what interrupted jobs leave behind ------------------------------------------


def _answers() -> dict[str, bytes]:
    """Answers of models to the forms that they are asked in, of systems, and prompts."""
    label = {"judgment": "correct", "reason": "It is so."}
    several = {"decisions": [{"number": number, **label} for number in (1, 2)]}
    response = {"items": [{"doc": "d1", "text": "x", "start": 0, "length": 1, "citations": ["d1"]}], "confidence": 0.5}
    completions = {
        "model/label.json": json.dumps(label),
        "model/several.json": f"```json\n{json.dumps(several)}\n```",
        "model/nuggets.json": json.dumps({"nuggets": ["a fact", "another"]}),
        "chat/answer.json": json.dumps({**response, "nil": False, "question": "q1", "note": None}),
    }
    prompts = files("qassay.assessors.llm") / "prompts"
    return {
        **{name: json.dumps(_completion(content)).encode() for name, content in completions.items()},
        "system/answer.json": json.dumps(response).encode(),
        **{f"prompt/{path.name}": path.read_bytes() for path in prompts.iterdir() if path.name.endswith(".toml")},
    }


def _completion(content: str) -> dict[str, Any]:
    tokens = [{"token": part, "logprob": -0.1} for part in content.split('"')]
    choice = {"message": {"content": content}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}


def _answer_reader(name: str, data: bytes) -> None:
    kind, _, file = name.partition("/")
    question = Question("q1", "qa", "What?")
    if kind == "prompt":
        with contextlib.suppress(UnicodeDecodeError):  # the caller has read the file
            read_prompt(Path(file).stem, data.decode(), source=file)
        return
    with contextlib.suppress(CallError, MalformedError):
        if kind == "chat":
            read_message(data, Asked(question))
        elif kind == "system":
            read_answer(data, question)
        else:
            completion, fault = read_completion(data, 100)
            record, rules = KINDS["label"], task("qa")
            for form in (form_of(record, rules, reason=True, count=count) for count in (None, 2)):
                with contextlib.suppress(MalformedError):
                    form.read(completion.content)
                    form.chances(completion.content, completion.tokens)
            Texts(3).read(completion.content)
            assert fault is not None or completion.content.strip()


def _interrupted(evaluation: Path, work: Path) -> tuple[dict[str, bytes], Run]:
    """The log of a run, the judgments of a job, the list of an earlier export, and the seed of sheets."""
    folder = Path(shutil.copytree(evaluation, work / "eval"))
    questions = read_questions(file_part(folder / "questions.jsonl", "questions.jsonl")).questions
    head = header("x", "system", "qa", questions)
    with Log(work / "log.jsonl", head, questions) as log:
        for number, question in enumerate(questions):
            log.answered(question.id, Answer((Answered("x"),)), attempt=1, seconds=0.1)
            log.erred(question.id, CallError("form", "it failed", raw="x"), attempt=2, seconds=0.1)
            if number == 1:
                log.void([question.id], "it answers twice")
                log.gave_up(question.id, Answer())
    judged = json.loads((folder / "judgments" / "first.jsonl").read_text().splitlines()[0])
    inputs = {
        "log.jsonl": (work / "log.jsonl").read_bytes(),
        ".judging-match.jsonl": (json.dumps({**judged, "trace": {"assessor": "match"}}) + "\n").encode() * 2,
        "export.json": json.dumps({"export": "qassay", "files": ["a.jsonl", "runs/b.txt"]}).encode(),
        "order.json": b'{"seed": "the same key every time"}',
    }

    def run(name: str, data: bytes) -> None:
        if name == "log.jsonl":
            Log(_written(work, name, data), head, questions).__exit__()
        elif name == ".judging-match.jsonl":
            _written(folder, name, data)
            command(["judge", str(folder), "--with", "match"])
            for left in (folder / name, folder / "judgments" / "match.jsonl"):
                left.unlink(missing_ok=True)
        elif name == "export.json":
            _written(work / "export", name, data)
            command(["export", str(folder), "--to", str(work / "export"), "--force"])
            shutil.rmtree(work / "export")
        else:
            _written(folder / "sheets", name, data)
            command(["sheet", str(folder), "--assessor", "ann", "--to", str(work / "ann.html")])
            shutil.rmtree(folder / "sheets")

    return inputs, run


# ---- scores ---------------------------------------------------------------------------------------------------------


def _score_files(work: Path) -> dict[str, bytes]:
    frame = pl.DataFrame(TABLE)
    long = frame.unpivot(index="question", variable_name="system", value_name="score")
    repeated = pl.concat([long.with_columns(seed=pl.lit(seed)) for seed in (1, 2)])
    rows = frame.to_dicts()
    return {
        "wide.csv": frame.write_csv().encode(),
        "wide.tsv": frame.write_csv(separator="\t").encode(),
        "comma.csv": frame.write_csv(separator=";", decimal_comma=True).encode(),
        "long.csv": long.write_csv().encode(),
        "repeated.csv": repeated.write_csv().encode(),
        "rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode(),
        "rows.json": json.dumps(rows).encode(),
        "nested.jsonl": "".join(
            json.dumps({"question": row["question"], "scores": {"em": row["a"], "f1": row["b"]}}) + "\n" for row in rows
        ).encode(),
        "grades.csv": b"question,a,b\nq1,C,I\nq2,P,C\nq3,I,I\n",
    }


def _read_scores(path: Path) -> None:
    for options in ({}, {"missing": "skip", "metric": "all", "repeats": "rows"}):
        with contextlib.suppress(QassayError):
            read_scores(path, **options)


def _binary_tables(work: Path) -> dict[str, bytes]:
    frame, made = pl.DataFrame(TABLE), {}
    for name, write in (("p.parquet", "write_parquet"), ("a.arrow", "write_ipc"), ("s.xlsx", "write_excel")):
        out = io.BytesIO()
        getattr(frame, write)(out)
        made[name] = out.getvalue()
    return made


def _foreign() -> dict[str, bytes]:
    paths = [path for path in sorted(SAMPLES.rglob("*")) if path.is_file() and path.name not in ("README.md",)]
    return {path.relative_to(SAMPLES).as_posix(): path.read_bytes() for path in paths}


def _score_commands(work: Path) -> Run:
    def run(name: str, data: bytes) -> None:
        path = _written(work, name, data)
        verb, *options = SCORE_COMMANDS[zlib.crc32(data) % len(SCORE_COMMANDS)]
        command([verb, str(path), *options, *_where(verb, work)])

    return run


def _written(work: Path, name: str, data: bytes) -> Path:
    path = work / Path(name).name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _file_reader(work: Path, read: Callable[[Path], object]) -> Run:
    def run(name: str, data: bytes) -> None:
        read(_written(work, name, data))

    return run


# ---- documents, backups, uploads, the interface ---------------------------------------------------------------------


def _documents() -> dict[str, bytes]:
    folder = demo_folder("series") / "collection"
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    sgml = b"<DOC>\n<DOCNO> A1 </DOCNO>\n<HEADLINE>1</HEADLINE>\n<TEXT>\n<P>Some text &amp; more</P>\n</TEXT>\n</DOC>\n"
    return {
        **{path.name: b"".join(path.read_bytes().splitlines(keepends=True)[:8]) for path in paths[:4]},
        "docs.sgml": sgml + sgml.replace(b"A1", b"A2"),
        "docs.jsonl": b'{"id": "a", "title": "T", "text": "One."}\n{"id": "b", "text": "Two."}\n',
        "page.html": b"<html><head><title>T</title></head><body><p>Some text</p></body></html>",
        "plain.txt": b"Some text.\n",
    }


def _collection_reader(work: Path) -> Run:
    def run(name: str, data: bytes) -> None:
        _written(work, name, data)
        try:
            with open_collection(work) as collection:
                for document in collection:
                    assert document.id
        finally:
            shutil.rmtree(work)

    return run


def _backups(work: Path) -> tuple[dict[str, bytes], Run]:
    from qassay.store.backups import back_up, restore
    from qassay.store.engine import open_store
    from qassay.store.folder.importing import import_folder

    folder = Path(shutil.copytree(demo_folder("entailment"), work / "eval"))
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    back_up(store, work / "valid.db")
    store.close()
    target = Path(shutil.copytree(demo_folder("entailment"), work / "restored"))

    def run(name: str, data: bytes) -> None:
        path = _written(work / "damaged", name, data)
        opened = open_folder(target)
        restore(opened, path)
        for made in target.glob("*.db*"):
            made.unlink()

    return {"backup.db": (work / "valid.db").read_bytes()}, run


def _application(work: Path) -> tuple[Target, Target]:
    """Uploaded runs, and bodies of the interface."""
    from fuzz_interface import Interface

    from qassay.web.checking import Upload, check_upload

    folder = demo_folder("series")
    questions = read_questions(file_part(folder / "questions.jsonl", "questions.jsonl")).questions
    runs = {path.name: path.read_bytes() for path in sorted((folder / "runs").iterdir())[:3]}
    runs["packed.txt.zst"] = zstandard.compress(next(iter(runs.values())))

    def run(name: str, data: bytes) -> None:
        path = _written(work / "uploaded", name, data)
        check_upload(Upload(path, name, task("series2004"), questions))

    interface = Interface(work / "interface")
    return Target(runs, run), Target(interface.bodies, interface.send, 2)


def attempt(target: Target, name: str, data: bytes) -> bool:
    """Give a target damaged bytes, and say whether it took them; a refusal is what most deserve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.run(name, data)
        except QassayError:
            return False
    return True
