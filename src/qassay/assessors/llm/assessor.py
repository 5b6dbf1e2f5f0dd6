"""A language model as an assessor: decisions in, opinions out, with everything that decided in the trace."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from qassay.assessors.base import Case, Opinion
from qassay.assessors.llm.answers import FOLDER, Cache, keep_prompt
from qassay.assessors.llm.asking import LONGEST_RAW, Asking, CheckedAnswer, FailedError, LimitError, Loop, Model, as_row
from qassay.assessors.llm.calls import Call, Showing, Work, key_of
from qassay.assessors.llm.client import StoppedError
from qassay.assessors.llm.cost import Price, Spending, needs_price
from qassay.assessors.llm.forms import YES, Verdict, lists_nuggets
from qassay.assessors.llm.protocol import estimate
from qassay.errors import InputError, Problem
from qassay.judging import KINDS, Wanted

T = TypeVar("T")

# Works that are handed over before their turn, beyond those under way: the loop never waits for the next.
AHEAD = 64


@dataclass(frozen=True)
class Planned:
    """The estimated calls of a job, by kind of judgment, and their tokens."""

    decisions: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    price: Price | None = None

    @property
    def cost(self) -> float | None:
        """Their estimated cost; None where the price is unknown."""
        return None if self.price is None else self.price.of(self.input_tokens, self.output_tokens)

    def as_json(self) -> dict[str, Any]:
        """The document of `judge --dry-run --json`."""
        return {
            "decisions": self.decisions,
            "calls": dict(self.calls),
            "cached": self.cached,
            "tokens": {"input": self.input_tokens, "output": self.output_tokens, "estimated": True},
            "cost": self.cost,
        }


@dataclass(frozen=True)
class LanguageModel:
    """A model behind an endpoint that speaks OpenAI's protocol."""

    name: str
    model: Model
    showing: Showing
    folder: Path
    votes: int = 1
    repeat: int = 0
    price: Price | None = None
    wanted: Wanted = field(default_factory=Wanted)
    limit: float | None = None
    silence: ClassVar[str] = "no prompt for this kind of judgment, or an empty answer"
    account: Spending = field(default_factory=Spending, compare=False)

    def within(self, limit: float) -> LanguageModel:
        """The same assessor with a spending limit for each job."""
        needs_price(limit, self.price)
        return replace(self, limit=limit, account=Spending(self.price, limit))

    def judge(self, case: Case) -> Opinion | None:
        """The model's opinion on one decision."""
        opinions = [opinion for _, together in self.judge_stream(iter([case])) for opinion in together]
        return opinions[0] if opinions else None

    def judge_stream(self, cases: Iterable[Case]) -> Iterator[tuple[Sequence[Case], Sequence[Opinion | None]]]:
        """Opinions as they come, for many decisions at a time; ends early where the spending limit is reached."""
        self.account.begin()
        loop = Loop(partial(Asking.of, self.model, self.folder, self.account))
        hashes: set[str] = set()
        waiting = 0
        try:
            for work in self.showing.works(cases):
                for prompt in {call.prompt.hash: call.prompt for call in work.calls}.values():
                    if prompt.hash not in hashes:
                        keep_prompt(self.folder, prompt)
                        hashes.add(prompt.hash)
                if not work.calls:
                    yield work.cases, [None] * len(work.cases)
                    continue
                loop.submit(work, partial(self._opinions, work=work))
                waiting += 1
                while waiting and (loop.has_result() or waiting >= 2 * self.model.parallel + AHEAD):
                    waiting -= 1
                    yield from self._taken(*loop.take())
                if self.account.stopped:
                    break
            for _ in range(waiting):
                yield from self._taken(*loop.take())
        finally:
            loop.close()

    def plan(self, cases: Iterable[Case]) -> Planned:
        """The estimate for judging these, without a call."""
        cache = Cache(self.folder) if (self.folder / FOLDER).is_dir() else None
        calls: Counter[str] = Counter()
        decisions, cached, sent, received = 0, 0, 0, 0
        seen: set[tuple[str, int]] = set()
        try:
            for work in self.showing.works(cases):
                decisions += len(work.cases)
                for call in work.calls:
                    key = key_of(call, self.model.name, self.model.endpoint.url, self.model.parameters())
                    for place in range(self.repeat, self.repeat + self.votes):
                        if (key, place) in seen or (cache is not None and cache.get(key, place) is not None):
                            cached += 1
                            continue
                        seen.add((key, place))
                        calls[call.prompt.kind] += 1
                        sent += estimate(call.size) + 10
                        received += call.prompt.tokens * len(call.targets)
        finally:
            if cache is not None:
                cache.close()
        return Planned(decisions, dict(calls), cached, sent, received, self.price)

    def _taken(self, work: Work, result: Any) -> Iterator[tuple[Sequence[Case], Sequence[Opinion | None]]]:
        """The result of a work, counted; nothing where the limit kept it from being asked."""
        if self.is_result(result, "judgments made so far are kept; judge again to go on"):
            yield work.cases, result

    def is_result(self, result: Any, remedy: str) -> bool:
        """Whether this is an answer and not the end of the money; an error with a remedy where the job cannot go on."""
        if isinstance(result, LimitError):
            self.account.stopped = f"the spending limit of {self.limit:g} is reached"
            return False
        if isinstance(result, StoppedError):
            message = f"the model {self.model.name}: {result} ({remedy})"
            raise InputError(Problem("configuration", message)) from None
        if isinstance(result, Exception):
            raise result
        return True

    async def _opinions(self, asking: Asking, work: Work) -> list[Opinion | None]:
        """An opinion on each case of a work; None and a record where the model gave no usable answer."""
        answered = await together([self._voted(asking, call) for call in work.calls])
        for result in answered:
            if isinstance(result, BaseException) and not isinstance(result, FailedError):
                raise result
        opinions: list[Opinion | None] = []
        for place, case in enumerate(work.cases):
            try:
                opinions.append(self._opinion(place, case, work.calls, answered))
            except FailedError as failure:
                self.account.fail(failure.in_words())
                about = {name: value for name, value in case.part.row.items() if value is not None}
                kind = {"assessor": self.name, "model": self.model.name, "kind": case.kind}
                asking.cache.failed(as_row(failure, **kind, about=about))
                opinions.append(None)
        return opinions

    async def _voted(self, asking: Asking, call: Call) -> list[CheckedAnswer]:
        """The answers to a call, one for each vote; those that failed are left out, unless all did."""
        places = range(self.repeat, self.repeat + self.votes)
        votes = await together([asking.answer(call, place) for place in places])
        failures = [vote for vote in votes if isinstance(vote, BaseException)]
        for failure in failures:
            if not isinstance(failure, FailedError):
                raise failure
        if len(failures) == len(votes):
            raise failures[0]
        return [vote for vote in votes if isinstance(vote, CheckedAnswer)]

    def _opinion(
        self, place: int, case: Case, calls: Sequence[Call], answered: Sequence[list[CheckedAnswer] | BaseException]
    ) -> Opinion | None:
        """The opinion on one case, from the calls that have a part of it."""
        parts: list[tuple[str | None, Decided]] = []
        used: list[tuple[Call, list[CheckedAnswer]]] = []
        for call, votes in zip(calls, answered, strict=True):
            numbers = [number for number, target in enumerate(call.targets) if target[0] == place]
            if not numbers:
                continue
            if isinstance(votes, BaseException):
                raise votes
            used.append((call, votes))
            parts += [(call.targets[number][1], decided(votes, number, call)) for number in numbers]
        if not parts:
            return None
        trace = self.trace(used)
        if lists_nuggets(KINDS[case.kind]):
            main = next(iter(KINDS[case.kind].fields))
            matched = [nugget for nugget, part in parts if YES in part.verdict.values()]
            chances = {nugget: part.probability for nugget, part in parts if part.probability is not None}
            return Opinion({main: matched}, trace | ({"probability": chances} if chances else {}))
        part = parts[0][1]
        spread = {"votes": dict(part.spread)} if self.votes > 1 else {}
        chance = {} if part.probability is None else {"probability": part.probability}
        return Opinion(self._with_known_spelling(part.verdict, case), trace | chance | spread)

    def trace(self, used: Sequence[tuple[Call, list[CheckedAnswer]]]) -> dict[str, Any]:
        """Model, prompt, parameters, raw answers, tokens, and this decision's share of the cost."""
        answers = [(call, vote.answer) for call, votes in used for vote in votes]
        raw = [answer.content[:LONGEST_RAW] for _, answer in answers]
        costs = [answer.cost / len(call.targets) for call, answer in answers if answer.cost is not None]
        calls = sum(answer.asked for _, answer in answers)
        trace: dict[str, Any] = {
            "model": answers[0][1].model or self.model.name,
            "endpoint": self.model.endpoint.host,
            "prompt": f"{used[0][0].prompt.kind}-{used[0][0].prompt.hash}",
            "parameters": self.model.parameters() | ({"votes": self.votes} if self.votes > 1 else {}),
            "raw": raw[0] if len(raw) == 1 else raw,
            "tokens": {
                "input": sum(answer.input_tokens for _, answer in answers),
                "output": sum(answer.output_tokens for _, answer in answers),
            },
            "cost": sum(costs) if len(costs) == len(answers) else None,
        }
        # What was asked together has the tokens of the whole call, and its share of the cost.
        together = max(len(call.targets) for call, _ in used)
        return (
            trace
            | ({"asked_together": together} if together > 1 else {})
            | ({"asked_again": calls - len(answers)} if calls > len(answers) else {})
        )

    def _with_known_spelling(self, verdict: Verdict, case: Case) -> Verdict:
        """The verdict with a known answer spelled as it is known: classes are equal when their strings are."""
        answer = verdict.get("answer")
        known = self.showing.known.get(case.question.id, ())
        same = next(
            (text for text in known if answer is not None and text.casefold() == answer.strip().casefold()), None
        )
        return verdict if same is None else {**verdict, "answer": same}


