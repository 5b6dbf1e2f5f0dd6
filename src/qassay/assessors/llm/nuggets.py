"""Lists of nuggets by a model: written from the responses of the pool, and each nugget rated vital or okay.

Responses are read a few at a time, in an order that depends on their texts alone. The model gets the nuggets written so
far and returns the whole list, which replaces them (nuggetizer, TREC RAG 2024, does the same). In a second step it says
of each nugget how important it is. The list is written under the name of the set, as an assessor's own list is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from qassay.assessors.judging import checked_name, shown_nuggets
from qassay.assessors.llm.answers import keep_prompt
from qassay.assessors.llm.asking import Asking, CheckedAnswer, FailedError, Loop
from qassay.assessors.llm.assessor import LanguageModel, decided
from qassay.assessors.llm.calls import Call, shortened
from qassay.assessors.llm.cost import Spending
from qassay.assessors.llm.forms import Check, Field, Form, MalformedError, Verdict, decoded, described
from qassay.assessors.llm.prompts import Prompt
from qassay.display import one_line
from qassay.errors import InputError, LimitReachedError, Problem, UsageError
from qassay.evaluation import Evaluation
from qassay.formats.importing import Options, plan_import
from qassay.judging import digest, kind_of_type
from qassay.judging.items import pool_items
from qassay.questions import Question
from qassay.store import import_plan, writable

CREATE, RATE = "create", "importance"
VITAL, OKAY = "vital", "okay"
MOST_NUGGETS = 30
LONGEST_NUGGET = 300
# Responses in one call, and the characters that all of them have at most.
RESPONSES, CHARACTERS = 10, 24_000


@dataclass(frozen=True)
class Texts:
    """The form of an answer that is a list of texts."""

    most: int
    fields: tuple[Field, ...] = (Field("text"),)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer."""
        return described({"nuggets": {"type": "array", "items": {"type": "string"}}})

    def in_words(self) -> str:
        """The instructions on the form of the answer."""
        return (
            f'Reply with one JSON object and nothing else: {{"nuggets": ["...", ...]}}, with at most {self.most} texts.'
        )

    def read(self, content: str, check: Check = lambda _: None) -> list[Verdict]:
        """The texts, each once."""
        texts = decoded(content).get("nuggets")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise MalformedError("it has no list nuggets of texts")
        distinct = list(dict.fromkeys(line for text in texts if (line := one_line(text))))
        if len(distinct) > self.most or any(len(text) > LONGEST_NUGGET for text in distinct):
            raise MalformedError(f"at most {self.most} nuggets of a few words each are asked for")
        return [{"text": text} for text in distinct]

    def chances(self, content: str, tokens: Sequence[tuple[str, float]]) -> list[float | None]:
        """None: a list of texts has no label."""
        return []


@dataclass(frozen=True)
class Written:
    """The result of making a list: questions with nuggets, nuggets, and how many are vital; questions that failed."""

    set_name: str
    questions: int
    nuggets: int
    vital: int
    failed: tuple[str, ...]
    account: Spending

    def as_json(self) -> dict[str, Any]:
        """The document of `judge --nuggets --json`."""
        return {
            "set": self.set_name,
            "questions": self.questions,
            "nuggets": self.nuggets,
            "vital": self.vital,
            "failed": list(self.failed),
            "model": self.account.as_json(),
        }


Rows = list[dict[str, Any]]


def write_nuggets(
    evaluation: Evaluation, model: LanguageModel, *, rate: bool = False, set_name: str | None = None
) -> Written:
    """Let a model write the list of nuggets of a set, or `rate` the nuggets of the list that its assessor is shown."""
    name = checked_name(evaluation, model, set_name)
    if name in evaluation.folder.nugget_lists():
        raise UsageError(f"there is a list of nuggets {name} already; name another set with --set")
    writer = _Writer(model)
    listed = shown_nuggets(evaluation, name) if rate else {}
    if rate and not listed:
        raise UsageError("there is no list of nuggets to rate; let the model write one: --nuggets create")
    works: dict[str, Callable[[Asking], Any]] = {}
    for question_id, responses in _responses(evaluation).items():
        question = evaluation.questions.by_id[question_id]
        if not rate:
            works[question_id] = partial(writer.created, question, responses)
        elif question_id in listed:
            works[question_id] = partial(writer.rated, question, listed[question_id])
    rows, failed = _results_of(model, works)
    if model.account.stopped:
        message = f"{model.account.stopped}; the answers so far are kept, and no list is written yet"
        raise LimitReachedError(f"{message}; go on with a higher --limit")
    if failed and not rows:
        raise InputError(Problem("configuration", model.account.unusable(model.name)))
    if rows:
        _import(evaluation, name, rows)
    vital = sum(bool(row["vital"]) for row in rows)
    return Written(name, len({row["question"] for row in rows}), len(rows), vital, tuple(failed), model.account)


def _responses(evaluation: Evaluation) -> dict[str, list[str]]:
    """The different responses to each question that is judged by nuggets, in an order that reveals no run."""
    texts_of: dict[str, dict[str, None]] = {}
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    kinds = {type_: kind_of_type(type_, rules) for type_, rules in evaluation.task.types.items()}
    for item in items:
        if kinds[evaluation.questions.by_id[item.question].type].by_nuggets and "elements" in item.body:
            text = "\n".join(element.get("text") or "" for element in item.body["elements"])
            if text.strip():
                texts_of.setdefault(item.question, {})[text] = None
    if not texts_of:
        raise UsageError("no response of this evaluation is judged by nuggets")
    return {question: sorted(texts, key=lambda text: digest("order", text)) for question, texts in texts_of.items()}


