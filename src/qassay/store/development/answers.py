"""Known answers: appended; the last row of a question, an answer and a document is the current one.

They come from question development, and from assessors who note one while judging. An answer that is withdrawn stays,
with the reason (METHOD 4). Only answers of a draft, which is in no test set, are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from qassay.errors import UsageError
from qassay.store.acts import Act
from qassay.store.schema import account as people
from qassay.store.schema import answer as table

LONGEST_ANSWER = 1_000
# Names in one query: databases have a limit.
MANY = 5_000
# Answers that one assessor may add to a question while judging.
MOST_NOTED = 100


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """A current answer: its string, the document that supports it, and why it was withdrawn, where it was.

    A `noted` one was added by an assessor while judging, and counts only under that assessor's judgments.
    """

    question: str
    answer: str
    doc: str | None = None
    withdrawn: bool = False
    reason: str | None = None
    noted: bool = False


def known_answers(connection: Connection, questions: Sequence[str]) -> dict[str, list[KnownAnswer]]:
    """The answers of some questions, withdrawn ones included, in the order in which they were first noted."""
    by_question: dict[str, dict[tuple[str, str | None], KnownAnswer]] = {}
    for part in in_parts(questions):
        rows = select(table.c.question, table.c.body).where(table.c.question.in_(part)).order_by(table.c.id)
        for question, body in connection.execute(rows):
            answer = _read(question, body)
            earlier = by_question.setdefault(question, {}).get((answer.answer, answer.doc))
            if earlier is None or earlier.noted or not answer.noted:
                by_question[question][answer.answer, answer.doc] = answer
    return {question: list(answers.values()) for question, answers in by_question.items()}


def developed_answers(connection: Connection, question: str, account: int | None) -> list[str]:
    """Answers that an assessor is shown, each with every document that has it (`answers_with_documents`)."""
    return [answer for answer, _ in answers_with_documents(connection, question, account)]


def answers_with_documents(connection: Connection, question: str, account: int | None) -> list[tuple[str, str | None]]:
    """Answers known from question development that are not withdrawn, with their documents.

    Answers that another assessor added while judging are left out: they would reveal what that person judged.
    """
    c = table.c
    rows = connection.execute(select(c.body, c.account).where(c.question == question).order_by(c.id)).all()
    # An answer that came from a file names its assessor, and has no account.
    name = connection.execute(select(people.c.name).where(people.c.id == account)).scalar()
    last: dict[tuple[str, Any], bool] = {}
    for row in rows:
        body = msgspec.json.decode(row.body)
        is_own = row.account == account if row.account is not None else body.get("assessor") == name
        if "assessor" in body and not is_own:
            continue
        last[str(body["answer"]), body.get("doc")] = not body.get("withdrawn")
    return [place for place, is_known in last.items() if is_known]


def add_answer(act: Act, question: str, answer: str, doc: str | None) -> None:
    """Add an answer, or accept one that an assessor noted; one that was withdrawn becomes current again."""
    answer = _spelled(answer)
    current = _current(act.connection, question, answer, doc)
    if current is not None and not current.withdrawn and not current.noted:
        raise UsageError(f"question {question} has this answer, with this document, already")
    again = None if current is None or current.noted else False
    if current is not None and current.noted:
        act.note("accept-answer", question=question, answer=answer, doc=doc)
    _append(act, {"question": question, "answer": answer, "doc": doc, "withdrawn": again})


def note_answer(act: Act, question: str, answer: str, doc: str | None) -> None:
    """Add an answer that an assessor came upon while judging; an answer that was withdrawn stays so.

    It counts under this assessor's judgments alone, until an organiser accepts it. Of one question an assessor adds at
    most MOST_NOTED.

    Nobody is shown, or can find out by trying, what another assessor noted: each has their own row.
    """
    answer = _spelled(answer)
    query = select(table.c.body, table.c.account).where(table.c.question == question).order_by(table.c.id)
    rows = [(msgspec.json.decode(body), whose) for body, whose in act.connection.execute(query)]
    same = [(row, whose) for row, whose in rows if (str(row["answer"]), row.get("doc")) == (answer, doc)]
    if same and same[-1][0].get("withdrawn"):
        return
    if any("assessor" not in row or whose == act.account for row, whose in same):
        return
    if sum(whose == act.account and "assessor" in row for row, whose in rows) >= MOST_NOTED:
        raise UsageError(f"you have added {MOST_NOTED} answers to this question, which is the limit; ask the organiser")
    _append(act, {"question": question, "answer": answer, "doc": doc, "assessor": act.name})


def withdraw_answer(act: Act, question: str, answer: str, doc: str | None, *, reason: str) -> None:
    """Withdraw an answer with a reason; recorded."""
    current = _current(act.connection, question, answer, doc)
    if current is None or current.withdrawn:
        raise UsageError(f"question {question} has no such answer; look at the page again")
    if not reason.strip():
        raise UsageError("say why the answer is withdrawn: the reason is kept with it")
    row = {"question": question, "answer": answer, "doc": doc, "withdrawn": True, "reason": reason.strip()}
    _append(act, row)
    details = {"answer": answer, "doc": doc, "why": reason}
    act.note("withdraw-answer", question=question, **details)


def forget_answer(connection: Connection, question: str, answer: str, doc: str | None) -> None:
    """Remove an answer of a draft."""
    rows = connection.execute(select(table.c.id, table.c.body).where(table.c.question == question))
    for number, body in rows.all():
        stored = _read(question, body)
        if (stored.answer, stored.doc) == (answer, doc):
            connection.execute(delete(table).where(table.c.id == number))


def forget_answers(connection: Connection, question: str) -> None:
    """Remove all answers of a question that is removed itself."""
    connection.execute(delete(table).where(table.c.question == question))


def rename_answers(connection: Connection, old: str, new: str) -> None:
    """Let the answers of a draft follow it to the id that it is published under."""
    rows = connection.execute(select(table.c.id, table.c.body).where(table.c.question == old)).all()
    for number, body in rows:
        text = _text({**msgspec.json.decode(body), "question": new})
        connection.execute(update(table).where(table.c.id == number).values(question=new, body=text))


def in_parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Names in parts, each of which fits into one query."""
    return (names[start : start + MANY] for start in range(0, len(names), MANY))


def _spelled(answer: str) -> str:
    """An answer as it is kept, with single blanks."""
    spelled = " ".join(answer.split())
    if not 1 <= len(spelled) <= LONGEST_ANSWER:
        raise UsageError(f"an answer has 1 to {LONGEST_ANSWER} characters")
    return spelled


def _current(connection: Connection, question: str, answer: str, doc: str | None) -> KnownAnswer | None:
    answers = known_answers(connection, [question]).get(question, ())
    return next((same for same in answers if (same.answer, same.doc) == (answer, doc)), None)


def _append(act: Act, row: dict[str, Any]) -> None:
    body = _text({name: value for name, value in row.items() if value is not None})
    values = {"question": row["question"], "body": body, "account": act.account, "at": act.at}
    act.connection.execute(insert(table).values(**values))


def _read(question: str, body: str) -> KnownAnswer:
    row = msgspec.json.decode(body)
    doc = None if row.get("doc") is None else str(row["doc"])
    noted = row.get("assessor") is not None
    return KnownAnswer(question, str(row.get("answer")), doc, bool(row.get("withdrawn")), row.get("reason"), noted)


def _text(row: dict[str, Any]) -> str:
    return msgspec.json.encode(row).decode()