async def together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
    """The results of some works at a time, or the exceptions in their place; one alone needs no task of its own."""
    if len(works) > 1:
        return await asyncio.gather(*works, return_exceptions=True)
    try:
        return [await works[0]]
    except Exception as error:  # noqa: BLE001  # it is raised where the result is used
        return [error]


@dataclass(frozen=True, slots=True)
class Decided:
    """The result of the votes on one decision: the verdict, its probability, and how many votes each had."""

    verdict: Verdict
    probability: float | None
    spread: Mapping[str, int]


def decided(votes: Sequence[CheckedAnswer], number: int, call: Call) -> Decided:
    """The verdict with most votes, the middle one of numbers; tied votes decide nothing."""
    main = call.form.fields[0]
    verdicts = [vote.verdicts[number] for vote in votes]
    spread = Counter(str(verdict.get(main.name)) for verdict in verdicts)
    if main.labels:
        ranked = spread.most_common()
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            raise FailedError(f"the votes are tied: {', '.join(f'{label} {count}' for label, count in ranked)}")
        winners = [verdict for verdict in verdicts if str(verdict.get(main.name)) == ranked[0][0]]
        others = Counter(tuple(sorted(verdict.items())) for verdict in winners)
        chosen = dict(others.most_common(1)[0][0])
    else:
        order = sorted(verdicts, key=lambda verdict: [verdict.get(field.name) or 0 for field in call.form.fields])
        chosen = order[(len(order) - 1) // 2]
    return Decided(chosen, _probability(votes, number, chosen.get(main.name), main.name), spread)


def _probability(votes: Sequence[CheckedAnswer], number: int, value: Any, field_name: str) -> float | None:
    """The mean probability that the votes give to the verdict; what a vote gave to another one counts as the rest.

    Without log-probabilities, several votes give the share of those that agree.
    """
    chances = []
    for vote in votes:
        chance = vote.answer.chances[number] if number < len(vote.answer.chances) else None
        if chance is None:
            agreeing = sum(vote.verdicts[number].get(field_name) == value for vote in votes)
            return None if len(votes) == 1 else round(agreeing / len(votes), 4)
        chances.append(chance if vote.verdicts[number].get(field_name) == value else 1 - chance)
    return round(sum(chances) / len(chances), 4)
