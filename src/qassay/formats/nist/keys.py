"""Keys in NIST's forms: nugget lists, and the known answers of list questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from qassay.errors import InputError, Problem
from qassay.formats import lines
from qassay.formats.jsonl import Numbered
from qassay.formats.nist.writing import Writer

HEADING = re.compile(r"Qid[ \t]+([^ \t:]+)[ \t]*(?::|$)")
NUGGET = re.compile(r"([^ \t]+)[ \t]+([^ \t]+)[ \t]+(vital|okay)(?:[ \t]+(.*))?", re.DOTALL | re.IGNORECASE)
_LINE_ENDS = re.compile(r"[\r\n]+")
ANSWERS_HEADING = re.compile(r"#[ \t]+([^ \t]+)")


def parse_nuggets(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of nugget lists; a nugget under another question's heading is told of."""
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    heading: str | None = None
    seen: dict[tuple[str, str], int] = {}
    for number, line in lines.numbered(text):
        if found := HEADING.match(line):
            heading = found[1]
            continue
        match = NUGGET.fullmatch(line)
        if match is None or not match[4]:
            question = lines.fields(line, 1)[0]
            message = f"question {question}: a line is: qid nugget, a tab, vital or okay, a tab, text"
            problems.append(Problem("syntax", message, file, number, question))
            continue
        question, nugget = match[1], match[2]
        if (question, nugget) in seen:
            message = f"question {question} has two nuggets {nugget}; the first is on line {seen[question, nugget]}"
            problems.append(Problem("syntax", message, file, number, question))
        if heading is not None and question != heading and warnings is not None:
            message = f"a nugget of question {question} stands under the heading of question {heading}"
            warnings.append(Problem("syntax", message, file, number, question))
        seen.setdefault((question, nugget), number)
        row = {"question": question, "nugget": nugget, "vital": match[3].lower() == "vital", "text": match[4]}
        rows.append((number, row))
    if problems:
        raise InputError(problems)
    return rows


def format_nuggets(rows: Iterable[Mapping[str, Any]], titles: Mapping[str, str], *, file: str) -> str:
    """The text of nugget lists; `titles` holds what stands in the headings, by question."""
    writer = Writer(file)
    for number, (question, nuggets) in enumerate(_by_question(rows).items()):
        if number:
            writer.raw("\n")
        writer.check_fields(question, [question])
        writer.raw(f"Qid {question}: {_flat(titles.get(question, ''))}".rstrip())
        for row in nuggets:
            # The text is for people: it may lose its line ends and the blanks around it.
            text = _LINE_ENDS.sub(" ", row["text"] or "").strip(lines.BLANKS)
            writer.check(question, text)
            writer.check_fields(question, [row["nugget"]])
            writer.raw(f"{question} {row['nugget']}\t{'vital' if row['vital'] else 'okay'}\t{text}")
    return writer.text()


def parse_answers(text: str, *, file: str, warnings: list[Problem] | None = None) -> list[Numbered]:
    """Rows of known answers.

    An answer that stands twice is two answers that were written alike; the second becomes `Moscow (2)`, so that both
    count.
    """
    rows: list[Numbered] = []
    problems = lines.unprintable(text, file=file)
    question: str | None = None
    may_ask = False
    seen: set[tuple[str, str]] = set()
    for number, line in lines.numbered(text):
        if found := ANSWERS_HEADING.fullmatch(line):
            question, may_ask = found[1], True
            continue
        if question is None:
            message = "an answer before the first question; a question begins with a line: # qid"
            problems.append(Problem("syntax", message, file, number))
            continue
        if may_ask and line.startswith("Q:"):
            may_ask = False
            continue
        may_ask = False
        answer, count = line, 1
        while (question, answer) in seen:
            count += 1
            answer = f"{line} ({count})"
        seen.add((question, answer))
        rows.append((number, {"question": question, "answer": answer}))
    if problems:
        raise InputError(problems)
    return rows


def format_answers(rows: Iterable[Mapping[str, Any]], titles: Mapping[str, str], *, file: str) -> str:
    """The text of known answers; `titles` holds the questions' texts."""
    writer = Writer(file)
    for number, (question, answers) in enumerate(_by_question(rows).items()):
        if number:
            writer.raw("")
        writer.line(question, ["#", question])
        writer.raw(f"Q:{_flat(titles.get(question, ''))}".rstrip())
        for row in answers:
            answer = row["answer"]
            writer.check(question, answer)
            if ANSWERS_HEADING.fullmatch(answer):
                writer.fault(question, f"{answer!r} would be read as a heading; a NIST form cannot hold it")
            writer.raw(answer)
    return writer.text()


def _by_question(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(row["question"], []).append(row)
    return grouped


def _flat(text: str) -> str:
    """A title on one line."""
    return " ".join(text.split())
