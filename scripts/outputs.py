"""Save what commands and pages show, and compare it with what another checkout showed.

    PYTHONPATH=src python scripts/outputs.py save /tmp/before
    PYTHONPATH=../other/src python scripts/outputs.py save /tmp/after
    python scripts/outputs.py compare /tmp/before /tmp/after

The inputs are made here, from fixed seeds: the built-in evaluations, a random one of every task, free answers with a
program's and people's labels, tables of scores, and wrong inputs. Saved are the text, the exit status and the JSON of
each command, the files that it writes, and of each page the text and its JSON twin. In JSON every key that existed must
be there with the same value (numbers to 1e-12); additions are listed. Differences of text are a unified diff.
"""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import served
from release_sample import TASKS, random_evaluation

LENIENT = "--unjudged wrong --missing zero"
# Commands in the order in which they run; {task} stands for every task. What is written goes to `out`.
COMMANDS = f"""
demo --no-serve
demo --to out/rag-copy --which rag
facts series
check series
pool series
score series
score series --key first
score series --key majority --unjudged wrong
score series --key dawid-skene --unjudged wrong
score series --measure "nugget_f(beta=1)"
score series --beta 1-3
score series --component list --best-per-organisation
score series --above 0.4
score series --csv
describe series
describe series --question 1.1
agree series --resamples 100
agree series --sets adjudicated,first
stability series
stability series --sets first,second --component factoid
sensitivity series --intervals 10
sensitivity series --preset trec2004 --trials 50 --intervals 0
compare series
compare series hobby egret
compare series hobby egret --details --top 3
compare series --method holm
compare series hobby kite --gate --margin 0.05 --summary out/gate.md --junit out/gate.xml
plan series
plan series --sets first,second --details
reuse series
judge series --with patterns
score series --key patterns {LENIENT}
trust series --assessor patterns --resamples 100
report series --to out/series.html
report series --format markdown --to out/series.md
report series --format latex --to out/series.tex
report series --format csv --to out/series-tables
report series --by organisation --to out/organisations
export series --to out/series-export --nist
sheet series --assessor ada --questions 1 --to out/ada.html --no-documents
facts rag
score rag
score rag --component other
agree rag --resamples 100
stability rag
judge rag --with overlap
trust rag --assessor overlap --resamples 100
compare rag harbor lantern
report rag --to out/rag.html
facts pairs
score pairs
score pairs --key first
agree pairs --resamples 100
describe pairs
init out/new --task qa
import qa qa-old.jsonl qa-new.csv --task qa
import qa judge.csv --set judge --automatic
import qa people.jsonl first.jsonl second.jsonl
look qa-old.jsonl qa-new.csv people.jsonl wide.csv series
check qa
pool qa --set first
score qa --key people --unjudged drop
score qa --key judge
sample qa --size 20 --for judge --name drawn
score qa --key judge --correct-with people
score qa --key judge --correct-with people --target these --half-width 0.1
compare qa qa-new qa-old --key judge --correct-with people
compare qa qa-new qa-old --key judge --correct-with people --gate --margin 0.2
trust qa --assessor judge --against people --resamples 100
agree qa --sets first,second --resamples 100
agree qa --by person --resamples 100
judge qa --with match
stability qa --sets judge,match {LENIENT}
report qa --key judge --to out/qa.html
sample qa --size 10 --for match --sheet out/sample.jsonl --assessor eve
pool qa --set second --sheet out/pool.jsonl
check random-{{task}}
score random-{{task}} {LENIENT}
agree random-{{task}} --resamples 50
export random-{{task}} --to out/random-{{task}} --nist
compare wide.csv
compare wide.csv A B
compare wide.csv A B --details --gate --margin 0.01
compare wide.csv --method bh --permutations 2000
compare wide.csv A B --series-from '^([^.]+)'
compare excel.csv --systems A,B,C,D --question-column Frage
compare excel.csv
compare long.csv --metric f1
compare long.csv --metric all
compare long.csv A B --metric f1
compare single-a.jsonl single-b.jsonl
compare first=single-a.jsonl second=single-b.jsonl --metric f1
describe wide.csv --top 5
describe long.csv --metric exact
sensitivity wide.csv --intervals 10
sensitivity wide.csv --fit --trials 50 --intervals 0 --error 0.1
plan wide.csv
plan wide.csv --difference 0.05 --details
plan long.csv --metric f1 --cost-question 5 --cost-answer 0.1
plan --assume run=0.003 --assume question=0.03 --assume residual=0.01
stability wide.csv worse.csv
report wide.csv --to out/wide.html
report long.csv --metric f1 --format markdown --to out/long.md
compare bad-number.csv
compare bad-number.csv --missing skip
compare twice.csv
compare long.csv
compare wide.csv A Z
compare wide.csv --measure mrr
compare wide.csv --no-such-option
compare nowhere.csv
score nowhere
score series --key nobody
score series --measure nonsense
score qa --key people
import series bad-rows.jsonl
check bad-run.txt --in series
trust series --assessor first --against nobody
sample qa --size 0 --for judge
schema
schema compare
"""
# The pages: who looks at which addresses of which evaluation. {x} stands for what the first page names.
SCORED = (
    *("", "?intervals=yes", "?best=1", "?key=first", "/units", "/spread", "/compare", "/sensitivity", "/stability"),
    *("/agreement", "/facts", "/people", "/compare?method=holm", "/units.csv", "/leaderboard.csv"),
)
# The built-in evaluation, half-way: `demo --serve`.
HALF_WAY = {
    "organiser": (
        *(f"/results{address}" for address in SCORED),
        *("/results?finished=1", "/results?provisional=1", "/results/trust", "/results/trust?assessor=patterns"),
        *("/results/run?run=hobby", "/results/question?question=1.1", "/results/question?question=1.3"),
        *("/results/compare?a=hobby&b=egret", "/results/sensitivity?error=0.1", "/results/progress/x"),
        *("/", "/runs", "/assignments", "/people", "/flags", "/history", "/account"),
        *("/glossary", "/development", "/evaluation", "/pool", "/nowhere", "/results/nothing", "/results?key=nobody"),
    ),
    "assessor-1": ("/", "/work", "/judge/186", "/judge/190", "/judge/200", "/results", "/account"),
    "adjudicator": ("/adjudication", "/adjudication/question?id=13.1", "/adjudication/question?id=14.2"),
    "reader": ("/results", "/results/units", "/", "/account"),
}
# Evaluations that were judged in files.
JUDGED = {
    "rag": tuple(f"/results{address}" for address in ("", "/units", "/compare", "/agreement", "/stability", "/facts")),
    "pairs": tuple(f"/results{address}" for address in ("", "/units", "/compare", "/agreement", "/facts")),
    "qa": tuple(
        f"/results{address}?key=judge" for address in ("", "/units", "/compare", "/spread", "/facts", "/trust")
    ),
}

