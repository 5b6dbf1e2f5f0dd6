"""A process that damages inputs and gives them to the readers: `fuzz_worker.py WORK FIRST LAST SEED KEPT`.

Numbers below 0 are those of the inputs in the folder KEPT, which broke something once.

The file `at` names the current input, so that the process that started this one knows it when it hangs or is gone. A
crash is a line of `crashes.jsonl`, with the damaged bytes beside it.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from random import Random

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import fuzz_targets  # noqa: E402
import zstandard  # noqa: E402
from fuzz_damage import damaged  # noqa: E402

# Large inputs are kept packed, under a name that ends so.
PACKED_FROM = 20_000
PACKED = ".packed"


def work(place: Path, first: int, last: int, seed: str, crashes: Path) -> None:
    """Try the inputs of these numbers."""
    known = fuzz_targets.targets(place / f"work-{os.getpid()}")
    names, weights = list(known), [target.weight for target in known.values()]
    at = os.open(place / "at", os.O_RDWR | os.O_CREAT)
    spent: dict[str, list[float]] = {name: [0, 0.0, 0.0, 0] for name in names}
    for number in range(first, last):
        if number < 0:
            name, file, data = _earlier_crash(crashes, kept_inputs(crashes)[number])
        else:
            chance = Random(f"{seed} {number}")
            name = chance.choices(names, weights)[0]
            file = _choose(list(known[name].inputs), chance)
            data = damaged(known[name].inputs[file], chance)
        (place / "input").write_bytes(data)
        os.pwrite(at, json.dumps({"number": number, "target": name, "file": file}).encode().ljust(600), 0)
        started = time.monotonic()
        taken = False
        try:
            taken = fuzz_targets.attempt(known[name], file, data)
        except BaseException:  # whatever it is, it is a crash
            if isinstance(sys.exc_info()[1], KeyboardInterrupt):
                raise
            note_crash(place, number, name, file, data, traceback.format_exc())
        seconds = time.monotonic() - started
        counts = spent[name]
        spent[name] = [counts[0] + 1, counts[1] + seconds, max(counts[2], seconds), counts[3] + bool(taken)]
    (place / f"spent-{first}.json").write_text(json.dumps(spent))
    os.pwrite(at, json.dumps({"number": last, "target": "", "file": ""}).encode().ljust(600), 0)


def kept_inputs(crashes: Path) -> list[Path]:
    """The inputs that broke something once."""
    return sorted(path for path in crashes.rglob("*") if path.is_file())


def _earlier_crash(crashes: Path, path: Path) -> tuple[str, str, bytes]:
    """Target, file and bytes of a kept input."""
    target, _, file = path.relative_to(crashes).as_posix().split("/", 2)
    data = path.read_bytes()
    if file.endswith(PACKED):
        return target, file.removesuffix(PACKED), zstandard.decompress(data)
    return target, file, data


def _choose(files: list[str], chance: Random) -> str:
    """One of the files, each folder as often as another, however many files it has."""
    folder = chance.choice(list(dict.fromkeys(file.partition("/")[0] for file in files)))
    return chance.choice([file for file in files if file.partition("/")[0] == folder])


def note_crash(place: Path, number: int, target: str, file: str, data: bytes, text: str) -> None:
    """Keep an input that broke its reader, and how."""
    path = place / "crashes" / target / str(number) / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if len(data) > PACKED_FROM:
        path.with_name(path.name + PACKED).write_bytes(zstandard.compress(data, 19))
    else:
        path.write_bytes(data)
    with (place / "crashes.jsonl").open("a") as out:
        out.write(json.dumps({"number": number, "target": target, "file": file, "text": text[-3000:]}) + "\n")


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], Path(sys.argv[5]))
    os._exit(0)  # threads of libraries that have seen damaged data may not come to an end
