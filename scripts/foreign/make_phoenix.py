"""Experiments of a Phoenix server on this machine, as its own exports: CSV and JSON, and a frame of phoenix.evals.

Run by foreign_samples.py with Phoenix' own Python: make_phoenix.py QUESTIONS FOLDER.
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])
port = os.environ.get("PHOENIX_PORT", "16006")
base = f"http://127.0.0.1:{port}"
settings = {"PHOENIX_PORT": port, "PHOENIX_GRPC_PORT": str(int(port) + 1), "PHOENIX_HOST": "127.0.0.1"}
settings |= {"PHOENIX_WORKING_DIR": str(Path("phoenix").resolve()), "PHOENIX_TELEMETRY_ENABLED": "false"}
os.environ |= {**settings, "PHOENIX_COLLECTOR_ENDPOINT": base}


def fetch(address):
    """The answer of the server."""
    with urllib.request.urlopen(base + address, timeout=10) as answer:
        return answer.read()


def wait(server):
    """Wait until the server answers."""
    for _ in range(240):
        try:
            return fetch("/healthz")
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, "Phoenix ended; see server.txt"
            time.sleep(0.5)
    raise TimeoutError("Phoenix does not answer")


def experiments():
    """Two experiments with two repetitions each."""
    import pandas
    from phoenix.client import Client
    from phoenix.evals import create_evaluator, evaluate_dataframe

    client = Client(base_url=base)
    data = client.datasets.create_dataset(
        name="facts",
        inputs=[{"question": row["question"]} for row in questions],
        outputs=[{"answer": row["gold"]} for row in questions],
        metadata=[{"id": row["id"]} for row in questions],
    )

    def exact(output, expected):
        return output == expected["answer"]

    def recall(output, expected):
        reference = expected["answer"].split()
        return sum(word in output.split() for word in reference) / len(reference)

    for system in ("alpha", "beta"):
        calls = {row["id"]: 0 for row in questions}

        def task(example, system=system, calls=calls):
            row = next(row for row in questions if row["question"] == example["input"]["question"])
            calls[row["id"]] += 1
            return row["answers"][system][calls[row["id"]] - 1]

        experiment = client.experiments.run_experiment(
            dataset=data,
            task=task,
            evaluators={"exact": exact, "recall": recall},
            experiment_name=system,
            repetitions=2,
            print_summary=False,
        )
        for form in ("csv", "json") if system == "alpha" else ("csv",):
            (folder / f"{system}.{form}").write_bytes(fetch(f"/v1/experiments/{experiment['experiment_id']}/{form}"))

        @create_evaluator(name="exact", kind="code")
        def exact_score(output, expected):
            return float(output == expected)

        frame = pandas.DataFrame(
            {
                "id": [row["id"] for row in questions],
                "input": [row["question"] for row in questions],
                "output": [row["answers"][system][0] for row in questions],
                "expected": [row["gold"] for row in questions],
            }
        )
        evaluated = evaluate_dataframe(dataframe=frame, evaluators=[exact_score])
        evaluated.to_csv(folder / f"{system}-evals.csv", index=False)


with Path("server.txt").open("w") as out:
    server = subprocess.Popen([sys.executable, "-m", "phoenix.server.main", "serve"], stdout=out, stderr=out)
try:
    wait(server)
    experiments()
finally:
    server.terminate()
    server.wait(30)
