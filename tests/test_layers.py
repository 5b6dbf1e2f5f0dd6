"""The house keeps its floors: a module imports only what stands above it; the upper half touches nothing outside."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import qassay
from qassay.measures import MEASURES

PACKAGE = Path(qassay.__file__).parent

# Top to bottom, in the order data flows; everything from `formats` on is an adapter. Floors that are planned stand here
# too: the order is settled before they are built.
PURE = (
    *("errors", "spelling", "options", "display", "frames", "tables", "pages", "arrays", "directions", "results"),
    *("summaries", "matrix"),
    *("questions", "tasks", "runs", "nuggets", "judging", "tally", "measures", "scoring", "meta", "figures", "reports"),
)
ADAPTERS = (
    *(
        "extras",
        "plugins",
        "net",
        "child",
        "cluster",
        "formats",
        "collections",
        "demo",
        "store",
        "evaluation",
        "checking",
        "sources",
    ),
    *("systems", "client", "assessors", "studies", "schemas", "web", "cli"),
)
FLOORS = (*PURE, *ADAPTERS)
META = (
    "normal_and_t",
    "looks",
    "gating",
    "ranking",
    "right_or_wrong",
    "repeats",
    "blocks",
    "flips",
    "redrawing",
    "hall",
    "one_pair",
    "crossed",
    "intervals",
    "agreement",
    "ratings",
    "noise",
    "stability",
    "simulate",
    "significance",
    "leader",
    "sensitivity",
    "generalizability",
    "planning",
    "progress",
    "reuse",
    "distributions",
    "fidelity",
    "trust",
    "correction",
)

# What the pure half may import from outside. Anything else opens files, connections, clocks or hidden chance, or has
# not been thought about.
HARMLESS = {
    *("__future__", "abc", "bisect", "collections", "concurrent", "dataclasses", "decimal", "difflib", "enum"),
    "fractions",
    *(
        "functools",
        "hashlib",
        "heapq",
        "html",
        "inspect",
        "itertools",
        "math",
        "operator",
        "re",
        "shlex",
        "string",
        "textwrap",
        "types",
        "typing",
    ),
    *("base64", "contextlib", "copy", "json", "statistics", "unicodedata", "warnings"),
    *("altair", "msgspec", "numba", "numpy", "pandas", "polars", "scipy", "vl_convert"),
}
# Exceptions, each with its reason: what they use of these modules, and nothing more.
EXCUSED = {
    # A result gives its figure, and figures are drawn from results: they load when one is asked for.
    ("results.py", "importlib"): {"import_module"},
    # Task definitions are package data, the same wherever the package is.
    ("tasks/__init__.py", "importlib"): {"resources"},
    ("tasks/__init__.py", "tomllib"): {"loads"},
    # The number of processors decides how fast a result comes, never what it is; numba is optional.
    ("meta/sensitivity/counting.py", "os"): {"cpu_count", "sched_getaffinity"},
    ("meta/sensitivity/counting.py", "importlib"): {"util"},
}

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name not in ("_version.py", "__main__.py"))


def _floor(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every import of a file, also within functions and for type checking: line and dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)


def _modules(*floors: str) -> list[Path]:
    return [path for path in MODULES if _floor(path) in floors]


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _floors() -> set[str]:
    return {_floor(path) for path in MODULES} - {"__init__"}


def test_every_module_has_its_floor() -> None:
    assert _floors() <= set(FLOORS), "a new module belongs into FLOORS and into the map of qassay/__init__.py"
    assert len(_floors()) > 12


def test_the_map_names_every_floor() -> None:
    the_map = (qassay.__doc__ or "").split("below: adapters")
    assert len(the_map) == 2
    for half, floors in zip(the_map, (PURE, ADAPTERS), strict=True):
        for floor in _floors().intersection(floors):
            assert re.search(rf"(?m)(^|  ){floor}\b", half), f"{floor} is not in its half of the map"


@pytest.mark.parametrize(
    "package",
    [
        *("assessors", "assessors/llm", "evaluation", "figures", "formats", "formats/importing"),
        *("judging", "meta", "reports", "schemas", "scoring", "systems/harness", "tally"),
    ],
)
def test_a_package_names_its_modules(package: str) -> None:
    """The docstring of a package says what is in it; verbs, measures and pages speak for themselves."""
    folder = PACKAGE / package
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert {name for name in modules - {"__init__"} if not re.search(rf"\b{name}\b", docstring)} == set()


def test_imports_go_upwards() -> None:
    wrong = []
    for path in _modules(*FLOORS):
        for line, name in _imports(path):
            floor = name.split(".")[1] if name.startswith("qassay.") else None
            if floor in FLOORS and FLOORS.index(floor) > FLOORS.index(_floor(path)):
                wrong.append(f"{_name(path)}:{line} imports {name}, which stands below")
    assert not wrong, "\n".join(wrong)


def test_analyses_import_earlier_ones() -> None:
    wrong = []
    for path in _modules("meta"):
        own = path.relative_to(PACKAGE / "meta").parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        assert own in META, f"{own} belongs into META"
        for line, name in _imports(path):
            if name.startswith("qassay.meta.") and META.index(name.split(".")[2]) > META.index(own):
                wrong.append(f"{_name(path)}:{line} imports {name}, which comes later")
    assert not wrong, "\n".join(wrong)


def test_only_the_store_asks_the_database() -> None:
    """Others hand a connection on, and know the errors of the database by name."""
    wrong = [
        f"{_name(path)}:{line} imports {name}; a query belongs into the store"
        for path in _modules(*FLOORS)
        for line, name in _imports(path)
        if _floor(path) != "store"
        and name.startswith("sqlalchemy")
        and name != "sqlalchemy.Connection"
        and not name.startswith("sqlalchemy.exc.")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_store_decides_nothing() -> None:
    """What a verdict says is read and written by the kinds of judgment alone: the store names no field of one."""
    from qassay.judging import KINDS

    fields = {name for record in KINDS.values() for name in (*record.fields, *record.file_fields)}
    wrong = []
    for path in _modules("store"):
        # Known answers and the rows of files are not judgments.
        if path.relative_to(PACKAGE / "store").parts[0] in ("migrations", "development", "folder"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            asked: list[ast.expr] = [node.slice] if isinstance(node, ast.Subscript) else []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
                asked = node.args[:1]
            names = [key.value for key in asked if isinstance(key, ast.Constant)]
            wrong += [f"{_name(path)}:{node.lineno} asks for {name}" for name in names if name in fields]
    assert not wrong, "\n".join(wrong)


def test_only_acts_are_recorded() -> None:
    """Nobody else writes into the record of actions, and no other function of the store takes who acts as a number."""
    wrong = []
    for path in [*_modules("store"), PACKAGE / "web" / "results" / "publishing.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node) == "insert(record)" and path.name != "acts.py":
                wrong.append(f"{_name(path)}:{node.lineno} writes into the record")
            if isinstance(node, ast.FunctionDef):
                names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
                wrong += [f"{_name(path)}:{node.lineno} {node.name} takes `by`"] if "by" in names else []
    assert not wrong, "\n".join(wrong)


HANDLING = ("formats", "store", "evaluation", "studies", "client", "assessors", "web")


def test_the_scales_of_opinions_are_named_by_their_kind_alone() -> None:
    """Who averages or shows ratings asks the record for their fields; measures and schemas are named like them."""
    from qassay.judging import OPINIONS

    wrong = []
    for path in _modules("store", "evaluation", "studies", "assessors"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [getattr(node, part, None) for part in ("value", "attr", "id", "arg")]
            wrong += [f"{_name(path)}:{node.lineno} names {name}" for name in names if name in tuple(OPINIONS.fields)]
    assert not wrong, "\n".join(wrong)


def test_nobody_else_takes_the_class_of_a_kind() -> None:
    """`ListItem.name` is a name written out: the register has the record, and says which has what attribute."""
    from qassay.judging import KINDS

    classes = {type(record).__name__ for record in KINDS.values()}
    wrong = [
        f"{_name(path)}:{line} imports {name}"
        for path in _modules(*FLOORS)
        for line, name in _imports(path)
        if _floor(path) != "judging" and name.startswith("qassay.judging.") and name.rpartition(".")[2] in classes
    ]
    assert not wrong, "\n".join(wrong)


def test_nobody_compares_the_name_of_a_response_form() -> None:
    """What follows from the form of a response is an attribute of its record (tasks/responses.py)."""
    wrong = [
        f"{_name(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in _modules(*FLOORS)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare | ast.Match)
        for asked in (node.subject if isinstance(node, ast.Match) else node.left,)
        if isinstance(asked, ast.Attribute) and asked.attr == "response"
    ]
    assert not wrong, "\n".join(wrong)


def test_nobody_compares_the_name_of_a_kind() -> None:
    """What differs from kind to kind is an attribute or a method of the record; a comparison of names escapes it."""
    from qassay.judging import KINDS

    wrong = []
    for path in _modules(*HANDLING):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("KINDS", "ROW_KINDS"):
                asked_for = node.slice.value if isinstance(node.slice, ast.Constant) else None
                wrong += [f"{_name(path)}:{node.lineno}: {ast.unparse(node)}"] if asked_for in KINDS else []
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            asked = [side for side in sides if isinstance(side, ast.Attribute) and side.attr in ("kind", "kinds")]
            names = {each.value for side in sides for each in ast.walk(side) if isinstance(each, ast.Constant)}
            # A type of input has a kind too: "nuggets" and "judgments" are not kinds of judgment.
            wrong += [f"{_name(path)}:{node.lineno}: {ast.unparse(node)}" for _ in asked if names & set(KINDS)]
    assert not wrong, "\n".join(wrong)


def test_kinds_of_judgment_are_registered_and_everybody_asks_the_register() -> None:
    """One file per kind, in the register; each knows its words, and what it needs to be judged."""
    from qassay.judging import KINDS, ROW_KINDS, Kind

    own = {path.stem for path in (PACKAGE / "judging").glob("*.py")}
    assert {type(record).__module__.rpartition(".")[2] for record in KINDS.values()} < own
    for record in KINDS.values():
        assert isinstance(record, Kind)
        assert all(record.nouns)
        assert record.fields
        assert set(record.blank) <= set(record.fields)
        assert record.rows in ROW_KINDS
        if record.screen:
            assert record.title
            assert record.shown
            screens = PACKAGE / "web"
            assert (screens / "static" / "js" / "screens" / f"{record.screen}.js").is_file()
            assert (screens / "templates" / "screens" / f"{record.screen}.html").is_file()


def test_the_pure_half_touches_nothing_outside() -> None:
    wrong = []
    for path in _modules(*PURE):
        for line, name in _imports(path):
            module = name.split(".")[0]
            if module != "qassay" and module not in HARMLESS:
                excused = EXCUSED.get((_name(path), module), set())
                strange = _used(path, module, name) - excused
                if strange or not excused:
                    wrong.append(
                        f"{_name(path)}:{line} imports {name} and uses {sorted(strange)}; the pure half may not"
                    )
    assert not wrong, "\n".join(wrong)


def _used(path: Path, module: str, imported: str) -> set[str]:
    """What a file uses of a module that it imports."""
    used = {imported.split(".")[1]} if "." in imported else set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module:
            used.add(node.attr)
    return used


SEEDED = ("default_rng", "SeedSequence", "Generator", "Philox", "PCG64", "SFC64")


def test_the_pure_half_opens_nothing_and_draws_no_hidden_chance() -> None:
    """No open(), no print(), no global random state, and every generator has a seed."""
    wrong = []
    for path in _modules(*PURE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("open", "print", "input", "exec", "eval") or called.startswith(
                ("pl.read_", "pl.scan_", "np.load", "np.save", "np.fromfile")
            ):
                wrong.append(f"{_name(path)}:{node.lineno} calls {called}")
            _, _, drawn = called.partition("np.random.")
            if drawn and (drawn not in SEEDED or not (node.args or node.keywords)):
                wrong.append(f"{_name(path)}:{node.lineno} calls {called} without a seed")
    assert not wrong, "\n".join(wrong)


def test_nobody_asks_which_kind_a_summary_or_a_measure_is() -> None:
    """A summary answers by its methods, and a measure names its summary; a test of their classes belongs to neither."""
    summaries = {"Mean", "ConfidenceWeighted", "TypeWeighted"}
    measures = {kind.__name__ for kind in MEASURES.values()}
    forbidden = {path: summaries for path in MODULES if _floor(path) != "summaries"}
    forbidden |= dict.fromkeys(_modules("scoring", "meta", "studies"), summaries | measures)
    wrong = [
        f"{_name(path)}:{node.lineno}: {ast.unparse(node)}"
        for path, kinds in forbidden.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "isinstance"
        and kinds & {getattr(part, "id", getattr(part, "attr", None)) for part in ast.walk(node.args[1])}
    ]
    assert not wrong, "\n".join(wrong)


def test_excuses_are_needed() -> None:
    for name, module in EXCUSED:
        assert module in {imported.split(".")[0] for _, imported in _imports(PACKAGE / name)}, (
            f"{name} no longer uses {module}"
        )


def _loaded(*arguments: str) -> set[str]:
    """Top-level modules that a command has loaded when it ends."""
    code = (
        "import sys; from qassay.cli import main; status = main(sys.argv[1:]); "
        "print('\\n' + ' '.join({name.split('.')[0] for name in sys.modules})); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_version_is_reported_without_loading_anything() -> None:
    heavy = {"polars", "numpy", "scipy", "numba", "rich", "typer", "msgspec"}
    assert not _loaded("--version") & heavy


@pytest.mark.parametrize("command", [["score", "--json"], ["score", "--csv"], ["check"]], ids=" ".join)
def test_scoring_starts_without_the_heavy_libraries(command: list[str]) -> None:
    verb, *options = command
    assert not _loaded(verb, str(qassay.demo_folder()), *options) & {"scipy", "numba"}


def test_the_leaderboard_compiles_nothing() -> None:
    assert "numba" not in _loaded("score", str(qassay.demo_folder()))


@pytest.fixture
def small_table(tmp_path: Path) -> str:
    path = tmp_path / "scores.csv"
    path.write_text("id,A,B\n" + "".join(f"q{unit},{unit % 3 / 2},{unit % 5 / 4}\n" for unit in range(30)))
    return str(path)


@pytest.mark.parametrize("runs", [["A", "B"], []], ids=["two runs", "all pairs"])
def test_comparing_a_small_table_starts_with_little(small_table: str, runs: list[str]) -> None:
    """Neither the tables of evaluations nor the special functions: they take longer to load than the comparison."""
    heavy = {"polars", "scipy", "numba", "rich", "pyarrow", "pandas", "sqlalchemy"}
    assert not _loaded("compare", small_table, *runs) & heavy
    assert not _loaded("compare", small_table, *runs, "--json") & heavy


def test_the_leaderboard_loads_only_special_functions_of_scipy() -> None:
    code = (
        "import sys; from qassay.cli import main; main(sys.argv[1:]); "
        "print('\\n' + ' '.join(name for name in sys.modules if name.startswith('scipy.')))"
    )
    command = [sys.executable, "-c", code, "score", str(qassay.demo_folder())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in done.stdout.splitlines()[-1].split()}
    assert not loaded & {"stats", "optimize", "interpolate", "linalg", "sparse", "integrate", "spatial"}


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import qassay; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split()} & {"numpy", "polars", "scipy", "typer", "rich"}
