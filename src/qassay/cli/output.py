"""How every command speaks: a table for people, JSON for machines, progress on stderr."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from qassay.display import as_sentence
from qassay.errors import KeptProblems, Problem, Problems, more_problems
from qassay.tables import Table

# Prose around a table is filled to a width that reads well, or to that of a narrower terminal.
NOTE_WIDTH = 100
NARROWEST = 40

# The most problems of one rule in one file that are shown to people; machines get the first 200 of a file.
MOST_SHOWN = 10

# Control characters, marks that reverse text, and halves of characters, as in the names of files that are not UTF-8.
_OBEYED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Called with (done, total); pure functions that take long accept one.
Progress = Callable[[int, int], None]


def print_json(document: object) -> None:
    """Write one JSON document on stdout: numbers in full precision, undefined ones as null."""
    import msgspec

    # Numbers of arrays have a method that gives the plain number; nothing else in a document is unknown to the encoder.
    encoded = msgspec.json.encode(document, enc_hook=lambda number: number.item())
    sys.stdout.write(escaped(encoded.decode()) + "\n")


def escaped(document: str) -> str:
    """The same JSON, without characters that a terminal obeys or no output takes; JSON escapes some of them itself.

    >>> escaped('"a\\x9b31m\\u202eb"')
    '"a\\\\u009b31m\\\\u202eb"'
    """
    if document.isascii() and "\x7f" not in document:  # a search of megabytes takes longer than writing them
        return document
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def print_tables(tables: Iterable[Table]) -> None:
    """Show tables on stdout, with a blank line between them; plain text where it is not a terminal."""
    for number, table in enumerate(tables):
        if number:
            print()
        folded = replace(table, notes=tuple(map(fold, table.notes)))
        if sys.stdout.isatty():
            parts = replace(folded, title=headline(table.title)).within(shutil.get_terminal_size().columns)
            for place, part in enumerate(parts):
                if place:
                    print()
                _print_rich(part)
        else:
            print(visible(str(folded)))


def fold(prose: str, width: int = NOTE_WIDTH) -> str:
    """The text in lines as long as the terminal is wide, within bounds; of a fixed length where there is none."""
    if sys.stdout.isatty():
        width = max(NARROWEST, min(width, shutil.get_terminal_size().columns))
    return textwrap.fill(prose, width)


def print_answer(words: str) -> None:
    """The answer of a command, above its tables: with a capital, a full stop and a blank line."""
    print(f"{visible(headline(as_sentence(words)))}\n")


def headline(sentence: str) -> str:
    """A line above tables: folded on a terminal, and one line for everything that reads lines."""
    return fold(sentence) if sys.stdout.isatty() else sentence


def _print_rich(table: Table) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    header, body = table.lines()
    # Text, never markup: tags and answers are other people's strings.
    titles = [table.title] if table.title else []
    for lines, style in ((titles, "bold"), (header, "bold cyan"), (body, ""), (table.notes, "dim")):
        for line in lines:
            console.print(Text(visible(line)), style=style)


def visible(text: str) -> str:
    """The text without characters that would move the cursor or reorder the line of a terminal.

    >>> visible("a\\x1b[2Jb\\u202ec")
    'a\\\\x1b[2Jb\\\\u202ec'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A bar on stderr for work of more than a second; nothing where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, start=True, visible=False)

        def update(done: int, total: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            bar.update(task, completed=done, total=total, visible=elapsed > 1.0)

        yield update


def first_few(problems: Iterable[Problem]) -> list[Problem]:
    """The first few of each rule and file, with a line for the others and one for those that were only counted."""
    seen: Counter[tuple[str | None, str]] = Counter()
    shown = []
    for problem in problems:
        kind = (problem.file, problem.rule)
        seen[kind] += 1
        if seen[kind] <= MOST_SHOWN:
            shown.append(problem)
    for (file, rule), number in seen.items():
        if number > MOST_SHOWN:
            # The rules of runs have names that people can look up; a fault of syntax has only its message.
            which = "like these" if rule in ("syntax", "configuration", "encoding") else f"of rule {rule}"
            shown.append(Problem("syntax", f"... and {number - MOST_SHOWN:,} more {which} (--json lists them)", file))
    if isinstance(problems, Problems | KeptProblems):
        shown += more_problems(problems.beyond)
    return shown


def without_isolates(sentence: str) -> str:
    """Without the characters that isolate names from right to left; a terminal shows them as codes."""
    return re.sub("[\u2068\u2069]", "", sentence)
