"""An evaluation in the forms of TREC and NIST: judgments, nuggets and answers as `nist` writes them, and questions.

Questions are written in the form that their track gave them out:

    series_xml      TREC 2004   <trecqa><target id text><qa><q id type>
    topics          TREC 2003   <top> <num> <type> <desc>
    rag_topics      TREC RAG    qid<TAB>text
    target_types                #PERSON Fred Durst

Each is read back as it was; what a form cannot express is an error with the question, or a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from qassay.display import one_line
from qassay.errors import InputError, Problem, Problems
from qassay.formats import nist
from qassay.formats.folder import Configuration, Folder
from qassay.formats.judgments import read_answers, read_judgments, read_nuggets
from qassay.formats.names import file_name
from qassay.formats.nist import TARGET_TYPE
from qassay.formats.runs import read_runs
from qassay.judging import ROW_KINDS
from qassay.judging.keys import Key, no_answers, no_nuggets
from qassay.judging.sets import JudgmentSet
from qassay.questions import Question, Series, TestSet

# The responses of runs, as (document, string), by question and run.
Items = Mapping[tuple[str, str], list[tuple[str | None, str]]]
# Characters that XML 1.0 has no way to write.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Tags of topics: a text that has one would be cut there.
_TOPIC_TAG = re.compile(r"</?(?:top|num|type|desc|narr|title)>", re.IGNORECASE)
SERIES_TYPES = ("factoid", "list", "other")
TOPIC_TYPES = ("factoid", "list", "definition")


@dataclass
class NistFiles:
    """Texts by file name, what NIST's forms leave out, and the strings they cannot express."""

    texts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def add(self, name: str, form: Callable[..., str], *content: object) -> None:
        """Add a file that is not empty."""
        try:
            text = form(*content, file=name)
        except InputError as error:
            self.problems += error.problems
            return
        if text:
            self.texts[name] = text


def nist_files(folder: Folder, configuration: Configuration, questions: TestSet) -> NistFiles:
    """All that NIST's forms can say of an evaluation; an error where a string does not fit on a line."""
    forms = NistFiles()
    titles = {question.id: question.text or question.target or "" for question in questions}
    answers = no_answers() if folder.answers is None else read_answers(folder.answers, questions)
    sets = {
        name: read_judgments(part, name, questions, configuration.task) for name, part in folder.judgment_sets().items()
    }
    matched = any(judged.kind("match").height for judged in sets.values())
    items = _items(folder, configuration, questions) if matched else {}
    for name, judged in (sets or {"": JudgmentSet("", {})}).items():
        if name:
            _add_judgments(forms, file_name(name), judged, items)
        # The answers that list questions are scored against: those of development, and what the runs added. In JSON
        # lines the second part is derived. NIST's form of list judgments does not name them, so here they are listed.
        known = Key(judged, no_nuggets(), answers).answer_classes().to_dicts()
        forms.add(f"{file_name(name)}-answers.txt" if name else "answers.txt", nist.format_answers, known, titles)
    for name, part in folder.nugget_lists().items():
        table = read_nuggets(part, questions)
        forms.add(f"{file_name(name)}-nuggets.txt", nist.format_nuggets, table.to_dicts(), titles)
        forms.add(f"{file_name(name)}-weights.txt", nist.format_weights, table.to_dicts())
    _add_questions(forms, configuration.name, questions)
    if forms.problems:
        raise InputError(forms.problems)
    return forms


def _add_questions(forms: NistFiles, name: str, questions: TestSet) -> None:
    """The questions in the form of their track, and the types of their targets."""
    form = form_of(questions)
    if form == "series":
        forms.add("questions.xml", lambda file: series_xml(questions, name=name, file=file))
    elif form == "topics":
        forms.add("topics.txt", lambda file: topics(questions, file=file))
    elif form == "rag":
        forms.add("topics.tsv", lambda file: rag_topics(questions, file=file))
    else:
        forms.notes.append("The questions are in questions.jsonl alone: TREC has no form for them as they are.")
    forms.add("target-types.txt", lambda file: target_types(questions))


