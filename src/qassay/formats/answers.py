"""Answers in people's own tables: which key is the question, the answer, the gold answers, and what the rows say.

The names that are known are those of FORMATS 7; `--map answer=prediction` names another key. Where two keys could be
the same field the user decides: in many files `answer` is the right answer and `prediction` the system's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from qassay.errors import InputError, Problem, Problems, Remedy, UsageError, few, unknown
from qassay.formats import fields
from qassay.formats.fields import plain_name
from qassay.formats.tables.json_rows import spelled
from qassay.formats.tables.table import Numbered, RawTable

# Where a table has both, a run is a system under a tag of its own.
_RUN = ("run", *(name for name in fields.SYSTEM if name != "run"))
# What the keys of a file may be called, by what they contain; compared as `plain_name` gives them.
ANSWER_KEYS: Mapping[str, tuple[str, ...]] = {
    "id": fields.QUESTION_ID,
    "question": fields.QUESTION,
    "answer": fields.ANSWER,
    "gold": fields.GOLD,
    "contexts": fields.CONTEXTS,
    "system": _RUN,
}
JUDGMENT_KEYS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "frage", *fields.QUESTION_ID),
    "run": _RUN,
    "judgment": fields.JUDGMENT,
    "text": ("text", *fields.ANSWER),
    "assessor": fields.ASSESSOR,
}
# Of these the first that the file has is used: the others often come with it and mean something else.
_IN_ORDER = {"system", "run", "assessor", "text"}
# What `--map` calls the fields of both kinds of table.
MAPPED = tuple(dict.fromkeys((*ANSWER_KEYS, *JUDGMENT_KEYS)))


@dataclass(frozen=True, slots=True)
class Keys:
    """Which key of a file contains what, and the keys that were not used."""

    of: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    def in_words(self) -> str:
        """The keys whose names differ from what they contain, for a message.

        >>> Keys({"question": "query", "answer": "answer"}).in_words()
        'question from query'
        """
        return ", ".join(f"{name} from {key}" for name, key in self.of.items() if name != key)

    def without(self, name: str) -> Keys:
        """The same where this is known from elsewhere: its key is left out.

        >>> Keys({"question": "query", "system": "model"}).without("system")
        Keys(of={'question': 'query'}, left_out=('model',))
        """
        if name not in self.of:
            return self
        return Keys({n: key for n, key in self.of.items() if n != name}, (*self.left_out, self.of[name]))


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The content of one row: a system's answer to a question, or only the question where it has no answer.

    Without a key for it, the text of the question is empty: the id says which one it is.
    """

    number: int
    id: str | None
    question: str
    system: str | None = None
    text: str | None = None
    gold: tuple[str, ...] = ()
    contexts: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class AnswerTable:
    """The answers of one file."""

    records: RawTable
    keys: Keys
    rows: Sequence[GivenAnswer] = field(default_factory=list)

    @property
    def systems(self) -> list[str]:
        """The systems that the rows name, in order."""
        return list(dict.fromkeys(row.system for row in self.rows if row.system is not None))

    @property
    def has_ids(self) -> bool:
        """Whether the rows have ids of questions."""
        return "id" in self.keys.of

    @property
    def has_texts(self) -> bool:
        """Whether the rows have the texts of questions."""
        return "question" in self.keys.of

    @property
    def answered(self) -> bool:
        """Whether the file contains answers; else it contains questions alone."""
        return "answer" in self.keys.of


def parse_map(texts: Iterable[str]) -> dict[str, str]:
    """The option `--map`: the key of the file by what it contains; FILE: in front of them limits keys to one file.

    >>> parse_map(["answer=prediction,gold=answer", "old.csv:answer=said"])
    {'answer': 'prediction', 'gold': 'answer', 'old.csv:answer': 'said'}
    """
    keys = {}
    for text in texts:
        file, colon, _ = text.partition("=")[0].rpartition(":")
        for name, key in parse_pairs([text.removeprefix(file + colon)], "--map", "answer=prediction"):
            if name not in MAPPED:
                raise unknown("name in --map", name, MAPPED)
            keys[file + colon + name] = key
    return dict(sorted(keys.items(), key=lambda pair: ":" in pair[0]))


def keys_for(mapped: Mapping[str, str], file: str) -> dict[str, str]:
    """The mapped keys of one file: those of all files, and then its own.

    >>> keys_for({"answer": "a", "gold": "g", "old.csv:answer": "said"}, "runs/old.csv")
    {'answer': 'said', 'gold': 'g'}
    """
    split = ((*name.rpartition(":")[::2], key) for name, key in mapped.items())
    return {name: key for of, name, key in split if of in ("", file, PurePath(file).name)}


def refuse_other_files(mapped: Mapping[str, str], files: Iterable[str]) -> None:
    """Stop where keys are mapped for a file that is not among these."""
    names = list(files)
    others = {name.rpartition(":")[0] for name in mapped} - {"", *names, *(PurePath(name).name for name in names)}
    if others:
        raise UsageError(f"--map names the file {few(sorted(others))}, and the files are {few(names)}")


