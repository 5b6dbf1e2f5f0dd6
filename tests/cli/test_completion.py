"""`qassay completion`: the scripts know every verb and option, and bash completes with them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import qassay
from qassay.cli import VERBS, main
from qassay.cli.completion import options


@pytest.mark.parametrize("verb", VERBS)
def test_options_are_those_of_the_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    shown = capsys.readouterr().out.partition("Options")[2]
    known = options(verb)
    assert [name for name in known if name not in shown] == []
    listed = {line.split()[0].rstrip(",") for line in shown.splitlines() if line.strip().startswith("--")}
    assert listed <= set(known)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_every_verb(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [verb for verb in VERBS if verb not in script] == []
    if shell != "fish" and shutil.which("bash"):
        assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def _completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    listed = " ".join(f"'{word}'" for word in ("qassay", *words))
    code = f"{script}\nCOMP_WORDS=({listed})\nCOMP_CWORD={len(words)}\n_qassay\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    assert _completed(script, "comp") == ["compare", "completion"]
    assert _completed(script, "compare", "--incon") == ["--inconclusive"]
    assert _completed(script, "compare", "x.csv", "--inconclusive", "") == ["pass", "fail"]
    demo = str(qassay.demo_folder())
    assert _completed(script, "compare", demo, "h") == ["hobby"]
    assert _completed(script, "compare", demo, "hobby", "i") == ["ibis"]
    (tmp_path / "my scores.csv").touch()
    assert _completed(script, "sensitivity", str(tmp_path / "my")) == [str(tmp_path / "my"), "scores.csv"]


def test_other_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "tcsh" in capsys.readouterr().err