# ---- inputs ----------------------------------------------------------------------------------------------------------


def make_inputs(work: Path) -> None:
    """Write every input into a folder."""
    for name, which in (("series", "series"), ("rag", "rag"), ("pairs", "entailment")):
        run_command(work, ["demo", "--to", name, "--which", which])
    for task in TASKS:
        random_evaluation(work / f"random-{task}", task)
    (work / "out").mkdir()
    _free_answers(work)
    _tables(work)


def _free_answers(work: Path) -> None:
    """Answers of two systems to 60 questions, the labels of a program and of three people."""
    rng = Random("free answers")
    questions = [f"q{number:02}" for number in range(1, 61)]
    answers = {
        system: {q: f"{system} {q} {'right' if rng.random() < share else 'wrong'}" for q in questions}
        for system, share in (("qa-old", 0.5), ("qa-new", 0.65))
    }
    row = {
        q: {"id": q, "question": f"What is {q}?", "gold": [f"{q} right"], "contexts": [f"About {q}."]}
        for q in questions
    }
    _jsonl(work / "qa-old.jsonl", [{**row[q], "answer": text} for q, text in answers["qa-old"].items()])
    plain = [[q, f"What is {q}?", text, f"{q} right"] for q, text in answers["qa-new"].items()]
    _csv(work / "qa-new.csv", [["id", "question", "answer", "gold"], *plain])
    labels: dict[str, list[dict[str, Any]]] = {"people": [], "first": [], "second": []}
    by_program = [["question", "text", "judgment"]]
    for q in questions:
        for texts in answers.values():
            right = texts[q].endswith("right")
            by_program.append([q, texts[q], "correct" if right != (rng.random() < 0.1) else "incorrect"])
            for name, error in (("people", 0.02), ("first", 0.1), ("second", 0.2)):
                label = "correct" if right != (rng.random() < error) else "incorrect"
                more = {"assessor": name} if name != "people" else {}
                labels[name].append({"question": q, "text": texts[q], "judgment": label, **more})
    _csv(work / "judge.csv", by_program)
    for name, rows in labels.items():
        _jsonl(work / f"{name}.jsonl", rows if name != "second" else rows[:100])


