"""A second scorer, written from the method and the formats alone, in plain Python: dictionaries, loops, Fractions.

It reads the files of an evaluation by itself and gives the document of `score --json`. It is slow and says nothing
helpful about faulty input; it exists so that the real one can be compared with it, number by number. It does not import
the package.
"""

from __future__ import annotations

import gzip
import json
import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

# Unicode White_Space, from PropList.txt.
WHITE_SPACE = {
    *map(chr, [*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]),
    *map(chr, [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]),
}
TYPES = {
    "ranked5": ["factoid"],
    "confidence": ["factoid"],
    "passages": ["factoid"],
    "main2003": ["factoid", "list", "definition"],
    "series2004": ["factoid", "list", "other"],
    "definition": ["definition"],
    "qaciad": ["list"],
    "entailment2": ["pair"],
    "entailment3": ["pair"],
    "justification": ["pair"],
    "nuggets": ["other"],
}
MEASURE = {
    "ranked5": "mrr",
    "confidence": "cws",
    "passages": "accuracy",
    "main2003": "final_score",
    "series2004": "series_score",
    "definition": "nugget_f(beta=5)",
    "qaciad": "series_score",
    "entailment2": "entailment_accuracy",
    "entailment3": "entailment_accuracy",
    "justification": "correctness",
    "nuggets": "vital_strict",
}
# Measure of one question of a type, where the task's main measure combines types.
OF_TYPE = {"factoid": "accuracy", "list": "list_f", "definition": "nugget_f(beta=5)", "other": "nugget_f(beta=3)"}
WEIGHTS = {"factoid": Fraction(1, 2), "list": Fraction(1, 4), "definition": Fraction(1, 4), "other": Fraction(1, 4)}
NUGGET_MEASURES = {
    "all": (1, Fraction(1, 2)),
    "all_strict": (1, 0),
    "vital": (0, Fraction(1, 2)),
    "vital_strict": (0, 0),
    "weighted": (Fraction(1, 2), Fraction(1, 2)),
    "weighted_strict": (Fraction(1, 2), 0),
}
CREDIT = {"full": Fraction(1), "partial": Fraction(1, 2), "none": Fraction(0)}
Score = Fraction | None


class RefusalError(Exception):
    """Scoring stops here: unjudged, missing, or nothing that the measure could be computed from."""


@dataclass
class Response:
    """What one run returned to one question."""

    place: int
    items: list[dict[str, Any]] = field(default_factory=list)
    nil: bool = False
    decision: str | None = None


# ---------------------------------------------------------------- reading


def text_of(path: Path) -> str:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:4] == b"\x28\xb5\x2f\xfd":
        import zstandard

        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data.decode("utf-8").removeprefix("\ufeff")


def lines_of(path: Path) -> list[str]:
    lines = [line.removesuffix("\r") for line in text_of(path).split("\n")]
    return [line for line in lines if line.strip(" \t")]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines_of(path)]


def fields_of(line: str, number: int) -> list[str]:
    """The first fields, then what is left of the line."""
    fields: list[str] = []
    rest = line.strip(" \t")
    while rest and len(fields) < number - 1:
        end = next((place for place, c in enumerate(rest) if c in " \t"), len(rest))
        fields.append(rest[:end])
        rest = rest[end:].lstrip(" \t")
    return [*fields, rest] if rest else fields


def tag_of(path: Path) -> str:
    """A file's name without extensions, %XX undone."""
    from urllib.parse import unquote

    name = path.name
    for ending in (".gz", ".zst", ".jsonl", ".txt"):
        name = name.removesuffix(ending)
    return unquote(name)


def run_of(path: Path, task: str) -> tuple[str, dict[str, Response]]:
    """Tag and responses of one file of a run."""
    lines = lines_of(path)
    tag = tag_of(path)
    made: dict[str, Response] = {}

    def response(question: str) -> Response:
        return made.setdefault(question, Response(len(made)))

    if lines[0].startswith("{"):
        for line in lines:
            row = json.loads(line)
            if "topic_id" in row:
                tag = row["run_id"]
                response(str(row["topic_id"])).items = [{"text": part["text"]} for part in row["answer"]]
                continue
            tag = row["run"]
            own = response(str(row["question"]))
            own.items = [item for item in row.get("items", []) if item.get("doc") != "NIL"]
            own.nil = not own.items and "decision" not in row
            own.decision = row.get("decision")
        return tag, made
    if task.startswith("entailment"):
        for line in lines[1:]:
            name, decision = line.split()
            response(name).decision = decision
        return tag, made
    trec7 = fields_of(lines[0], 3)[1] == "Q0"
    for line in lines:
        if trec7:
            name, _, doc, rank, _, tag, text = fields_of(line, 7)
            response(name).items.append({"doc": doc, "text": text, "rank": int(rank)})
        elif task == "passages":
            name, tag, doc, *rest = fields_of(line, 5)
            own = response(name)
            if doc == "NIL":
                own.nil = True
            else:
                own.items.append({"doc": doc, "start": int(rest[0]), "length": int(rest[1])})
        else:
            name, tag, doc, *strings = fields_of(line, 4)
            own = response(name)
            if doc == "NIL":
                own.nil = True
            else:
                own.items.append({"doc": doc, "text": strings[0]})
    if trec7:
        for own in made.values():
            own.items.sort(key=lambda item: item["rank"])
    return tag, made