def parse_pairs(
    texts: Iterable[str], option: str, example: str, *, may_be_empty: bool = False
) -> list[tuple[str, str]]:
    """The pairs of an option that takes NAME=VALUE, several of them separated by commas; `may_be_empty`: a value."""
    pairs = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not (value.strip() or may_be_empty):
            raise UsageError(f"{option} takes pairs such as {example}; {part!r} is none")
        pairs.append((name.strip(), value.strip()))
    return pairs


def find_keys(
    columns: Sequence[str], known: Mapping[str, tuple[str, ...]], mapped: Mapping[str, str], *, file: str
) -> Keys:
    """The column of each field: as mapped, else by its usual names; an error where two columns fit one field."""
    mapped = {name: key for name, key in mapped.items() if name in known}
    for name, key in mapped.items():
        if key not in columns:
            message = f"has no key {key!r}, which --map gives as the {name}; its keys are {few(columns, 12)}"
            raise InputError(Problem("syntax", message, file))
    free = [column for column in columns if column not in mapped.values()]
    chosen = dict(mapped)
    problems = Problems()
    for name, names in known.items():
        if name in mapped:
            continue
        plain_names = [plain_name(each) for each in names]
        fits = sorted(
            (column for column in free if plain_name(column) in plain_names),
            key=lambda c: plain_names.index(plain_name(c)),
        )
        if len(fits) > 1 and name not in _IN_ORDER:
            problems.append(_ambiguous(name, fits, file))
        if fits:
            chosen[name] = fits[0]
            free.remove(fits[0])
    if problems:
        raise InputError(problems)
    return Keys({name: chosen[name] for name in known if name in chosen}, tuple(free))


def _ambiguous(name: str, fits: Sequence[str], file: str) -> Problem:
    ways = [Remedy("map", f"{name}={fits[-1]}", "To say which")]
    ways += [Remedy("map", f"gold={fits[0]}", f"and where {fits[0]!r} is the right answer")] if name == "answer" else []
    message = f"{' and '.join(map(repr, fits))} could both be the {name}"
    return Problem("syntax", message, file, way_out=tuple(ways))


def kind_of_columns(
    columns: Collection[str],
    row: Mapping[str, Any],
    questions: Container[str],
    mapped: Mapping[str, str],
    *,
    free_text: bool = False,
) -> str | None:
    """The kind of a table of rows with these keys: `responses`, `judgments`, or None; `row` is one of its rows.

    A file of answers may also carry labels. It is one of judgments where its questions are ids that are known; and a
    file with labels alone is one where these are known, or where it names runs or answers. Where the task takes answers
    in `free_text`, an id and an answer are enough.
    """
    back = {key: name for name, key in mapped.items()}
    names = {back.get(column, plain_name(column)) for column in columns}

    def has(known: Mapping[str, tuple[str, ...]], name: str) -> bool:
        return any(plain_name(each) in names for each in (name, *known[name]))

    has_question, has_label = has(ANSWER_KEYS, "question"), has(JUDGMENT_KEYS, "judgment")
    has_answer = has(ANSWER_KEYS, "answer") or has(ANSWER_KEYS, "gold")
    if has_label and has(JUDGMENT_KEYS, "question"):
        plain = {back.get(key, plain_name(key)): str(value) for key, value in row.items()}
        first = next((plain[key] for key in JUDGMENT_KEYS["question"] if key in plain), "")
        names_subject = "judgment" in names or (has(JUDGMENT_KEYS, "run") or has(JUDGMENT_KEYS, "text"))
        if first in questions or (names_subject and ("judgment" in names or not (has_question and has_answer))):
            return "judgments"
    if free_text and not has_question and "type" not in names:
        return "responses" if has(ANSWER_KEYS, "id") and has(ANSWER_KEYS, "answer") else None
    if "run" in names and not has(ANSWER_KEYS, "answer"):
        return None
    return "responses" if has_question and has_answer else None


def read_answers(records: RawTable, mapped: Mapping[str, str]) -> AnswerTable:
    """The answers of a table, or everything that is wrong with it."""
    columns, numbered = records.names(), records.rows()
    if not numbered:
        raise InputError(Problem("syntax", "there is nothing in it", records.file))
    keys = find_keys(columns, ANSWER_KEYS, _with_listed_gold(numbered, columns, mapped), file=records.file)
    by_id = {"id", "answer"} <= keys.of.keys()
    lacking = "question" if "question" not in keys.of and not by_id else "answer"
    if lacking not in keys.of and not (lacking == "answer" and "gold" in keys.of):
        names = ", ".join(ANSWER_KEYS[lacking])
        message = f"no key is known as the {lacking}: it has {few(columns, 12)}; known names are {names}"
        ways = (Remedy("map", f"{lacking}=KEY", "To name another key"),)
        raise InputError(Problem("syntax", message, records.file, way_out=ways))
    problems = Problems()
    rows = []
    for number, row in numbered:
        faults: list[str] = []
        answer = _answer(number, without_absent(row), keys, faults.append)
        problems += [records.row_problem("syntax", message, number, answer.id) for message in faults]
        rows.append(answer)
    if problems:
        raise InputError(problems)
    # A row may have the id of a question alone, whose text is in another row, or in the evaluation.
    texts = {row.id: row.question for row in rows if row.question}
    rows = [row if row.question else replace(row, question=texts.get(row.id, "")) for row in rows]
    return AnswerTable(records, keys, rows)