def _tables(work: Path) -> None:
    """Tables of scores: wide, long with repeats and metrics, as Excel writes them, a file a system, wrong ones."""
    rng = Random("tables")
    ability = {"A": 0.62, "B": 0.55, "C": 0.54, "D": 0.4}
    units = [f"{series}.{number}" for series in range(1, 11) for number in range(1, 5)]
    hardness = {unit: rng.gauss(0, 0.15) for unit in units}
    score = {
        (unit, system): round(min(1.0, max(0.0, mean + hardness[unit] + rng.gauss(0, 0.1))), 4)
        for unit in units
        for system, mean in ability.items()
    }
    wide = [[unit, *(score[unit, system] for system in ability)] for unit in units]
    _csv(work / "wide.csv", [["question", *ability], *wide])
    german = [[unit, *(str(value).replace(".", ",") for value in values)] for unit, *values in wide]
    _csv(work / "excel.csv", [["Frage", *ability], *german], delimiter=";")
    _csv(work / "bad-number.csv", [["question", *ability], *wide[:9], ["3.9", "n/a", 0.5, "", 0.1], *wide[9:]])
    _csv(work / "worse.csv", [["question", *ability], *([unit, a, c, b, d] for unit, a, b, c, d in wide)])
    long: list[list[Any]] = [["question", "system", "epoch", "metric", "score"]]
    for unit in units:
        for system in ("A", "B", "C"):
            for epoch in (1, 2, 3):
                value = min(1.0, max(0.0, score[unit, system] + rng.gauss(0, 0.05)))
                long += [[unit, system, epoch, "f1", round(value, 4)], [unit, system, epoch, "exact", int(value > 0.6)]]
    _csv(work / "long.csv", long)
    _csv(work / "twice.csv", [["question", "system", "score"], ["1", "A", 1], ["1", "A", 0], ["1", "B", 1]])
    for system in ("A", "B"):
        rows = [{"id": unit, "f1": score[unit, system]} for unit in units]
        _jsonl(work / f"single-{system.lower()}.jsonl", rows)
    _jsonl(
        work / "bad-rows.jsonl", [{"question": "1.1", "doc": "NYT1", "text": "x", "judgment": "Q"}, {"question": "9"}]
    )
    (work / "bad-run.txt").write_text("1.1 mine NYT1 Atlanta\n1.1 mine NYT1 twice\n99 mine\n", encoding="utf-8")


