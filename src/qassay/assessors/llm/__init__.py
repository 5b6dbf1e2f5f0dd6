"""A language model as an assessor, through any endpoint that speaks OpenAI's protocol (METHOD 7).

prompts     what the model is told, as data files, and how texts are kept from talking to it
forms       the form of an answer, from the record of the kind of judgment; probabilities of labels
calls       from decisions to calls: what is shown, and what is asked for together
endpoint    address and key                          protocol   requests and answers, and what an endpoint takes
pace        how many calls are under way, learned    client     calls that wait, repeat and give up
cost        prices, and a limit that is not passed   answers    answers that were paid for
asking      the calls of a job in their event loop   assessor   votes, opinions and traces
nuggets     lists of nuggets, written from the pool and rated vital or okay
attacks     texts that try to talk a model into a better verdict, and how often they do
"""

from __future__ import annotations

import re
from functools import cache, partial

from qassay.assessors.gold import known_answers
from qassay.assessors.llm.asking import Model
from qassay.assessors.llm.assessor import LanguageModel, Planned
from qassay.assessors.llm.calls import Showing
from qassay.assessors.llm.cost import Spending, price_of
from qassay.assessors.llm.endpoint import endpoint_at
from qassay.assessors.llm.prompts import prompt_of, prompt_places, shipped
from qassay.assessors.llm.protocol import Settings
from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.extras import require
from qassay.judging import KINDS, Wanted

MOST_VOTES = 25
MOST_PARALLEL = 10_000
# Votes at temperature 0 would all be the same.
VOTING_TEMPERATURE = 0.7


def language_model(
    evaluation: Evaluation,
    *,
    model: str = "",
    endpoint: str | None = None,
    key_env: str | None = None,
    prompts: str | None = None,
    votes: int = 1,
    temperature: float | None = None,
    max_tokens: int = 1024,
    parallel: int = 256,
    timeout: float = 120.0,
    attempts: int = 6,
    asks: int = 3,
    repeat: int = 0,
    price: str | None = None,
    logprobs: bool = True,
    citations: bool = False,
    holistic: bool = False,
) -> LanguageModel:
    """The assessor `llm(model=...)` of an evaluation."""
    require("llm", "the assessor llm")
    if not model:
        raise UsageError("llm needs the name of a model: llm(model=gpt-4o-mini), or with endpoint=http://.../v1")
    limits = {"votes": (votes, MOST_VOTES), "parallel": (parallel, MOST_PARALLEL), "asks": (asks, 10)}
    limits |= {"attempts": (attempts, 100), "max_tokens": (max_tokens, 1_000_000)}
    for name, (value, most) in limits.items():
        if not 1 <= value <= most:
            raise UsageError(f"llm: {name} is {value}; it takes a number from 1 to {most:,}")
    if timeout <= 0:
        raise UsageError("llm: timeout takes a number of seconds above 0")
    if temperature is None:
        temperature = VOTING_TEMPERATURE if votes > 1 else 0.0
    place = endpoint_at(endpoint, key_env)
    cost = price_of(price, place.host, model)
    settings = Settings(float(temperature), max_tokens, logprobs)
    prompt = cache(partial(prompt_of, places=prompt_places(prompts, evaluation.folder.path)))
    for kind in shipped():
        prompt(kind)  # what is wrong with any is said before the first call
    return LanguageModel(
        name=re.sub(r"[\s/]+", "-", model),
        model=Model(model, place, settings, asks, attempts, timeout, parallel),
        showing=Showing(evaluation.task, prompt, _known(evaluation), _references(evaluation)),
        folder=evaluation.folder.path,
        votes=votes,
        repeat=repeat,
        price=cost,
        wanted=Wanted(holistic=holistic, citations=citations),
        account=Spending(cost),
    )


def _known(evaluation: Evaluation) -> dict[str, list[str]]:
    """The answers known from question development, by question."""
    known: dict[str, list[str]] = {}
    for row in known_answers(evaluation):
        known.setdefault(row["question"], []).append(row["answer"])
    return known


def _references(evaluation: Evaluation) -> dict[str, str]:
    """The reference labels of pairs, which those who rate justifications are shown; none without a key."""
    name = evaluation.default_key()
    if name is None or not evaluation.task.is_rated:
        return {}
    pair = next(record for record in KINDS.values() if not record.of_runs)
    rows = evaluation.judgment_set(name).kind(pair.rows).iter_rows(named=True)
    return {row["question"]: row["judgment"] for row in rows if row["judgment"] is not None}


__all__ = ["LanguageModel", "Planned", "language_model"]
