"""Logs of Inspect, two models and two epochs each, and one of a run that stopped with an error.

Run by foreign_samples.py with Inspect's own Python: make_inspect.py QUESTIONS FOLDER.
"""

import json
import sys
from pathlib import Path

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, accuracy, exact, match, mean, scorer
from inspect_ai.solver import solver

# Four questions: a log has thousands of characters per sample.
questions = {row["id"]: row for row in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))[2:]}
folder = Path(sys.argv[2])


@solver
def answer(system, breaks_at=None):
    """Gives the answers of the file; raises an error at one question where asked to."""

    async def solve(state, generate):
        if state.sample_id == breaks_at:
            raise RuntimeError("the service of the model is away")
        text = questions[state.sample_id]["answers"][system][state.epoch - 1]
        state.output = ModelOutput.from_content(str(state.model), text)
        return state

    return solve


@scorer(metrics={"*": [mean()]})
def words():
    """Two numbers per answer: the share of the gold answer's words in it, and its length."""

    async def score(state, target):
        words = state.output.completion.split()
        expected = target.text.split()
        return Score(value={"recall": sum(word in words for word in expected) / len(expected), "length": len(words)})

    return score


@scorer(metrics=[accuracy()])
def graded():
    """C, P, I or N: right, some of the words, wrong, no answer."""

    async def score(state, target):
        answer = state.output.completion
        if not answer:
            return Score(value="N")
        if answer == target.text:
            return Score(value="C")
        return Score(value="P" if set(answer.split()) & set(target.text.split()) else "I")

    return score


@scorer(metrics=[accuracy()])
def non_empty():
    """True or false."""

    async def score(state, target):
        return Score(value=bool(state.output.completion))

    return score


def task(system, breaks_at=None):
    """The task with the answers of one system."""
    samples = [Sample(input=row["question"], target=row["gold"], id=key) for key, row in questions.items()]
    scorers = [match(location="exact"), exact(), graded(), words(), non_empty()]
    return Task(name="facts", dataset=samples, solver=answer(system, breaks_at), scorer=scorers, epochs=2)


def write(name, system, form, breaks_at=None, limit=None):
    """Run the task and keep its log under this name."""
    kwargs = {"max_samples": 1, "display": "none", "log_format": form, "log_dir": "logs", "limit": limit}
    [log] = inspect_ai.eval(task(system, breaks_at), model=f"mockllm/{system}", **kwargs)
    (folder / f"{name}.{form}").write_bytes(Path(log.location.removeprefix("file://")).read_bytes())
    shown = {
        f"{score.name}/{name}": metric.value
        for score in (log.results.scores if log.results else [])
        for name, metric in score.metrics.items()
    }
    return {"status": log.status, "model": log.eval.model, "metrics": shown}


printed = {
    "alpha.eval": write("alpha", "alpha", "eval"),
    "beta.eval": write("beta", "beta", "eval"),
    "beta.json": write("beta", "beta", "json", limit=1),
    "broken-off.eval": write("broken-off", "alpha", "eval", breaks_at="gold"),
}
(folder / "printed.json").write_text(json.dumps(printed, indent=1) + "\n", encoding="utf-8")