def _jsonl(path: Path, rows: Sequence[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _csv(path: Path, rows: Sequence[Sequence[Any]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


# ---- commands --------------------------------------------------------------------------------------------------------


def run_command(work: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in this process, in a folder: its exit status, stdout and stderr."""
    from qassay.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with (
        chdir(work),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        mock.patch.dict(os.environ, COLUMNS="100"),
    ):
        try:
            status = main(list(arguments))
        except SystemExit as error:
            status = int(error.code or 0)
    output, errors = (stream.buffer.getvalue().decode() for stream in streams)
    return status, output, errors


def commands() -> Iterator[list[str]]:
    """The commands as lists of words."""
    import shlex

    for line in filter(None, COMMANDS.splitlines()):
        for task in TASKS if "{task}" in line else ("",):
            yield shlex.split(line.replace("{task}", task))


def save_commands(work: Path, target: Path, *, as_json: bool) -> None:
    """Run all commands, once as people do or once with --json, and save what they print and write."""
    make_inputs(work)
    for number, arguments in enumerate(commands(), 1):
        if as_json and "--csv" in arguments:
            continue
        status, output, errors = run_command(work, [*arguments, *(["--json"] if as_json else [])])
        name = f"{number:03}-" + re.sub(r"[^A-Za-z0-9]+", "-", " ".join(arguments)).strip("-")[:80]
        if as_json:
            document = {"status": status, "output": json.loads(normal(output, work)) if output else None}
            write(target / f"{name}.json", json.dumps(document, ensure_ascii=False, indent=1))
        else:
            write(target / f"{name}.txt", normal(f"{output}\n--- stderr\n{errors}\n--- status {status}\n", work))
    for path in sorted((work / "out").rglob("*")) if not as_json else ():
        if path.suffix in (".html", ".md", ".tex", ".csv", ".json", ".jsonl", ".txt", ".toml", ".xml"):
            text = path.read_text(encoding="utf-8")
            place = target / "written" / path.relative_to(work / "out")
            write(place.with_name(f"{place.name}.txt"), normal(text_of(text) if path.suffix == ".html" else text, work))


def write(path: Path, text: str) -> None:
    """Write a file, with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# Ids of items and passwords are drawn by `secrets`; with this they are the same each time.
DRAWN_ALIKE = "import random; random._urandom = random.Random(1).randbytes"
# What differs from one time to the next: places, ports, moments, random names.
VARYING = (
    (r"qassay-demo-\w+", "DEMO"),
    (r"\b[0-9a-f]{32}\b", "DIGEST"),
    (r"http://(127\.0\.0\.1|localhost):\d+", "http://HOST"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "MOMENT"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?", "MOMENT"),
    (r"\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December) \d{4}", "DAY"),
    (r"\b\d\d\d\d-\d\d-\d\d\b", "DAY"),
)


def normal(text: str, work: Path) -> str:
    """A text without what differs from one time to the next."""
    for place in {str(work), str(work.resolve())}:
        text = text.replace(place, "WORK")
    for pattern, name in VARYING:
        text = re.sub(pattern, name, text)
    return text


class _Text(HTMLParser):
    """The text of a page, an element a line, with the labels that only some readers hear."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("script", "style")
        self.lines += [f"[{name}] {value}" for name, value in attrs if name in ("aria-label", "title", "alt") and value]

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden and data.strip():
            self.lines.append(" ".join(data.split()))


def text_of(html: str) -> str:
    """What a page says."""
    parser = _Text()
    parser.feed(html)
    return "\n".join(parser.lines) + "\n"


# ---- pages -----------------------------------------------------------------------------------------------------------


def save_pages(work: Path, target: Path) -> None:
    """Save the pages of the built-in evaluation, half-way, and those of evaluations that were judged in files."""
    with half_way(work) as (address, password):
        for name, addresses in HALF_WAY.items():
            person = served.Person(address, name)
            person.post("/sign-in", name=name, password=password)
            _save_pages(person, addresses, work, target / name)
    for evaluation, addresses in JUDGED.items():
        with served.serving(work / evaluation, work / f"{evaluation}.log") as link:
            person = served.join(link, "Olga")
            _save_pages(person, addresses, work, target / evaluation)


def _save_pages(person: served.Person, addresses: Sequence[str], work: Path, target: Path) -> None:
    for number, address in enumerate(addresses, 1):
        name = f"{number:02}-" + re.sub(r"[^A-Za-z0-9]+", "-", address).strip("-")
        path, query = urlsplit(address).path, urlsplit(address).query
        page = _finished(person, f"{person.address}{address}")
        text = page.text if path.endswith(".csv") else text_of(page.text)
        write(target / f"{name}.txt", normal(f"{page.status_code}\n{text}", work))
        twin = _finished(person, f"{person.address}/api{path}{'?' if query else ''}{query}")
        if "json" in twin.headers.get("content-type", ""):
            document = {"status": twin.status_code, "output": json.loads(normal(twin.text, work))}
            write(target / f"{name}.json", json.dumps(document, ensure_ascii=False, indent=1))


def _finished(person: served.Person, address: str) -> Any:
    """A page whose study is computed: a page that is asked for too early says that it is being computed."""
    for _ in range(300):
        answer = person.browser.get(address, follow_redirects=False)
        if "data-job=" not in answer.text and not re.search(r'"job": ?"', answer.text):
            break
        time.sleep(0.1)
    return answer


@contextmanager
def half_way(work: Path) -> Iterator[tuple[str, str]]:
    """Serve the built-in evaluation as `demo` does: its address, and the password of everybody."""
    log = work / "demo.log"
    run = f"{DRAWN_ALIKE}; import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
    with log.open("wb") as output:
        command = [sys.executable, "-u", "-c", run, "demo", "--serve", "--to", "half-way", "--port", "0"]
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=work)
        try:
            for _ in range(600):
                words = log.read_text(encoding="utf-8")
                if "is served at" in words:
                    break
                time.sleep(0.1)
            address = re.findall(r"http://127\.0\.0\.1:\d+", words)[0]
            yield address, re.findall(r"password (\S+)", words)[0]
        finally:
            server.terminate()
            server.wait(timeout=30)


# ---- comparison ------------------------------------------------------------------------------------------------------


def differences(then: Any, now: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every place where two documents differ, with what is different: `added`, `gone` or `changed`."""
    if isinstance(then, dict) and isinstance(now, dict):
        yield from (("added", f"{place}/{key}") for key in now if key not in then)
        for key, value in then.items():
            if key in now:
                yield from differences(value, now[key], f"{place}/{key}")
            else:
                yield "gone", f"{place}/{key}"
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from differences(old, new, f"{place}/{index}")
    elif isinstance(then, float) and isinstance(now, float):
        if not math.isclose(then, now, rel_tol=1e-12, abs_tol=1e-12):
            yield "changed", f"{place}: {then!r} -> {now!r}"
    elif type(then) is not type(now) or then != now:
        yield "changed", f"{place}: {json.dumps(then)[:200]} -> {json.dumps(now)[:200]}"


def compare(old: Path, new: Path) -> int:
    """Print how two folders differ; 1 where an output is gone, or a key of a JSON is gone or has changed."""
    names = {path.relative_to(folder) for folder in (old, new) for path in folder.rglob("*") if path.is_file()}
    count = {"gone": 0, "changed": 0, "added": 0, "texts": 0}
    for name in sorted(names):
        if not (old / name).exists() or not (new / name).exists():
            word = "added" if (new / name).exists() else "gone"
            count[word] += 1
            print(f"{word}: {name}")
            continue
        then, now = ((folder / name).read_text(encoding="utf-8") for folder in (old, new))
        if name.suffix == ".json":
            for word, difference in differences(json.loads(then), json.loads(now)):
                count[word] += 1
                print(f"{word}: {name}{difference}")
        elif then != now:
            count["texts"] += 1
            print(
                *difflib.unified_diff(then.split("\n"), now.split("\n"), str(name), str(name), n=1, lineterm=""),
                sep="\n",
            )
    print(f"{len(names)} outputs: " + ", ".join(f"{number} {word}" for word, number in count.items()))
    return 1 if count["gone"] or count["changed"] else 0


def main(arguments: Sequence[str]) -> int:
    """Save the outputs of the code that is imported, or compare two folders."""
    if len(arguments) == 3 and arguments[0] == "compare":
        return compare(Path(arguments[1]), Path(arguments[2]))
    if len(arguments) != 2 or arguments[0] != "save":
        print(__doc__)
        return 2
    target = Path(arguments[1]).resolve()
    for variable in ("QASSAY_DATABASE", "GITHUB_STEP_SUMMARY"):
        os.environ.pop(variable, None)
    for part in ("text", "json", "pages"):
        exec(DRAWN_ALIKE, {})
        with tempfile.TemporaryDirectory() as name:
            work, started = Path(name).resolve(), time.monotonic()
            if part == "pages":
                make_inputs(work)
                for arguments in commands():
                    if arguments[:2] == ["import", "qa"]:
                        run_command(work, arguments)
                save_pages(work, target / part)
            else:
                save_commands(work, target / part, as_json=part == "json")
            print(f"{part}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
