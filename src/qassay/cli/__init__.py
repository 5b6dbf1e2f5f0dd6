"""The command line: one file per verb; `inputs`, `output`, `streams` and `by_metric` have what they share.

`main` is the door. It answers `--version` without importing the parser, loads only the verb that was asked for, and
turns errors into messages and exit statuses: 0 done, 1 the input has errors, 2 wrong usage, 130 interrupted. The other
verbs are known here by name and summary alone, so that starting the command stays instant.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from qassay.cli.streams import prepare

if TYPE_CHECKING:
    from qassay.errors import InputError, QassayError

VERBS = {
    "demo": "Try everything on a built-in evaluation.",
    "init": "Make a new evaluation.",
    "look": "Show what is in files, and which commands to use.",
    "import": "Add questions, runs and judgments from files.",
    "export": "Write an evaluation out, as JSONL or in NIST forms.",
    "backup": "Copy the store of an evaluation safely.",
    "restore": "Replace the store by a backup.",
    "check": "Check an evaluation, or runs before they are added.",
    "run": "Put the questions to a system and write its run.",
    "pool": "Show how much is to be judged, and how much is left.",
    "sheet": "Write a judging sheet for a person without the server.",
    "serve": "Start the web application.",
    "submit": "Submit runs to a served evaluation, as a participant.",
    "facts": "Show the test set and its judgments in numbers.",
    "judge": "Let an automatic assessor judge the answers.",
    "sample": "Draw random questions to correct an automatic assessor.",
    "score": "Score the runs and show the leaderboard.",
    "describe": "Show how scores spread over the questions.",
    "agree": "Show how far assessors agree.",
    "trust": "Show how far an automatic assessor can be trusted.",
    "stability": "Compare the rankings under different judgment sets.",
    "sensitivity": "Show which gaps new questions would repeat.",
    "compare": "Compare systems: is one better than another?",
    "plan": "Find how many questions a difference needs.",
    "report": "Write a page to show: who is best, and is it real?",
    "reuse": "Test whether the judgments are fair to new systems.",
    "schema": "Print the JSON Schema of a file or an output.",
    "completion": "Print the completion script for bash, zsh or fish.",
}
# Verbs whose function is not `command` in the file of their name, or not that of their study alone.
_ELSEWHERE = {"import": ("import_", "command"), "restore": ("backup", "restore"), "sample": ("sample", "command")}

# Studies whose command has options that no other door has, in the file of its name.
_WITH_OPTIONS_OF_ITS_OWN = ("compare", "score")

INTERRUPTED = 130
LIMIT_REACHED = 5
USE_DATABASE = "--use-database"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    gc.set_threshold(100_000, 20, 50)
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare(as_json="--json" in arguments)
    if arguments == ["--version"]:
        from qassay._version import __version__

        print(f"qassay {__version__}")
        return 0
    import typer
    from typer.exceptions import TyperException

    from qassay.errors import InputError, Problem, QassayError

    try:
        with _named_database(arguments):
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
        from qassay.cli.output import visible

        print(visible(f"error: {error.format_message()}"), file=sys.stderr)
        print(f"Try '{_command_line(arguments)} --help'.", file=sys.stderr)
        return error.exit_code
    except QassayError as error:
        return _say(error, as_json="--json" in arguments, verb=next((a for a in arguments if a in VERBS), ""))
    except ModuleNotFoundError as error:
        from qassay.extras import missing_extra

        missing = missing_extra(error, _command_line(arguments))
        if missing is None:
            raise
        return _say(missing, as_json="--json" in arguments)
    except MemoryError:
        return _say(QassayError("there is not enough memory for this input"), as_json="--json" in arguments)
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # while a class of a library was being made
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        if isinstance(error, OSError):
            return _say_system(error, arguments)
        message = _database_message(error)
        if message is None:
            raise
        return _say(InputError(Problem("configuration", message)), as_json="--json" in arguments)
    if status == INTERRUPTED:  # the parser catches the interrupt itself
        print("interrupted", file=sys.stderr)
    return status if isinstance(status, int) else 0


def _say_system(error: OSError, arguments: Sequence[str]) -> int:
    """Print what the operating system refused."""
    from qassay.cli.output import visible
    from qassay.errors import InputError, Problem
    from qassay.formats.files import refused_by_system

    if error.filename is not None:
        problem = Problem("configuration", refused_by_system(error), str(error.filename))
        return _say(InputError(problem), as_json="--json" in arguments)
    # Without a file it is the output itself that fails (a full disk): there is nowhere to write JSON to.
    print(visible(f"error: {error.strerror or error}"), file=sys.stderr)
    return 1


def _database_message(error: Exception) -> str | None:
    """The message of a database that is locked, full or read-only; None for any other error."""
    if "sqlalchemy" not in sys.modules:
        return None
    from sqlalchemy.exc import DBAPIError

    if not isinstance(error, DBAPIError):
        return None
    from qassay.store.engine import database_fault

    return database_fault(error)


def _named_database(arguments: list[str]) -> AbstractContextManager[None]:
    """Take `--use-database` off the arguments, wherever it is before `--`: every command that opens a store has it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if USE_DATABASE not in arguments[:end]:
        return nullcontext()
    arguments[:end] = [argument for argument in arguments[:end] if argument != USE_DATABASE]
    from qassay.store.engine import using_named_database

    return using_named_database()


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
    def _top(
        version: bool = typer.Option(False, "--version", help="Show the version and exit."),
        use_database: bool = typer.Option(
            False, USE_DATABASE, help="With any command: use the database that qassay.toml names outside the folder."
        ),
    ) -> None:
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
    # A line with only a backspace makes the parser keep the lines of the paragraph after it.
    return "\n\n".join("\b\n" + text if text.startswith("  ") else text for text in paragraphs)


