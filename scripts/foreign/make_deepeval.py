"""Test runs of DeepEval with metrics that need no model, one file per system.

Run by foreign_samples.py with DeepEval's own Python: make_deepeval.py QUESTIONS FOLDER.
"""

import json
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric, ExactMatchMetric
from deepeval.test_case import LLMTestCase

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])


class WordRecall(BaseMetric):
    """The share of the expected words in the answer; an empty answer is an error."""

    threshold = 0.5
    async_mode = False

    def measure(self, test_case, *args, **kwargs):
        """The score of one answer."""
        if not test_case.actual_output:
            raise ValueError("no answer to measure")
        words = test_case.actual_output.split()
        expected = test_case.expected_output.split()
        self.score = sum(word in words for word in expected) / len(expected)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        """The same, for DeepEval's loop."""
        return self.measure(test_case)

    def is_successful(self):
        """Whether the answer reaches the threshold."""
        return bool(self.success)

    @property
    def __name__(self):
        return "Word Recall"


for system in ("alpha", "beta"):
    cases = [
        LLMTestCase(
            name=row["id"], input=row["question"], actual_output=row["answers"][system][0], expected_output=row["gold"]
        )
        for row in questions
    ]
    evaluate(
        cases,
        [ExactMatchMetric(), WordRecall()],
        hyperparameters={"model": system},
        identifier=f"facts with {system}",
        async_config=AsyncConfig(run_async=False),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(print_results=False, show_indicator=False, results_folder=f"runs-{system}"),
        error_config=ErrorConfig(ignore_errors=True),
    )
    [written] = Path(f"runs-{system}").glob("*.json")
    (folder / f"{system}.json").write_bytes(written.read_bytes())
