"""Results of LangSmith's `evaluate` as its own package writes them into a frame, without the service.

Run by foreign_samples.py with LangSmith's own Python: make_langsmith.py QUESTIONS FOLDER.
"""

import json
import sys
import uuid
from pathlib import Path

from langsmith import Client, evaluate
from langsmith.schemas import Example

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])
dataset = uuid.uuid5(uuid.NAMESPACE_URL, "facts")
examples = [
    Example(
        id=uuid.uuid5(dataset, row["id"]),
        dataset_id=dataset,
        inputs={"question": row["question"]},
        outputs={"answer": row["gold"]},
    )
    for row in questions
]


def exact_match(outputs, reference_outputs):
    """1 where the answer is the reference."""
    return outputs["answer"] == reference_outputs["answer"]


def word_recall(outputs, reference_outputs):
    """The share of the reference's words."""
    words = outputs["answer"].split()
    expected = reference_outputs["answer"].split()
    return {"key": "word_recall", "score": sum(word in words for word in expected) / len(expected)}


for system in ("alpha", "beta"):

    def answer(inputs, system=system):
        """The answer of this system."""
        return {"answer": next(row["answers"][system][0] for row in questions if row["question"] == inputs["question"])}

    results = evaluate(
        answer,
        data=examples,
        evaluators=[exact_match, word_recall],
        upload_results=False,
        max_concurrency=0,
        client=Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False),
    )
    results.to_pandas().to_csv(folder / f"{system}.csv", index=False)