class Folder:
    """Everything in the folder, as plain rows."""

    def __init__(self, path: Path) -> None:
        self.configuration = tomllib.loads((path / "qassay.toml").read_text(encoding="utf-8"))
        self.task: str = self.configuration["task"]
        self.questions = {str(row["id"]): row for row in rows_of(path / "questions.jsonl")}
        self.runs = dict(run_of(file, self.task) for file in sorted((path / "runs").iterdir()))
        self.sets = self._sets(path / "judgments")
        self.nuggets = self._sets(path / "nuggets")
        answers = path / "answers.jsonl"
        self.answers = rows_of(answers) if answers.exists() else []
        about = path / "runs.jsonl"
        self.information = {row["run"]: row for row in rows_of(about)} if about.exists() else {}

    @staticmethod
    def _sets(folder: Path) -> dict[str, list[dict[str, Any]]]:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        return {tag_of(file): rows_of(file) for file in files}

    def default_key(self) -> str:
        for name in ("adjudicated", "reference"):
            if name in self.sets:
                return name
        if len(self.sets) == 1:
            return next(iter(self.sets))
        raise RefusalError("no default key")

    def nugget_list(self, key: str) -> list[dict[str, Any]]:
        if key in self.nuggets:
            return self.nuggets[key]
        return next(iter(self.nuggets.values())) if len(self.nuggets) == 1 else []


# ---------------------------------------------------------------- the key


class Key:
    """The current judgments: of several rows for a thing the last."""

    def __init__(self, folder: Folder, name: str) -> None:
        self.name = name
        self.items: dict[Any, str] = {}
        self.lists: dict[Any, dict[str, Any]] = {}
        self.matches: dict[Any, list[str]] = {}
        self.support: dict[Any, str] = {}
        self.citations: dict[Any, str] = {}
        self.holistic: dict[Any, dict[str, Any]] = {}
        self.pairs: dict[str, str] = {}
        self.two_way = False
        for row in folder.sets.get(name, []):
            self._take(folder, row)
        listed = {(str(row["question"]), row["nugget"]): row for row in folder.nugget_list(name)}
        self.nuggets: dict[str, dict[str, dict[str, Any]]] = {}
        for (question, nugget), row in listed.items():
            self.nuggets.setdefault(question, {})[nugget] = dict(row)
        current = {(str(a["question"]), a["answer"], a.get("doc")): a for a in folder.answers}
        self.answers: dict[str, set[str]] = {}
        for (question, answer, _), row in current.items():
            known = self.answers.setdefault(question, set())
            if not row.get("withdrawn", False):
                known.add(answer)

    def _take(self, folder: Folder, row: dict[str, Any]) -> None:
        question = str(row["question"])
        kind = folder.questions[question]["type"]
        if "nuggets" in row:
            self.matches[question, row["run"], row.get("item")] = row["nuggets"]
        elif "nugget" in row:
            self.support[question, row["run"], row["nugget"]] = row["support"]
        elif "sentence" in row:
            self.citations[question, row["run"], row["sentence"], row["doc"]] = row["support"]
        elif "content" in row:
            self.holistic[question, row["run"]] = row
        elif "understandability" in row:
            pass
        elif kind == "list":
            self.lists[question, row["run"], row["doc"], row["text"]] = row
        elif kind == "pair":
            self.pairs[question] = row["judgment"]
        elif "start" in row:
            self.items[question, row["doc"], row["start"], row["length"]] = row["judgment"]
        else:
            self.items[question, row["doc"], row["text"]] = row["judgment"]

    def nil_is_right(self, question: str) -> bool:
        return not self.answers.get(question) and not any(
            subject[0] == question and label == "R" for subject, label in self.items.items()
        )

    def known(self, question: str) -> set[str]:
        """S: the classes from development and of all R items."""
        classes = set(self.answers.get(question, ()))
        for (asked, _, _, text), row in self.lists.items():
            if asked == question and row["judgment"] == "R" and (name := class_of(row, text)) is not None:
                classes.add(name)
        return classes


