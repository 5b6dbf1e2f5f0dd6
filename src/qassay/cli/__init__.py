"""The command line: one file a verb.

`main` is the door. It answers `--version` without importing the parser, loads only the verb that was asked for, and
turns errors into messages and exit statuses: 0 done, 1 the input has errors, 2 wrong usage, 130 interrupted. The other
verbs are known here by name and summary alone, so that starting the command stays instant.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qassay.errors import QassayError

VERBS = {
    "demo": "The whole story on a built-in evaluation.",
    "init": "Make a new evaluation.",
    "import": "Add what files hold to an evaluation.",
    "export": "Write an evaluation out, as JSONL or in NIST forms.",
    "backup": "Copy the store of an evaluation safely.",
    "restore": "Put a backup in the place of the store.",
    "check": "Check an evaluation, or runs before they are added.",
    "run": "Drive a system over the questions and write a run.",
    "pool": "What is to be judged, and how much is not yet.",
    "sheet": "A judging sheet for an assessor without the server.",
    "serve": "The web application.",
    "judge": "An automatic assessor judges the pool.",
    "score": "Scores and leaderboard.",
    "describe": "How scores spread over units; what weights do.",
    "agree": "Disagreement tables and agreement statistics.",
    "trust": "How far an automatic assessor can be trusted.",
    "stability": "Rankings under different judgment sets.",
    "sensitivity": "Error rates, and the smallest difference to trust.",
    "compare": "Is one run better than another?",
    "plan": "How many questions, and assessors, for a wanted difference.",
    "reuse": "Leave-one-out test of the judgments.",
}
# Verbs whose function is not `command` in the file of their name.
_ELSEWHERE = {"import": ("import_", "command"), "restore": ("backup", "restore")}

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        from qassay._version import __version__

        print(f"qassay {__version__}")
        return 0
    import typer
    from typer.exceptions import TyperException

    from qassay.errors import InputError, Problem, QassayError

    try:
        status = application(arguments)(args=arguments or ["--help"], prog_name="qassay", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader has gone (`qassay score | head`): nothing is left to say, and nobody to say it to. The parser makes
        # an exit of it, the only one that it makes by itself.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except TyperException as error:
        print(f"error: {error.format_message()}", file=sys.stderr)
        verb = next((a for a in arguments if a in VERBS), "")
        print(f"Try 'qassay {verb} --help'.".replace("  ", " "), file=sys.stderr)
        return error.exit_code
    except QassayError as error:
        return _say(error, as_json="--json" in arguments)
    except OSError as error:
        if error.filename is not None:
            problem = Problem("configuration", error.strerror or str(error), str(error.filename))
            return _say(InputError(problem), as_json="--json" in arguments)
        # Without a file it is the output itself that fails (a full disk): there is nowhere to write JSON to.
        print(f"error: {error.strerror or error}", file=sys.stderr)
        return 1
    if status == INTERRUPTED:  # the parser catches the interrupt itself
        print("interrupted", file=sys.stderr)
    return status if isinstance(status, int) else 0


def application(arguments: Sequence[str]) -> Callable[..., object]:
    """The Typer application with the called verb loaded and the others named."""
    import typer

    app = typer.Typer(
        name="qassay",
        help="Judge question-answering systems, score them, and find out what the scores are worth.",
        epilog="Start with: qassay demo. Every command has --help with examples.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def _top(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
        pass

    verb = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, summary in VERBS.items():
        function = load(name) if name == verb else _not_called
        app.command(name, help=help_text(function) if name == verb else summary)(function)
    return app


def help_text(function: Callable[..., object]) -> str:
    """A docstring as help: indented paragraphs, the examples, keep their lines."""
    import inspect

    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    # A line that holds only a backspace tells the parser not to fill the paragraph after it.
    return "\n\n".join("\b\n" + text if text.startswith("  ") else text for text in paragraphs)


def load(verb: str) -> Callable[..., object]:
    """The function behind a verb."""
    file, name = _ELSEWHERE.get(verb, (verb, "command"))
    function: Callable[..., object] = getattr(importlib.import_module(f"qassay.cli.{file}"), name)
    return function


def _not_called() -> None:
    """Stand in for a verb that was not called."""


def _say(error: QassayError, *, as_json: bool) -> int:
    """Print an error for people on stderr and, where JSON was asked for, for machines on stdout."""
    import json

    from qassay.cli.output import first_few, visible
    from qassay.errors import InputError, UsageError

    message = "\n".join(map(str, first_few(error.problems))) if isinstance(error, InputError) else str(error)
    # Messages quote ids, tags and answers as they are written in other people's files.
    for line in (message or type(error).__name__).split("\n"):
        print(visible(f"error: {line}"), file=sys.stderr)
    if isinstance(error, UsageError):
        return 2
    if as_json:
        problems = error.problems if isinstance(error, InputError) else ()
        print(json.dumps({"errors": [problem.as_json() for problem in problems]}, ensure_ascii=False))
    return 1
