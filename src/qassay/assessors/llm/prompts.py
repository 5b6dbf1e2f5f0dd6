"""Prompts are data: one TOML file per kind of judgment, replaceable, and versioned by a hash of their content.

    batch     decisions asked for in one call
    reason    whether the model gives a short reason before each verdict
    tokens    expected length of the reply to one decision, for the estimate of a dry run
    system    the instructions
    user      the message: {question}, {answer}, {gold} and so on stand for what is judged
    labels    what labels mean, where the task does not say it itself

Everything that comes from the evaluation is data and may contain instructions of its own, written by anyone who wants a
better verdict. It is put between marks with a word that depends on all of it, so that no text can contain its own mark.
A paragraph of `user` whose placeholder has nothing to show is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.formats import files
from qassay.judging import digest

# How messages are put together; it is part of the hash of every prompt.
RENDERING = "1"
MOST_IN_A_BATCH = 100
_BETWEEN = re.compile(r"\n\s*\n")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# What may stand in a prompt: data of the evaluation, and what the program says about it.
DATA = (
    *("question", "target", "definition", "hypothesis", "reference", "gold", "answer", "document", "contexts"),
    *("decisions", "listed", "responses"),
)
# Of these, what is judged: what a prompt of the package shows of them, another one of its kind shows too.
ESSENTIAL = ("question", "answer", "hypothesis", "decisions", "responses")
SAID = ("labels", "form", "mark", "most")
_TYPES: Mapping[str, type] = {"batch": int, "reason": bool, "tokens": int, "system": str, "user": str, "labels": dict}

# Words that chat templates take for the end of a message, and characters that nobody sees.
_TEMPLATE = re.compile(
    r"<\|[^|<>]{0,40}\|>|<\|?/?(?:s|think|im_start|im_end|start_of_turn|end_of_turn|bos|eos|SYS)\|?>"
    r"|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


@dataclass(frozen=True)
class Prompt:
    """The prompt of one kind of judgment."""

    kind: str
    system: str
    user: str
    batch: int = 1
    reason: bool = False
    tokens: int = 20
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    @cached_property
    def hash(self) -> str:
        """The version: 16 hexadecimal digits of everything that the model is told."""
        contents = (RENDERING, self.system, self.user, self.batch, self.reason, sorted(self.labels.items()))
        return digest("prompt", self.kind, *contents)[:16]

    def shows(self, name: str) -> bool:
        """Whether it has a place for this data."""
        return f"{{{name}}}" in self.user

    def messages(self, data: Mapping[str, str], instructions: Mapping[str, str]) -> list[dict[str, str]]:
        """The messages of one call; `data` comes from the evaluation, `instructions` from the program."""
        shown = {name: harmless(text) for name, text in data.items() if text}
        mark = mark_of(shown)
        values = {name: enclosed(name, text, mark) for name, text in shown.items()} | {**instructions, "mark": mark}
        return [
            {"role": "system", "content": _filled(self.system, values)},
            {"role": "user", "content": _filled(self.user, values)},
        ]


def mark_of(data: Mapping[str, str]) -> str:
    """A word that none of the texts contains; it depends on all of them, so that none could have foreseen it."""
    attempt = 0
    while (mark := digest("mark", attempt, sorted(data.items()))[:12]) in "".join(data.values()):
        attempt += 1
    return mark


def enclosed(name: str, text: str, mark: str) -> str:
    """The text between marks."""
    return f"[{name} {mark}]\n{text}\n[end of {name} {mark}]"


def harmless(text: str) -> str:
    """The text without unseen characters, and with words of chat templates taken apart.

    >>> harmless("Paris<|im_end|>")
    'Paris< |im_end| >'
    """
    apart = _TEMPLATE.sub(lambda match: f"{match[0][0]} {match[0][1:-1]} {match[0][-1]}", _UNSEEN.sub("", text))
    return apart.encode("utf-8", errors="replace").decode("utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its values; a paragraph with a placeholder that has no value is left out."""
    paragraphs = []
    for paragraph in _BETWEEN.split(template.strip()):
        names = _PLACEHOLDER.findall(paragraph)
        if all(values.get(name) for name in names):
            paragraphs.append(_PLACEHOLDER.sub(lambda match: values[match[1]], paragraph))
    return "\n\n".join(paragraphs)


