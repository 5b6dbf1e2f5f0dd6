"""Questions with the labels that files of pairs carry, runs, and files of runs together with their judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qassay.errors import InputError, Problem, Problems, few
from qassay.formats import files, jsonl, nist, rag24
from qassay.formats.folder import QUESTIONS, judgment_file, run_file, with_two_way
from qassay.formats.importing.plan import REPLACE, ZERO_OR_SKIP, ImportPlan, IncomingFile, IncomingRows, line_of
from qassay.formats.importing.rows import add_judgments, add_rows
from qassay.formats.links import CONFIGURATION
from qassay.formats.parts import file_part, part_of
from qassay.formats.questions import QuestionFile, parse_questions, reference_rows
from qassay.formats.runs import file_suffix, read_runs
from qassay.questions import Question, TestSet, gather
from qassay.tables import plural
from qassay.tasks import Task


def import_questions(plan: ImportPlan, source: IncomingFile) -> None:
    """Add questions; those that are there and differ are replaced only with leave."""
    options = plan.options
    parsed = parse_questions(
        files.read_bytes(source.path), file=source.name, default_type=options.default_type, encoding=options.encoding
    )
    questions = parsed.questions
    plan.warnings += parsed.warnings
    check_types(questions, plan.configuration.task, source.name)
    new = merge(plan, questions, source)
    counts = ", ".join(f"{n} {kind}" for kind, n in questions.counts().items())
    kinds = f" ({counts})" if len(questions.counts()) > 1 else f" of type {questions.types[0]}"
    series = f" in {len(questions.series)} series" if questions.series else ""
    if new:
        message = f"{plural(len(questions), 'question')}{series}{kinds}"
        message += "" if new == len(questions) else f", {new} of them new or changed"
    else:
        message = f"nothing new: its {plural(len(questions), 'question')} are there already"
    plan.report(source, message, count=new, to=questions_target(plan))
    if parsed.reference:
        _import_reference(plan, source, parsed)


def import_target_types(plan: ImportPlan, source: IncomingFile) -> None:
    """Give the questions about each target its type; a target that no question has is an error."""
    text = files.decode(files.read_bytes(source.path), file=source.name, encoding=plan.options.encoding or "utf-8")
    types: dict[str, str] = {}
    problems = Problems()
    targets = {question.target for question in plan.test_set(source)}
    for line, row in nist.parse_target_types(text, file=source.name):
        if row["target"] not in targets:
            message = f"no question has the target {row['target']!r}; write it as the questions do"
            problems.append(Problem("unknown-question", message, source.name, line))
        elif types.setdefault(row["target"], row["target_type"]) != row["target_type"]:
            message = f"the target {row['target']!r} has two types, {types[row['target']]} and {row['target_type']}"
            problems.append(Problem("duplicate-question", message, source.name, line))
    if problems:
        raise InputError(problems)
    typed = [(question, types.get(question.target or "")) for question in plan.test_set(source)]
    new = {
        question.id: replace(question, target_type=kind)
        for question, kind in typed
        if kind and question.target_type != kind
    }
    if new:
        lay_over(plan, new, source)
        message = f"types of {plural(len(types), 'target')} for {plural(len(new), 'question')}"
        plan.report(source, message, count=len(new), to=questions_target(plan))
    else:
        plan.report(source, f"nothing new: the types of its {plural(len(types), 'target')} are there already")


def check_types(questions: TestSet, task: Task, file: str) -> None:
    """Stop at questions that the task has no rules for."""
    problems = Problems()
    for kind in questions.counts():
        if kind not in task.types:
            ids = [question.id for question in questions.of_type(kind)]
            takes = ", ".join(task.types)
            message = f"{plural(len(ids), 'question')} of type {kind} ({few(ids, 3)}); task {task.name} takes {takes}"
            problems.append(Problem("configuration", message, file, None, ids[0]))
    if task.unit == "series":
        alone = [question.id for question in questions if question.series is None]
        if alone:
            message = (
                f"{plural(len(alone), 'question')} without a series ({few(alone, 3)}); task {task.name} needs it: "
                'add "series" and "target" to each row, such as "series": "1", "target": "Tower Bridge"'
            )
            problems.append(Problem("configuration", message, file, None, alone[0]))
    if problems:
        raise InputError(problems)


def import_runs(plan: ImportPlan, sources: Sequence[IncomingFile]) -> None:
    """Check runs by all rules (METHOD 3) and keep their bytes as they are; nothing of a faulty run is stored."""
    by_name = {source.name: source for source in sources}
    read = read_runs(
        [file_part(source.path, source.name) for source in sources],
        task=plan.configuration.task,
        questions=plan.test_set(sources[0]),
        encoding=plan.options.encoding or "utf-8",
    )
    problems = read.faults(plan.options.lengths() if plan.options.lengths is not None else None, missing=False)
    if problems:
        raise InputError(problems)
    # Not those about the names of files, which change.
    plan.warnings += [warning for warning in read.warnings if warning.rule != "configuration"]
    for tag, name in read.files.items():
        _import_run(plan, by_name[name], tag)
        warn_of_missing(plan, by_name[name], tag, [gap.question or "" for gap in read.missing if gap.file == name])


def warn_of_missing(plan: ImportPlan, source: IncomingFile, tag: str, questions: Sequence[str]) -> None:
    """Say which questions a run leaves out: it is stored, and `--missing` decides when it is scored."""
    if questions:
        gaps = f"{plural(len(questions), 'question')} ({few(questions)})"
        message = f"run {tag} has no answer to {gaps}; scoring asks what they count"
        plan.warnings.append(Problem("missing-question", message, source.name, None, questions[0], ZERO_OR_SKIP))


def import_assignments(plan: ImportPlan, source: IncomingFile) -> None:
    """Import questions, runs, nuggets and judgments of TREC RAG 2024 in one step.

    Questions and runs of the evaluation stay: a run that was handed in with its citations says more than the text that
    was judged.
    """
    text = files.decode(files.read_bytes(source.path), file=source.name, encoding=plan.options.encoding or "utf-8")
    read = rag24.parse_assignments(text, file=source.name)
    check_types(read.questions, plan.configuration.task, source.name)
    new = merge(plan, read.questions, source, keep=not plan.options.replace)
    plan.report(source, f"{plural(len(read.questions), 'question')}, {new} of them new", count=new)
    runs = 0
    short = []
    for tag, rows in read.runs.items():
        if len(rows) < len(plan.test_set(source)):
            short.append(tag)
        old = plan.folder.files_of_run(tag)
        if old and not plan.options.replace:
            continue
        _keep(plan, tag, ".jsonl", jsonl.dump_rows(rows).encode())
        runs += 1
    plan.report(source, f"{plural(len(read.runs), 'run')}, {runs} of them new", count=runs)
    if short:
        message = f"{plural(len(short), 'run')} leave questions out ({few(short, 3)}); scoring asks what they count"
        plan.warnings.append(Problem("missing-question", message, source.name, way_out=ZERO_OR_SKIP))
    name = plan.options.set_name or "adjudicated"
    add_rows(plan, source, "nuggets", [(0, row) for row in read.nuggets], name=name)
    add_judgments(plan, source, [(0, row) for row in read.judgments], name)


def merge(plan: ImportPlan, questions: TestSet, source: IncomingFile, *, keep: bool = False) -> int:
    """Lay questions over those of the evaluation, and say how many are new or changed.

    With `keep`, the questions of the evaluation stay, and a difference is only reported.
    """
    merged = {question.id: question for question in plan.questions or ()}
    other = {question.id: question for question in questions if merged.get(question.id) != question}
    changed = [number for number in other if number in merged]
    new = {number: question for number, question in other.items() if not (keep and number in merged)}
    if changed and keep:
        message = f"{plural(len(changed), 'question')} read differently in the evaluation, and stay: {few(changed)}"
        plan.warnings.append(Problem("duplicate-question", message, source.name))
    elif changed and not plan.options.replace:
        differ = f"{plural(len(changed), 'question')} {'differs' if len(changed) == 1 else 'differ'}"
        message = f"{differ} from the evaluation's ({few(changed)})"
        raise InputError(Problem("duplicate-question", message, source.name, None, changed[0], (REPLACE,)))
    if new:
        lay_over(plan, new, source)
    return len(new)


def lay_over(plan: ImportPlan, new: Mapping[str, Question], source: IncomingFile) -> None:
    """Have questions stored, in place of those with their ids."""
    before = plan.questions
    merged = {question.id: question for question in before or ()}
    plan.questions = gather((merged | dict(new)).values(), file=source.name)
    plan.incoming.questions |= new
    plan.incoming.questions_file = questions_target(plan)
    _keep_labels(plan)
    if before is not None and plan.folder.runs() and len(plan.questions) > len(before):
        message = "adds questions that the runs in the evaluation do not answer; check with: qassay check FOLDER"
        plan.warnings.append(Problem("missing-question", message, source.name))


def questions_target(plan: ImportPlan) -> str:
    """The part that will contain the questions: JSON lines, whatever their form before."""
    existing = plan.folder.parts("questions.jsonl*")
    return existing[0].name if existing else QUESTIONS


def _keep_labels(plan: ImportPlan) -> None:
    """Make a judgment set of the labels in a file of questions that JSON lines replace: they would be lost with it."""
    old = [part.name for part in plan.folder.question_files() if part.name != questions_target(plan)]
    carried = plan.carried
    if old and carried is not None and carried.reference and "reference" not in plan.folder.judgment_sets():
        texts = list(map(line_of, reference_rows(carried)))
        batch = IncomingRows("judgments", "reference", judgment_file("reference"), texts, new=range(len(texts)))
        plan.incoming.batches.append(batch)
        if carried.two_way:
            _mark_two_way(plan, old[0], "reference")
        plan.carried = None


def _import_reference(plan: ImportPlan, source: IncomingFile, parsed: QuestionFile) -> None:
    """Keep the labels of a file of pairs as a judgment set."""
    name = plan.options.set_name or "reference"
    add_judgments(plan, source, [(0, row) for row in reference_rows(parsed)], name)
    three_way = "UNKNOWN" in plan.configuration.task.labels
    if not three_way or name in plan.configuration.two_way:
        return
    if parsed.two_way:
        _mark_two_way(plan, source.name, name)
    elif set(parsed.reference.values()) == {"YES", "NO"}:
        message = (
            f"its labels are YES and NO alone; if NO means 'not entailed', say so in {CONFIGURATION}:"
            f' two_way = ["{name}"]'
        )
        plan.warnings.append(Problem("configuration", message, source.name))


def _mark_two_way(plan: ImportPlan, file: str, name: str) -> None:
    """Say in `qassay.toml` that a set is two-way; where that cannot be done safely, ask the user to."""
    marked = with_two_way(plan.text(plan.folder.configuration), name)
    if marked is not None:
        plan.own_files[plan.folder.configuration] = marked
    else:
        message = f"its NO ENTAILMENT is a two-way NO; add {name!r} to two_way in {CONFIGURATION}"
        plan.warnings.append(Problem("configuration", message, file))


def _import_run(plan: ImportPlan, source: IncomingFile, tag: str) -> None:
    data = files.stored_bytes(source.path)
    content = files.read_bytes(source.path)
    if plan.options.encoding is not None:
        # Everything in an evaluation is UTF-8.
        data = content = files.decode(content, file=source.name, encoding=plan.options.encoding).encode()
    keep_run(plan, source, tag, data, content)


def keep_run(plan: ImportPlan, source: IncomingFile, tag: str, data: bytes, content: bytes) -> None:
    """Have a run written, unless the evaluation has it already; one that differs is replaced only with leave.

    `content` is what the bytes of the file contain, which may be compressed.
    """
    old = plan.folder.files_of_run(tag)
    if any(part.read() == content for part in old):
        plan.report(source, f"nothing new: run {tag} is there already")
        return
    if old and not plan.options.replace:
        message = f"the evaluation has another run {tag}; give this one a tag of its own"
        raise InputError(Problem("second-tag", message, source.name, way_out=(REPLACE,)))
    file = _keep(plan, tag, file_suffix(data), data)
    plan.report(source, f"run {tag} written to {file}", count=1, to=file)


def _keep(plan: ImportPlan, tag: str, suffix: str, data: bytes) -> str:
    """Have a run written, in place of the files that contain it; returns where."""
    file = run_file(tag, suffix)
    plan.refuse_long_name(file)
    plan.incoming.runs[tag] = part_of(file, data)
    return file
