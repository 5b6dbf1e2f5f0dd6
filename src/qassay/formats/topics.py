"""Questions in plain text: TREC topics of 1999 to 2003, and the topics of TREC RAG. (FORMATS 2)"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from qassay.errors import InputError, Problem
from qassay.formats import lines
from qassay.questions import TYPES, Question

# A question with the line it begins on.
Numbered = tuple[int, Question]

_TAG = re.compile(r"<(/?)(top|num|type|desc|narr|title)>", re.IGNORECASE)
_LABEL = re.compile(r"\A\s*(?:number|type|description|narrative|title)\s*:", re.IGNORECASE)
_WANTED = {"num": "<num>", "desc": "<desc>"}


@dataclass
class _Topic:
    line: int
    fields: dict[str, str] = field(default_factory=dict)


def trec_topics(text: str, *, default_type: str, file: str) -> list[Numbered]:
    """The `<top>` topics of a text; before 2003 they had no `<type>`, and get the default."""
    problems = lines.unprintable(text, file=file)
    questions = []
    for topic in _topics(text.replace("\r\n", "\n"), file, problems):
        number = topic.fields.get("num", "")
        kind = topic.fields.get("type", default_type).lower()
        missing = [tag for name, tag in _WANTED.items() if not topic.fields.get(name)]
        if missing:
            message = f"this topic has no {' and no '.join(missing)}"
            problems.append(Problem("syntax", message, file, topic.line, number or None))
        elif re.search(r"\s", number):
            message = f"the number of this topic is {number!r}; a number holds no white space"
            problems.append(Problem("syntax", message, file, topic.line))
        elif kind not in TYPES:
            message = f"type {kind!r}; the types are {', '.join(TYPES)}"
            problems.append(Problem("syntax", message, file, topic.line, number))
        else:
            questions.append((topic.line, Question(number, kind, topic.fields["desc"])))
    if problems:
        raise InputError(problems)
    return questions


def rag_topics(text: str, *, default_type: str, file: str) -> list[Numbered]:
    """The `qid<TAB>text` topics of a text."""
    problems = lines.unprintable(text, file=file)
    questions = []
    for number, line in lines.numbered(text):
        identifier, tab, question = line.partition("\t")
        if not tab:
            message = "not a question: this line has no tab between id and text"
            problems.append(Problem("syntax", message, file, number))
        questions.append((number, Question(identifier.strip(), default_type, question.strip())))
    if problems:
        raise InputError(problems)
    return questions


def _topics(text: str, file: str, problems: list[Problem]) -> list[_Topic]:
    """Cut the text at its tags. Closing tags of fields are as good as none, as SGML has it."""
    starts = [match.end() for match in re.finditer("\n", text)]
    topics: list[_Topic] = []
    topic: _Topic | None = None
    tag: str | None = None
    end = 0

    def line(position: int) -> int:
        return 1 + bisect_right(starts, position)

    def fault(message: str, position: int) -> None:
        problems.append(Problem("syntax", message, file, line(position)))

    for match in [*_TAG.finditer(text), None]:
        between = text[end : match.start() if match else len(text)]
        if topic is not None and tag is not None:
            topic.fields.setdefault(tag, _LABEL.sub("", between, count=1).strip())
        elif between.strip():
            fault("there is text outside the fields of a topic", end + len(between) - len(between.lstrip()))
        if match is None:
            break
        closing, name = match[1], match[2].lower()
        end, tag = match.end(), None
        if name != "top" and not closing:
            tag = name
            if topic is None:
                fault(f"<{name}> stands outside <top> and </top>", match.start())
        elif name == "top" and not closing:
            if topic is not None:
                fault(f"the topic of line {topic.line} is not closed by </top>", match.start())
            topic = _Topic(line(match.start()))
            topics.append(topic)
        elif name == "top":
            if topic is None:
                fault("</top> without <top>", match.start())
            topic = None
    if topic is not None:
        fault(f"the topic of line {topic.line} is not closed by </top>", len(text))
    return topics
