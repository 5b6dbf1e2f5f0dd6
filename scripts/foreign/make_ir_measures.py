"""What ir_measures prints with --by_query, and the same scores of trec_eval's own code in the layout of `trec_eval -q`.

Run by foreign_samples.py with ir_measures' own Python: make_ir_measures.py QUESTIONS FOLDER. The second form is written
here, because pytrec_eval, which contains trec_eval's code, prints nothing itself; the layout is that of trec_eval's
`print_single_meas`.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytrec_eval

questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
folder = Path(sys.argv[2])
draw = random.Random(7)
documents = [f"d{number}" for number in range(20)]
qrels = {row["id"]: {doc: int(draw.random() < 0.3) for doc in documents} for row in questions}
Path("qrels.txt").write_text(
    "".join(f"{topic} 0 {doc} {label}\n" for topic, labels in qrels.items() for doc, label in labels.items())
)
for system, skill in (("alpha", 0.5), ("beta", 0.1)):
    run = {
        topic: {doc: round(draw.random() + skill * label, 4) for doc, label in labels.items()}
        for topic, labels in qrels.items()
    }
    lines = [
        f"{topic} Q0 {doc} {rank} {score} {system}\n"
        for topic, scores in run.items()
        for rank, (doc, score) in enumerate(sorted(scores.items(), key=lambda pair: -pair[1]), 1)
    ]
    Path(f"{system}.run").write_text("".join(lines))
    for suffix, options in (("tsv", []), ("jsonl", ["--output_format", "jsonl"])):
        command = [str(Path(sys.executable).with_name("ir_measures")), "--by_query", *options]
        done = subprocess.run(
            [*command, "qrels.txt", f"{system}.run", "AP", "nDCG@10", "P@5"], capture_output=True, text=True, check=True
        )
        (folder / f"{system}.{suffix}").write_text(done.stdout)
    by_topic = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P.5"}).evaluate(run)
    measures = sorted(next(iter(by_topic.values())))
    with (folder / f"{system}.trec_eval").open("w") as out:
        for topic in sorted(by_topic):
            for measure in measures:
                out.write(f"{measure:<22}\t{topic}\t{by_topic[topic][measure]:.4f}\n")
        out.write(f"{'runid':<22}\tall\t{system}\n{'num_q':<22}\tall\t{len(by_topic)}\n")
        for measure in measures:
            mean = sum(scores[measure] for scores in by_topic.values()) / len(by_topic)
            out.write(f"{measure:<22}\tall\t{mean:.4f}\n")
