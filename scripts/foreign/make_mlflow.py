"""Tables of MLflow's two kinds of evaluation, with scorers that need no model.

Run by foreign_samples.py with MLflow's own Python: make_mlflow.py QUESTIONS FOLDER.
"""

import json
import sys
from pathlib import Path

import mlflow
import pandas
from mlflow.genai import scorer
from mlflow.metrics import make_metric
from mlflow.metrics.base import MetricValue

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])
mlflow.set_tracking_uri("sqlite:///mlflow.db")
mlflow.set_experiment("facts")


@scorer
def exact(outputs, expectations):
    """Whether the answer is the expected one."""
    return outputs == expectations["expected_response"]


@scorer
def recall(outputs, expectations):
    """The share of the expected words; an empty answer is an error."""
    if not outputs:
        raise ValueError("no answer to measure")
    expected = expectations["expected_response"].split()
    return sum(word in outputs.split() for word in expected) / len(expected)


def word_recall(predictions, targets):
    """The same as a metric of the older interface."""
    shares = [
        sum(word in prediction.split() for word in target.split()) / len(target.split())
        for prediction, target in zip(predictions, targets, strict=True)
    ]
    return MetricValue(scores=shares, aggregate_results={"mean": sum(shares) / len(shares)})


printed = {}
for system in ("alpha", "beta"):
    rows = [
        {
            "inputs": {"question": row["question"]},
            "outputs": row["answers"][system][0],
            "expectations": {"expected_response": row["gold"]},
        }
        for row in questions
    ]
    with mlflow.start_run(run_name=system):
        result = mlflow.genai.evaluate(data=rows, scorers=[exact, recall])
    printed[system] = result.metrics
    # Without the columns that describe this machine.
    frame = result.result_df.drop(columns=["trace", "trace_metadata", "tags", "spans"], errors="ignore")
    frame.to_csv(folder / f"{system}.csv", index=False)
    if system == "beta":
        frame.head(2).to_json(folder / f"{system}.jsonl", orient="records", lines=True, default_handler=str)
    table = pandas.DataFrame(
        {
            "question": [row["question"] for row in questions],
            "answer": [row["answers"][system][0] for row in questions],
            "gold": [row["gold"] for row in questions],
        }
    )
    with mlflow.start_run(run_name=f"{system}, older interface") as run:
        mlflow.models.evaluate(
            data=table,
            predictions="answer",
            targets="gold",
            extra_metrics=[
                make_metric(eval_fn=word_recall, greater_is_better=True, name="word_recall"),
            ],
            evaluators="default",
        )
    artifact = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="eval_results_table.json")
    (folder / f"{system}.json").write_bytes(Path(artifact).read_bytes())
(folder / "printed.json").write_text(json.dumps(printed, indent=1) + "\n", encoding="utf-8")