def _with_listed_gold(rows: Sequence[Numbered], columns: Sequence[str], mapped: Mapping[str, str]) -> Mapping[str, str]:
    """The mapped keys; where `answer` contains lists beside a `prediction`, these are the gold answers.

    What a system answered is a text, so there is nothing to decide.
    """
    names = {field: {plain_name(key) for key in ANSWER_KEYS[field]} for field in ("answer", "gold")}
    fits = [column for column in columns if plain_name(column) in names["answer"] and column not in mapped.values()]
    known = "answer" in mapped or "gold" in mapped or any(plain_name(column) in names["gold"] for column in columns)
    listed = [key for key in fits if all(row.get(key) is None or isinstance(row[key], list) for _, row in rows)]
    return mapped if known or len(listed) != 1 or len(fits) < 2 else {**mapped, "gold": listed[0]}


def _answer(number: int, row: Mapping[str, Any], keys: Keys, fault: Callable[[str], None]) -> GivenAnswer:
    """One row; what is wrong with it goes to `fault`."""

    def value(name: str) -> Any:
        return row.get(keys.of[name]) if name in keys.of else None

    question, identifier = value("question"), plain_text(value("id"))
    has_id = identifier is not None and bool(identifier.strip())
    if "question" not in keys.of or (has_id and question is None):
        question = ""
    elif question is None or (isinstance(question, str) and not question.strip() and not has_id):
        fault(f"the row has no question ({keys.of['question']!r} is empty)")
    elif not isinstance(question, str):
        fault(f"the question ({keys.of['question']!r}) is not a text")
    if "id" in keys.of and not has_id:
        fault(f"the row has no id ({keys.of['id']!r}), but other rows have; give all rows an id, or none")
    text = value("answer")
    if isinstance(text, list) and len(text) == 1:
        text = text[0]
    if text is not None and plain_text(text) is None:
        fault_text = (
            f"is a list of {len(text)} texts; a question takes one" if isinstance(text, list) else "is not a text"
        )
        fault(f"the answer ({keys.of['answer']!r}) {fault_text}")
    system = value("system")
    if "system" in keys.of and (plain_text(system) or "").strip() == "":
        fault(f"the row has no system ({keys.of['system']!r}), but other rows have")
    return GivenAnswer(
        number,
        identifier.strip() if identifier is not None else None,
        question.strip() if isinstance(question, str) else "",
        (plain_text(system) or "").strip() or None,
        (plain_text(text) or "") if "answer" in keys.of else None,
        _gold(value("gold"), fault),
        tuple(_contexts(value("contexts"), fault)),
    )


def plain_text(value: Any) -> str | None:
    """A text, or a number as people write it; None for everything else.

    >>> plain_text(7.0), plain_text(0.5), plain_text(" x"), plain_text(True), plain_text([])
    ('7', '0.5', ' x', 'true', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else None


def _gold(value: Any, fault: Callable[[str], None]) -> tuple[str, ...]:
    """Gold answers: a text, a list of texts, or an object whose `text` is one of these (SQuAD)."""
    if isinstance(value, Mapping) and "text" in value:
        value = value["text"]
    texts = [plain_text(part) for part in as_list(value)]
    if any(text is None for text in texts):
        fault("the gold answer is neither a text nor a list of texts")
    return tuple(dict.fromkeys(text.strip() for text in texts if text and text.strip()))


def _contexts(value: Any, fault: Callable[[str], None]) -> Iterable[Mapping[str, str]]:
    """Contexts: texts, or objects with a text and the id of their document."""
    for place, part in enumerate(as_list(value), 1):
        if isinstance(part, str):
            if part.strip():
                yield {"text": part}
            continue
        text = _first(part, fields.CONTEXT_TEXT) if isinstance(part, Mapping) else None
        if text is None:
            fault(f"context {place} has no text ({', '.join(fields.CONTEXT_TEXT)})")
            continue
        metadata = part.get("metadata")
        doc = _first(part, fields.CONTEXT_DOC) or (
            _first(metadata, fields.CONTEXT_DOC) if isinstance(metadata, Mapping) else None
        )
        yield ({"doc": doc} if doc else {}) | {"text": text}


def as_list(value: Any) -> list[Any]:
    """A value as a list: absent is empty, a text that is written as a list is that list, all else is one element.

    >>> as_list("['a', 'b']"), as_list('["a"]'), as_list("[1] see above"), as_list(None)
    (['a', 'b'], ['a'], ['[1] see above'], [])
    """
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    listed = spelled(value) if isinstance(value, str) else None
    return listed if isinstance(listed, list) and all(isinstance(part, str | dict) for part in listed) else [value]


def without_absent(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without the keys that have no value; not-a-number is how frames write that."""
    return {name: value for name, value in row.items() if value is not None and value == value}


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := plain_text(row.get(name))) is not None and text.strip()), None)