# ---- files ----------------------------------------------------------------------------------------------------------


def shipped() -> list[str]:
    """The kinds that have a prompt in the package."""
    place = resources.files(__package__) / "prompts"
    return sorted(entry.name.removesuffix(".toml") for entry in place.iterdir() if entry.name.endswith(".toml"))


def prompt_of(kind: str, places: Sequence[Path] = ()) -> Prompt | None:
    """The prompt of a kind: the first that the given files and folders have, else the package's; None without one."""
    for place in places:
        path = place / f"{kind}.toml" if place.is_dir() else place
        if path.is_file() and path.stem == kind:
            return read_prompt(kind, files.read_text(path), source=str(path))
    text = _shipped_text(kind)
    return None if text is None else read_prompt(kind, text, source=f"{kind}.toml")


@cache
def _shipped_text(kind: str) -> str | None:
    """The prompt of the package, as written."""
    place = resources.files(__package__) / "prompts" / f"{kind}.toml"
    return place.read_text(encoding="utf-8") if kind in shipped() else None


def prompt_places(prompts: str | None, folder: Path) -> tuple[Path, ...]:
    """The places of prompts: the file or folder that is named, then the evaluation's folder `prompts`."""
    if prompts is None:
        return (folder / "prompts",)
    place = Path(prompts).expanduser()
    if not place.exists():
        raise UsageError(f"llm: there is no file or folder of prompts at {prompts}")
    names = [place.stem] if place.is_file() else [path.stem for path in place.glob("*.toml")]
    for name in names:
        if name not in shipped():
            raise unknown("kind of prompt", name, shipped())
    if not names:
        raise UsageError(f"llm: {prompts} has no prompt; a file has the name of its kind, such as label.toml")
    return (place, folder / "prompts")


def _lost(kind: str, user: str) -> str | None:
    """What a model has to see and this message does not always show it; None where nothing is lost."""
    paragraphs = [set(_PLACEHOLDER.findall(paragraph)).intersection(DATA) for paragraph in _BETWEEN.split(user)]
    always = {name for names in paragraphs if names.issubset(ESSENTIAL) for name in names}
    needed = _PLACEHOLDER.findall(_shipped_text(kind) or "")
    return next((name for name in needed if name in ESSENTIAL and name not in always), None)


def read_prompt(kind: str, text: str, *, source: str) -> Prompt:
    """Check a prompt file and read it."""

    def fault(message: str) -> InputError:
        return InputError(Problem("configuration", f"{message} (a prompt of the kind {kind})", source))

    keys = files.parse_toml(text, file=source)
    for name, value in keys.items():
        if name not in _TYPES:
            raise fault(f"unknown key {name!r}; use {', '.join(_TYPES)}")
        if type(value) is not _TYPES[name]:
            raise fault(f"{name} is a {type(value).__name__}; it takes a {_TYPES[name].__name__}")
    for name in ("system", "user"):
        if not str(keys.get(name, "")).strip():
            raise fault(f"{name} is missing")
        for placeholder in _PLACEHOLDER.findall(keys[name]):
            if placeholder not in (*DATA, *SAID):
                raise fault(f"unknown placeholder {{{placeholder}}}; use {', '.join((*DATA, *SAID))}")
            if name == "system" and placeholder in DATA:
                raise fault(f"{{{placeholder}}} is data of the evaluation and belongs into user, not into system")
    if "{form}" not in keys["system"] + keys["user"]:
        raise fault("{form} is missing: it tells the model the form of its answer")
    if lost := _lost(kind, keys["user"]):
        raise fault(
            f"user shows no {{{lost}}} on its own: the model cannot judge without it. Give it a paragraph without "
            "placeholders that may have nothing to show, because such a paragraph is left out"
        )
    if not 1 <= keys.get("batch", 1) <= MOST_IN_A_BATCH or keys.get("tokens", 20) < 1:
        raise fault(f"batch is a number from 1 to {MOST_IN_A_BATCH}, and tokens a number from 1")
    if not all(isinstance(meaning, str) for meaning in keys.get("labels", {}).values()):
        raise fault("labels has a text for each label")
    return Prompt(kind, **keys, source=source)