def class_of(row: dict[str, Any], text: str) -> str | None:
    """The class of an R item: named, else its string unless only `distinct` is known."""
    if row.get("answer") is not None:
        return str(row["answer"])
    return text if row.get("distinct") is None else None


def entailment_key(folder: Folder, name: str) -> Key:
    """The keys that follow from the sets: two-way and disagreement-unknown."""
    marked = folder.configuration.get("two_way", [])
    if name == "two-way":
        key = Key(folder, folder.default_key())
        key.pairs = {pair: "YES" if label == "YES" else "NO" for pair, label in key.pairs.items()}
        key.name, key.two_way = name, True
        return key
    key = Key(folder, name)
    if name != "disagreement-unknown":
        key.two_way = name in marked
        return key
    apart = {"adjudicated", "reference", *marked}
    people = [n for n, rows in folder.sets.items() if n not in apart and not (rows and "trace" in rows[0])]
    if len(people) < 2:
        raise RefusalError("needs two assessors")
    sets = [Key(folder, set_name).pairs for set_name in people]
    keys = [Key(folder, set_name).pairs for set_name in marked]
    for pair in {pair for labels in sets for pair in labels}:
        given = {labels.get(pair) for labels in sets}
        label = given.pop() if len(given) == 1 else "UNKNOWN"
        if any(pair in labels and labels[pair] != label for labels in keys):
            label = "UNKNOWN"
        key.pairs[pair] = label or "UNKNOWN"
    return key


# ---------------------------------------------------------------- measures


def size_of(response: Response) -> int:
    return sum(1 for item in response.items for c in item.get("text", "") if c not in WHITE_SPACE)


def mean(values: list[Score]) -> Score:
    defined = [value for value in values if value is not None]
    return sum(defined, Fraction(0)) / len(defined) if defined else None


def f_of(matched_vital: Score, size: int, number: int, beta: Fraction, allowance: Fraction) -> Fraction:
    """F(beta) from recall, length and the number of nuggets matched."""
    recall = matched_vital or Fraction(0)
    allowed = allowance * number
    precision = Fraction(1) if size < allowed else 1 - (size - allowed) / size if size else Fraction(1)
    below = beta**2 * precision + recall
    return (beta**2 + 1) * precision * recall / below if below else Fraction(0)


def arguments_of(measure: str) -> tuple[str, dict[str, Fraction]]:
    name, _, inside = measure.partition("(")
    pairs = (part.split("=") for part in inside.rstrip(")").split(",") if part)
    return name, {key.strip(): Fraction(value.strip()) for key, value in pairs}


def spelled(measure: str) -> str:
    """The measure as outputs spell it: parameters at their defaults are not named."""
    name, given = arguments_of(measure)
    defaults = {"nugget_f": {"allowance": 100}, "pyramid_f": {"beta": 3, "allowance": 100}}.get(name, {})
    shown = [f"{key}={float(value):g}" for key, value in given.items() if defaults.get(key) != value]
    return f"{name}({', '.join(shown)})" if shown else name