def _add_judgments(forms: NistFiles, name: str, judged: JudgmentSet, items: Items) -> None:
    factoid = judged.kind("item")
    placed = factoid.filter(pl.col("text").is_null()).height
    if placed:
        forms.notes.append(f"{name}: {placed:,} judged extracts are left out; NIST's form has strings.")
    forms.add(f"{name}-factoid.txt", nist.format_factoid, factoid.filter(pl.col("text").is_not_null()).to_dicts())
    forms.add(f"{name}-list.txt", nist.format_list, judged.kind("list").to_dicts())
    matches = judged.kind("match")
    forms.add(f"{name}-other.txt", nist.format_other, matches.to_dicts(), items)
    if matches.filter(pl.col("item").is_null() & (pl.col("nuggets").list.len() > 0)).height:
        forms.notes.append(f"{name}: nuggets matched in a response as a whole are written with its first item.")
    for kind, record in ROW_KINDS.items():
        count = judged.kind(kind).height
        if count and kind not in ("item", "list", "match"):
            forms.notes.append(f"{name}: {count:,} {record.nouns[1]} are left out; NIST has no form for them.")


def _items(folder: Folder, configuration: Configuration, questions: TestSet) -> Items:
    """The items of the runs' responses to questions with nuggets."""
    read = read_runs(folder.runs(), task=configuration.task, questions=questions)
    if read.problems:
        raise InputError(read.problems)
    items: dict[tuple[str, str], list[tuple[str | None, str]]] = {}
    if not read.runs.table.height or "text" not in read.runs.table.columns:
        return items
    rows = read.runs.table.filter(pl.col("text").is_not_null()).sort("run", "question", "rank", maintain_order=True)
    for run, question, doc, text in rows.select("run", "question", "doc", "text").iter_rows():
        items.setdefault((question, run), []).append((doc, text))
    return items


# ---- questions ------------------------------------------------------------------------------------------------------


def series_xml(questions: TestSet, *, name: str, file: str) -> str:
    """The XML of TREC 2004; every question is in a series with a target."""
    problems = Problems()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<trecqa name={_attribute(name)}>"]
    for series in questions.series:
        lines.append(f"<target id={_attribute(series.id)} text={_attribute(one_line(series.target or ''))}>")
        for question in series.questions:
            written = escape(question.text, {"\r": "&#13;"})
            kind = question.type.upper()
            lines.append(f'<qa><q id={_attribute(question.id)} type="{kind}">{written}</q></qa>')
            problems += _xml_faults(series, question, file)
        lines.append("</target>")
    if problems:
        raise InputError(problems)
    return "\n".join([*lines, "</trecqa>", ""])


def topics(questions: Iterable[Question], *, file: str) -> str:
    """The topics of TREC 2003, with the type of each question."""
    parts, problems = [], Problems()
    for question in questions:
        if re.search(r"\s", question.id) or _TOPIC_TAG.search(question.text) or not question.text:
            message = f"question {question.id}: its id or text cannot be written as a topic"
            problems.append(Problem("syntax", message, file, None, question.id))
        number, kind = f"<num> Number: {question.id}", f"<type> Type: {question.type}"
        parts.append(f"<top>\n\n{number}\n\n{kind}\n\n<desc> Description:\n{question.text}\n\n</top>\n")
    if problems:
        raise InputError(problems)
    return "\n".join(parts)


def rag_topics(questions: Iterable[Question], *, file: str) -> str:
    """The topics of TREC RAG, a line each."""
    lines, problems = [], Problems()
    for question in questions:
        if re.search(r"[\t\r\n]", question.id + question.text):
            message = f"question {question.id}: its id or text has a tab or a line end, which this form cannot express"
            problems.append(Problem("syntax", message, file, None, question.id))
        lines.append(f"{question.id}\t{question.text}\n")
    if problems:
        raise InputError(problems)
    return "".join(lines)


def target_types(questions: TestSet) -> str:
    """The types of targets, a line each; those that the form cannot express are absent."""
    known = {
        question.target: question.target_type
        for question in questions
        if question.target is not None and question.target_type is not None
    }
    lines = (f"#{kind} {one_line(target)}" for target, kind in known.items())
    return "".join(f"{line}\n" for line in lines if TARGET_TYPE.fullmatch(line))


def form_of(questions: TestSet) -> str | None:
    """The form that can express these questions: series, topics or rag; None for pairs and free text."""
    types = set(questions.types)
    if types <= set(SERIES_TYPES) and all(question.series is not None for question in questions):
        return "series" if all(series.target for series in questions.series) else None
    alone = all(question.series is None for question in questions)
    if alone and types <= set(TOPIC_TYPES):
        return "topics"
    return "rag" if alone and types == {"other"} else None


def _xml_faults(series: Series, question: Question, file: str) -> list[Problem]:
    texts = (question.id, question.text, series.id, series.target or "")
    if not any(_NOT_XML.search(text) for text in texts):
        return []
    message = f"question {question.id}: a control character in its text or target cannot be written as XML"
    return [Problem("syntax", message, file, None, question.id)]


def _attribute(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
