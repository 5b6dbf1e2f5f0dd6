"""The lines of runs in JSON, as they are written, and their keys that look like a field and are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from qassay.errors import Problem
from qassay.formats import fields


class WrittenItem(msgspec.Struct, gc=False):
    """One item of a response as written."""

    doc: str | None = None
    text: str | None = None
    start: int | None = None
    length: int | None = None
    citations: list[str] | None = None


class Passage(msgspec.Struct, gc=False):
    """A context that a free-text answer was made from."""

    text: str
    doc: str | None = None


class Response(msgspec.Struct, gc=False):
    """One line of the jsonl form; further keys are ignored."""

    run: str
    question: str | int
    items: list[WrittenItem] = []
    nil: bool = False
    confidence: float | None = None
    decision: str | None = None
    justification: str | None = None
    contexts: list[str | Passage] = []


class CitingSentence(msgspec.Struct, gc=False):
    """One sentence of a TREC RAG answer; citations are places in the references, or documents."""

    text: str
    citations: list[int | str] = []


class RagMetadata(msgspec.Struct, gc=False):
    """The metadata of a line of TREC RAG 2025; further keys are ignored."""

    run_id: str
    narrative_id: str | int


class RagAnswer(msgspec.Struct, gc=False, rename={"run": "run_id", "question": "topic_id"}):
    """One line of the TREC RAG output, of 2024 or, with `metadata`, of later years; further keys are ignored."""

    answer: list[CitingSentence]
    run: str = ""
    question: str | int = ""
    references: list[str] = []
    metadata: RagMetadata | None = None

    def __post_init__(self) -> None:
        if self.metadata is not None:
            self.run, self.question = self.metadata.run_id, self.metadata.narrative_id
        if not self.run or self.question == "":
            raise ValueError("it has neither run_id and topic_id nor metadata with run_id and narrative_id")


# The same without further keys: a file that is read so has none to point out.
_STRICT_ITEM, _STRICT_SENTENCE = (
    msgspec.defstruct(f"Strict{part.__name__}", [], bases=(part,), forbid_unknown_fields=True, gc=False)
    for part in (WrittenItem, CitingSentence)
)
STRICT: Mapping[type, type] = {
    kind: msgspec.defstruct(f"Strict{kind.__name__}", [parts], bases=(kind,), forbid_unknown_fields=True, gc=False)
    for kind, parts in (
        (Response, ("items", list[_STRICT_ITEM], [])),  # type: ignore[valid-type]  # made above
        (RagAnswer, ("answer", list[_STRICT_SENTENCE])),  # type: ignore[valid-type]
    )
}
# What the fields of a line may be called by mistake: those that are not required, and are silently empty without it.
_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "items": (*fields.ANSWER, "answers", "text", "results"),
    "contexts": fields.CONTEXTS,
    "references": ("documents", "docs"),
    "citations": ("cites", "cited"),
    "doc": ("doc_id", "docid", "docno", "document"),
}


class Shapes:
    """The keys of lines and of their items, to find those that look like a field and are not one."""

    def __init__(self, kind: type[Response | RagAnswer], *, reads_contexts: bool) -> None:
        names = kind.__struct_encode_fields__
        part = WrittenItem if kind is Response else CitingSentence
        self._parts, self._known = names[names.index("items" if kind is Response else "answer")], frozenset(names)
        self._unread = frozenset() if reads_contexts else frozenset(["contexts"])
        self._known_parts = frozenset(part.__struct_fields__)
        # The number of lines of a file with these keys, and the first of them.
        self._lines: dict[tuple[int, frozenset[str], frozenset[str]], list[int]] = {}

    def note(self, place: int, number: int, row: Mapping[str, Any]) -> None:
        """Note the keys of a line of the file in this place."""
        self._note((place, frozenset(row), self._known), number)
        for part in row.get(self._parts) or ():
            self._note((place, frozenset(part), self._known_parts), number)

    def _note(self, shape: tuple[int, frozenset[str], frozenset[str]], number: int) -> None:
        if shape[1] <= shape[2]:
            return
        seen = self._lines.setdefault(shape, [number, 0])
        seen[1] += 1

    def warnings(self, files: Sequence[str]) -> Iterator[Problem]:
        """A warning for each key that looks like a field which its line does not have; `files` are the places."""
        found: dict[tuple[int, str, str], list[int]] = {}
        for (place, keys, known), (number, count) in self._lines.items():
            absent = {name: _OTHER_NAMES.get(name, ()) for name in known - keys - self._unread}
            for key in sorted(keys - known):
                if meant := fields.resembled(key, absent):
                    first = found.setdefault((place, key, meant), [number, 0])
                    first[1] += count
        for (place, key, meant), (number, count) in found.items():
            message = f"{key!r} is not a field of a run and is not read, here and in {count - 1:,} more places"
            message = message if count > 1 else message.partition(", here")[0]
            yield Problem("syntax", f"{message}; is it meant as {meant!r}?", files[place], number)