class Scorer:
    """One scoring: the folder, the key and the rules."""

    def __init__(self, path: Path, key: str | None, unjudged: str, missing: str) -> None:
        self.folder = Folder(path)
        self.task = self.folder.task
        self.unjudged, self.missing = unjudged, missing
        self.ratings = self._ratings() if self.task == "justification" else {}
        if self.task == "justification" and key is None:
            try:
                key = self.folder.default_key()
            except RefusalError:
                key = min(self.folder.sets)
        name = key or self.folder.default_key()
        derived = self.task.startswith("entailment") or self.task == "justification"
        self.key = entailment_key(self.folder, name) if derived else Key(self.folder, name)
        self.dropped: set[tuple[str | None, str | None]] = set()
        self.out: set[str] = set()

    # -- what a response is worth

    def _ratings(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        """Ratings of every response by all judges of all sets."""
        current: dict[Any, dict[str, Any]] = {}
        for name, rows in self.folder.sets.items():
            for row in rows:
                if "understandability" in row:
                    current[name, row.get("assessor") or name, str(row["question"]), row["run"]] = row
        ratings: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for (_, _, question, run), row in current.items():
            ratings.setdefault((question, run), []).append(row)
        return ratings

    def label(self, question: str, item: dict[str, Any]) -> str | None:
        if "start" in item:
            return self.key.items.get((question, item["doc"], item["start"], item["length"]))
        return self.key.items.get((question, item["doc"], item["text"]))

    def right(self, question: str, response: Response) -> bool:
        if response.nil:
            return self.key.nil_is_right(question)
        return self.label(question, response.items[0]) == "R"

    def lacking(self, question: str) -> list[Any]:
        """What is unjudged of a question; one thing where the key does not know the question at all."""
        kind = self.folder.questions[question]["type"]
        responses = {run: responses[question] for run, responses in self.folder.runs.items() if question in responses}
        unjudged: dict[Any, None] = {}
        if kind == "factoid":
            for response in responses.values():
                for item in response.items:
                    if self.label(question, item) is None:
                        unjudged[tuple(sorted(item.items() - {("rank", item.get("rank"))}))] = None
        elif kind == "list":
            if self.never_judged(question):
                return [question]
            for run, response in responses.items():
                for item in response.items:
                    if (question, run, item["doc"], item["text"]) not in self.key.lists:
                        unjudged[run, item["doc"], item["text"]] = None
        elif kind == "pair" and self.task == "justification":
            if self.never_judged(question):
                return [question]
            unjudged |= {run: None for run in responses if (question, run) not in self.ratings}
        elif kind == "pair":
            return [] if question in self.key.pairs else [question]
        elif self.task == "nuggets":
            if self.never_judged(question):
                return [question]
            for run, response in responses.items():
                for nugget in self.key.nuggets[question] if response.items else ():
                    if (question, run, nugget) not in self.key.support:
                        unjudged[run, nugget] = None
        else:
            if self.never_judged(question):
                return [question]
            judged = {(asked, run) for asked, run, _ in self.key.matches}
            unjudged |= {
                run: None for run, response in responses.items() if response.items and (question, run) not in judged
            }
        return list(unjudged)

    def never_judged(self, question: str) -> bool:
        """Whether there is nothing in the key about the question."""
        kind = self.folder.questions[question]["type"]
        if kind == "list":
            return question not in self.key.answers and not any(subject[0] == question for subject in self.key.lists)
        if kind in ("definition", "other"):
            return not self.key.nuggets.get(question)
        if self.task == "justification":
            return not any(asked == question for asked, _ in self.ratings)
        return kind == "pair" and question not in self.key.pairs

    def nothing_right(self, question: str) -> bool:
        """Left out by rule: a list whose S is empty, nuggets without a vital one."""
        kind = self.folder.questions[question]["type"]
        if kind == "list":
            return not self.key.known(question)
        if kind in ("definition", "other"):
            return not any(nugget["vital"] for nugget in self.key.nuggets.get(question, {}).values())
        return False

    def value(self, measure: str, question: str, run: str, *, lone: bool = True) -> Score:
        """Score of one response to a kept question.

        Under --unjudged wrong one that is undefined, because it is not judged, counts 0. A measure that is undefined
        for every response to a question says nothing about it, unless it is about pairs.
        """
        response = self.folder.runs[run].get(question)
        if response is None:
            return Fraction(0) if self.missing == "zero" and self.says(measure, question) else None
        value = self._value(measure, question, run, response)
        if value is None and lone and self.unjudged == "wrong" and self.says(measure, question):
            return Fraction(0)
        return value

    def says(self, measure: str, question: str) -> bool:
        """Whether the measure can say anything about the question."""
        if self.folder.questions[question]["type"] == "pair":
            return True
        answers = [(tag, responses[question]) for tag, responses in self.folder.runs.items() if question in responses]
        values = [self._value(measure, question, tag, response) for tag, response in answers]
        optional = measure.startswith(("citation", "content", "organization", "holistic"))
        return any(value is not None for value in values) or not (answers or optional)

    def _value(self, measure: str, question: str, run: str, response: Response) -> Score:
        name, given = arguments_of(measure)
        if name in ("mrr", "mrr_lenient"):
            good = ("R",) if name == "mrr" else ("R", "U")
            ranks = [n for n, item in enumerate(response.items[:5], 1) if self.label(question, item) in good]
            return Fraction(1, ranks[0]) if ranks else Fraction(0)
        if name in ("accuracy", "cws"):
            return Fraction(self.right(question, response))
        if name == "list_f":
            return self._list_f(question, run, response)
        if name in ("nugget_f", "pyramid_f"):
            return self._nugget_f(name, given, question, run, response)
        if name in ("content", "organization", "holistic"):
            return self._holistic(name, question, run, response)
        if name == "entailment_accuracy":
            if question not in self.key.pairs:
                return None
            return Fraction(self.decision(response) == self.key.pairs[question])
        if name in ("correctness", "understandability"):
            rows = self.ratings.get((question, run), [])
            return mean([Fraction(row.get(name) or 0) for row in rows])
        if name in NUGGET_MEASURES:
            return self._support(name, question, run, response)
        return self._citations(name, question, run, response)

    def decision(self, response: Response) -> str | None:
        if self.key.two_way and response.decision == "UNKNOWN":
            return "NO"
        return response.decision

    def _list_f(self, question: str, run: str, response: Response) -> Score:
        classes: set[str] = set()
        distinct = 0
        for doc, text in dict.fromkeys((item["doc"], item["text"]) for item in response.items):
            row = self.key.lists.get((question, run, doc, text))
            if row is None or row["judgment"] != "R":
                continue
            name = class_of(row, text)
            if name is not None:
                classes.add(name)
            elif row["distinct"]:
                distinct += 1
        d, n, s = len(classes) + distinct, len(response.items), len(self.key.known(question))
        if d == 0:
            return Fraction(0)
        precision, recall = Fraction(d, n), Fraction(d, s)
        return 2 * precision * recall / (precision + recall)

    def _nugget_f(self, name: str, given: dict[str, Fraction], question: str, run: str, response: Response) -> Score:
        nuggets = self.key.nuggets[question]
        matched = {
            nugget
            for (asked, tag, _), row in self.key.matches.items()
            if (asked, tag) == (question, run)
            for nugget in row
        } & set(nuggets)
        size = size_of(response)
        if name == "nugget_f":
            vital = [nugget for nugget in nuggets if nuggets[nugget]["vital"]]
            recall = Fraction(len(matched & set(vital)), len(vital))
        else:
            weights = self.weights(question)
            if weights is None or not sum(weights.values()):
                return None
            recall = sum((weights[nugget] for nugget in matched), Fraction(0)) / sum(weights.values())
        if not response.items:
            return Fraction(0)
        return f_of(recall, size, len(matched), given.get("beta", Fraction(3)), given.get("allowance", Fraction(100)))

    def weights(self, question: str) -> dict[str, Fraction] | None:
        """Pyramid weights: as given, else votes for vital / the largest number of votes, else the key's own marks."""
        nuggets = self.key.nuggets[question]
        if any(n.get("weight") is not None for listed in self.key.nuggets.values() for n in listed.values()):
            given = {name: nugget.get("weight") for name, nugget in nuggets.items()}
            return None if None in given.values() else {name: Fraction(weight) for name, weight in given.items()}
        apart = ("adjudicated", "reference", "development")
        lists = [name for name in self.folder.nuggets if name not in apart] or [self.key.name]
        votes = dict.fromkeys(nuggets, 0)
        most: dict[str, int] = {}
        for name in lists:
            current = {(str(r["question"]), r["nugget"]): r["vital"] for r in self.folder.nugget_list(name)}
            for (asked, nugget), vital in current.items():
                if asked == question:
                    most[nugget] = most.get(nugget, 0) + vital
        if not max(most.values(), default=0):
            return None
        votes |= {nugget: most[nugget] for nugget in nuggets if nugget in most}
        return {nugget: Fraction(number, max(most.values())) for nugget, number in votes.items()}

    def _holistic(self, name: str, question: str, run: str, response: Response) -> Score:
        if not response.items:
            return Fraction(0)
        row = self.key.holistic.get((question, run))
        if row is None:
            return None
        if name != "holistic":
            return Fraction(row[name])
        return Fraction(8, 10) * row["content"] + Fraction(2, 10) * row["organization"]

    def _support(self, name: str, question: str, run: str, response: Response) -> Score:
        if not response.items:
            return Fraction(0)
        okay, partial = NUGGET_MEASURES[name]
        above = below = Fraction(0)
        for nugget, row in self.key.nuggets[question].items():
            weight = 1 if row["vital"] else okay
            support = self.key.support.get((question, run, nugget), "none")
            above += weight * {"full": 1, "partial": partial, "none": 0}[support]
            below += weight
        return above / below

    def _citations(self, name: str, question: str, run: str, response: Response) -> Score:
        judged = {
            (sentence, doc): CREDIT[support]
            for (asked, tag, sentence, doc), support in self.key.citations.items()
            if (asked, tag) == (question, run)
        }
        if not judged:
            return None
        if name == "citation_precision":
            return mean(list(judged.values()))
        best = [
            max((c for (s, _), c in judged.items() if s == n), default=Fraction(0)) for n in range(len(response.items))
        ]
        return mean(list(best))

    # -- which questions count

    def keep(self, types: list[str], *, by_series: bool) -> dict[str, list[str]]:
        """The questions kept of each type; notes what is dropped, stops where something is unjudged or missing."""
        asked = {q: row for q, row in self.folder.questions.items() if row["type"] in types}
        self._decided(asked, by_series)
        if self.task == "justification":
            chosen = self.folder.configuration.get("justified") or [q for q in asked if not self.never_judged(q)]
            asked = {q: row for q, row in asked.items() if q in chosen}
        number = 0
        if self.unjudged == "drop":
            for question in list(asked):
                if question in self.out or not self.never_judged(question):
                    continue
                number += 1
                series = asked[question].get("series")
                if asked[question]["type"] == "other" and by_series and series is not None:
                    self._out_series(asked, series, question)
                else:
                    self._out(question, by_series)
        for question in asked:
            known = self.unjudged == "wrong" or not self.never_judged(question)
            if question not in self.out and known and self.nothing_right(question):
                self._out(question, by_series)
        scored = [question for question in asked if question not in self.out]
        unjudged = [subject for question in scored for subject in self.lacking(question)]
        if unjudged and self.unjudged != "wrong":
            raise RefusalError("unjudged")
        self.applied = ("wrong", len(unjudged)) if unjudged else ("drop", number) if number else None
        self.gaps = {
            run: gap
            for run, responses in self.folder.runs.items()
            if (gap := sum(question not in responses for question in scored))
        }
        if self.gaps and self.missing == "stop":
            raise RefusalError("missing")
        return {
            kind: [q for q in scored if asked[q]["type"] == kind]
            for kind in types
            if any(row["type"] == kind for row in self.folder.questions.values())
        }

    def _decided(self, asked: dict[str, Any], by_series: bool) -> None:
        drop = self.folder.configuration.get("drop", {})
        series = {row.get("series") for row in self.folder.questions.values()} - {None}
        for name in drop:
            if name in series:
                members = [q for q, row in asked.items() if row.get("series") == name]
                if by_series:
                    self.out |= set(members)
                    self.dropped.add((name, None))
                else:
                    for question in members:
                        self._out(question, by_series)
        for name in drop:
            if name not in series and name in asked and name not in self.out:
                self._out(name, by_series)

    def _out(self, question: str, by_series: bool) -> None:
        self.out.add(question)
        self.dropped.add((None if by_series else question, question))

    def _out_series(self, asked: dict[str, Any], series: str, question: str) -> None:
        self.out |= {q for q, row in asked.items() if row.get("series") == series}
        self.dropped.add((series, question))

    # -- from questions to runs

    def score(self, measure: str | None, component: str | None) -> dict[str, Any]:
        task = self.task
        wanted = OF_TYPE[component] if component else measure or MEASURE[task]
        combines = wanted in ("series_score", "final_score")
        present = [k for k in TYPES[task] if any(q["type"] == k for q in self.folder.questions.values())]
        types = [component] if component else present if combines else [k for k in present if self.fits(wanted, k)]
        if not types or set(types) - set(present):
            raise RefusalError("no such questions")
        by_series = wanted == "series_score"
        scored = self.keep(types, by_series=by_series)
        own = {kind: OF_TYPE[kind] if combines else wanted for kind in types}
        values = {
            run: {q: self.value(own[kind], q, run) for kind in scored for q in scored[kind]} for run in self.folder.runs
        }
        self._undefined(scored, values, by_series)
        units, matrix = self.units(scored, values, by_series)
        if not units:
            raise RefusalError("nothing left")
        rows = [self.run(run, wanted, scored, values[run], units, matrix[run], component) for run in self.folder.runs]
        rows.sort(key=lambda row: (-(row["score"] if row["score"] is not None else Fraction(-1)), row["run"]))
        document: dict[str, Any] = {
            "task": task,
            "key": self.key.name,
            "measure": spelled(wanted),
            "higher_is_better": True,
            "direction_assumed": False,
            "runs": rows,
            "units": units,
            "matrix": {run: [matrix[run][unit] for unit in units] for run in matrix},
            "questions": {
                run: {q: values[run].get(q) for q, row in self.folder.questions.items() if row["type"] in types}
                for run in values
            },
            "dropped": self.dropped,
        }
        if self.applied:
            document["unjudged"] = {"rule": self.applied[0], "items": self.applied[1]}
        if self.gaps:
            document["missing"] = {"rule": self.missing, "questions": self.gaps}
        return document

    def fits(self, measure: str, kind: str) -> bool:
        name = arguments_of(measure)[0]
        if name in ("mrr", "mrr_lenient", "cws", "accuracy"):
            return kind == "factoid"
        if name == "list_f":
            return kind == "list"
        if name in ("entailment_accuracy", "correctness", "understandability"):
            return kind == "pair"
        if self.task == "nuggets":
            return name in NUGGET_MEASURES or name.startswith("citation")
        holistic = ("nugget_f", "pyramid_f", "content", "organization", "holistic")
        return kind in ("definition", "other") and name in holistic

    def _undefined(self, scored: dict[str, list[str]], values: dict[str, dict[str, Score]], by_series: bool) -> None:
        """A question undefined for all who answered is left out; one that is undefined for some is not judged."""
        for questions in scored.values():
            for question in list(questions):
                answered = [run for run, responses in self.folder.runs.items() if question in responses]
                holes = [run for run in answered if values[run][question] is None]
                if answered and len(holes) == len(answered):
                    questions.remove(question)
                    self._out(question, by_series)
                    for row in values.values():
                        row[question] = None
                elif holes:
                    raise RefusalError("not judged")

    def units(
        self, scored: dict[str, list[str]], values: dict[str, dict[str, Score]], by_series: bool
    ) -> tuple[list[str], dict[str, dict[str, Score]]]:
        """The units in the order of the questions, and every run's scores on them."""
        if not by_series:
            names = [q for q in self.folder.questions if any(q in questions for questions in scored.values())]
            return names, {run: {q: values[run][q] for q in names} for run in values}
        units: list[str] = []
        matrix: dict[str, dict[str, Score]] = {run: {} for run in values}
        series = dict.fromkeys(row["series"] for row in self.folder.questions.values())
        for name in series:
            mine = {k: [q for q in qs if self.folder.questions[q]["series"] == name] for k, qs in scored.items()}
            mine = {kind: questions for kind, questions in mine.items() if questions}
            if not mine:
                if name not in {unit for unit, _ in self.dropped}:
                    self.dropped.add((name, None))
                continue
            units.append(name)
            for run in values:
                means = {kind: mean([values[run][q] for q in questions]) for kind, questions in mine.items()}
                matrix[run][name] = self.weighted(means, printed=True)
        return units, matrix

    def weighted(self, means: dict[str, Score], *, printed: bool) -> Score:
        defined = {kind: value for kind, value in means.items() if value is not None}
        if not defined:
            return None
        weights = {kind: WEIGHTS[kind] for kind in defined}
        if printed and self.task == "series2004" and set(defined) == {"factoid", "other"}:
            weights = {"factoid": Fraction(67, 100), "other": Fraction(33, 100)}
        else:
            weights = {kind: weight / sum(weights.values()) for kind, weight in weights.items()}
        return sum((weights[kind] * value for kind, value in defined.items()), Fraction(0))

    def cws(self, run: str, questions: list[str], values: dict[str, Score]) -> Score:
        """CWS over the questions that have a value, in the run's order; those it lacks stand at the end."""
        responses = self.folder.runs[run]
        order = sorted(questions, key=lambda q: responses[q].place if q in responses else len(responses))
        ranked = [values[q] for q in order if values[q] is not None]
        if not ranked:
            return None
        total = correct = Fraction(0)
        for place, value in enumerate(ranked, 1):
            correct += value
            total += correct / place
        return total / len(ranked)

    # -- one run

    def run(
        self,
        run: str,
        wanted: str,
        scored: dict[str, list[str]],
        values: dict[str, Score],
        units: list[str],
        row: dict[str, Score],
        component: str | None,
    ) -> dict[str, Any]:
        if wanted == "cws":
            score = self.cws(run, units, values)
        elif wanted == "final_score":
            score = self.weighted({k: mean([values[q] for q in qs]) for k, qs in scored.items()}, printed=False)
        else:
            score = mean([row[unit] for unit in units])
        document: dict[str, Any] = {"run": run, "score": score, "components": self.components(run, scored)}
        if wanted in document["components"] or wanted.startswith("citation"):
            document["components"][wanted] = score
        about = self.folder.information.get(run, {})
        if about.get("organisation") is not None:
            document["organisation"] = about["organisation"]
        if about.get("manual"):
            document["manual"] = True
        responses = self.folder.runs[run]
        if "factoid" in scored and self.task != "ranked5":
            answered_nil = [q for q in scored["factoid"] if q in responses and responses[q].nil]
            wanted_nil = [q for q in scored["factoid"] if self.key.nil_is_right(q)]
            both = len(set(answered_nil) & set(wanted_nil))
            document["nil_precision"] = Fraction(both, len(answered_nil)) if answered_nil else None
            document["nil_recall"] = Fraction(both, len(wanted_nil)) if answered_nil and wanted_nil else None
        long = [k for k in scored if k in ("definition", "other")]
        if long:
            questions = [q for q, row in self.folder.questions.items() if row["type"] in long]
            document["mean_length"] = mean([Fraction(size_of(responses[q])) for q in questions if q in responses])
        if self.task == "series2004" and len(scored) > 1:
            document["by_type"] = self.weighted(self.means(run, scored), printed=False)
        return document

    def means(self, run: str, scored: dict[str, list[str]]) -> dict[str, Score]:
        return {k: mean([self.value(OF_TYPE[k], q, run) for q in qs]) for k, qs in scored.items()}

    def components(self, run: str, scored: dict[str, list[str]]) -> dict[str, Score]:
        task = self.task

        def over(name: str, kind: str, *, lone: bool = True) -> Score:
            return mean([self.value(name, q, run, lone=lone) for q in scored[kind]])

        if task == "ranked5":
            return {name: over(name, "factoid") for name in ("mrr", "mrr_lenient")}
        if task in ("confidence", "passages"):
            means = {"accuracy": over("accuracy", "factoid")}
            if task == "confidence":
                values = {q: self.value("accuracy", q, run) for q in scored["factoid"]}
                means["cws"] = self.cws(run, scored["factoid"], values)
            return means
        if task in ("main2003", "series2004"):
            return self.means(run, scored)
        if task == "definition":
            means = {"definition": over("nugget_f(beta=5)", "definition")}
            if self.key.holistic:
                means |= {n: over(n, "definition", lone=False) for n in ("content", "organization", "holistic")}
            return means
        if task == "qaciad":
            return self.means(run, scored) | self._series_types(run, scored)
        if task == "nuggets":
            means = {name: over(name, "other") for name in NUGGET_MEASURES}
            if self.key.citations:
                means |= {n: over(n, "other", lone=False) for n in ("citation_precision", "citation_recall")}
            return means
        return self._pair_components(run, scored["pair"])

    def _series_types(self, run: str, scored: dict[str, list[str]]) -> dict[str, Score]:
        by_type: dict[str, list[Score]] = {}
        kinds = {row["series"]: None for row in self.folder.questions.values()}
        for row in self.folder.questions.values():
            kinds[row["series"]] = kinds[row["series"]] or row.get("series_type")
        for name, kind in kinds.items():
            if kind:
                mine = [q for q in scored["list"] if self.folder.questions[q]["series"] == name]
                by_type.setdefault(kind, []).append(mean([self.value("list_f", q, run) for q in mine]))
        return {kind: mean(scores) for kind, scores in by_type.items()}

    def _pair_components(self, run: str, scored: list[str]) -> dict[str, Score]:
        if self.task == "justification":
            means = {
                name: mean([self.value(name, q, run) for q in scored]) for name in ("understandability", "correctness")
            }
            if self.key.pairs:
                drop = self.folder.configuration.get("drop", {})
                labelled = [q for q in self.folder.questions if q in self.key.pairs and q not in drop]
                right = [self.value("entailment_accuracy", q, run) for q in labelled]
                means["accuracy"] = mean(right if self.missing == "skip" else [value or Fraction(0) for value in right])
            return means
        labels = ["YES", "NO"] if self.key.two_way or self.task == "entailment2" else ["YES", "NO", "UNKNOWN"]
        return {
            label: mean([self.value("entailment_accuracy", q, run) for q in scored if self.key.pairs.get(q) == label])
            for label in labels
        }

    def contingency(self, run: str, scored: list[str]) -> dict[str, dict[str, int]]:
        labels = ["YES", "NO"] if self.key.two_way or self.task == "entailment2" else ["YES", "NO", "UNKNOWN"]
        responses = self.folder.runs[run]
        table = {row: dict.fromkeys(labels, 0) for row in labels}
        for q in scored:
            if q in responses and q in self.key.pairs:
                table[self.key.pairs[q]][self.decision(responses[q])] += 1  # type: ignore[index]
        return table


def score(
    path: Path,
    *,
    key: str | None = None,
    measure: str | None = None,
    component: str | None = None,
    unjudged: str = "stop",
    missing: str = "stop",
) -> dict[str, Any]:
    """The document of `score --json`, in Fractions; `dropped` is a set of (unit, question)."""
    scorer = Scorer(path, key, unjudged, missing)
    task = scorer.task
    if task == "entailment2" and "UNKNOWN" in scorer.key.pairs.values():
        raise RefusalError("the task lacks UNKNOWN")
    document = scorer.score(measure, component)
    if task.startswith("entailment"):
        scored = document["units"]
        tables = {run: scorer.contingency(run, scored) for run in scorer.folder.runs}
        for row in document["runs"]:
            row["contingency"] = tables[row["run"]]
        labels = next(iter(tables.values()))
        document["contingency"] = {
            r: {c: sum(table[r][c] for table in tables.values()) for c in labels} for r in labels
        }
    return document
