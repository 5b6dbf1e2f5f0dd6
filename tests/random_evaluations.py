"""Random evaluations of every task, written as real files, with everything in them that the rules speak of.

Judgments have a history, belong to runs and items that are gone, and are missing; lists repeat items and name classes
or only distinct marks; nuggets are matched twice, in several rows; answers are withdrawn; questions are dropped; runs
leave questions out, come in several forms and compressed.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

TASKS = (
    "ranked5",
    "confidence",
    "passages",
    "main2003",
    "series2004",
    "definition",
    "qaciad",
    "entailment2",
    "entailment3",
    "justification",
    "nuggets",
)
DOCS = ("NYT1", "APW19980601.0001", "XIE-ü", "d#4")
# Strings that differ only in what must not be normalised, and characters that end no line.
STRINGS = (
    "Atlanta",
    "atlanta",
    "Atlanta  Georgia",
    "Atlanta Georgia",
    "caf\u00e9",
    "cafe\u0301",
    "\"quoted\" 'string'",
    "one\u2028two",
    "next\u0085line",
    "form\x0cfeed",
    "a\tb",
    "no\u00a0break \u3000 wide",
    "control\x1cseparator",
    "NIL",
    "1",
    "{}",
    # Allowances are 100 characters a nugget: just below, at and above.
    "x" * 99,
    "x " * 99 + "x",
    "x" * 101,
    "an answer that is quite a bit longer than the others, so that allowances of length are used up " * 2,
)
LABELS = {"ranked5": "RUW", "passages": "RUW"}
PAIR_LABELS = {"entailment2": ("YES", "NO")}
SUPPORTS = ("full", "partial", "none")


class Maker:
    """One random evaluation; `untidy` is how much is missing from it."""

    def __init__(self, folder: Path, task: str, seed: int) -> None:
        self.folder, self.task = folder, task
        self.rng = Random(f"{task} {seed}")
        self.untidy = self.rng.choice((0.0, 0.0, 0.05, 0.3))
        self.configuration: dict[str, Any] = {"task": task}
        self.questions: list[dict[str, Any]] = []
        self.runs: dict[str, dict[str, dict[str, Any]]] = {}
        self.classes = self.rng.random() < 0.7  # lists with classes, or with distinct marks only

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def some(self, choices: Any, share: float) -> list[Any]:
        return [choice for choice in choices if self.chance(share)]

    def make(self) -> Path:
        for name in ("runs", "judgments", "nuggets"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._ask()
        self._answer()
        sets = self._judge()
        self._configure()
        self._write("questions.jsonl", self.questions)
        for name, rows in sets.items():
            self._write(f"judgments/{name}.jsonl", rows)
        toml = [f"{key} = {json.dumps(value)}" for key, value in self.configuration.items() if key != "drop"]
        toml += [
            "[drop]",
            *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in self.configuration.get("drop", {}).items()),
        ]
        (self.folder / "qassay.toml").write_text("\n".join(toml), encoding="utf-8")
        return self.folder

    def _write(self, name: str, rows: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=self.chance(0.5)) + "\n" for row in rows)
        (self.folder / name).write_bytes(text.encode())

    # ------------------------------------------------------------ questions

    def _ask(self) -> None:
        task, rng = self.task, self.rng
        if task in ("series2004", "qaciad"):
            lists = rng.choice((0, 2, 2, 2))
            for series in rng.sample(range(1, 30), rng.randint(2, 4)):
                kinds = [*["factoid"] * rng.randint(0, 3), *["list"] * rng.randint(0, lists)]
                rng.shuffle(kinds)
                kinds = [*kinds, *["other"] * rng.randint(0, 1)] or ["factoid"]
                if task == "qaciad":
                    kinds = ["list"] * rng.randint(1, 3)
                more = {"series": str(series), "target": f"target {series}"}
                if task == "qaciad" and self.chance(0.8):
                    more["series_type"] = rng.choice(("gathering", "browsing"))
                for number, kind in enumerate(kinds, 1):
                    self._question(f"{series}.{number}", kind, **more)
            return
        kinds = {
            "main2003": ["factoid", "list", "definition"],
            "definition": ["definition"],
            "nuggets": ["other"],
        }.get(task, ["pair"] if "entail" in task or task == "justification" else ["factoid"])
        if len(kinds) > 1:
            kinds = self.some(kinds, 0.8) or kinds
        for number in rng.sample(range(1, 90), rng.randint(3, 7)):
            more = {"hypothesis": "h"} if kinds == ["pair"] else {}
            self._question(rng.choice(("{}", "q{}", "fr-ü{}")).format(number), rng.choice(kinds), **more)

    def _question(self, name: str, kind: str, **more: str) -> None:
        self.questions.append({"id": name, "type": kind, "text": f"question {name}?", **more})

    def of(self, *kinds: str) -> list[str]:
        return [question["id"] for question in self.questions if question["type"] in kinds]

    # ------------------------------------------------------------ runs

    def _answer(self) -> None:
        rng = self.rng
        tags = rng.sample(["alpha", "beta_2", "γάμμα", "d:4", "run%20", "E", "f.g"], rng.randint(1, 4))
        for tag in tags:
            responses = {q["id"]: self._response(q["type"]) for q in self.questions if not self.chance(self.untidy / 2)}
            if not responses:
                responses = {self.questions[0]["id"]: self._response(self.questions[0]["type"])}
            names = list(responses)
            if self.chance(0.7):
                rng.shuffle(names)
            self.runs[tag] = {name: responses[name] for name in names}
            self._write_run(tag)
        if self.chance(0.5):
            rows = [
                {"run": tag, "organisation": rng.choice("xyz"), "manual": self.chance(0.3)}
                for tag in self.some(tags, 0.7)
            ]
            self._write("runs.jsonl", rows)

    def _response(self, kind: str) -> dict[str, Any]:
        rng = self.rng
        if kind == "pair":
            labels = PAIR_LABELS.get(self.task, ("YES", "NO", "UNKNOWN"))
            return {"decision": rng.choice(labels), "justification": "because"}
        if kind == "factoid":
            if self.task == "ranked5":
                return {"items": [self._item() for _ in range(rng.randint(1, 5))]}
            if self.chance(0.3):
                return {"items": [], "nil": True}
            if self.task == "passages":
                start, length = rng.randint(0, 3), rng.randint(1, 3)
                return {"items": [{"doc": rng.choice(DOCS), "start": start, "length": length}]}
            return {"items": [self._item()]}
        most = 6 if kind == "list" else 3
        return {"items": [self._item() for _ in range(rng.choice((0, rng.randint(1, most), rng.randint(1, most))))]}

    def _item(self) -> dict[str, Any]:
        item = {"doc": self.rng.choice(DOCS[:2]), "text": self.rng.choice(STRINGS)}
        if self.task == "nuggets":
            item["citations"] = [item["doc"], *self.some(DOCS[2:], 0.5)]
        return item

    def _write_run(self, tag: str) -> None:
        rng, responses = self.rng, self.runs[tag]
        forms = {
            "ranked5": ["trec7", "trec4", "jsonl"],
            "passages": ["extract", "jsonl"],
            "entailment2": ["rte", "jsonl"],
            "entailment3": ["rte", "jsonl"],
            "justification": ["jsonl"],
            "nuggets": ["rag24", "jsonl"],
        }.get(self.task, ["trec4", "jsonl"])
        form = rng.choice(forms)
        lines = list(getattr(self, f"_{form}")(tag, responses))
        end = rng.choice(("\n", "\n", "\r\n"))
        data = (end.join(lines) + rng.choice((end, ""))).encode()
        if self.chance(0.1):
            data = b"\xef\xbb\xbf" + data
        name = quote(tag, safe="") + (".jsonl" if form in ("jsonl", "rag24") else ".txt")
        packed = rng.choice(("", "", "", ".gz", ".zst"))
        if packed == ".gz":
            data = gzip.compress(data)
        elif packed == ".zst":
            import zstandard

            data = zstandard.compress(data)
        (self.folder / "runs" / (name + packed)).write_bytes(data)

    def _gap(self) -> str:
        return self.rng.choice((" ", " ", " ", "  ", "\t", " \t "))

    def _trec4(self, tag: str, responses: dict[str, Any]) -> Any:
        tidy = self.chance(0.5)
        for question, response in responses.items():
            parts = [(item["doc"], item["text"]) for item in response["items"]] or [("NIL",)]
            for part in parts:
                yield " ".join((question, tag, *part)) if tidy else self._loose(question, tag, *part)

    def _loose(self, *parts: str) -> str:
        line = self.rng.choice(("", " ", "\t")) + parts[0]
        for part in parts[1:]:
            line += self._gap() + part
        return line + self.rng.choice(("", " ", "\t "))

    def _trec7(self, tag: str, responses: dict[str, Any]) -> Any:
        lines = []
        for question, response in responses.items():
            for rank, item in enumerate(response["items"], 1):
                score = str(self.rng.random())
                lines.append(self._loose(question, "Q0", item["doc"], str(rank), score, tag, item["text"]))
        if self.chance(0.5):
            self.rng.shuffle(lines)
        return lines

    def _extract(self, tag: str, responses: dict[str, Any]) -> Any:
        for question, response in responses.items():
            parts = [(i["doc"], str(i["start"]), str(i["length"])) for i in response["items"]] or [("NIL",)]
            yield self._loose(question, tag, *parts[0])

    def _rte(self, tag: str, responses: dict[str, Any]) -> Any:
        yield self.rng.choice(("ranked: no", "ranked: yes"))
        for question, response in responses.items():
            yield self._loose(question, response["decision"])

    def _jsonl(self, tag: str, responses: dict[str, Any]) -> Any:
        confidence = self.chance(0.5)
        for number, (question, response) in enumerate(responses.items()):
            row = {"run": tag, "question": question, **response}
            if confidence:
                row["confidence"] = 1.0 / (1 + number // 2)
            if "items" in row and not row["items"] and row.get("nil") and self.chance(0.3):
                del row["nil"]
                row["items"] = [{"doc": "NIL", "text": ""}] if self.task != "passages" else [{"doc": "NIL"}]
            if self.chance(0.1):
                yield ""
            yield json.dumps(row, ensure_ascii=self.chance(0.5))

    def _rag24(self, tag: str, responses: dict[str, Any]) -> Any:
        for question, response in responses.items():
            docs = sorted({doc for item in response["items"] for doc in item["citations"]})
            answer = [
                {"text": item["text"], "citations": [docs.index(doc) for doc in item["citations"]]}
                for item in response["items"]
            ]
            row = {"run_id": tag, "topic_id": question, "topic": "?", "references": docs, "answer": answer}
            yield json.dumps(row, ensure_ascii=self.chance(0.5))

    # ------------------------------------------------------------ judgments

    def _judge(self) -> dict[str, list[dict[str, Any]]]:
        rng = self.rng
        names = rng.choice((["adjudicated"], ["only"], ["reference"], ["adjudicated", "first", "second"]))
        if self.task in ("entailment2", "entailment3", "justification"):
            names = rng.choice(
                (["adjudicated"], ["adjudicated", "first", "second"], ["first", "main", "reference", "second"])
            )
        self._known_answers()
        self._nugget_lists(names)
        self.names = names
        return {name: self._set(two_way=name == "main") for name in names}

    def _known_answers(self) -> None:
        rows = []
        for question in self.of("factoid", "list"):
            share = 0.3 if question in self.of("factoid") else 0.8
            for text in self.some(STRINGS[:8], 0.4) if self.chance(share) else []:
                row = {"question": question, "answer": text}
                if self.chance(0.3):
                    row["doc"] = self.rng.choice(DOCS)
                if self.chance(0.3):
                    row["withdrawn"] = self.chance(0.6)
                rows.append(row)
                if self.chance(0.1):
                    rows.append(row | {"withdrawn": self.chance(0.5)})
        if not self.classes:  # distinct marks need a list of known answers
            rows += [{"question": question, "answer": f"known {n}"} for question in self.of("list") for n in range(6)]
        if rows:
            self._write("answers.jsonl", rows)

    def _nugget_lists(self, names: list[str]) -> None:
        asked = self.of("definition", "other")
        if not asked:
            return
        # With one list every set uses it; with several, each set has its own.
        lists = self.rng.choice((["development"], names, [*names, "development"]))
        weighted = self.chance(0.2)
        for name in lists:
            rows = []
            for question in asked:
                if self.chance(self.untidy / 2):
                    continue
                vital = self.rng.choice((0.0, 0.5, 0.5, 0.5, 1.0)) if self.untidy else 0.6
                for number in range(1, 5):
                    row = {"question": question, "nugget": str(number), "vital": self.chance(vital), "text": "a fact"}
                    if weighted and self.chance(0.95):
                        row["weight"] = self.rng.choice((0, 0.5, 1, 2))
                    rows.append(row)
                    if self.chance(0.1):
                        rows.append(row | {"vital": self.chance(vital)})
            self._write(f"nuggets/{name}.jsonl", rows)
        self.listed = lists

    def _set(self, *, two_way: bool) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        self.labels = PAIR_LABELS["entailment2"] if two_way else PAIR_LABELS.get(self.task, ("YES", "NO", "UNKNOWN"))
        for question in self.questions:
            judge = getattr(self, f"_judge_{question['type']}", self._judge_nuggets)
            rows += judge(question["id"])
        if self.chance(0.5):  # a history: earlier rows are overruled by later ones
            rows = [*self._changed(rows), *rows]
        return rows

    def _changed(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Earlier verdicts on some of the same things."""
        earlier = []
        for row in self.some(rows, 0.3):
            if "judgment" in row and self.task not in ("entailment2", "entailment3", "justification"):
                earlier.append(row | {"judgment": self.rng.choice("RUW")})
            elif "nuggets" in row:
                earlier.append(row | {"nuggets": ["1"]})
            elif "support" in row:
                earlier.append(row | {"support": "full"})
            elif "content" in row:
                earlier.append(row | {"content": 10})
            elif "understandability" in row:
                earlier.append(
                    {k: v for k, v in row.items() if k != "correctness"} | {"understandability": 5, "correctness": 5}
                )
            else:
                earlier.append(row | {"judgment": "YES"})
        return earlier

    def _judge_factoid(self, question: str) -> list[dict[str, Any]]:
        items = {
            json.dumps(i, sort_keys=True): i
            for responses in self.runs.values()
            if question in responses
            for i in responses[question]["items"]
        }
        stale = {"doc": "GONE", "text": "gone"} if self.task != "passages" else {"doc": "GONE", "start": 1, "length": 2}
        rows = [{"question": question, **item} for item in items.values() if not self.chance(self.untidy / 3)]
        rows += [{"question": question, **stale}] if self.chance(0.2) else []
        labels = LABELS.get(self.task, "RXUW")
        share = self.rng.choice((0.0, 0.5))  # questions without any R: NIL is right
        for row in rows:
            row["judgment"] = "R" if self.chance(share) else self.rng.choice(labels[1:])
        return rows

    def _judge_list(self, question: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        if self.chance(self.untidy / 2):
            return rows
        share = self.rng.choice((0.0, 0.6, 0.6, 0.9))
        for tag in [*self.runs, "gone"]:
            response = self.runs.get(tag, {}).get(question, {"items": [self._item()]})
            if tag == "gone" and self.chance(0.7):
                continue
            for item in {json.dumps(item): item for item in response["items"]}.values():
                if self.chance(self.untidy / 4):
                    continue
                row = {"question": question, "run": tag, **item, "judgment": "W"}
                if self.chance(share):
                    row["judgment"] = "R"
                    if not self.classes:
                        row["distinct"] = self.chance(0.6)
                    elif self.chance(0.8):
                        row["answer"] = self.rng.choice(STRINGS[:5])
                else:
                    row["judgment"] = self.rng.choice("XUW")
                    if self.chance(0.1):  # only R items can be distinct
                        row |= {"distinct": True} if not self.classes else {"answer": "no class"}
                rows.append(row)
        return rows

    def _judge_nuggets(self, question: str) -> list[dict[str, Any]]:
        listed = self._listed(question)
        rows: list[dict[str, Any]] = []
        for tag, responses in self.runs.items():
            response = responses.get(question, {"items": []})
            if self.task == "nuggets":
                rows += self._support(question, tag, response, listed)
                continue
            if self.task == "definition" and self.chance(0.6):
                content, organization = self.rng.randint(0, 10), self.rng.randint(0, 10)
                rows.append({"question": question, "run": tag, "content": content, "organization": organization})
            if not response["items"] or self.chance(self.untidy / 3):
                continue
            if self.chance(0.5):
                rows.append({"question": question, "run": tag, "nuggets": self.some(listed, 0.5)})
                continue
            for place in range(len(response["items"])):
                rows.append({"question": question, "run": tag, "item": place, "nuggets": self.some(listed, 0.4)})
        return rows

    def _listed(self, question: str) -> list[str]:
        """The nuggets that every list has of the question: judgments may name no other."""
        nuggets = {"1", "2", "3", "4"}
        for name in self.listed:
            text = (self.folder / "nuggets" / f"{name}.jsonl").read_text(encoding="utf-8")
            rows = [json.loads(line) for line in text.splitlines()]
            nuggets &= {row["nugget"] for row in rows if row["question"] == question}
        return sorted(nuggets)

    def _support(self, question: str, tag: str, response: dict[str, Any], listed: list[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for nugget in listed if response["items"] or self.chance(0.5) else ():
            if not self.chance(self.untidy / 4):
                support = self.rng.choice(SUPPORTS)  # also of an empty answer, which supports nothing anyway
                rows.append({"question": question, "run": tag, "nugget": nugget, "support": support})
        if self.chance(0.6):
            for sentence, item in enumerate(response["items"]):
                for doc in self.some(item["citations"], 0.7):
                    subject = {"question": question, "run": tag, "sentence": sentence, "doc": doc}
                    rows.append(subject | {"support": self.rng.choice(SUPPORTS)})
        return rows

    def _judge_pair(self, question: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        labels = self.labels
        if not self.chance(self.untidy / 3) and (self.task != "justification" or self.chance(0.5)):
            rows.append({"question": question, "judgment": self.rng.choice(labels)})
        if self.task != "justification" or self.chance(0.2):
            return rows
        for tag, responses in self.runs.items():
            for judge in self.some((None, "ann", "bob"), 0.6) or [None]:
                if question not in responses or self.chance(self.untidy / 4):
                    continue
                row = {"question": question, "run": tag, "understandability": self.rng.randint(1, 5)}
                if judge:
                    row["assessor"] = judge
                if row["understandability"] >= 3 and self.chance(0.9):
                    row["correctness"] = self.rng.randint(1, 5)
                rows.append(row)
        return rows

    # ------------------------------------------------------------ the organiser's decisions

    def _configure(self) -> None:
        names = [question["id"] for question in self.questions]
        series = [question["series"] for question in self.questions if "series" in question]
        if self.chance(0.3):
            dropped = self.some([*names, *series], 0.15)
            self.configuration["drop"] = dict.fromkeys(dropped, "the organiser says so")
        if self.task == "justification" and self.chance(0.5):
            self.configuration["justified"] = self.some(names, 0.6)
        if "entail" in self.task and "main" in self.names:
            self.configuration["two_way"] = ["main"]


def make(folder: Path, task: str, seed: int) -> Path:
    """Write one random evaluation and return its folder."""
    return Maker(folder, task, seed).make()
