"""Questions in plain text: TREC topics of 1999 to 2003, and the topics of TREC RAG. (FORMATS 2)"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from qassay.errors import InputError, Problem
from qassay.formats import lines
from qassay.questions import TYPES, Question

# A question with the line it begins on.
NumberedQuestion = tuple[int, Question]

_TAG = re.compile(r"<(/?)(top|num|type|desc|narr|title)>", re.IGNORECASE)
_LABEL = re.compile(r"\A\s*(?:number|type|description|narrative|title)\s*:", re.IGNORECASE)
_WANTED = {"num": "<num>", "desc": "<desc>"}


@dataclass
class _Topic:
    line: int
    fields: dict[str, str] = field(default_factory=dict)


def trec_topics(text: str, *, default_type: str, file: str) -> list[NumberedQuestion]:
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


def rag_topics(text: str, *, default_type: str, file: str) -> list[NumberedQuestion]:
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
    reader = _Reader(lines.line_finder(text), file, problems)
    end = 0
    for tag in _TAG.finditer(text):
        reader.text(text[end : tag.start()], end)
        reader.tag(tag[2].lower(), tag.start(), closing=bool(tag[1]))
        end = tag.end()
    reader.text(text[end:], end)
    reader.finish(len(text))
    return reader.topics


@dataclass
class _Reader:
    """Where the reading of topics stands: in which topic, and in which of its fields."""

    line: Callable[[int], int]
    file: str
    problems: list[Problem]
    topics: list[_Topic] = field(default_factory=list)
    topic: _Topic | None = None
    open_field: str | None = None

    def text(self, between: str, position: int) -> None:
        """Take the text between two tags."""
        if self.topic is not None and self.open_field is not None:
            self.topic.fields.setdefault(self.open_field, _LABEL.sub("", between, count=1).strip())
        elif between.strip():
            first = position + len(between) - len(between.lstrip())
            self._fault("there is text outside the fields of a topic", first)

    def tag(self, name: str, position: int, *, closing: bool) -> None:
        """Begin or end a topic, or a field of it."""
        self.open_field = None
        if name == "top" and closing:
            if self.topic is None:
                self._fault("</top> without <top>", position)
            self.topic = None
        elif name == "top":
            self.finish(position)
            self.topic = _Topic(self.line(position))
            self.topics.append(self.topic)
        elif not closing:
            self.open_field = name
            if self.topic is None:
                self._fault(f"<{name}> stands outside <top> and </top>", position)

    def finish(self, position: int) -> None:
        """Note a topic that is still open."""
        if self.topic is not None:
            self._fault(f"the topic of line {self.topic.line} is not closed by </top>", position)

    def _fault(self, message: str, position: int) -> None:
        self.problems.append(Problem("syntax", message, self.file, self.line(position)))
