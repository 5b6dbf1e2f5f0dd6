"""Pictures of the terminal: commands run on the built-in evaluation, drawn as SVG in a light and a dark variant.

The pictures have text in whatever monospaced font the viewer has; they fetch nothing. Beside them the figures of the
report of the built-in evaluation, as `qassay report --format csv` writes them.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import papers
import qassay
from sessions import WIDTH, Session, environment

# Name of the picture: the commands in it. `demo` is the copy of the built-in evaluation.
PICTURES = {
    "score": "qassay score demo",
    "sensitivity": "qassay sensitivity demo",
}

# Figures of the report that the pages show.
FIGURES = ("leaderboard", "differences", "error-rate", "scores-by-unit", "ranks-by-set", "power")

# Background, text, and the eight colours of a terminal.
THEMES = {
    "light": TerminalTheme(
        (255, 255, 255),
        (36, 41, 47),
        [
            *((36, 41, 47), (179, 29, 40), (17, 99, 41), (130, 80, 0)),
            *((9, 80, 174), (102, 57, 186), (5, 94, 115), (87, 96, 106)),
        ],
    ),
    "dark": TerminalTheme(
        (13, 17, 23),
        (230, 237, 243),
        [
            *((110, 118, 129), (255, 123, 114), (63, 185, 80), (210, 153, 34)),
            *((88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)),
        ],
    ),
}

FORMAT = """\
<svg class="qassay" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
  font-variant-east-asian: full-width;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def terminal_output(command: str, folder: Path) -> str:
    """What a command writes to a terminal, colours included; progress, which depends on the machine, is left out."""
    master, slave = pty.openpty()
    variables = environment(folder) | {"TERM": "xterm-256color"}
    del variables["NO_COLOR"]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=variables, stdin=nothing, stdout=slave, stderr=nothing
    ) as process:
        os.close(slave)
        pieces = []
        # Reading ends with an error on Linux and with nothing elsewhere.
        try:
            while piece := os.read(master, 1 << 16):
                pieces.append(piece)
        except OSError:
            pass
        os.close(master)
    if process.returncode:
        raise RuntimeError(f"{command!r} ends with status {process.returncode}")
    return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")


def draw(name: str, command: str, output: str, theme: str) -> str:
    """The picture of one command and its output."""
    screen = Text.from_ansi(f"$ {command}\n{output.rstrip()}")
    width = max(60, min(WIDTH, max(line.cell_len for line in screen.split())))
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(screen, soft_wrap=False)
    drawn = console.export_svg(
        title="", theme=THEMES[theme], code_format=FORMAT, unique_id=f"{name}-{theme}", font_aspect_ratio=0.6
    )
    return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip()) + "\n"


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    drawn = {}
    with tempfile.TemporaryDirectory(prefix="qassay-pictures-") as place:
        folder = Path(place).resolve()
        Session(folder).run("qassay demo --to demo")
        for name, command in PICTURES.items():
            output = terminal_output(command, folder)
            for theme in THEMES:
                drawn[f"{name}-{theme}.svg"] = draw(name, command, output, theme)
    return drawn | figures()


def figures() -> dict[str, str]:
    """The figures of the report of the built-in evaluation, and those in the form of the source papers."""
    report = qassay.report(qassay.open(qassay.demo_folder()))
    drawn = {exhibit.name: exhibit.figure for exhibit in report.exhibits() if exhibit.figure is not None}
    shown = {f"figure-{name}": drawn[name] for name in FIGURES} | papers.figures()
    return {f"{name}.svg": figure.svg() for name, figure in shown.items()}
