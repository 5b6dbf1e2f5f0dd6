"""The generated parts of the documentation.

    python scripts/generate_docs.py            write them
    python scripts/generate_docs.py --check    write nothing; fail if a file would change

Four kinds: text between `<!-- generated: NAME -->` and `<!-- end -->` in any page; the output below the commands of
`console` blocks (see sessions.py); the outputs of the notebook (see notebooks.py); the pictures in docs/images (see
pictures.py).
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args

import glossary
import notebooks
import papers
import qassay
from pictures import pictures
from qassay import tasks
from qassay.cli import VERBS
from qassay.errors import few
from qassay.formats import foreign
from qassay.formats.recognise import KINDS
from qassay.formats.score_rows import ScoreRows
from qassay.measures import MEASURES
from qassay.measures import nil as nil_figures
from qassay.meta.sensitivity import PRESETS
from qassay.tables import DASH, Column, plural, table
from qassay.tasks.responses import RESPONSE_FORMS
from sessions import Session, SessionError, play

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
OBSERVED = ROOT / "benchmarks" / "truth" / "observed.json"
LOGS = ROOT / "tests" / "formats" / "foreign" / "samples"
GENERATED = re.compile(r"(<!-- generated: (?P<name>[^\n]*?) -->\n).*?(<!-- end -->)", re.DOTALL)

# Mappings of JSON outputs whose keys are data (runs, questions, labels) and not names of fields.
DATA_KEYED = {"matrix", "questions", "swaps_at_least", "size_needed", "labels", "scores", "ranks"}
# Of these, mappings whose values are such mappings again: by set, then by run.
DATA_WITHIN = {"scores", "ranks"}
SHOWN = 2
MOST_DATA = 4


def pages() -> list[Path]:
    """Every page that may contain generated parts."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def regenerate(path: Path) -> str:
    """The page as it should be."""
    text = path.read_text(encoding="utf-8")
    generated = GENERATED.sub(_regenerated, text)
    return play(generated, name=path.relative_to(ROOT).as_posix(), inside=True)


def _regenerated(part: re.Match[str]) -> str:
    """A generated part as it should be; one from public data stays as it is where the data is absent."""
    if part["name"] == "papers-public" and not papers.has_data():
        return part[0]
    return f"{part[1]}\n{generate(part['name'])}\n\n{part[3]}"


def generate(name: str) -> str:
    """One generated part, by its name; after `json` comes a command, after `papers` the tag of a paper."""
    kind, _, command = name.partition(" ")
    if kind == "papers":
        return papers.section(command)
    if kind == "commands":
        return commands()
    if kind == "json":
        return json_example(command)
    if kind not in MAKERS:
        raise SessionError(f"nothing is generated under the name {kind!r}; there is {', '.join(MAKERS)}")
    return MAKERS[kind]()


def commands() -> str:
    """Every command with its help text."""
    parts = [f"```text\n{_run('qassay --help')}\n```"]
    parts += [f"## qassay {verb}\n\n```text\n{_run(f'qassay {verb} --help')}\n```" for verb in VERBS]
    return "\n\n".join(parts)


def measures() -> str:
    """Every measure with its docstring, and the figures beside a score."""
    parts = []
    for name, kind in MEASURES.items():
        parameters = [p.name if p.default is MISSING else f"{p.name}={p.default:g}" for p in fields(kind)]
        in_brackets = f"({', '.join(parameters)})" if parameters else ""
        facts = f"*{kind.title[:1].upper()}{kind.title[1:]}.* From 0 to {kind.high:g}. Source: {kind.source}."
        parts.append(f"## {name}\n\n`{name}{in_brackets}`\n\n{facts}\n\n{inspect.getdoc(kind)}")
    for figure in (nil_figures.nil_precision, nil_figures.nil_recall):
        parts.append(f"## {figure.__name__}\n\n{inspect.getdoc(figure)}")
    return "\n\n".join(parts)


def task_table() -> str:
    """One row per task."""
    built_in = [tasks.task(name) for name in tasks.names()]
    rows = [
        (
            f"[`{task.name}`](#{task.name})",
            task.title,
            ", ".join(task.types),
            _code([task.measure]),
            task.unit,
            _code(task.forms),
        )
        for task in built_in
    ]
    headers = ("task", "what it is", "question types", "measure", "unit", "run forms")
    return _rows(headers, rows)


def task_files() -> str:
    """Every task as its TOML file."""
    parts = []
    for name in tasks.names():
        text = (Path(tasks.__file__).parent / f"{name}.toml").read_text(encoding="utf-8").rstrip()
        parts.append(f"## {name}\n\n```toml\n{text}\n```")
    return "\n\n".join(parts)


def response_forms() -> str:
    """What a response may be."""
    return _rows(("response", "what it is"), [(f"`{form.name}`", form.meaning) for form in RESPONSE_FORMS.values()])