def load(verb: str) -> Callable[..., object]:
    """The function behind a verb; that of a study follows from its file."""
    from qassay.studies import COMMANDS, study

    if verb in COMMANDS and verb not in _ELSEWHERE:
        from qassay.cli.studying import Own, command_of

        own = importlib.import_module(f"qassay.cli.{verb}").OwnOptions if verb in _WITH_OPTIONS_OF_ITS_OWN else Own
        return command_of(study(verb), own)
    file, name = _ELSEWHERE.get(verb, (verb, "command"))
    function: Callable[..., object] = getattr(importlib.import_module(f"qassay.cli.{file}"), name)
    return function


def _command_line(arguments: Sequence[str]) -> str:
    """The command that was called, without its options."""
    return " ".join(["qassay", *[argument for argument in arguments if argument in VERBS][:1]])


def _not_called() -> None:
    """Stand in for a verb that was not called."""


def _say(error: QassayError, *, as_json: bool, verb: str = "") -> int:
    """Print an error for people on stderr and, where JSON was asked for, for machines on stdout.

    Where a file is something else than the command takes, the command that takes it is named.
    """
    import json

    from qassay.cli.output import escaped, first_few, visible
    from qassay.errors import InputError, KeptProblems, LimitReachedError, Remedy, UsageError

    message = error.spelt(Remedy.on_command_line)
    if isinstance(error, InputError):
        message = "\n".join(problem.spelt(Remedy.on_command_line) for problem in first_few(error.problems))
    # Messages quote ids, tags and answers as they are written in other people's files.
    for line in (message or type(error).__name__).split("\n"):
        print(visible(f"error: {line}"), file=sys.stderr)
    if isinstance(error, UsageError):
        return 2
    if isinstance(error, InputError):
        for sentence in _hints(error, verb):
            print(visible(f"hint: {sentence}"), file=sys.stderr)
    if as_json:
        problems = error.problems if isinstance(error, InputError) else KeptProblems()
        errors = [problem.as_json() for problem in problems]
        print(escaped(json.dumps({"errors": errors, "errors_total": problems.total}, ensure_ascii=False)))
    return LIMIT_REACHED if isinstance(error, LimitReachedError) else 1


def _hints(error: InputError, verb: str) -> list[str]:
    """The likely kinds of files that could not be read; a problem inside an evaluation is not about such a file."""
    from pathlib import Path

    unread = dict.fromkeys(problem.file for problem in error.problems if problem.rule == "syntax" and problem.file)
    paths = [Path(name) for name in unread if name and Path(name).is_file()][:3]
    if not paths:
        return []
    from qassay.formats.looking import hint

    return [sentence for path in paths if (sentence := hint(path, verb))]
