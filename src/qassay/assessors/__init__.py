"""Automatic assessors: they write the same judgments as people, under their own name, and are examined like them.

    base        what an assessor is shown (a case), what it says (an opinion), and the rows that become of it
    words       texts cut into words, as all of them compare texts
    gold        the gold answers of a question, and the labels they give
    patterns    regular expressions for answers, with the documents that support them (patterns.txt), or written from
                people's judgments
    match       known and gold answers, compared exactly, after normalising, or as part of the answer
    transfer    the labels that people gave to equal and nearly equal answers
    learned     short and free answers by the words of the gold answer: `recall`, and a small model (features, logistic)
    word_lists  lists of words and shuffled words, which have the words of every answer and say nothing
    embeddings  sentence embeddings, whose cosines are used next to the words: `embedding`
    overlap     nuggets, by the words that a response shares with them
    own         functions, commands and plug-ins of other people
    llm         a language model behind any endpoint that speaks OpenAI's protocol (a package of its own)
    over_ray    any of them on the nodes of a Ray cluster
    reusing     leave a run out of the judgments, let an assessor judge it, compare
    judging     an assessor judges the pool of an evaluation, resumable, into a set of its own
    nuggets     nuggets, by what people decided on other questions or for other runs (part of `learned`)

Here they are opened by name: `overlap(threshold=0.5)`. Judgments carry a `trace` that says how they came about.
Everything in `agree`, `stability` and the rest applies to them unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from qassay.assessors.base import AutomaticAssessor, Case, Judging, Opinion
from qassay.assessors.embeddings import Embedder, embedder
from qassay.assessors.gold import RIGHT, WRONG, Gold, best_and_worst, known_answers, known_classes
from qassay.assessors.judging import JobResult, judge_on_server, plan_judging
from qassay.assessors.judging import judge as judge_evaluation
from qassay.assessors.learned import THRESHOLD as RECALL
from qassay.assessors.learned import Learned, Recall
from qassay.assessors.llm import language_model
from qassay.assessors.match import Match
from qassay.assessors.nuggets import LearnedNuggets, learned_nuggets
from qassay.assessors.overlap import NEAR, THRESHOLD, WINDOW, Overlap
from qassay.assessors.own import as_assessor, from_command, from_module
from qassay.assessors.patterns import Patterns, checked_patterns, written_patterns
from qassay.assessors.transfer import SIMILAR, Transfer
from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.formats import files
from qassay.formats.nist import parse_patterns
from qassay.judging import STRINGS, kind_of_type
from qassay.judging.items import pool_items
from qassay.judging.sets import JudgmentSet
from qassay.plugins import broken, load_plugin, plugins
from qassay.sources import need_evaluation
from qassay.spelling import Spelled, arguments, parse

if TYPE_CHECKING:
    from qassay.client import Client

_SPELLED = re.compile(r"[\w-]+\s*(?:\(.*)?", re.DOTALL)
_CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_SWITCHES = ("true", "false")

NAMES = {
    "patterns": "regular expressions of patterns.txt, with the documents that support them",
    "patterns(exact=true)": "the same, calling inexact what no pattern matches as a whole",
    "patterns(judged=adjudicated)": "patterns written from the answers that people judged right",
    "match": "the known answers of answers.jsonl, or gold answers of free-text questions, compared exactly",
    "match(normalise=true)": "the same without case, accents, articles and punctuation",
    "match(contains=true)": "the same; the answer may say more than the known answer",
    "match(judged=adjudicated)": "match that also knows the answers people judged right",
    "transfer(people=adjudicated)": "the labels that people gave to equal and nearly equal answers",
    "recall": "short and free answers by the share of the gold answer's words that they have",
    "recall(threshold=0.7)": "the same with another share from which an answer counts as right",
    "learned": "short and free answers by a small model; nuggets by what people decided on other questions",
    "learned(hits=true)": "the same; nuggets also by people's decisions on the same question for other runs",
    "embedding": "learned with sentence embeddings beside the words (wordllama; extra embed)",
    "embedding(model=PATH)": "the same with the ONNX sentence model in that folder",
    "overlap": "nuggets by the share of their words that a response has, enough of them close together",
    "overlap(threshold=0.5)": "the same with another share from which a nugget counts as found",
    "llm(model=gpt-4o-mini)": "a language model, through OpenAI or any endpoint that speaks its protocol",
}


def judge(
    evaluation: Evaluation,
    assessor: str | AutomaticAssessor | Callable[[Case], Any],
    *,
    set_name: str | None = None,
    again: bool = False,
    limit: float | None = None,
    workers: int | None = None,
    ray: bool | str = False,
    server: Client | None = None,
    progress: Callable[[int], None] | None = None,
) -> JobResult:
    """Let an assessor judge the pool of an evaluation, into a set of its own.

    `assessor` is a spelling such as "overlap(threshold=0.5)", an object with a name and a method `judge`, or a function
    that is called with each case and returns a label, a verdict or None. What the set has already is not judged again,
    unless `again`; a job that was interrupted goes on. `limit` is the most that a language model may cost. `workers`
    decisions of an assessor of your own are under way at once. `ray` is the address of a Ray cluster to judge on; True
    starts one on this machine. With `server`, a client of a served evaluation, the pool comes from there and the
    judgments go there.
    """
    need_evaluation(evaluation, "judge")
    if isinstance(assessor, str):
        assessor = open_assessor(assessor, evaluation, limit=limit, workers=workers)
    elif limit is not None:
        assessor = _within(assessor, limit)
    automatic = as_assessor(assessor, set_name or str(getattr(assessor, "__name__", "own")), workers)
    if ray:
        from qassay.assessors.over_ray import over_ray

        place = evaluation.folder.collection
        automatic = over_ray(automatic, "local" if ray is True else ray, collection=place, workers=workers)
    if server is not None:
        return judge_on_server(server, evaluation, automatic, set_name=set_name, again=again, progress=progress)
    return judge_evaluation(evaluation, automatic, set_name=set_name, again=again, progress=progress)


def open_assessor(
    text: str,
    evaluation: Evaluation,
    *,
    workers: int | None = None,
    timeout: float | None = None,
    limit: float | None = None,
) -> AutomaticAssessor:
    """The assessor that is spelled so: a built-in one, a plug-in, `module:callable` or a command."""
    opened = _opened(text.strip(), evaluation, workers, timeout)
    return opened if limit is None else _within(opened, limit)


def _within(assessor: Any, limit: float) -> AutomaticAssessor:
    """The assessor with a spending limit, where it spends anything."""
    if not hasattr(assessor, "within"):
        name = getattr(assessor, "name", getattr(assessor, "__name__", "this assessor"))
        raise UsageError(f"{name} costs nothing; a spending limit is for language models: llm(model=...)")
    limited: AutomaticAssessor = assessor.within(limit)
    return limited


def _opened(text: str, evaluation: Evaluation, workers: int | None, timeout: float | None) -> AutomaticAssessor:
    if _SPELLED.fullmatch(text) and _is_named(text.split("(")[0].strip()):
        parsed = parse(text, "assessor", example="match(normalise=true)")
        if parsed.name.lower() == "llm" and timeout is not None:
            parsed = replace(parsed, parameters={"timeout": f"{timeout}", **parsed.parameters})
        return _from_spelling(parsed, evaluation, workers)
    if _CALLABLE.fullmatch(text):
        return from_module(text, workers)
    command = from_command(text, evaluation.task, workers=workers, timeout=timeout)
    if command is None:
        raise unknown("assessor", text, [*NAMES, *plugins("assessor")])
    return command


def _from_spelling(parsed: Spelled, evaluation: Evaluation, workers: int | None) -> AutomaticAssessor:
    """A built-in assessor, or that of a plug-in, with its parameters."""
    name = parsed.name.lower()
    if name in _FACTORIES:
        parameters = {
            key: value.lower() if value.lower() in _SWITCHES else value for key, value in parsed.parameters.items()
        }
        factory = _FACTORIES[name]
        return factory(evaluation, **arguments(replace(parsed, name=name, parameters=parameters), factory))
    factory = load_plugin("assessor", parsed.name)
    if not callable(factory):
        raise broken("assessor", parsed.name, f"it is {type(factory).__name__}, which cannot be called")
    product = factory(evaluation, **arguments(parsed, factory))
    if not callable(product) and not callable(getattr(product, "judge", None)):
        raise broken("assessor", parsed.name, "what it makes is neither a function nor has a method judge")
    return as_assessor(product, str(parsed), workers)


def _is_named(name: str) -> bool:
    """Whether an assessor has this name: a built-in one, or a plug-in."""
    return name.lower() in _FACTORIES or name in plugins("assessor")


def _patterns(evaluation: Evaluation, *, exact: bool = False, judged: str | None = None) -> Patterns:
    if judged is not None:
        strings = _judged_strings(evaluation, _people(evaluation, "patterns", judged))
        best, worst = best_and_worst(evaluation.task) or (RIGHT, WRONG)
        written = written_patterns(strings, right=best, wrong=worst)
        rows = [pattern.as_row() for pattern in written]
        right = [row for row in strings if row["judgment"] == best]
        sources = frozenset((row["question"], row["doc"], row["text"]) for row in right)
        classes = known_classes(known_answers(evaluation), right)
        patterns = Patterns.from_rows(
            rows, evaluation.task, exact=exact, judged=judged, sources=sources, classes=classes
        )
        return replace(patterns, remarks=(checked_patterns(written, strings, right=best, wrong=worst),))
    path = evaluation.folder.patterns
    if not path.is_file():
        message = "there is no patterns.txt; add patterns with: qassay import FOLDER PATTERNS --as patterns"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    documents = {str(doc) for doc in evaluation.runs.table["doc"].drop_nulls().unique()}
    parsed = parse_patterns(files.read_text(path), file=evaluation.folder.name(path), documents=documents)
    classes = known_classes(known_answers(evaluation))
    return Patterns.from_rows((row for _, row in parsed), evaluation.task, exact=exact, classes=classes)


def _match(
    evaluation: Evaluation, *, normalise: bool = False, contains: bool = False, judged: str | None = None
) -> Match:
    rows = known_answers(evaluation)
    rows += [{"question": question.id, "answer": text} for question in evaluation.questions for text in question.gold]
    right = _judged_right(evaluation, judged) if judged else []
    if not rows and not right:
        raise _no_gold(evaluation)
    labels = best_and_worst(evaluation.task)
    return Match.from_rows(
        rows, normalise=normalise, contains=contains, judged=judged, judged_rows=right, labels=labels
    )


def _transfer(evaluation: Evaluation, *, people: str | None = None, similar: float = SIMILAR) -> Transfer:
    name = _people(evaluation, "transfer", people)
    return Transfer.from_rows(name, _judged_strings(evaluation, name), similar=_share("transfer", "similar", similar))


def _recall(evaluation: Evaluation, *, threshold: float = RECALL) -> Recall:
    return Recall(_gold(evaluation), _share("recall", "threshold", threshold))


def _learned(evaluation: Evaluation, *, people: str | None = None, hits: bool = False) -> Learned:
    return _learned_with(evaluation, people, None, hits=hits)


def _embedding(
    evaluation: Evaluation, *, model: str | None = None, people: str | None = None, hits: bool = False
) -> Learned:
    return _learned_with(evaluation, people, embedder(model), hits=hits)


def _learned_with(evaluation: Evaluation, people: str | None, embeddings: Embedder | None, *, hits: bool) -> Learned:
    gold = Gold.of(evaluation.questions, known_answers(evaluation), evaluation.task)
    learned = _learned_nuggets(evaluation, people, embeddings, hits=hits)
    if learned is None and not gold.answers:
        if evaluation.folder.nugget_lists():
            name = "learned" if embeddings is None else "embedding"
            message = f"{name} needs people's judgments of some nuggets; judge some, or use overlap, which needs none"
            raise InputError(Problem("configuration", message, evaluation.folder.name()))
        raise _no_gold(evaluation)
    return Learned(gold, learned, people, embeddings)


def _learned_nuggets(
    evaluation: Evaluation, people: str | None, embeddings: Embedder | None, *, hits: bool
) -> LearnedNuggets | None:
    """The model learned from people's judgments of nuggets; None where there are no nuggets or no such judgments."""
    if not evaluation.folder.nugget_lists() or (people is None and evaluation.default_key() is None):
        return None
    name = _people(evaluation, "learned", people)
    listed: dict[str, list[dict[str, Any]]] = {}
    for row in evaluation.nugget_list(name).iter_rows(named=True):
        listed.setdefault(row["question"], []).append(row)
    decisions = _nugget_decisions(evaluation.judgment_set(name), listed)
    if not decisions:
        return None
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    return learned_nuggets(items, listed, decisions, hits=hits, embedder=embeddings)


