"""The values of `--system`: a reference system, `module:callable`, a URL, or a command."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from qassay.child import program
from qassay.cluster import Cluster
from qassay.errors import UsageError, unknown
from qassay.extras import require
from qassay.plugins import broken, load_plugin, plugins
from qassay.spelling import Spelled, arguments
from qassay.systems import SYSTEMS, Documents, System, make_reference, spelled
from qassay.systems.harness.callers import Caller, CommandCaller, LocalCaller, RayCaller
from qassay.systems.harness.http import ChatCaller, HttpCaller
from qassay.tasks import Task

_CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(?:\(.*\))?", re.DOTALL)
_NAME = re.compile(r"[\w-]+(?:\(.*\))?", re.DOTALL)


@dataclass(frozen=True)
class UnderTest:
    """A system under test: how it is spelled, and what makes a connection to it (one per worker).

    `remembers`: it may keep something of its own from one question to the next, as any program may. A series that was
    interrupted is then asked from its first question, so that the run is the same as an unbroken one. `searches`: it
    looks into the collection through this process, whose index has to be there.
    """

    spelling: str
    connect: Callable[[], Caller]
    remembers: bool = False
    searches: bool = False


def local(system: System) -> UnderTest:
    """A Python function in this process, as a system under test."""
    return UnderTest("python", lambda: LocalCaller(system))


def open_system(
    text: str,
    *,
    task: Task,
    collection: Documents | None = None,
    documents: Path | None = None,
    settings: Mapping[str, str] | None = None,
    token: str | None = None,
) -> UnderTest:
    """The system that the user has named. `documents` is the folder that a Python system may open for itself."""
    text, parameters = text.strip(), dict(settings or {})
    if re.match(r"https?://", text, re.IGNORECASE):
        return _address(text, task, collection, parameters, token)
    if _CALLABLE.fullmatch(text):
        parsed = spelled(text, parameters)
        parsed = replace(parsed, called=parsed.called or bool(parsed.parameters))
        command = [sys.executable, "-m", "qassay.systems.harness.worker", str(parsed), str(documents or "")]
        return UnderTest(str(parsed), lambda: CommandCaller(command), remembers=True)
    if _NAME.fullmatch(text) and text.split("(")[0] in SYSTEMS:
        return _reference(spelled(text, parameters), collection)
    if _NAME.fullmatch(text) and text.split("(")[0] in plugins("system"):
        return _plugged_in(spelled(text, parameters), collection)
    return _command(text, parameters)


def over_ray(system: UnderTest, address: str) -> UnderTest:
    """The same system with connections on the nodes of the Ray cluster at this address, one for each worker.

    There the program is started, or the reference system answers. Order, time limits, retries and the log stay here.
    """
    cluster = Cluster(address)
    packed = cluster.packed(system.connect, f"the system {system.spelling}")
    return replace(system, connect=lambda: RayCaller(cluster, packed))


def default_tag(spelling: str) -> str:
    """A run tag for a system: its spelling without what file names would not like.

    >>> default_tag("factoid(threshold=0.3, answers=5)")
    'factoid-threshold-0.3-answers-5'
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", spelling).strip("-.")[:80] or "run"


def _reference(parsed: Spelled, collection: Documents | None) -> UnderTest:
    if collection is None:
        raise UsageError(f"{parsed.name} answers from documents, but the evaluation has none; put them in collection/")
    require("search", f"the system {parsed.name}")
    system = make_reference(parsed, collection)
    return UnderTest(str(parsed), lambda: LocalCaller(system), searches=True)


def _plugged_in(parsed: Spelled, collection: Documents | None) -> UnderTest:
    """The system of another package: a function that makes it, called with the documents and its parameters."""
    factory = load_plugin("system", parsed.name)
    if not callable(factory):
        raise broken("system", parsed.name, f"it is {type(factory).__name__}, which cannot be called")
    system = factory(collection, **arguments(parsed, factory))
    if not callable(system):
        raise broken("system", parsed.name, f"it made {type(system).__name__}, which cannot be called")
    return UnderTest(str(parsed), lambda: LocalCaller(system), searches=collection is not None)


def _address(
    url: str, task: Task, collection: Documents | None, settings: Mapping[str, str], token: str | None
) -> UnderTest:
    parts = urlsplit(url)
    if not parts.hostname or parts.username or parts.password:
        raise UsageError(f"{parts.scheme}://{parts.hostname or ''}: an address has a host and no password")
    settings_text = "".join(f" {name}={value}" for name, value in settings.items())
    if parts.path.rstrip("/").endswith("/chat/completions"):
        if collection is not None:
            require("search", "a chat model that answers from documents")
        chat = ChatCaller(url, task=task, collection=collection, parameters=settings, token=token)
        return UnderTest(url + settings_text, lambda: chat, searches=True)
    if settings:
        raise UsageError(f"--set does not apply to {url}; only a chat model (.../chat/completions) takes parameters")
    return UnderTest(url, lambda: HttpCaller(url, token=token))


def _command(text: str, settings: Mapping[str, str]) -> UnderTest:
    if not text:
        raise UsageError("no system is named; --system takes a reference system, module:callable, a command or a URL")
    arguments = program(text)
    if arguments is None:
        if _NAME.fullmatch(text):
            raise unknown("system", text.split("(")[0], [*SYSTEMS, *plugins("system")])
        raise UsageError(f"there is no program {text.split()[0]!r} to run as a system")
    if settings:
        raise UsageError("--set does not apply to a command; write its options into the command")
    return UnderTest(text, lambda: CommandCaller(arguments), remembers=True)
