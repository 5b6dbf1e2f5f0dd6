"""`sentence-baseline` by hand, and the pattern of the 2003 paper: its rank falls as beta falls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import qassay
from qassay.collections import Collection
from qassay.questions import Question, TestSet
from qassay.systems import Answer, Asked, make_reference
from qassay.systems.harness.driving import drive
from qassay.systems.harness.log import Log, header
from qassay.systems.harness.opening import open_system
from qassay.systems.harness.writing import plan_run
from qassay.systems.reference.definitions import sentence_baseline
from qassay.systems.text import content_words, stem

Collect = Callable[..., Collection]
Ask = Callable[..., Answer]


def test_every_sentence_that_names_the_target_in_the_order_of_the_collection(collect: Collect, ask: Ask) -> None:
    documents = collect(
        "The Fram was a ship. She had a rounded hull. Amundsen took the FRAM to Antarctica.",
        "Nothing is here.",
        "A museum in Oslo keeps the\nfram today.",
    )
    answer = ask(sentence_baseline(documents), "", "other", target="Fram")
    assert [(item.doc, item.text) for item in answer.items] == [
        ("D1", "The Fram was a ship."),
        ("D1", "Amundsen took the FRAM to Antarctica."),
        ("D3", "A museum in Oslo keeps the fram today."),
    ]


def test_overlap_is_shared_words_over_the_words_of_the_shorter(collect: Collect, ask: Ask) -> None:
    # Against the first (the fram was a ship built in 1892: 8 words) the second shares 7 of its 9 words and the first is
    # the shorter: 7/8. The third shares the, fram, ship of its 5 words: 3/5.
    documents = collect(
        "The Fram was a ship built in 1892.",
        "The Fram was a strong wooden ship built in.",
        "Ice lifted the Fram ship.",
    )
    texts = {
        limit: [item.doc for item in ask(sentence_baseline(documents, overlap=limit), "", "other", target="Fram").items]
        for limit in (0.6, 0.7, 0.875, 0.88)
    }
    # Kept only below the limit: 3/5 is not below 0.6, 7/8 is not below 0.875.
    assert texts == {0.6: ["D1"], 0.7: ["D1", "D3"], 0.875: ["D1", "D3"], 0.88: ["D1", "D2", "D3"]}


def test_a_dropped_sentence_does_not_drop_others(collect: Collect, ask: Ask) -> None:
    documents = collect("Fram one two three.", "Fram one two three four.", "Fram four five six seven.")
    answer = ask(sentence_baseline(documents), "", "other", target="Fram")
    assert [item.doc for item in answer.items] == ["D1", "D3"]


def test_other_types_get_nothing(collect: Collect, ask: Ask) -> None:
    system = sentence_baseline(collect("The Fram was a ship."))
    assert ask(system, "What was the Fram?", target="Fram") == Answer(nil=True)
    assert ask(system, "Which ships?", "list", target="Fram") == Answer()
    assert ask(system, "", "other", target="Gjøa") == Answer()


def test_a_definition_question_without_a_target_names_its_own(collect: Collect, ask: Ask) -> None:
    system = sentence_baseline(collect("A golden parachute is an agreement.", "It is golden."))
    answer = ask(system, "What is a golden parachute?", "definition")
    assert [item.text for item in answer.items] == ["A golden parachute is an agreement."]


def test_its_rank_falls_as_beta_falls(tmp_path: Path, demo_documents: Collection) -> None:
    """On definition questions about the built-in articles, under their own nugget lists.

    Targets are short, as in 2003 (the last capitalised word). Nuggets are matched by term overlap: half of a nugget's
    stems in one item, which agrees with the adjudicated matches of the built-in runs (F1 0.93).
    """
    folder, questions = _definition_evaluation(tmp_path)
    field = ["sentence-baseline"]
    field += [f"definition(limit={n}, fragments={cut})" for n in (2, 4, 6, 9, 12) for cut in ("false", "true")]
    for number, spelling in enumerate(field):
        _run(folder, f"s{number}", make_reference(spelling, demo_documents), questions)
    _match_nuggets(folder, questions)
    evaluation = qassay.open(folder)
    scores = {beta: evaluation.score(measure=f"nugget_f(beta={beta})") for beta in range(1, 6)}
    ranks = {beta: scored.ranks()["s0"] for beta, scored in scores.items()}
    means = {beta: {row.run: row.score for row in scored.runs} for beta, scored in scores.items()}
    assert ranks[1] >= ranks[2] >= ranks[3] >= ranks[4] >= ranks[5], ranks
    assert ranks[1] > ranks[5], ranks
    # [QA03] table 6: its own mean F rises with beta (0.205 to 0.493), while those of selective systems fall.
    assert means[5]["s0"] > means[1]["s0"]
    assert means[5]["s6"] < means[1]["s6"]


def _definition_evaluation(place: Path) -> tuple[Path, TestSet]:
    demo = qassay.open(qassay.demo_folder())
    folder = place / "definitions"
    for part in ("runs", "judgments", "nuggets"):
        (folder / part).mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "definition"\n')
    (folder / "nuggets" / "auto.jsonl").write_bytes((demo.folder.path / "nuggets" / "adjudicated.jsonl").read_bytes())
    candidates = []
    for question in demo.questions.of_type("other"):
        short = [word for word in str(question.target).split() if word[0].isupper()][-1]
        candidates.append(Question(question.id, "definition", f"What is {short}?", None, short))
    rows = [{"id": q.id, "type": q.type, "text": q.text, "target": q.target} for q in candidates]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder, TestSet(tuple(candidates))


def _run(folder: Path, tag: str, system: Callable[[Asked], Answer], questions: TestSet) -> None:
    from qassay.systems.harness.opening import local

    evaluation = qassay.open(folder)
    with Log(folder / "logs" / f"{tag}.jsonl", header(tag, tag, "definition", questions), questions) as log:
        answers = drive(local(system), questions, task=evaluation.task, log=log)
    plan_run(evaluation.folder, evaluation.configuration, tag, answers, questions=questions).write_files()


def _match_nuggets(folder: Path, questions: TestSet) -> None:
    nuggets: dict[str, dict[str, frozenset[str]]] = {}
    for line in (folder / "nuggets" / "auto.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        nuggets.setdefault(row["question"], {})[row["nugget"]] = _stems(row["text"])
    judged = []
    for path in sorted((folder / "runs").iterdir()):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            items = [_stems(item["text"]) for item in row["items"]]
            lengths = [
                name
                for name, wanted in nuggets[row["question"]].items()
                if any(len(wanted & item) >= 0.5 * len(wanted) for item in items)
            ]
            judged.append({"question": row["question"], "run": row["run"], "nuggets": lengths})
    (folder / "judgments" / "auto.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))


def test_the_spelling_reaches_the_system(collect: Collect) -> None:
    documents = collect("The Fram was a ship.", "The Fram was a ship too.")
    question = Question("1", "other", "", "1", "Fram")
    strict, loose = (make_reference(f"sentence-baseline(overlap={n})", documents)(Asked(question)) for n in (0.5, 2))
    assert (len(strict.items), len(loose.items)) == (1, 2)


def test_without_documents_it_cannot_be_made() -> None:
    task = qassay.open(qassay.demo_folder()).task
    with pytest.raises(qassay.UsageError, match="answers from documents"):
        open_system("sentence-baseline", task=task)