def _nugget_decisions(
    judged: JudgmentSet, listed: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[tuple[str, str, str], bool]:
    """Whether each judged response has each nugget, by question, run and nugget."""
    decisions = {
        (row["question"], row["run"], row["nugget"]): row["support"] == "full"
        for row in judged.kind("support").iter_rows(named=True)
    }
    for row in judged.kind("match").iter_rows(named=True):
        for nugget in listed.get(row["question"], ()):
            subject = (row["question"], row["run"], str(nugget["nugget"]))
            # A response may be judged item by item: a nugget that any of them has counts.
            decisions[subject] = decisions.get(subject, False) or str(nugget["nugget"]) in (row["nuggets"] or ())
    return decisions


def _overlap(
    evaluation: Evaluation,
    *,
    threshold: float = THRESHOLD,
    near: float = NEAR,
    window: int = WINDOW,
    partial: float | None = None,
) -> Overlap:
    _share("overlap", "threshold", threshold)
    if partial is not None and not 0 < partial < threshold:
        raise UsageError(f"overlap: partial is {partial:g}; it takes a share between 0 and the threshold")
    if near > 1 or not window:
        raise UsageError("overlap: near takes a share from 0 to 1, window a number of words from 1")
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    return Overlap.from_items(items, threshold=threshold, near=near, window=window, partial=partial)


def _share(assessor: str, name: str, value: float) -> float:
    if not 0 < value <= 1:
        raise UsageError(f"{assessor}: {name} is {value:g}; it takes a share above 0 and up to 1")
    return value


def _gold(evaluation: Evaluation) -> Gold:
    gold = Gold.of(evaluation.questions, known_answers(evaluation), evaluation.task)
    if not gold.answers:
        raise _no_gold(evaluation)
    return gold


def _no_gold(evaluation: Evaluation) -> InputError:
    kinds = [kind_of_type(type_, rules) for type_, rules in evaluation.task.types.items()]
    if not any(record.rows in STRINGS for record in kinds):
        nouns = " and ".join(dict.fromkeys(record.nouns[1] for record in kinds))
        message = f"this assessor compares short and free answers; here there are only {nouns} to judge"
        message += "; for nuggets: overlap, learned" if any(record.by_nuggets for record in kinds) else ""
        return InputError(Problem("configuration", message, evaluation.folder.name()))
    message = "there are no known answers to compare with; add answers.jsonl with: qassay import FOLDER ANSWERS"
    if evaluation.task.values:
        message = "the questions have no gold answers to compare with; import them in the key gold of the answers' file"
    return InputError(Problem("configuration", message, evaluation.folder.name()))


def _people(evaluation: Evaluation, assessor: str, set_name: str | None) -> str:
    """The set of people that an assessor learns from: the one named, or the default key."""
    name = set_name or evaluation.default_key()
    if name is None:
        raise UsageError(f"{assessor} needs judgments of people; name their set: {assessor}(people=SET)")
    if name not in evaluation.sets:
        raise unknown("judgment set", name, evaluation.sets)
    return name


def _judged_strings(evaluation: Evaluation, name: str) -> list[dict[str, Any]]:
    """The rows of a set that judge strings."""
    judged = evaluation.judgment_set(name)
    return [row for kind in STRINGS for row in judged.kind(kind).iter_rows(named=True)]


def _judged_right(evaluation: Evaluation, name: str) -> list[dict[str, Any]]:
    """The strings that a set calls right, in the form of known answers."""
    best = best_and_worst(evaluation.task)
    right = best[0] if best else RIGHT
    return [
        {"question": row["question"], "answer": row["text"], "doc": row["doc"], "class": row["answer"]}
        for row in _judged_strings(evaluation, _people(evaluation, "match", name))
        if row["judgment"] == right and row["text"] is not None
    ]


_FACTORIES: Final[Mapping[str, Callable[..., AutomaticAssessor]]] = {
    "patterns": _patterns,
    "match": _match,
    "transfer": _transfer,
    "recall": _recall,
    "learned": _learned,
    "embedding": _embedding,
    "overlap": _overlap,
    "llm": language_model,
}


__all__ = [
    "NAMES",
    "AutomaticAssessor",
    "Case",
    "Gold",
    "JobResult",
    "Judging",
    "Learned",
    "Match",
    "Opinion",
    "Overlap",
    "Patterns",
    "Recall",
    "Transfer",
    "judge",
    "judge_on_server",
    "open_assessor",
    "plan_judging",
    "written_patterns",
]
