"""How large the code is, and how many of its files an everyday use touches.

    PYTHONPATH=src python scripts/size.py          lines and files
    PYTHONPATH=src python scripts/size.py walks    files and temporary files of four uses

Lines are all lines of a file, blank ones and comments too, below `src` and `tests`: of Python (.py) first, and of every
other kind of file, so that nothing is hidden in data (of files that are no text, the number says nothing). A small
module has fewer than 60 lines; `__init__.py` counts too. A class name is repeated if two modules of `src` or more
define it at their top level.

A file is touched by a use if one of its functions runs from the first word of the command to its end, in a process that
has imported nothing of the package before; a file of which only the module runs is imported. For a judgment the server
is up and its page open: the use is one decision sent to the API, alone or with the score of the store. A temporary file
is one that is opened for writing outside the folder of the use. With SHOW=1 the files are listed.
"""

from __future__ import annotations

import ast
import csv
import inspect
import io
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
SMALL = 60
WALKS = ("score", "report", "compare", "decision", "judgment")


def show_size() -> None:
    """Print the lines and files of `src` and `tests`, small modules and repeated names of classes."""
    for top in ("src", "tests"):
        files = [path for path in (ROOT / top).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        print(top)
        kinds = Counter(path.suffix for path in files)
        for kind in sorted(kinds, key=lambda kind: (kind != ".py", kind)):
            lines = sum(len(path.read_bytes().splitlines()) for path in files if path.suffix == kind)
            print(f"  {kind:9} {lines:8,} lines {kinds[kind]:5,} files")
    modules = sorted((ROOT / "src").rglob("*.py"))
    small = [path for path in modules if len(path.read_bytes().splitlines()) < SMALL]
    packages = sum(path.name == "__init__.py" for path in small)
    print(f"modules of fewer than {SMALL} lines: {len(small)}, {packages} of them __init__.py")
    names = Counter(
        node.name for path in modules for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ClassDef)
    )
    repeated = sorted(name for name, count in names.items() if count > 1)
    print(f"class names in two modules or more: {len(repeated)}: {', '.join(repeated)}")


def show_walks() -> None:
    """Trace every use in a process of its own, and print what it touched."""
    for name in WALKS:
        with tempfile.TemporaryDirectory() as work:
            command = [sys.executable, __file__, "walk", name, work]
            traced = subprocess.run(command, capture_output=True, text=True, check=False)
        print(f"{name}: {traced.stdout or traced.stderr}", end="")


def walk(name: str, work: Path) -> None:
    """Trace one use, and print which files of the package it touched and which temporary files it wrote."""
    use = begin(name, work)
    written: set[str] = set()
    ran: set[CodeType] = set()

    def heard(event: str, details: tuple[object, ...]) -> None:
        if event == "open" and isinstance(details[0], str) and isinstance(details[2], int):
            path = str(Path(details[0]).absolute())
            if details[2] & (os.O_WRONLY | os.O_RDWR) and not path.startswith((str(work), os.devnull)):
                written.add(path)

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add(frame.f_code)

    sys.addaudithook(heard)
    threading.setprofile(called)
    sys.setprofile(called)
    use()
    sys.setprofile(None)
    import qassay

    package = str(Path(qassay.__file__).parent)
    codes = [code for code in ran if code.co_filename.startswith(package)]
    touched = sorted({code.co_filename for code in codes if code.co_flags & inspect.CO_OPTIMIZED})
    imported = {code.co_filename for code in codes} - set(touched)
    temporary = sorted(path for path in written if "__pycache__" not in path)
    print(f"{len(touched)} files touched, {len(imported)} more imported, {len(temporary)} temporary files written")
    for path in [*touched, *temporary] if "SHOW" in os.environ else ():
        print(f"  {path.removeprefix(package)}")


def begin(name: str, work: Path) -> Callable[[], object]:
    """Prepare what one use needs, without importing the package for a command; the use itself, to call."""
    demo, table = work / "demo", work / "scores.csv"
    copy = "import sys; from qassay.cli import main; main(sys.argv[1:])"
    subprocess.run([sys.executable, "-c", copy, "demo", "--to", str(demo)], stdout=subprocess.DEVNULL, check=True)
    with table.open("w", encoding="utf-8", newline="") as file:
        scores = [[unit, unit % 7 / 7, unit % 5 / 5, unit % 3 / 3] for unit in range(40)]
        csv.writer(file).writerows([["question", "A", "B", "C"], *scores])
    if name in ("decision", "judgment"):
        return begin_judging(demo, and_score=name == "judgment")
    places = [str(table)] if name == "compare" else [str(demo)]
    more = ["--to", str(work / "report.html")] if name == "report" else []
    return lambda: command([name, *places, *more])


def command(arguments: Sequence[str]) -> None:
    """Run a command in this process, without its output."""
    from qassay.cli import main

    with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        main(arguments)


def begin_judging(folder: Path, *, and_score: bool) -> Callable[[], object]:
    """Serve the built-in evaluation in this process, and open a page to judge on."""
    from starlette.testclient import TestClient

    from qassay.store.engine import open_store
    from qassay.web.application import create_app
    from qassay.web.demonstration import prepare
    from qassay.web.site import Settings

    password = prepare(folder)[0].password
    app = create_app(folder, Settings(more_hosts=("testserver",), log="none"), store=open_store(folder))
    browser = TestClient(app, headers={"Origin": "http://testserver"})
    browser.post("/api/sign-in", json={"name": "assessor-1", "password": password}).raise_for_status()
    assignment = browser.get("/api/work").json()["pieces"][0]["assignment"]
    item = browser.get(f"/api/judge/{assignment}").json()["items"][0]["id"]
    part = browser.get(f"/api/judge/{assignment}/items/{item}").json()["parts"][0]
    decision = {"item": item, "part": part["part"], "verdict": {"judgment": "W"}, "expected": part["version"]}

    def use() -> None:
        sent = {**decision, "key": "a key of its own"}
        browser.post(f"/api/judge/{assignment}/decisions", json=sent).raise_for_status()
        if and_score:
            command(["score", str(folder), "--unjudged", "wrong"])

    return use


if __name__ == "__main__":
    if sys.argv[1:2] == ["walk"]:
        walk(sys.argv[2], Path(sys.argv[3]))
    elif sys.argv[1:] == ["walks"]:
        show_walks()
    else:
        show_size()