def _results_of(model: LanguageModel, works: Mapping[str, Callable[[Asking], Any]]) -> tuple[Rows, list[str]]:
    """The rows of all questions, in their order, and the questions without a usable answer."""
    model.account.begin()
    loop = Loop(partial(Asking.of, model.model, model.folder, model.account))
    results: dict[str, Rows] = {}
    failed = []
    try:
        for question, work in works.items():
            loop.submit(question, work)
        for _ in works:
            question, result = loop.take()
            if isinstance(result, FailedError):
                model.account.fail(result.in_words())
                failed.append(question)
            elif model.is_result(result, "answers so far are kept"):
                results[question] = result
    finally:
        loop.close()
    return [row for question in works for row in results.get(question, [])], failed


@dataclass(frozen=True)
class _Writer:
    """Asks a model about the nuggets of one question after the other."""

    model: LanguageModel

    async def created(self, question: Question, responses: Sequence[str], asking: Asking) -> Rows:
        """The nuggets of a question, from the responses to it."""
        listed: list[str] = []
        trace: dict[str, Any] = {}
        for together in _batches(responses):
            asked, trace = await self._ask(asking, self._create(question, listed, together))
            listed = [row["text"] for row in asked.verdicts]
        nuggets = [{"nugget": str(number), "text": text} for number, text in enumerate(listed, 1)]
        return [row | {"trace": {**trace, **row["trace"]}} for row in await self.rated(question, nuggets, asking)]

    async def rated(self, question: Question, nuggets: Sequence[Mapping[str, Any]], asking: Asking) -> Rows:
        """The nuggets of a question, each vital or okay."""
        prompt = self._prompt(RATE)
        batches = [nuggets[start : start + prompt.batch] for start in range(0, len(nuggets), prompt.batch)]
        rows = await asyncio.gather(*(self._rate(question, prompt, batch, asking) for batch in batches))
        return [row for batch in rows for row in batch]

    async def _rate(
        self, question: Question, prompt: Prompt, nuggets: Sequence[Mapping[str, Any]], asking: Asking
    ) -> Rows:
        texts = (one_line(str(nugget.get("text") or "")) for nugget in nuggets)
        decisions = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
        form = Form((Field("importance", (VITAL, OKAY)),), len(nuggets))
        call = _call(question, prompt, form, {"decisions": decisions}, len(nuggets))
        votes = [
            (await asking.answer(call, place))
            for place in range(self.model.repeat, self.model.repeat + self.model.votes)
        ]
        trace = self.model.trace([(call, votes)])
        rows = []
        for number, nugget in enumerate(nuggets):
            opinion = decided(votes, number, call)
            fields = {
                name: value
                for name, value in nugget.items()
                if value is not None and name not in ("question", "weight")
            }
            chance = {} if opinion.probability is None else {"probability": opinion.probability}
            spread = {"votes": dict(opinion.spread)} if self.model.votes > 1 else {}
            vital = opinion.verdict["importance"] == VITAL
            provenance = {"assessor": self.model.name, "importance": {**trace, **chance, **spread}}
            rows.append({"question": question.id, **fields, "vital": vital, "trace": provenance})
        return rows

    async def _ask(self, asking: Asking, call: Call) -> tuple[CheckedAnswer, dict[str, Any]]:
        asked = await asking.answer(call, self.model.repeat)
        return asked, {"created": self.model.trace([(call, [asked])])}

    def _create(self, question: Question, listed: Sequence[str], responses: Sequence[str]) -> Call:
        prompt = self._prompt(CREATE)
        share = CHARACTERS // len(responses)
        shown = (f"({number}) {shortened(text, share)}" for number, text in enumerate(responses, 1))
        data = {"listed": "\n".join(f"- {text}" for text in listed), "responses": "\n\n".join(shown)}
        return _call(question, prompt, Texts(MOST_NUGGETS), data, 1)

    def _prompt(self, kind: str) -> Prompt:
        prompt = self.model.showing.prompts(kind)
        if prompt is None:
            raise UsageError(f"llm: there is no prompt {kind}.toml")
        keep_prompt(self.model.folder, prompt)
        return prompt


def _call(question: Question, prompt: Prompt, form: Form | Texts, data: Mapping[str, str], decisions: int) -> Call:
    shown = {"question": question.text, "target": question.target, "definition": question.definition, **data}
    evaluation_data = {name: text for name, text in shown.items() if text and prompt.shows(name)}
    labels = "\n".join(f"- {name}: {meaning}" for name, meaning in prompt.labels.items())
    instructions = {"form": form.in_words(), "most": str(MOST_NUGGETS), "labels": labels}
    about = digest("call", prompt.kind, sorted(evaluation_data.items()), sorted(instructions.items()))
    return Call(prompt, prompt.messages(evaluation_data, instructions), form, about, ((0, None),) * decisions)


def _batches(responses: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(responses), RESPONSES):
        yield responses[start : start + RESPONSES]


def _import(evaluation: Evaluation, name: str, rows: Rows) -> None:
    opened, store = writable(evaluation.folder.path)
    import_plan(plan_import(opened, [], options=Options(set_name=name), nuggets=rows), store, own=True)
