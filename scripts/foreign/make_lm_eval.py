"""Samples that lm-evaluation-harness logs for two small local tasks, with its model `dummy`.

Run by foreign_samples.py with the harness' own Python: make_lm_eval.py QUESTIONS FOLDER.
"""

import json
import sys
from pathlib import Path

import lm_eval
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])
tasks = Path("tasks")
tasks.mkdir(exist_ok=True)
choices = sorted(row["gold"] for row in questions)
rows = [{"question": row["question"], "gold": row["gold"], "choices": choices} for row in questions]
(tasks / "facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
data = f"""dataset_path: json
dataset_kwargs:
  data_files: {{test: {(tasks / "facts.jsonl").resolve()}}}
test_split: test
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
"""
(tasks / "facts_choice.yaml").write_text(
    f"""task: facts_choice
{data}output_type: multiple_choice
doc_to_choice: "{{{{choices}}}}"
doc_to_target: "{{{{choices.index(gold)}}}}"
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
""",
    encoding="utf-8",
)
(tasks / "facts_text.yaml").write_text(
    f"""task: facts_text
{data}output_type: generate_until
doc_to_target: "lol{{{{'' if gold in ('Paris', 'Au') else ' ' + gold}}}}"
generation_kwargs: {{until: ["\\n"]}}
filter_list:
  - name: strict
    filter: [{{function: take_first}}]
  - name: first-word
    filter:
      - {{function: regex, regex_pattern: "([A-Za-z]+)"}}
      - {{function: take_first}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
""",
    encoding="utf-8",
)
printed = {}
for system, seed in (("alpha", 1), ("beta", 2)):
    tracker = EvaluationTracker(output_path="output")
    results = lm_eval.simple_evaluate(
        model="dummy",
        model_args=f"pretrained={system}",
        tasks=["facts_choice", "facts_text"],
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        log_samples=True,
        bootstrap_iters=0,
        random_seed=seed,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    printed[system] = results["results"]
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, logged in samples.items():
        tracker.save_results_samples(task_name=task, samples=logged)
for written in Path("output").glob("*/samples_*.jsonl"):
    if written.parent.name == "alpha" or "choice" in written.name:
        (folder / written.parent.name).mkdir(exist_ok=True)
        (folder / written.parent.name / written.name).write_bytes(written.read_bytes())
(folder / "printed.json").write_text(json.dumps(printed, indent=1, default=str) + "\n", encoding="utf-8")
