"""Systems behind an HTTP address: the question as JSON in a POST, or the prompt for an OpenAI-compatible chat model.

A chat model answers with a JSON object. With a collection, the model is shown the passages that a search finds for the
question, with their doc-ids, because an answer has to name the document that supports it. Without one it is asked as it
is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from qassay import net
from qassay.display import one_line
from qassay.spelling import number
from qassay.systems import Answer, Asked, Documents
from qassay.systems.harness.callers import Caller
from qassay.systems.harness.wire import CallError, Kind, read_answer, request
from qassay.systems.reference.evidence import query
from qassay.tasks import Task

LONGEST_BODY = 16 << 20
_KINDS: Mapping[net.Cause, Kind] = {
    "timeout": "timeout",
    "unreachable": "unreachable",
    "certificate": "unreachable",
    "broken": "crash",
    "long": "form",
}


class HttpCaller(Caller):
    """Posts to one address. It keeps nothing between two questions."""

    def __init__(self, url: str, *, token: str | None = None) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Post the question and read the answer."""
        return read_answer(self.post(request(asked), timeout), asked.question)

    def post(self, body: Mapping[str, Any], timeout: float) -> bytes:
        """The body of the response; every other outcome is a failure that says what happened."""
        data = json.dumps(body, ensure_ascii=False).encode()
        try:
            reply = net.exchange(
                "POST", self._url, headers=self._headers, body=data, seconds=timeout, most=LONGEST_BODY
            )
        except net.NoReplyError as error:
            raise CallError(_KINDS[error.cause], f"{self._url} {error}") from None
        if reply.status >= 300:
            raise _refused(reply)
        return reply.body


def _refused(reply: net.Reply) -> CallError:
    """The error that a status from 300 on means."""
    status = f"status {reply.status} {reply.reason}".strip()
    if reply.status < 400:
        message = f"{status}: it points to {reply.headers.get('location')}, which was not named; name it to use it"
        return CallError("refused", message, again=False, fatal=True)
    text = reply.shown(200)
    message = f"{status}{': ' + text if text else ''}"
    if reply.status in net.PASSING:
        wait = net.retry_after(reply.headers)
        return CallError("unreachable", message, wait=None if wait is None else min(wait, net.LONGEST_WAIT))
    fatal = reply.status in (401, 403, 404, 405, 407)
    return CallError("refused", message, again=False, fatal=fatal)


PASSAGES = 8
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


class ChatCaller(Caller):
    """Asks a chat model. Parameters such as `model` and `temperature` go into the request as they are."""

    def __init__(
        self,
        url: str,
        *,
        task: Task,
        collection: Documents | None,
        parameters: Mapping[str, str],
        token: str | None,
    ) -> None:
        settings = dict(parameters)
        self._passages = int(number("passages", settings.pop("passages", str(PASSAGES)), int))
        self._http = HttpCaller(url, token=token)
        self._task = task
        self._collection = collection
        self._parameters = {"temperature": 0.0} | {name: _literal(value) for name, value in settings.items()}

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Send the prompt and read the answer out of the model's message."""
        body = {**self._parameters, "messages": self.messages(asked)}
        return read_message(self._http.post(body, timeout), asked)

    def messages(self, asked: Asked) -> list[dict[str, str]]:
        """The prompt: the rules, then target, history, passages and the question."""
        hits = []
        if self._collection is not None and self._passages:
            hits = list(self._collection.search(query(asked) or asked.question.text, limit=self._passages))
        prompt = [f"Target: {asked.target}"] if asked.target else []
        for question, answer in asked.history:
            answer_text = "; ".join(item.text for item in answer.items) or "nothing"
            prompt.append(f"Earlier question: {question.text or 'other'}\nYour answer: {answer_text}")
        prompt += [f"Document {hit.doc}: {one_line(hit.plain().text)}" for hit in hits]
        prompt.append(_asked(asked))
        return [
            {"role": "system", "content": instructions(self._task, asked.question.type)},
            {"role": "user", "content": "\n\n".join(prompt)},
        ]


def instructions(task: Task, kind: str) -> str:
    """The instructions for the model: the form of an answer to this type of question."""
    rules = task.types[kind]
    form = rules.form.asked.replace("{labels}", ", ".join(task.labels)).replace("{most}", str(rules.max_items))
    return (
        "You answer questions from the documents you are shown, and name the document of every answer."
        f" Reply with one JSON object and nothing else. For this question it is {form}."
    )


def read_message(body: bytes, asked: Asked) -> Answer:
    """The answer in the first choice of a chat completion; a fence around the JSON is taken off."""
    try:
        content = msgspec.json.decode(body)["choices"][0]["message"]["content"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, IndexError, TypeError):
        shown = body[:80].decode("utf-8", errors="replace")
        raise CallError("form", f"the response is not a chat completion; it begins {shown!r}") from None
    if not isinstance(content, str) or not content.strip():
        raise CallError("form", "the model's message is empty")
    fenced = _FENCED.search(content)
    return read_answer((fenced[1] if fenced else content).strip(), asked.question)


def _asked(asked: Asked) -> str:
    question = asked.question
    if question.type == "pair":
        return f"Text: {question.text}\nHypothesis: {question.hypothesis}\nDoes the text entail the hypothesis?"
    if question.text:
        return f"Question: {question.text}"
    return "Tell what else is worth knowing about the target, beyond what was asked before."


def _literal(text: str) -> Any:
    """A parameter as JSON reads it, else as the string it is: 0.2 is a number, gpt-x a name."""
    try:
        return json.loads(text)
    except ValueError:
        return text