def run_forms() -> str:
    """Which task reads which form of run."""
    built_in = [tasks.task(name) for name in tasks.names()]
    rows = [
        (f"[`{form}`](#{form})", _code(task.name for task in built_in if form in task.forms))
        for form in get_args(tasks.RunForm)
    ]
    return _rows(("form", "tasks"), rows)


def kinds() -> str:
    """What `import` recognises."""
    return _rows(("kind (`--as`)", "contents of the file"), [(f"`{kind}`", meaning) for kind, meaning in KINDS.items()])


def other_tools() -> str:
    """One row per tool whose logs are read."""
    rows = [(tool.NAME, ", ".join(tool.VERSIONS), tool.FILES, tool.READS) for tool in foreign.tools()]
    return _rows(("tool", "tried with", "the file", "what is read"), rows)


def other_logs() -> str:
    """What is read of every sample: one row per file that a released tool wrote."""
    rows = []
    for path in sorted(path for path in LOGS.glob("*-*/**/*") if path.is_file()):
        read = foreign.read_log(path)
        if read is not None:
            name = re.sub(r"\d{4}-\d\d-\d\dT[\d.-]+(?=\.)", "TIME", path.relative_to(LOGS).as_posix())
            rows.append((f"`{name}`", _read_as(read)))
    return _rows(("sample", "read as"), rows)


def _read_as(rows: ScoreRows) -> str:
    """What a file contains, in one line."""
    systems, questions = dict.fromkeys(rows.systems), dict.fromkeys(rows.questions)
    metrics, repeats = dict.fromkeys(rows.metrics), dict.fromkeys(rows.repeats)
    counts = f"{plural(len(systems), 'system')} ({few(systems)}), {plural(len(questions), 'question')}"
    several = f", {plural(len(repeats), 'repeat')}" if len(repeats) > 1 else ""
    missing = sum(value != value for value in rows.values)
    holes = f"; {plural(missing, 'missing score')}" if missing else ""
    noun = "metric" if len(metrics) == 1 else "metrics"
    return f"{rows.form}: {counts}{several}, {noun} {few(metrics, 8)}{holes}"


def presets() -> str:
    """The studies of `sensitivity --preset`."""
    rows = [
        (f"`{name}`", p.study, str(p.first_size), str(p.trials), f"> {p.fit_above}" if p.fit_above else "all")
        for name, p in PRESETS.items()
    ]
    results = [preset.result or DASH for preset in PRESETS.values()]
    headers = ("preset", "study", "sizes from", "trials", "fit uses sizes", "the paper's minimum difference")
    return _rows(headers, [(*row, result) for row, result in zip(rows, results, strict=True)])


def promises() -> str:
    """What is promised and what was observed: one row per promise and population, its numbers of questions in order."""
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in json.loads(OBSERVED.read_text(encoding="utf-8")):
        promised = f"{row['kind']} {row['rate']:g}"
        rows.setdefault((row["says"], row["promise"], promised, row["population"]), []).append(row)
    shown, before = list[tuple[str, ...]](), tuple[str, ...]()
    for what, cases in rows.items():
        sizes = ", ".join(f"{case['questions']:,}" for case in cases)
        shares = ", ".join(DASH if case["now"] is None else f"{case['now']:.2f}" for case in cases)
        errors = [case["error"] for case in cases if case["now"] is not None]
        numbers = sorted({case["repetitions"] for case in cases})
        every = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        # What a promise is, in its first row alone.
        promise = what[:3] if what[:3] != before else ("", "", "")
        before = what[:3]
        shown.append((*promise, what[3], sizes, shares, f"{max(errors, default=0):.2f}", every))
    headers = (
        "what you read",
        "what is counted",
        "promised",
        "population",
        "questions",
        "observed",
        "± by chance",
        "evaluations",
    )
    return _rows(headers, shown)


def json_example(command: str) -> str:
    """The JSON of a command on the built-in evaluation, shortened."""
    printed = _run(command)
    return f"`{command}`\n\n```json\n{laid_out(shortened(json.loads(printed)))}\n```"


def shortened(value: object, name: str = "") -> object:
    """The value with long lists and data-keyed mappings cut and numbers rounded, for reading."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, list):
        shown = [shortened(element) for element in value[:SHOWN]]
        return [*shown, "..."] if len(value) > SHOWN else shown
    if isinstance(value, dict):
        is_data = name in DATA_KEYED or not all(re.fullmatch(r"[A-Za-z]\w*", key) for key in value)
        entries = list(value.items())[: SHOWN if is_data and len(value) > MOST_DATA else None]
        cut = {"...": "..."} if len(entries) < len(value) else {}
        return {key: shortened(part, name if name in DATA_WITHIN else key) for key, part in entries} | cut
    return value


def laid_out(value: object, indent: str = "", width: int = 96) -> str:
    """JSON in which every value that fits on one line is on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(flat) <= width or not isinstance(value, dict | list) or not value:
        return flat
    deeper = indent + "  "
    if isinstance(value, list):
        inside = ",\n".join(deeper + laid_out(element, deeper, width) for element in value)
        return f"[\n{inside}\n{indent}]"
    inside = ",\n".join(f"{deeper}{json.dumps(key)}: {laid_out(part, deeper, width)}" for key, part in value.items())
    return f"{{\n{inside}\n{indent}}}"


