"""Answers from people's own tables: they become questions of the task `qa` and runs. (FORMATS 7)

Answers belong to the question with their id, else to the one with their text. Same id and same text: one question,
whose gold answers are united. An evaluation that has questions gets new ones only with leave; one that has none gets
those of all files, of which those with ids come first, so that the others find their questions. Without ids, equal text
is one question; a new one gets the next free number, which in the first file is its position.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from qassay.errors import InputError, Problem, Problems, Remedy, UsageError, few
from qassay.formats import files, jsonl
from qassay.formats.answers import ANSWER_KEYS, AnswerTable, GivenAnswer, keys_for, read_answers
from qassay.formats.fields import resembled
from qassay.formats.importing.plan import REPLACE, ImportPlan, IncomingFile
from qassay.formats.importing.questions import keep_run, lay_over, questions_target, warn_of_missing
from qassay.formats.names import name_fault, set_name
from qassay.formats.runs import empty_run
from qassay.formats.tables import parse_table
from qassay.questions import Question
from qassay.tables import plural
from qassay.tasks import Task


@dataclass
class _Questions:
    """The questions while files are read: those of the evaluation, and those that the files add or change."""

    type: str
    known: dict[str, Question]
    # Whether there are no others than those of the evaluation.
    fixed: bool = False
    changed: dict[str, Question] = field(default_factory=dict)
    # Where a question was read first, for messages.
    places: dict[str, str] = field(default_factory=dict)
    by_text: dict[str, list[str]] = field(default_factory=dict)
    # The rows whose questions are not there, by file, and whether one of them has a text.
    unknown: dict[str, list[str]] = field(default_factory=dict)
    addable: bool = False

    def __post_init__(self) -> None:
        for question in self.known.values():
            self.by_text.setdefault(question.text, []).append(question.id)
        self.own = {text: list(ids) for text, ids in self.by_text.items()}
        self.own_ids = set(self.known)

    def next_number(self) -> str:
        """The first number from the count of the questions on that is not an id yet."""
        number = len(self.known) + 1
        while str(number) in self.known:
            number += 1
        return str(number)

    def put(self, question: Question, place: str) -> None:
        """Add a question, or put it in the place of the one with its id."""
        if question.id not in self.known:
            self.by_text.setdefault(question.text, []).append(question.id)
        self.known[question.id] = self.changed[question.id] = question
        self.places.setdefault(question.id, place)


def import_responses(plan: ImportPlan, sources: Sequence[IncomingFile]) -> None:
    """Import tables of answers: their questions, with gold answers, and one run per system."""
    read = _read_all(plan, sources)
    if read is None:
        return
    tables, questions, ids, changed = read
    known = {question.id for question in plan.questions or ()}
    for source in sources:
        _report(plan, source, tables[source], changed[source], known)
        known |= changed[source]
    if questions.changed:
        lay_over(plan, questions.changed, sources[0])
    plan.warnings += _same_text(questions, sources)
    for source in sources:
        if tables[source].answered:
            _import_runs(plan, source, tables[source], ids[source])


def answers_as_runs(plan: ImportPlan, sources: Sequence[IncomingFile]) -> Iterator[tuple[IncomingFile, str, bytes]]:
    """The runs that tables of answers are, with their tags, as an import would store them; the plan gets the faults."""
    read = _read_all(plan, sources)
    for source, table in read.tables.items() if read is not None else ():
        if table.answered:
            for tag, rows in _runs(plan, source, table, read.ids[source] if read is not None else ()).items():
                yield source, tag, jsonl.dump_rows(rows).encode()


class _Read(NamedTuple):
    """Tables of answers with the questions of their rows, and the questions that each table adds or changes."""

    tables: dict[IncomingFile, AnswerTable]
    questions: _Questions
    ids: dict[IncomingFile, list[str]]
    changed: dict[IncomingFile, set[str]]


def _read_all(plan: ImportPlan, sources: Sequence[IncomingFile]) -> _Read | None:
    """The content of all files; None where one cannot be read, which is then a problem of the plan."""
    type_ = _type(plan.configuration.task, sources[0])
    tables: dict[IncomingFile, AnswerTable] = {}
    for source in sources:
        plan.attempt(lambda _, source: tables.update({source: _read(plan, source)}), source)
    if len(tables) < len(sources):
        return None
    known = {question.id: question for question in plan.questions or ()}
    questions = _Questions(type_, known, fixed=bool(known) and not plan.options.new_questions)
    ids: dict[IncomingFile, list[str]] = {}
    changed: dict[IncomingFile, set[str]] = {}
    problems = Problems()
    for source, table in sorted(tables.items(), key=lambda pair: (not pair[1].has_texts, not pair[1].has_ids)):
        before = dict(questions.changed)
        ids[source] = list(_question_ids(plan, questions, table, problems))
        changed[source] = {name for name, question in questions.changed.items() if before.get(name) is not question}
    problems += _unknown(questions)
    problems += _second_names(plan, tables)
    for source, table in tables.items():
        problems += _second_answers(plan, source, table, ids[source])
    if problems:
        raise InputError(problems)
    return _Read(tables, questions, ids, changed)


def _type(task: Task, source: IncomingFile) -> str:
    """The type of the questions: the one that takes free text."""
    for name, rules in task.types.items():
        if rules.form.is_free_text:
            return name
    message = f"contains answers in free text, and the task {task.name} takes none"
    way = Remedy("qassay", "init FOLDER --task qa", "To make an evaluation for them")
    raise InputError(Problem("configuration", message, source.name, way_out=(way,)))


def _read(plan: ImportPlan, source: IncomingFile) -> AnswerTable:
    options = plan.options
    data = files.read_bytes(source.path)
    records = parse_table(data, file=source.name, sheet=options.sheet, encoding=options.encoding)
    table = read_answers(records, _keys(keys_for(options.keys, source.name)))
    plan.warnings += [Problem("syntax", note, source.name) for note in records.notes]
    if plan.options.run is not None and len(table.systems) > 1:
        message = (
            f"has answers of {len(table.systems)} systems ({few(table.systems)}): they cannot be the run {options.run}"
        )
        raise InputError(Problem("second-tag", message, source.name))
    return _without_repeated(plan, source, table) if table.answered else table


def _without_repeated(plan: ImportPlan, source: IncomingFile, table: AnswerTable) -> AnswerTable:
    """The table without rows that say the same as an earlier one, as when a file was written to twice."""
    rows: dict[Hashable, GivenAnswer] = {}
    for row in table.rows:
        contexts = tuple(tuple(context.items()) for context in row.contexts)
        rows.setdefault((row.id, row.question, row.system, row.text, row.gold, contexts), row)
    kept = list(rows.values())
    if repeated := len(table.rows) - len(kept):
        numbers = {row.number for row in kept}
        places = few(str(row.number) for row in table.rows if row.number not in numbers)
        place = ("line" if table.records.has_lines else "row") + "s"[: repeated > 1]
        why = "it repeats an earlier row" if repeated == 1 else "they repeat earlier rows"
        message = f"{plural(repeated, 'row')} left out: {why} ({place} {places})"
        plan.warnings.append(Problem("duplicate-question", message, source.name))
    return replace(table, rows=kept)


def _keys(mapped: Mapping[str, str]) -> dict[str, str]:
    """The option `--map` for a table of answers: a system may be called a run there."""
    return {"system" if name == "run" else name: key for name, key in mapped.items()}


def _question_ids(
    plan: ImportPlan, questions: _Questions, table: AnswerTable, problems: list[Problem]
) -> Iterator[str]:
    """The id of the question of every row; new questions, and new gold answers, go to `questions`."""
    renamed = {}
    for row in table.rows:
        number, text = _id_and_text(questions, table, row, problems)
        if number is None:
            questions.unknown.setdefault(table.records.file, []).append(row.id or _short(row.question))
            questions.addable |= bool(row.question)
            yield row.id or row.question
            continue
        if row.id is not None and row.id != number:
            renamed[row.id] = number
        old = questions.known.get(number)
        replaceable = plan.options.replace and number not in questions.changed
        text = text or (old.text if old is not None else "")
        if old is None or (replaceable and (old.text, old.type) != (text, questions.type)):
            questions.put(Question(number, questions.type, text, gold=row.gold), table.records.place(row.number))
        elif old.text != text or old.type != questions.type:
            problems.append(
                table.records.row_problem(
                    "duplicate-question",
                    _other_text(questions, old, row),
                    row.number,
                    number,
                    *([] if old.id in questions.places or old.type != questions.type else [REPLACE]),
                )
            )
        elif set(row.gold) - set(old.gold):
            questions.put(
                replace(old, gold=tuple(dict.fromkeys((*old.gold, *row.gold)))), table.records.place(row.number)
            )
        yield number
    if renamed:
        listed = few(f"{theirs} is {number}" for theirs, number in renamed.items())
        count = f"{plural(len(renamed), 'id')} {'is' if len(renamed) == 1 else 'are'}"
        message = f"{count} not in the evaluation; the questions were found by their texts ({listed})"
        plan.warnings.append(Problem("unknown-question", message, table.records.file))


def _id_and_text(
    questions: _Questions, table: AnswerTable, row: GivenAnswer, problems: list[Problem]
) -> tuple[str | None, str]:
    """The id of the question of a row, and its text where the row has one; no id where it would be new and may not."""
    if row.id in questions.known:
        return row.id, row.question
    # An id that the evaluation has may be in the place of the text.
    if row.id is None and row.question in questions.own_ids - questions.own.keys():
        return row.question, ""
    same = (questions.by_text if row.id is None else questions.own).get(row.question, [])
    if len(same) > 1:
        message = f"the question {_short(row.question)!r} has the ids {few(same)}; give the rows ids"
        problems.append(table.records.row_problem("duplicate-question", message, row.number))
    if same:
        return same[0], row.question
    if questions.fixed or not row.question:
        return None, row.question
    return row.id or questions.next_number(), row.question


def _unknown(questions: _Questions) -> Iterator[Problem]:
    """The questions of all files that the evaluation does not have, and may not get, as one error."""
    names = list(dict.fromkeys(name for names in questions.unknown.values() for name in names))
    if not names:
        return
    first, *others = questions.unknown
    why = "Answers change no test set"
    if not questions.addable:
        why = "Their texts are not in the file: correct the ids, or import the questions first"
    ways = [Remedy("new_questions", True, "To add these questions")] if questions.addable else []
    also = f" (also in {few(others)})" if others else ""
    are = f"{plural(len(names), 'question')} {'is' if len(names) == 1 else 'are'}"
    message = f"{are} not in the evaluation: {few(names, 10)}{also}. {why}"
    yield Problem("unknown-question", message, first, None, names[0], tuple(ways))


def _other_text(questions: _Questions, old: Question, row: GivenAnswer) -> str:
    first = questions.places.get(old.id)
    if old.type != questions.type:
        return f"question {old.id} is of type {old.type} in the evaluation; give this one another id"
    which = f"in {first}; give one of them" if first else "in the evaluation; give it"
    return f"question {row.id} is {_short(row.question)!r} here and {_short(old.text)!r} {which} another id"


def _short(text: str, most: int = 60) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= most else text[: most - 3] + "..."


def run_name(plan: ImportPlan, source: IncomingFile, row: GivenAnswer) -> str:
    """The tag of the run that a row belongs to; what tags cannot contain becomes a hyphen."""
    if plan.options.run is not None:
        return plan.options.run
    name = row.system if row.system is not None else set_name(source.path)
    return "".join("-" if name_fault(character) else character for character in name) if name_fault(name) else name


def _second_names(plan: ImportPlan, tables: Mapping[IncomingFile, AnswerTable]) -> Iterator[Problem]:
    """Runs that two files, or two systems of a file, would both be; names that cannot be."""
    first: dict[str, tuple[IncomingFile, str | None]] = {}
    for source, table in tables.items():
        systems = {row.system: row for row in table.rows} if table.answered else {}
        for system, row in systems.items():
            tag = run_name(plan, source, row)
            if fault := name_fault(tag):
                ways = (Remedy("run", "NAME", "To name it"),)
                yield Problem("syntax", f"the name of the run {tag[:80]!r} {fault}", source.name, way_out=ways)
            other = first.setdefault(tag, (source, system))
            if other[0] != source:
                message = f"is the run {tag}, as {other[0].name} is"
                name = "If they are two systems, import each file by itself, with a name"
                yield Problem("second-tag", message, source.name, way_out=(Remedy("run", set_name(source.path), name),))
            elif other[1] != system:
                message = f"the systems {other[1]!r} and {system!r} would both be the run {tag}; rename one of them"
                yield Problem("second-tag", message, source.name)
            elif system is not None and tag != system and plan.options.run is None:
                message = f"system {system!r} becomes the run {tag}: names have no white space and no slash"
                plan.warnings.append(Problem("configuration", message, source.name))


def _second_answers(
    plan: ImportPlan, source: IncomingFile, table: AnswerTable, ids: Sequence[str]
) -> Iterator[Problem]:
    """A second answer of a system to a question."""
    first: dict[tuple[str, str], int] = {}
    for row, number in zip(table.rows, ids, strict=True) if table.answered else ():
        tag = run_name(plan, source, row)
        before = first.setdefault((tag, number), row.number)
        if before != row.number:
            place = "line" if table.records.has_lines else "row"
            message = (
                f"run {tag} has a second answer to question {number}; the first: {place} {before}. Delete one of them"
            )
            message += "" if table.has_ids else ". If these are two questions with one text, give them ids"
            systems = Remedy("map", "system=KEY", "If the file has several systems, to name their key")
            ways = () if row.system else (systems,)
            yield table.records.row_problem("duplicate-question", message, row.number, number, *ways)


def _same_text(questions: _Questions, sources: Sequence[IncomingFile]) -> Iterator[Problem]:
    """Questions with one text and two ids, of which an import changed one: files may number them differently."""
    twice = [
        ids for ids in questions.by_text.values() if len(ids) > 1 and any(name in questions.changed for name in ids)
    ]
    if twice:
        message = (
            f"{plural(len(twice), 'question')} with the same text but two ids ({' and '.join(twice[0][:2])}); "
            "if they are the same, give them one id in all files"
        )
        yield Problem("duplicate-question", message, sources[-1].name, None, twice[0][0])


def _report(plan: ImportPlan, source: IncomingFile, table: AnswerTable, changed: set[str], known: set[str]) -> None:
    """Say how a file was read: form, rows, keys, ids; and which of its questions are new or changed."""
    message = f"{table.records.form} with {plural(len(table.rows), 'row')}"
    absent = {name: names for name, names in ANSWER_KEYS.items() if name not in table.keys.of}
    for key in table.keys.left_out:
        if meant := resembled(key, absent):
            ways = (Remedy("map", f"{meant}={key}", f"If it is the {meant}"),)
            plan.warnings.append(Problem("syntax", f"{key!r} is not read", source.name, way_out=ways))
    keys = table.keys if plan.options.run is None else table.keys.without("system")
    if words := keys.in_words():
        message += f" ({words})"
    if not table.has_ids:
        message += ", without ids: equal texts are one question, numbered by position"
    if keys.left_out:
        message += f", left out: {few(keys.left_out)}"
    plan.report(source, message)
    new, better = len(changed - known), len(changed & known)
    if new:
        plan.report(source, plural(new, "new question"), count=new, to=questions_target(plan))
    if better:
        plan.report(source, f"changes {plural(better, 'question')}", count=better, to=questions_target(plan))
    if not table.answered and not changed:
        plan.report(source, "nothing new: its questions are there already")


def _import_runs(plan: ImportPlan, source: IncomingFile, table: AnswerTable, ids: Sequence[str]) -> None:
    """Have the runs of a file written."""
    for tag, rows in _runs(plan, source, table, ids).items():
        data = jsonl.dump_rows(rows).encode()
        keep_run(plan, source, tag, data, data)
        if all(not row["items"] for row in rows):
            plan.warnings.append(empty_run(source.name))
        if empty := sum(not row["items"] for row in rows):
            plan.report(source, f"{plural(empty, 'empty answer')} in it")
        answered = {row["question"] for row in rows}
        warn_of_missing(plan, source, tag, [name for name in plan.test_set(source).ids if name not in answered])


def _runs(plan: ImportPlan, source: IncomingFile, table: AnswerTable, ids: Sequence[str]) -> dict[str, list[jsonl.Row]]:
    """One run per system of a file, by its tag."""
    runs: dict[str, list[jsonl.Row]] = {}
    for row, number in zip(table.rows, ids, strict=True):
        tag = run_name(plan, source, row)
        items = [{"text": row.text}] if row.text and row.text.strip() else []
        contexts = {"contexts": list(row.contexts)} if row.contexts else {}
        runs.setdefault(tag, []).append({"run": tag, "question": number, "items": items, **contexts})
    return runs


def check_options(plan: ImportPlan, sources: Sequence[IncomingFile]) -> None:
    """Refuse `--run` where it would name two files."""
    responses = [source for source in sources if source.kind == "responses"]
    if plan.options.run is None:
        return
    if fault := name_fault(plan.options.run):
        raise UsageError(f"the run name {plan.options.run!r} {fault}")
    if len(responses) != 1:
        count = "none is one" if not responses else f"{len(responses)} of them are"
        raise UsageError(f"--run names the run of one file of answers, and of these files {count}")
