"""Frames of ragas with metrics that need no model, as CSV and as JSON lines.

Run by foreign_samples.py with ragas' own Python: make_ragas.py QUESTIONS FOLDER.
"""

import json
import sys
from pathlib import Path

from ragas import EvaluationDataset, evaluate
from ragas.metrics import ExactMatch, NonLLMStringSimilarity, RougeScore

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])
printed = {}
for system in ("alpha", "beta"):
    samples = [
        {
            "user_input": row["question"],
            "response": row["answers"][system][0],
            "reference": row["gold"],
            "retrieved_contexts": [f"The answer is {row['gold']}.", "Another text, with a comma."],
        }
        for row in questions
    ]
    result = evaluate(
        EvaluationDataset.from_list(samples),
        metrics=[ExactMatch(), NonLLMStringSimilarity(), RougeScore()],
        show_progress=False,
    )
    frame = result.to_pandas()
    frame.to_csv(folder / f"{system}.csv", index=False)
    if system == "beta":
        frame.to_json(folder / f"{system}.jsonl", orient="records", lines=True)
    printed[system] = str(result)
(folder / "printed.json").write_text(json.dumps(printed, indent=1) + "\n", encoding="utf-8")