# The public names in the order people need them; the records below are what the functions above give.
PYTHON = {
    "Open an evaluation, read scores": (
        *("scores", "open", "Evaluation", "read_matrix", "ScoreMatrix", "Scores", "leaderboard"),
    ),
    "Compare systems": ("compare", "compare_all", "sensitivity", "plan", "describe"),
    "Examine the judgments": ("facts", "agreement", "people", "stability", "reuse", "judge", "trust", "sample"),
    "Measures and the built-in evaluation": ("measure", "demo_folder"),
    "Reports": ("report",),
    "Errors": ("QassayError", "InputError", "UsageError"),
}
RESULTS = (
    "qassay.results.Result",
    "qassay.tables.Table",
    "qassay.studies.score.Leaderboard",
    "qassay.meta.significance.PairComparison",
    "qassay.meta.significance.AllPairs",
    "qassay.meta.sensitivity.SensitivityCurves",
    "qassay.meta.planning.Plan",
    "qassay.studies.compare.ByMetric",
    "qassay.studies.control.ControlComparison",
    "qassay.studies.describe.Description",
    "qassay.studies.agree.AgreementStudy",
    "qassay.meta.agreement.Agreement",
    "qassay.studies.facts.Facts",
    "qassay.studies.people.PeopleStudy",
    "qassay.meta.agreement.people.PeopleAgreement",
    "qassay.meta.stability.Stability",
    "qassay.meta.reuse.Reuse",
    "qassay.meta.trust.Trust",
    "qassay.studies.sample.DrawnSample",
    "qassay.meta.correction.Correction",
    "qassay.meta.correction.CorrectedScores",
    "qassay.meta.correction.CorrectedPair",
    "qassay.meta.correction.CorrectedPairs",
    "qassay.formats.scores.ScoreTables",
    "qassay.assessors.judging.JobResult",
    "qassay.figures.Figure",
    "qassay.reports.Report",
)


def python_names() -> str:
    """The public names in their groups, for mkdocstrings; a name without a group stands at the end."""
    grouped = {name for names in PYTHON.values() for name in names}
    others = tuple(name for name in qassay._HOMES if name not in grouped)
    groups = PYTHON | ({"Further names": others} if others else {})
    parts = []
    for title, names in groups.items():
        parts += [f"## {title}", *(f"::: qassay.{name}" for name in names)]
    return "\n\n".join(parts)


def python_results() -> str:
    """The records that the analyses give, for mkdocstrings."""
    return "\n\n".join(f"::: {home}" for home in RESULTS)


def _run(command: str) -> str:
    """Output of a command beside a copy of the built-in evaluation called `demo`."""
    with tempfile.TemporaryDirectory(prefix="qassay-docs-") as folder:
        session = Session(Path(folder).resolve(), inside=True)
        if " demo" in command:
            session.run("qassay demo --to demo")
        output = session.run(command)
        if session.status:
            raise SessionError(f"{command!r} ends with status {session.status}:\n{output}")
    return output


def _rows(headers: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    whole = table("", [Column(header, left=True) for header in headers], rows)
    return whole.markdown().partition("\n\n")[2].strip()


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


MAKERS: Mapping[str, Callable[[], str]] = {
    "measures": measures,
    "task-table": task_table,
    "task-files": task_files,
    "response-forms": response_forms,
    "run-forms": run_forms,
    "kinds": kinds,
    "presets": presets,
    "promises": promises,
    "other-tools": other_tools,
    "other-logs": other_logs,
    "python": python_names,
    "python-results": python_results,
    "notebook": notebooks.page,
    "glossary": glossary.page,
    "papers-public": papers.public,
}


def current_texts() -> dict[Path, str]:
    """Every generated file with its current text."""
    texts = {page: regenerate(page) for page in pages()} | {notebooks.NOTEBOOK: notebooks.current()}
    return texts | {IMAGES / name: picture for name, picture in pictures().items()}


def main() -> int:
    """Write the generated parts, or check them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something is not current")
    check = parser.parse_args().check
    try:
        files = current_texts()
    except SessionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    old = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in old:
        name = path.relative_to(ROOT).as_posix()
        if check:
            print(f"error: {name} is not current; run: python scripts/generate_docs.py", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {name}")
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
