"""The parts of a model's assessor by themselves: forms of answers, pace, prices and what is shown."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.assessors.llm.calls import around, shortened
from qassay.assessors.llm.cost import Price, Spending, price_of
from qassay.assessors.llm.forms import Form, MalformedError, form_of
from qassay.assessors.llm.pace import Pace
from qassay.assessors.llm.protocol import read_completion
from qassay.judging import KINDS
from qassay.tasks import task

KEYS = st.sampled_from(["judgment", "decisions", "number"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
    max_leaves=10,
)
TASKS = {"label": "qa", "context": "qa", "pair": "entailment3", "rating": "justification"}
FORMS = {
    name: form_of(record, task(TASKS.get(name, "main2003")), reason=False, count=2) for name, record in KINDS.items()
}


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=40, deadline=None)
@given(answer=st.text() | JSON.map(json.dumps), several=st.booleans())
def test_an_answer_is_read_or_malformed_and_nothing_else(name: str, answer: str, several: bool) -> None:
    form = FORMS[name] if several else Form(FORMS[name].fields)
    try:
        verdicts = form.read(answer)
    except MalformedError:
        return
    assert len(verdicts) == (form.count or 1)
    for verdict in verdicts:
        for field in form.fields:
            assert field.fault(verdict.get(field.name)) is None


@given(body=st.binary() | JSON.map(lambda value: json.dumps({"choices": [value], "usage": value}).encode()))
def test_any_body_is_a_completion_or_a_fault(body: bytes) -> None:
    completion, fault = read_completion(body, 100)
    assert completion.input_tokens >= 0
    assert fault is not None or completion.content.strip()


def test_a_completion_in_another_encoding_is_none() -> None:
    completion, fault = read_completion('{"model": "größer"}'.encode("latin-1"), 100)
    assert (completion.content, str(fault)) == (
        "",
        'the response of the endpoint is not a chat completion: {"model": "gr��er"}',
    )


@pytest.mark.parametrize("number", ["[1]", "{}", "null", '"1"', "1.5"])
def test_a_number_that_is_none_is_malformed(number: str) -> None:
    with pytest.raises(MalformedError, match="each number from 1 to 2 once"):
        FORMS["label"].read(f'{{"decisions": [{{"number": {number}, "judgment": "correct"}}, {{"number": 2}}]}}')


@pytest.mark.parametrize("depth", [10_000, 200_000])
def test_deep_nesting_is_malformed(depth: int) -> None:
    with pytest.raises(MalformedError):
        Form(FORMS["label"].fields).read('{"judgment": ' + "[" * depth + "]" * depth + "}")


@pytest.mark.parametrize(
    "content",
    [
        '{"judgment": "correct"}',
        ' ```json\n{"judgment": "correct"}\n``` ',
        '<think>\nIs it {"judgment": "incorrect"}? No.\n</think>\n\n{"judgment": "correct"}',
    ],
)
def test_thoughts_and_fences_are_not_part_of_an_answer(content: str) -> None:
    assert Form(FORMS["label"].fields).read(content) == [{"judgment": "correct"}]


def test_decisions_come_in_the_order_of_their_numbers_whatever_the_model_does() -> None:
    form = FORMS["support"]
    rows = [{"number": 2, "support": "none"}, {"number": 1, "support": "full"}]
    content = json.dumps({"decisions": rows})
    assert [row["support"] for row in form.read(content)] == ["full", "none"]
    tokens = [
        (character, -0.5 if content[place:].startswith("one") else 0.0) for place, character in enumerate(content)
    ]
    assert form.chances(content, tokens) == [1.0, 0.6065]


def test_the_pace_grows_falls_and_pauses() -> None:
    async def story() -> tuple[list[float], float]:
        pace, limits = Pace(100), []
        started = await pace.enter()
        limits.append(pace.limit)
        pace.succeeded({})
        limits.append(pace.limit)
        pace.succeeded({})
        limits.append(pace.limit)
        pace.refused(started, {"retry-after": "0.2"})
        limits.append(pace.limit)
        pace.refused(started, {"retry-after": "0.2"})  # it began before the cut
        limits.append(pace.limit)
        pace.leave()
        await pace.enter()
        pace.succeeded({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "300ms"})
        pace.leave()
        again = time.monotonic()
        await pace.enter()
        return limits, time.monotonic() - again

    limits, waited = asyncio.run(story())
    assert limits == [1.0, 17.0, 18.0, 9.0, 9.0]
    assert 0.25 < waited < 5


def test_never_more_calls_than_allowed() -> None:
    async def story() -> int:
        pace, under_way, most = Pace(7), 0, 0

        async def call() -> None:
            nonlocal under_way, most
            await pace.enter()
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.001)
            under_way -= 1
            pace.succeeded({})
            pace.leave()

        tasks = [asyncio.create_task(call()) for _ in range(100)]
        await asyncio.sleep(0.002)
        for lost in tasks[40:60]:
            lost.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return most

    assert asyncio.run(story()) == 7


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4o-mini", Price(0.15, 0.60)),
        ("gpt-4o-mini-2024-07-18", Price(0.15, 0.60)),
        ("unknown", None),
    ],
)
def test_prices_are_known_by_name_and_date_or_not_at_all(model: str, price: Price | None) -> None:
    known = price_of(None, "api.openai.com", model)
    assert known == (price and Price(pytest.approx(price.input), pytest.approx(price.output)))
    assert price_of(None, "elsewhere.example", model) is None
    assert Spending(price_of(None, "elsewhere.example", model)).cost is None


def test_long_texts_are_shortened_where_they_matter_least() -> None:
    assert shortened("ab" * 50, 40).startswith("abab")
    assert len(shortened("ab" * 50, 40)) <= 40
    document = "x" * 500 + " Warsaw " + "y" * 500
    assert "Warsaw" in around(document, "warsaw", 60)
    assert around(document, "Rome", 60).startswith("xxx")


def test_a_verdict_of_every_kind_has_a_prompt_and_a_form() -> None:
    from qassay.assessors.llm.prompts import prompt_of

    for record in KINDS.values():
        assert prompt_of(record.rows) is not None, record.name
        described: dict[str, Any] = FORMS[record.name].schema()
        assert described["additionalProperties"] is False
