"""`qassay init`: make a new evaluation."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from qassay import tasks
from qassay.cli.inputs import JsonOption
from qassay.cli.output import print_json
from qassay.errors import InputError, Problem, UsageError
from qassay.formats.folder import named_task, task_definition, task_names
from qassay.tasks.responses import RESPONSE_FORMS


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to make it; the folder may exist.")],
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="NAME", help="Its task, or a TOML file that defines one."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="Its name in reports; else that of the folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new evaluation.

    Writes qassay.toml, which names the task and shows what can be changed,
    and folders for runs, judgments and nuggets. Questions, runs and
    judgments are then added with: qassay import.

    Tasks: confidence, definition, entailment2, entailment3, justification,
    main2003, nuggets, passages, qa, qaciad, ranked5, series2004.

    Examples

      qassay init my-eval --task series2004
      qassay init rag-eval --task nuggets --name "Our RAG systems, spring"
    """
    if task is None:
        task_list = {name: named_task(name) for name in task_names()}
        width = max(map(len, task_list))
        listed = "\n".join(f"  {name:{width}}  {rules.title}" for name, rules in task_list.items())
        raise UsageError(f"which task? name one with --task:\n{listed}")
    new_task = make_evaluation(folder, task=task, name=name)
    if as_json:
        print_json({"folder": str(folder), "name": name or folder.resolve().name, "task": new_task.name})
        return
    where = shlex.quote(str(folder))
    print(f"Made {folder}: {new_task.title}.")
    print(f"The settings are explained in {folder / 'qassay.toml'}.")
    print("Next:")
    print(f"  {where}/collection/                    make this folder, if you have documents")
    print(f"  qassay import {where} QUESTIONS        the questions ({', '.join(new_task.types)})")
    print(f"  qassay import {where} RUN...           the runs ({', '.join(new_task.forms)})")
    print(f"  qassay import {where} JUDGMENTS...     judgments, nuggets, known answers")
    print(f"  qassay check {where}                   show what is there, and all errors")
    print(f"  qassay serve {where}                   do all of it in the browser, with judging")


def make_evaluation(folder: Path, *, task: str, name: str | None = None) -> tasks.Task:
    """Write `qassay.toml` and the empty folders; nothing is written where the task is unknown."""
    from qassay.formats import files
    from qassay.formats.folder import Folder, read_configuration
    from qassay.formats.links import CONFIGURATION

    definition: bytes | None = None
    if task.endswith(".toml"):
        definition = Path(task).read_bytes()
        keys = files.parse_toml(files.decode(definition, file=task), file=task)
        file = Path(task).name
    else:
        keys = task_definition(task)
        file = task
    new_task = tasks.from_definition(keys, file=file)
    path = folder / CONFIGURATION
    if path.exists():
        message = f"is an evaluation already; look at it with: qassay check {shlex.quote(str(folder))}"
        raise InputError(Problem("configuration", message, str(folder)))
    contents = {path: configuration_text(keys, name=name or folder.resolve().name, task=file).encode()}
    if definition is not None:
        contents[folder / file] = definition
    try:
        for sub in ("runs", "judgments", "nuggets"):
            (folder / sub).mkdir(parents=True, exist_ok=True)
        files.write_all(contents)
    except OSError as error:
        message = f"cannot make an evaluation here: {error.strerror or error}"
        raise InputError(Problem("configuration", message, str(folder))) from None
    read_configuration(Folder(folder))
    return new_task


def configuration_text(keys: dict[str, Any], *, name: str, task: str) -> str:
    """The text of `qassay.toml`: name and task, and in comments everything that can be changed."""
    # Keys that only some tasks have a use for.
    organiser = []
    forms = [RESPONSE_FORMS[rules["response"]] for rules in keys["types"].values()]
    if any(form.is_rated for form in forms):
        organiser += [
            "# Pairs whose justifications are judged, the same for every run:",
            '# justified = ["75", "92"]',
            "",
        ]
    if any(form.decides for form in forms):
        organiser += ['# Judgment sets whose NO means "not entailed":', '# two_way = ["main"]', ""]
    lines = [
        "# The settings of an evaluation. Only `task` is needed. To change a setting, remove the # before it.",
        "",
        f"name = {_toml(name)}",
        f"task = {_toml(task)}  # {keys['title']}",
        "",
        *organiser,
        "# The task's own rules, with their values. A changed value applies to this evaluation only.",
        f"# measure = {_toml(keys['measure'])}  # what runs are ranked by",
    ]
    if keys.get("labels"):
        lines.append(f"# labels = {_toml(keys['labels'])}  # what assessors may say")
    if "assessors" in keys:
        lines.append(f"# assessors = {_toml(keys['assessors'])}  # how many judge each question")
    lines += [
        "",
        "# Questions or series to leave out, each with its reason:",
        "# [drop]",
        '# "7" = "other question never judged"',
    ]
    for kind, rules in keys["types"].items():
        lines += ["", f"# [types.{kind}]"]
        lines += [f"# {key} = {_toml(value)}{_meaning(key, rules)}" for key, value in rules.items()]
    for missing, weights in keys.get("without", {}).items():
        lines += ["", f"# [without.{missing}]  # weights where a series has no {missing} question"]
        lines += [f"# {key} = {_toml(value)}" for key, value in weights.items()]
    return "\n".join(lines) + "\n"


def _meaning(key: str, rules: dict[str, Any]) -> str:
    meanings = {
        "response": RESPONSE_FORMS[rules["response"]].meaning,
        "score": "measure of one response",
        "weight": "share in the run's score",
        "nil": "whether NIL, no answer, is a response",
        "max_items": "most items of a response",
        "max_length": "most characters of an extract",
    }
    return f"  # {meanings[key]}" if meanings.get(key) else ""


def _toml(value: object) -> str:
    """A value as TOML writes it; JSON's strings, numbers and lists are TOML's too, but for one character."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name)} = {_toml(part)}" for name, part in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
