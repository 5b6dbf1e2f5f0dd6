"""Samples that people label: `samples/NAME.jsonl`, one draw per line in random order (FORMATS 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem, Problems, Remedy, unknown
from qassay.formats import jsonl
from qassay.formats.folder import Folder
from qassay.formats.names import set_name
from qassay.formats.parts import Part, file_part
from qassay.meta.correction.sampling import Draw, Looks, Sample, sample_rows
from qassay.meta.looks import STEPS

# Two probabilities closer than this are equal.
CLOSE = 1e-9
NAMED = Remedy("name", "NAME", "To give this one a name of its own")


def write_sample(folder: Folder, sample: Sample) -> Path:
    """Write a sample; a larger one of the same draw replaces a smaller one, and no other."""
    path = folder.sample_file(sample.name)
    if path.exists():
        before = read_sample(file_part(path, folder.name(path)))
        if before.draws != sample.draws[: len(before.draws)] or before.pair != sample.pair:
            message = "has another draw, which people may have begun to judge"
            ways: tuple[Remedy, ...] = (NAMED,)
            if len(before.draws) > len(sample.draws) and before.draws[: len(sample.draws)] == sample.draws:
                message, ways = f"already has {len(before.draws):,} draws, of which these are the first", ()
            raise InputError(Problem("configuration", message, folder.name(path), way_out=ways))
        if before.looks != sample.looks:
            message = "has another plan of when to look, which stays as it is"
            raise InputError(Problem("configuration", message, folder.name(path), way_out=(NAMED,)))
    path.parent.mkdir(exist_ok=True)
    jsonl.write_rows(path, sample_rows(sample))
    return path


def planned_before(folder: Folder, sample: Sample) -> int | None:
    """The size of the sample of this name, if there is one."""
    path = folder.sample_file(sample.name)
    return len(read_sample(file_part(path, folder.name(path))).draws) if path.exists() else None


def find_sample(
    folder: Folder, name: str | Path | None, *, judge: str, measure: str, pair: tuple[str, str] | None
) -> Sample:
    """The sample with this name or in this file; without one, the only one that serves."""
    known = folder.samples()
    if name is not None:
        if str(name) in known:
            return read_sample(known[str(name)])
        if Path(name).is_file():
            return read_sample(file_part(Path(name)))
        raise unknown("sample", str(name), known)
    samples = [read_sample(part) for part in known.values()]
    serving = [
        sample for sample in samples if sample.pair is None or (pair is not None and set(pair) == set(sample.pair))
    ]
    matching = [sample for sample in serving if sample.judge == judge] or serving
    matching = [sample for sample in matching if sample.measure == measure] or matching
    for_pair = [sample for sample in matching if sample.pair is not None]
    chosen = for_pair if for_pair and len(matching) > 1 else matching
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        message = f"there are several samples: {', '.join(sample.name for sample in chosen)}"
        way = Remedy("sample", "NAME", "To take one of them")
        raise InputError(Problem("configuration", message, "samples", way_out=(way,)))
    message = (
        "there is no random sample. Labels of questions that somebody chose cannot correct a judge: they may be easier "
        "or harder than the others"
    )
    way = Remedy("qassay", f"sample FOLDER --size 60 --for {judge}", "To draw one first")
    raise InputError(Problem("configuration", message, folder.name(), way_out=(way,)))


def read_sample(part: Part) -> Sample:
    """A sample as written, or drawn elsewhere; every fault is reported."""
    file = part.name
    rows = jsonl.parse_rows(part.text(), file=file)
    if problems := Problems(_faults(rows, file)):
        raise InputError(problems)
    ordered = sorted((row for _, row in rows), key=lambda row: int(row["position"]))
    first = ordered[0]
    draws = tuple(Draw(str(row["question"]), _text(row.get("nugget"))) for row in ordered)
    seed, pair = first.get("seed"), first.get("pair")
    return Sample(
        name=set_name(file),
        draws=draws,
        population=_population(first, len(draws)),
        seed=seed if isinstance(seed, int) and first.get("of") is not None else None,
        judge=_text(first.get("for")),
        pair=(str(pair[0]), str(pair[1])) if isinstance(pair, list) and len(pair) == 2 else None,
        measure=_text(first.get("measure")),
        file=file,
        looks=_looks(first.get("looks")),
    )


def _looks(value: Any) -> Looks:
    return "any time" if value == "any time" else value if value in list(STEPS) else None


def _population(row: dict[str, Any], size: int) -> int:
    population = row.get("of")
    return (
        population
        if isinstance(population, int) and population >= size
        else max(size, round(size / float(row["probability"])))
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _faults(rows: Sequence[jsonl.Numbered], file: str) -> Iterator[Problem]:
    """The faults of the rows of a sample."""
    if not rows:
        yield Problem("syntax", "the sample is empty", file)
        return
    positions = set()
    seen = set()
    chances = []
    for line, row in rows:
        question = _text(row.get("question"))
        position, chance = row.get("position"), row.get("probability")
        if question is None:
            yield Problem("syntax", 'the row has no "question"', file, line)
        if not isinstance(position, int) or isinstance(position, bool) or not 1 <= position <= len(rows):
            yield Problem("syntax", f'"position" is a whole number from 1 to {len(rows)}', file, line, question)
        elif position in positions:
            yield Problem("syntax", f"position {position} occurs twice", file, line, question)
        else:
            positions.add(position)
        if not isinstance(chance, int | float) or isinstance(chance, bool) or not 0 < chance <= 1:
            message = (
                'has no "probability" of being drawn, above 0 and at most 1: a sample picked by hand corrects nothing'
            )
            yield Problem("syntax", f"question {question} {message}", file, line, question)
        else:
            chances.append(float(chance))
        looks = row.get("looks")
        if looks is not None and looks != "any time" and (isinstance(looks, bool) or looks not in list(STEPS)):
            yield Problem("syntax", '"looks" is a whole number from 2 to 5, or "any time"', file, line, question)
        if (question, _text(row.get("nugget"))) in seen:
            yield Problem("duplicate-question", f"question {question} occurs twice", file, line, question)
        seen.add((question, _text(row.get("nugget"))))
    if chances and max(chances) - min(chances) > CLOSE:
        message = "the questions have different probabilities; correction takes a sample with the same one for all"
        yield Problem("configuration", message, file)
