"""The gate of `compare` in a pipeline: exit statuses, the summary, JUnit, and the script of the GitHub Action."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from qassay.cli import main

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """`good` beats `bad` on every question; `same` is `bad` with its questions exchanged."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    path = tmp_path / "scores.csv"
    rows = [f"q{n},{0.6 + n % 4 / 10},{n % 4 / 10},{(n + 2) % 4 / 10}" for n in range(40)]
    path.write_text("id,good,bad,same\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


Call = Callable[..., int]


@pytest.mark.parametrize(
    ("runs", "options", "status"),
    [
        (("good", "bad"), [], 0),
        (("bad", "good"), [], 3),
        (("bad", "same"), [], 4),
        (("bad", "same"), ["--inconclusive", "pass"], 0),
        (("bad", "same"), ["--inconclusive", "fail"], 3),
        (("good", "bad"), ["--inconclusive", "fail"], 0),
        (("bad", "good"), ["--inconclusive", "pass"], 3),
        (("bad", "same"), ["--margin", "0.3"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list | tuple) else str(value),
)
def test_exit_statuses(scores: str, runs: tuple[str, str], options: list[str], status: int) -> None:
    assert main(["compare", scores, *runs, "--gate", *options]) == status


def test_the_summary_says_decision_figures_and_reason(scores: str, tmp_path: Path) -> None:
    file = tmp_path / "new" / "gate.md"
    assert main(["compare", scores, "good", "bad", "--gate", "--summary", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    decision = "ALLOW: the 95% interval of good - bad, +0.493 to +0.650, lies above 0"
    assert text.startswith(f"## ALLOW: good compared with bad\n\n{decision}")
    assert "| good − bad | +0.600 |" in text


def test_the_summary_is_added_to_that_of_the_step(scores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = tmp_path / "step.md"
    step.write_text("earlier\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    assert main(["compare", scores, "bad", "good", "--gate"]) == 3
    assert step.read_text(encoding="utf-8").startswith("earlier\n## REJECT: bad compared with good\n")
    before = step.read_text(encoding="utf-8")
    assert main(["compare", scores, "bad", "good"]) == 0
    assert step.read_text(encoding="utf-8") == before, "only a gate has a summary"


def test_a_summary_that_cannot_be_added_does_not_change_the_decision(
    scores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main(["compare", scores, "bad", "good", "--gate"]) == 3
    assert "warning: GITHUB_STEP_SUMMARY" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("runs", "options", "counts", "child"),
    [
        (("good", "bad"), [], ("1", "0", "0"), None),
        (("bad", "good"), [], ("1", "1", "0"), "failure"),
        (("bad", "same"), [], ("1", "1", "0"), "failure"),
        (("bad", "same"), ["--inconclusive", "pass"], ("1", "0", "1"), "skipped"),
    ],
)
def test_junit_counts_what_the_exit_status_says(
    scores: str,
    tmp_path: Path,
    runs: tuple[str, str],
    options: list[str],
    counts: tuple[str, str, str],
    child: str | None,
) -> None:
    file = tmp_path / "gate.xml"
    status = main(["compare", scores, *runs, "--gate", "--junit", str(file), *options])
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == counts
    assert (status != 0) == (counts[1] == "1")
    case = suite.find("testcase")
    assert case is not None
    assert case.get("name") == f"{runs[0]} compared with {runs[1]}: score, margin 0"
    assert [part.tag for part in case if part.tag != "system-out"] == ([child] if child else [])


def test_strange_names_do_no_harm(tmp_path: Path) -> None:
    a, b = "a|<b>\x1b[2J", "`*c*` & d"
    path = tmp_path / "strange.csv"
    path.write_text(f'"id","{a}","{b}"\n' + "\n".join(f"{n},{n % 3},{n % 2}" for n in range(20)), encoding="utf-8")
    markdown, junit = tmp_path / "gate.md", tmp_path / "gate.xml"
    main(["compare", str(path), a, b, "--gate", "--summary", str(markdown), "--junit", str(junit)])
    text = markdown.read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "<b>" not in text
    assert "`*c*`" not in text
    columns = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| ")}
    assert columns == {4}
    case = ElementTree.parse(junit).getroot().find("testsuite/testcase")
    assert case is not None
    assert "<b>" in str(case.get("name"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--summary", "x.md"], "--summary goes with --gate"),
        (["--margin", "0.1", "--junit", "x.xml"], "--margin and --junit go with --gate"),
        (["--inconclusive", "pass"], "--inconclusive goes with --gate"),
        (["--gate", "--summary", "x", "--junit", "x"], "--summary and --junit name the same file"),
    ],
)
def test_options_of_a_gate_need_one(
    scores: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", scores, "good", "bad", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_cannot_be_written_leaves_no_other(scores: str, tmp_path: Path) -> None:
    markdown = tmp_path / "gate.md"
    assert main(["compare", scores, "good", "bad", "--gate", "--summary", str(markdown), "--junit", str(tmp_path)]) == 1
    assert not markdown.exists()


# The action


def _action(tmp_path: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The script of the action, as its step calls it."""
    output = tmp_path / "output"
    output.touch()
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    command = folder / "qassay"
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; from qassay.cli import main; sys.exit(main())" "$@"\n'
    )
    command.chmod(0o755)
    variables = {
        **os.environ,
        **given,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "action.sh")],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
    return done, outputs


@pytest.mark.parametrize(
    ("runs", "inconclusive", "status", "decision"),
    [
        (("good", "bad"), "", 0, "ALLOW"),
        (("bad", "good"), "", 3, "REJECT"),
        (("bad", "same"), "", 4, "INCONCLUSIVE"),
        (("bad", "same"), "pass", 0, "INCONCLUSIVE"),
    ],
)
def test_the_action_decides_and_says_so(
    scores: str, tmp_path: Path, runs: tuple[str, str], inconclusive: str, status: int, decision: str
) -> None:
    done, outputs = _action(
        tmp_path, scores="scores.csv", a=runs[0], b=runs[1], margin="0", inconclusive=inconclusive, junit="gate.xml"
    )
    assert done.returncode == status, done.stderr
    assert outputs == {"decision": decision, "status": str(status)}
    assert decision in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (tmp_path / "gate.xml").exists()


def test_the_action_takes_several_files_and_further_options(scores: str, tmp_path: Path) -> None:
    done, _ = _action(tmp_path, scores="no such file.csv", a="good", b="bad", margin="", options="--seed 1")
    assert done.returncode == 1
    assert "no such file.csv" in done.stderr
    done, outputs = _action(tmp_path, scores="scores.csv", a="good; touch hacked", b="bad", margin="")
    assert done.returncode == 2
    assert not (tmp_path / "hacked").exists()
    assert outputs["decision"] == ""


def test_the_action_passes_every_input_to_its_script() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    script = (ROOT / "scripts" / "action.sh").read_text(encoding="utf-8")
    used = set(re.findall(r"INPUT_\w+", script))
    assert used
    assert [name for name in sorted(used) if f"{name}:" not in text] == []
    assert "${{ inputs" not in "".join(line for line in text.splitlines() if "run:" in line)
