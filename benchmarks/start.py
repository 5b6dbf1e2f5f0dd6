"""How long a person waits: for a command to start, and for the package to be installed in an empty environment."""

from __future__ import annotations

import compileall
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from benchmarks.rows import Row, processor_seconds
from benchmarks.significance import best
from qassay.demo import demo_folder

ROOT = Path(__file__).resolve().parent.parent
QASSAY = Path(sys.executable).parent / "qassay"
# What the commands cannot do without, imported and nothing done with it.
IMPORTS = "import typer, polars, numpy, scipy.special"

# A comparison, with the distributions of meta/normal_and_t.py or after loading those of scipy.
COMPARE = """
import sys
if sys.argv[1] == "scipy":
    import scipy.special
from qassay.cli import main
sys.exit(main(["compare", sys.argv[2], "A", "B"]))
"""


def start() -> list[Row]:
    """Whole commands beside a bare Python and beside the imports of the libraries they use."""
    # As installed: byte code exists, whatever the environment says about writing it.
    compileall.compile_dir(ROOT / "src", quiet=1)
    bare, _ = best([sys.executable, "-c", "pass"], times=10)
    imports, _ = best([sys.executable, "-c", IMPORTS], times=10)
    with tempfile.TemporaryDirectory() as place:
        table = Path(place) / "scores.csv"
        table.write_text("id,A,B\n" + "".join(f"q{n},{n % 7 / 6:.3f},{n % 5 / 4:.3f}\n" for n in range(60)))
        commands = {
            "import qassay": [sys.executable, "-c", "import qassay"],
            "qassay --version": [str(QASSAY), "--version"],
            "qassay compare, 60 questions, two systems": [str(QASSAY), "compare", str(table), "A", "B"],
            "qassay compare, 60 questions, all pairs": [str(QASSAY), "compare", str(table)],
            "qassay score on the demo": [str(QASSAY), "score", str(demo_folder())],
            "qassay score on the demo, JSON": [str(QASSAY), "score", str(demo_folder()), "--json"],
        }
        seconds = {name: best(command, times=10)[0] for name, command in commands.items()}
        command = [sys.executable, "-c", COMPARE, "own", str(table)]
        own, scipys = processor_seconds({"own": command, "scipy": [*command[:3], "scipy", str(table)]}, 8).values()
    rows = [Row(f"{IMPORTS} / bare Python", imports, bare, bare / imports, "no work at all")]
    for name, taken in seconds.items():
        rows.append(Row(f"{name} / those imports", taken, imports, imports / taken, f"bare Python {bare:.3f} s"))
    name = "qassay compare, two systems, own normal and t / scipy.special loaded; processor time"
    rows.append(Row(name, own, scipys, scipys / own, "kept for 1.5 times"))
    return rows


def install() -> list[Row]:
    """The base, and what was the base when it had the application in it, each in an empty environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = project["dependencies"]
    extras = project["optional-dependencies"]
    whole = [*base, *extras["serve"], *extras["search"]]
    now, now_note = _installed(base)
    then, then_note = _installed(whole)
    return [Row("base / base with the application and search", now, then, then / now, f"{now_note} / {then_note}")]


def _installed(requirements: list[str]) -> tuple[float, str]:
    """Seconds, packages and megabytes of requirements; the environment itself does not count."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = str(Path(place) / "bin" / "python")
        before = _size(Path(place))
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        begin = time.perf_counter()
        subprocess.run([*command, "-c", str(ROOT / "constraints.txt"), *requirements], check=True, capture_output=True)
        seconds = time.perf_counter() - begin
        listed = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout
        megabytes = (_size(Path(place)) - before) / 1e6
    return seconds, f"{len(listed.splitlines())} packages, {megabytes:.0f} MB"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
