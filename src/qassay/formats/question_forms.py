"""Questions written in the forms that tracks give out: TREC 2004's XML, topics of TREC 2003, TREC RAG topics.

    series_xml      <trecqa><target id text><qa><q id type>
    topics          <top> <num> <type> <desc>
    rag_topics      qid<TAB>text
    target_types    #PERSON Fred Durst

Each is read back as it was; what a form cannot express is an error with the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from qassay.errors import InputError, Problem, Problems
from qassay.formats.nist import TARGET_TYPE
from qassay.questions import Question, Series, TestSet

# Characters that XML 1.0 has no way to write.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Tags of topics: a text that has one would be cut there.
_TOPIC_TAG = re.compile(r"</?(?:top|num|type|desc|narr|title)>", re.IGNORECASE)
SERIES_TYPES = ("factoid", "list", "other")
TOPIC_TYPES = ("factoid", "list", "definition")


def series_xml(questions: TestSet, *, name: str, file: str) -> str:
    """The XML of TREC 2004; every question is in a series with a target."""
    problems = Problems()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<trecqa name={_attribute(name)}>"]
    for series in questions.series:
        lines.append(f"<target id={_attribute(series.id)} text={_attribute(_flat(series.target or ''))}>")
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
    lines = (f"#{kind} {_flat(target)}" for target, kind in known.items())
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


def _flat(text: str) -> str:
    return " ".join(text.split())
