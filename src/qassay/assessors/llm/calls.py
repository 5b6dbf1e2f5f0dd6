"""From decisions to calls: what a model is shown of each, as much as an assessor sees on the screen.

Decisions on the same item are asked for together where the prompt takes several: the nuggets of a response, the items
of a list. A verdict that lists nuggets is asked for nugget by nugget and put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from qassay.assessors.base import Case
from qassay.assessors.llm.forms import AnswerForm, Form, Verdict, form_of, lists_nuggets
from qassay.assessors.llm.prompts import Prompt
from qassay.display import one_line
from qassay.judging import KINDS, Kind, digest
from qassay.tasks import Task

# Characters that are shown at most: of a document, of all contexts or known answers together, of an answer.
DOCUMENT, CONTEXTS, ANSWER = 6_000, 24_000, 24_000
_CUT = " [...] "


@dataclass(frozen=True)
class Call:
    """One request to a model: its prompt, the form of the answer, and the decisions that it answers."""

    prompt: Prompt
    messages: Sequence[Mapping[str, str]]
    form: AnswerForm
    # The digest of what is asked, without the marks: equal questions about equal texts are one.
    about: str
    # For each decision of the answer: which of the cases, and which of its nuggets where the verdict lists them.
    targets: tuple[tuple[int, str | None], ...]
    check: Callable[[Verdict], str | None] = field(compare=False, default=lambda _: None)

    @property
    def size(self) -> int:
        """The bytes of its messages."""
        return sum(len(message["content"].encode()) for message in self.messages)


@dataclass(frozen=True)
class Work:
    """Decisions on one item that are answered together, with their calls; none where there is nothing to show."""

    cases: tuple[Case, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Showing:
    """The material for the calls of an evaluation."""

    task: Task
    prompts: Callable[[str], Prompt | None]
    # Answers known from question development, and the labels of pairs whose justifications are rated, by question.
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    _forms: dict[tuple[str, str, int | None], tuple[Form, Mapping[str, str]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def works(self, cases: Iterable[Case]) -> Iterator[Work]:
        """The decisions in groups, each with its calls."""
        for _, group in groupby(cases, key=lambda case: (id(case.item), case.kind)):
            together = tuple(group)
            prompt = self.prompts(together[0].kind)
            if prompt is None:
                yield Work(together, ())
                continue
            # A case that is asked about alone is a work of its own, so that it fails or succeeds alone.
            for cases_together in (together,) if prompt.batch > 1 else ((case,) for case in together):
                yield Work(cases_together, tuple(self._calls(cases_together, prompt)))

    def _calls(self, cases: Sequence[Case], prompt: Prompt) -> Iterator[Call]:
        record = KINDS[cases[0].kind]
        targets = [target for place, case in enumerate(cases) for target in _targets(place, case, record)]
        for start in range(0, len(targets), prompt.batch):
            together = targets[start : start + prompt.batch]
            data = self._data(cases, together, prompt)
            if data is None:
                continue
            # One decision about one text is the answer itself; several are numbered.
            count = len(together) if prompt.batch > 1 else None
            form, instructions = self._form(record, prompt, count)
            about = digest("call", prompt.kind, sorted(data.items()), sorted(instructions.items()))

            def check(verdict: Verdict, record: Kind = record) -> str | None:
                return None if lists_nuggets(record) else record.fault(verdict, self.task)

            yield Call(prompt, prompt.messages(data, instructions), form, about, tuple(together), check)

    def _form(self, record: Kind, prompt: Prompt, count: int | None) -> tuple[Form, Mapping[str, str]]:
        """The form of the answer and its description for the model, made once for all calls that share it."""
        key = (record.name, prompt.hash, count)
        if key not in self._forms:
            form = form_of(record, self.task, reason=prompt.reason, count=count)
            self._forms[key] = form, {"labels": _labels(record, self.task, prompt), "form": form.in_words()}
        return self._forms[key]

    def _data(
        self, cases: Sequence[Case], targets: Sequence[tuple[int, str | None]], prompt: Prompt
    ) -> dict[str, str] | None:
        """The texts that a call shows; None where the judged text is empty."""
        first = cases[targets[0][0]]
        question = first.question
        answer = judged_text(first)
        data: dict[str, str | None] = {
            "question": question.text,
            "target": question.target,
            "definition": question.definition,
            "hypothesis": question.hypothesis,
            "reference": self.references.get(question.id),
            "gold": shortened("\n".join(dict.fromkeys((*question.gold, *self.known.get(question.id, ())))), CONTEXTS),
            "answer": shortened(answer, ANSWER),
        }
        if prompt.shows("document") and first.document:
            data["document"] = around(first.document, first.text, DOCUMENT)
        if prompt.shows("contexts"):
            data["contexts"] = _contexts(first)
        if prompt.shows("decisions"):
            texts = [_decision(cases[place], nugget) for place, nugget in targets]
            data["decisions"] = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
            answer = answer and "".join(texts)
        if not answer.strip() and prompt.shows("answer"):
            return None
        return {name: text for name, text in data.items() if text and prompt.shows(name)}


def judged_text(case: Case) -> str:
    """The text that is judged; an extract is cut out of its document."""
    if case.text or case.document is None or case.part.row.get("start") is None:
        return case.text
    start = int(case.part.row["start"])
    return case.document[start : start + int(case.part.row["length"])]


def _targets(place: int, case: Case, record: Kind) -> list[tuple[int, str | None]]:
    if not lists_nuggets(record):
        return [(place, None)]
    return [(place, str(nugget["nugget"])) for nugget in case.nuggets]


def _decision(case: Case, nugget: str | None) -> str:
    """One of the numbered texts: a nugget, or an item of a list with what its document says."""
    if nugget is None and case.nugget is not None:
        nugget = str(case.nugget["nugget"])
    if nugget is not None:
        texts = (row.get("text") for row in case.nuggets if str(row["nugget"]) == nugget)
        return one_line(str(next(texts, None) or ""))
    shown = one_line(case.text)
    if case.document:
        share = DOCUMENT // 6
        shown += f"\n   its document: {one_line(around(case.document, case.text, share))}"
    return shown


def _contexts(case: Case) -> str:
    texts = [str(context.get("text") or "") for context in case.shown.get("contexts") or ()]
    if not texts:
        return ""
    share = CONTEXTS // len(texts)
    return "\n\n".join(f"({number}) {shortened(text, share)}" for number, text in enumerate(texts, 1))


def _labels(record: Kind, task: Task, prompt: Prompt) -> str:
    """The labels with what they mean, as far as anybody says it."""
    lines = []
    # The best first, where labels have values.
    for label in sorted(record.labels(task), key=lambda label: -task.values.get(label.label, 0.0)):
        meaning = label.meaning or prompt.labels.get(label.label) or ("" if label.name == label.label else label.name)
        lines.append(f"- {label.label}: {meaning}" if meaning else f"- {label.label}")
    return "\n".join(lines)


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long."""
    half = (most - len(_CUT)) // 2
    return text if len(text) <= most else text[:half] + _CUT + text[-half:]


def around(document: str, text: str, most: int) -> str:
    """The part of a document around the first place that has a text; the beginning where none has."""
    if len(document) <= most:
        return document
    position = document.casefold().find(text.strip().casefold()) if text.strip() else -1
    start = max(0, min(position - (most - len(text)) // 2, len(document) - most)) if position >= 0 else 0
    return _CUT * (start > 0) + document[start : start + most] + _CUT * (start + most < len(document))


def key_of(call: Call, model: str, endpoint: str, settings: Mapping[str, Any]) -> str:
    """The key of a cached answer: model, endpoint, prompt, parameters, and the texts of the call."""
    return digest("answer", model, endpoint, call.prompt.hash, sorted(settings.items()), call.about)
