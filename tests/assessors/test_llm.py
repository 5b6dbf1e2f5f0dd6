"""A language model as an assessor: over real HTTP, with a server that says what a script makes it say."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from benchmarks.model_server import ModelServer, ScriptedReply, data_of, number_of_decisions, serving

import qassay
from on_disk import write
from qassay.assessors import open_assessor
from qassay.cli import main
from qassay.schemas import schema

CITIES = ("Paris", "London", "Rome", "Oslo", "Bern", "Kiev")
NUMBER = 30


def rows(folder: Path, name: str = "m") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()]


def qa(place: Path, number: int = NUMBER) -> Path:
    """Free-text answers, all different, half of them right."""
    place.mkdir()
    (place / "qassay.toml").write_text('task = "qa"\n')
    asked = [{"id": f"q{n}", "type": "qa", "text": f"City {n}?", "gold": [CITIES[n % 6]]} for n in range(number)]
    write(place / "questions.jsonl", asked)
    texts = [f"It is {CITIES[(n + n % 2) % 6]}, number {n}" for n in range(number)]
    answers = [{"run": "a", "question": f"q{n}", "items": [{"text": text}]} for n, text in enumerate(texts)]
    write(place / "runs" / "a.jsonl", answers)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return qa(tmp_path / "qa")


def by_gold(request: dict[str, Any]) -> dict[str, str]:
    """What an honest model says: right if the gold answer is in the answer."""
    shown = data_of(request)
    return {"reason": "looked", "judgment": "correct" if shown["gold"] in shown["answer"] else "incorrect"}


def judge(folder: Path, server: ModelServer, *options: str, **settings: Any) -> int:
    given = "".join(f", {name}={value}" for name, value in settings.items())
    return main(["judge", str(folder), "--with", f"llm(model=m, endpoint={server.url}{given})", *options])


def test_a_model_judges_and_the_trace_tells_how(folder: Path) -> None:
    with serving(by_gold) as server:
        assert judge(folder, server, price="1/2") == 0
    judged = rows(folder)
    assert len(judged) == NUMBER == server.calls
    assert all((row["judgment"] == "correct") == (int(row["question"][1:]) % 2 == 0) for row in judged)
    trace = judged[0]["trace"]
    assert json.loads(trace["raw"])["judgment"] == judged[0]["judgment"]
    assert trace["model"] == "m"
    assert trace["parameters"] == {"temperature": 0.0, "max_tokens": 1024}
    assert trace["cost"] == pytest.approx((trace["tokens"]["input"] + 2 * trace["tokens"]["output"]) / 1e6)
    prompt = json.loads((folder / ".models" / "prompts" / f"{trace['prompt']}.json").read_text())
    assert "free text" in prompt["system"]
    assert "m" not in qassay.open(folder).assessor_sets


# ---- faults ---------------------------------------------------------------------------------------------------------


def once(faults: dict[str, Any], honest: Any = by_gold) -> Any:
    """A script that gives each answer with a fault its fault first, and then an honest answer."""
    left = dict(faults)

    def script(request: dict[str, Any]) -> Any:
        answer = data_of(request)["answer"]
        number = answer.rpartition(" ")[2]
        return left.pop(number) if number in left else honest(request)

    return script


FAULTS = {
    "0": ScriptedReply("slow down", status=429, headers={"Retry-After": "0.2"}),
    "1": ScriptedReply("slow down", status=429),
    "2": ScriptedReply("oops", status=500),
    "3": ScriptedReply(delay=3.0),
    "4": ScriptedReply({"judgment": "correct"}, cut=120),
    "5": "It is correct, I think.",
    "6": {"judgment": "great"},
    "7": {"judgement": "correct"},
    "8": ScriptedReply(raw=b'{"choices": []}'),
    "9": ScriptedReply(raw=b"<html>gateway</html>"),
    "10": ScriptedReply('{"judgment": "corr', finish="length"),
    "11": ScriptedReply("", cut=0),
    "12": ScriptedReply("busy", status=503),
    "13": [1, 2],
    "14": "```json\n[]\n```",
    "15": ScriptedReply("slow down", status=429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
}


def test_faults_that_pass_cost_nothing_but_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(once(FAULTS)) as server:
        assert judge(folder, server, timeout=1) == 0
    assert capsys.readouterr().out.count("failed") == 0
    judged = {row["question"]: row for row in rows(folder)}
    assert all((row["judgment"] == "correct") == (int(name[1:]) % 2 == 0) for name, row in judged.items())
    assert len(judged) == NUMBER
    assert server.calls == NUMBER + len(FAULTS)
    malformed = {"q5", "q6", "q7", "q8", "q9", "q10", "q13", "q14"}
    assert {name for name, row in judged.items() if row["trace"].get("asked_again") == 1} == malformed


@pytest.mark.parametrize(
    ("reply", "reason", "calls"),
    [
        ("no JSON at all", "not a JSON object", 3),
        ({"judgment": "CORRECT"}, "judgment has to be", 3),
        (ScriptedReply(refusal="I cannot judge that."), "declined to answer", 1),
        (ScriptedReply("", finish="content_filter"), "declined to answer", 1),
        (ScriptedReply(status=400, content="This model's maximum context length is 10 tokens"), "so much text", 1),
        (ScriptedReply(raw=b"x" * (9 << 20)), "more than 8 MiB", 1),
    ],
)
def test_an_unusable_answer_is_a_failure_that_is_asked_again_next_time(
    reply: Any, reason: str, calls: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(request: dict[str, Any]) -> Any:
        return reply if "number 7" in data_of(request)["answer"] else by_gold(request)

    with serving(script) as server:
        assert judge(folder, server) == 0
        assert "1 failed" in capsys.readouterr().out
        assert server.calls == NUMBER - 1 + calls
        recorded = [json.loads(line) for line in (folder / ".models" / "failures.jsonl").read_text().splitlines()]
        assert [(row["about"]["question"], row["kind"]) for row in recorded] == [("q7", "label")]
        assert reason in recorded[0]["reason"]
        assert "q7" not in {row["question"] for row in rows(folder)}
        server.script = by_gold
        assert judge(folder, server, "--json") == 0
        assert server.calls == NUMBER + calls
    assert json.loads(capsys.readouterr().out)["judged"] == 1
    assert len(rows(folder)) == NUMBER


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (ScriptedReply("wrong key sk-secret-77", status=401), "does not let us in"),
        (ScriptedReply("no such model", status=404), "no such model"),
        (ScriptedReply("You exceeded your current quota: insufficient_quota", status=429), "quota is used up"),
        (ScriptedReply("", status=307, headers={"Location": "http://elsewhere.example/"}), "was not named"),
        (ScriptedReply("bad request", status=400), "does not take the request"),
        (ScriptedReply("down", status=500), "attempts"),
    ],
)
def test_a_hopeless_endpoint_stops_the_job_and_no_key_is_shown(
    reply: ScriptedReply,
    message: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-77")
    with serving(lambda _: reply) as server:
        assert judge(folder, server, key_env="MY_KEY", attempts=2) == 1
        assert server.calls < 150
        assert "authorization: bearer sk-secret-77" in server.headers[0].lower()
    shown = capsys.readouterr()
    assert message in shown.err
    assert "sk-secret-77" not in shown.err + shown.out
    assert not (folder / "judgments" / "m.jsonl").exists()


def test_the_key_is_nowhere_in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-77")

    def parrot(request: dict[str, Any]) -> Any:
        answer = by_gold(request) | {"reason": "my key is sk-secret-77"}
        return "sk-secret-77" if "number 3" in data_of(request)["answer"] else answer

    with serving(parrot) as server:
        assert judge(folder, server, key_env="MY_KEY") == 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(b"my key is [key]" in path.read_bytes() for path in files)
    assert not [path for path in files if b"sk-secret-77" in path.read_bytes()]


def test_the_key_of_openai_goes_to_openai_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-77")
    with serving(by_gold) as server:
        assert judge(folder, server) == 0
        assert not any("authorization" in head.lower() for head in server.headers)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert main(["judge", str(folder), "--with", "llm(model=gpt-4o-mini)"]) == 2
    assert "OPENAI_API_KEY is not set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("llm", "needs the name of a model"),
        ("llm(model=m, endpoint=ftp://x)", "takes an address"),
        ("llm(model=m, endpoint=http://me:word@127.0.0.1/v1)", "environment variable"),
        ("llm(model=m, endpoint=http://127.0.0.1/v1?key=1)", "environment variable"),
        ("llm(model=m, endpoint=http://127.0.0.1/v1, votes=0)", "votes is 0"),
        ("llm(model=m, endpoint=http://127.0.0.1/v1, price=cheap)", "0.15/0.60"),
        ("llm(model=m, endpoint=http://127.0.0.1/v1, prompts=nowhere)", "no file or folder of prompts"),
        ("llm(model=m, endpoint=http://127.0.0.1/v1, color=red)", "unknown parameter of llm"),
    ],
)
def test_wrong_parameters_are_refused(
    given: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", str(folder), "--with", given]) == 2
    assert message in capsys.readouterr().err


def test_an_endpoint_that_knows_less_is_asked_for_less(folder: Path) -> None:
    refused: list[str] = []

    def plain(request: dict[str, Any]) -> Any:
        for name in ("logprobs", "response_format", "temperature", "max_tokens"):
            if name in request:
                refused.append(name)
                instead = "; use max_completion_tokens instead" if name == "max_tokens" else ""
                return ScriptedReply(f"Unsupported parameter: '{name}'{instead}", status=400)
        return by_gold(request)

    with serving(plain) as server:
        assert judge(folder, server, parallel=1) == 0
    assert refused == ["logprobs", "response_format", "response_format", "temperature", "max_tokens"]
    assert len(rows(folder)) == NUMBER
    assert server.calls == NUMBER + len(refused)


# ---- probabilities and votes ----------------------------------------------------------------------------------------


def test_log_probabilities_become_the_probability_of_the_label(folder: Path) -> None:
    tokens = [
        ("\n", -3.0),
        ('{"reason": "a \\"judgment\\": \\"x\\"", "judgment"', 0.0),
        (': "', -9.0),
        ("cor", -0.1),
        ("rect", -0.2),
        ('"}', -5.0),
        ("<|end|>", -7.0),
    ]
    text = "".join(token for token, _ in tokens[1:-1])
    with serving(lambda _: ScriptedReply(text, tokens=tokens)) as server:
        assert judge(folder, server) == 0
    assert {row["trace"]["probability"] for row in rows(folder)} == {round(2.718281828459045**-0.3, 4)}


def test_votes_are_counted_and_ties_decide_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: dict[str, int] = {}

    def moody(request: dict[str, Any]) -> dict[str, str]:
        number = data_of(request)["answer"].rpartition(" ")[2]
        seen[number] = seen.get(number, 0) + 1
        labels = ("correct", "partly", "incorrect") if number == "4" else ("correct", "correct", "incorrect")
        return {"reason": "", "judgment": labels[seen[number] - 1]}

    with serving(moody) as server:
        assert judge(folder, server, votes=3) == 0
    assert server.calls == 3 * NUMBER
    judged = {row["question"]: row for row in rows(folder)}
    assert judged["q1"]["judgment"] == "correct"
    assert judged["q1"]["trace"]["votes"] == {"correct": 2, "incorrect": 1}
    assert judged["q1"]["trace"]["probability"] == 0.6667
    assert judged["q1"]["trace"]["parameters"]["temperature"] == 0.7
    assert len(judged["q1"]["trace"]["raw"]) == 3
    assert "q4" not in judged
    assert "1 failed" in capsys.readouterr().out
    assert "tied" in (folder / ".models" / "failures.jsonl").read_text()


# ---- money and patience ---------------------------------------------------------------------------------------------


def test_paid_answers_are_never_asked_for_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(by_gold) as server:
        assert judge(folder, server) == 0
        assert judge(folder, server, "--again") == 0
        assert judge(folder, server, "--set", "other") == 0
        assert server.calls == NUMBER
        assert judge(folder, server, "--set", "warm", temperature=1) == 0
        assert server.calls == 2 * NUMBER
        assert judge(folder, server, "--set", "repeat", repeat=1) == 0
        assert server.calls == 3 * NUMBER
    assert {row["question"]: row["judgment"] for row in rows(folder, "other")} == {
        row["question"]: row["judgment"] for row in rows(folder)
    }


def test_a_dry_run_asks_nothing_and_knows_what_is_paid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(by_gold) as server:
        assert judge(folder, server, "--dry-run") == 0
        assert "cost unknown" in capsys.readouterr().out
        assert not (folder / ".models").exists()
        assert judge(folder, server, "--dry-run", "--json", price="1/2") == 0
        planned = json.loads(capsys.readouterr().out)
        assert server.calls == 0
        assert judge(folder, server, "--json", price="1/2") == 0
        done = json.loads(capsys.readouterr().out)["model"]
        assert judge(folder, server, "--dry-run", "--again", "--json", price="1/2") == 0
        after = json.loads(capsys.readouterr().out)
    assert planned["calls"] == {"label": NUMBER}
    assert planned["cached"] == 0
    assert planned["tokens"]["input"] == pytest.approx(done["tokens"]["input"], rel=0.1)
    assert planned["cost"] == pytest.approx(done["cost"], rel=0.5)
    assert (after["calls"], after["cached"], after["cost"]) == ({}, NUMBER, 0.0)
    assert main(["judge", str(folder), "--with", "match", "--dry-run"]) == 2


def test_the_spending_limit_is_never_passed_and_the_job_goes_on_later(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(by_gold) as server:
        assert judge(folder, server, "--limit", "1") == 2
        assert "needs the price" in capsys.readouterr().err
        spent, judged = 0.0, 0
        for _ in range(20):
            status = judge(folder, server, "--limit", "0.01", "--json", price="1/2", max_tokens=100)
            done = json.loads(capsys.readouterr().out)
            assert status == (0 if done["model"]["stopped"] is None else 5)
            assert done["model"]["cost"] <= 0.01
            spent, judged = spent + done["model"]["cost"], judged + done["judged"]
            if done["model"]["stopped"] is None:
                break
            assert 0 < done["judged"] < NUMBER
    assert judged == NUMBER == server.calls == len(rows(folder))
    assert spent == pytest.approx(sum(row["trace"]["cost"] for row in rows(folder)))
    assert main(["judge", str(folder), "--with", "match", "--limit", "1"]) == 2


def test_an_assessor_may_judge_twice_and_a_limit_is_for_each_job(folder: Path) -> None:
    with serving(by_gold) as server:
        evaluation = qassay.open(folder)
        given = f"llm(model=m, endpoint={server.url}, price=1/2, max_tokens=100)"
        model = open_assessor(given, evaluation, limit=0.01)
        first = qassay.judge(evaluation, model)
        assert first.account is not None
        assert first.account.stopped
        second = qassay.judge(qassay.open(folder), model)
        assert second.judged > 0
    with pytest.raises(qassay.UsageError, match="costs nothing"):
        qassay.judge(evaluation, "match", limit=1)


def test_the_pace_follows_what_the_endpoint_allows(tmp_path: Path) -> None:
    """A server that takes five calls at a time: nothing is lost, and few calls are refused."""
    server = ModelServer(by_gold)
    refused = 0

    def narrow(request: dict[str, Any]) -> Any:
        nonlocal refused
        if server.under_way > 5:
            refused += 1
            return ScriptedReply("too many", status=429, headers={"Retry-After": "0.02"})
        return ScriptedReply(by_gold(request), delay=0.005)

    server.script = narrow
    with server:
        assert judge(qa(tmp_path / "many", 400), server) == 0
    assert len(rows(tmp_path / "many")) == 400
    assert server.calls == 400 + refused
    assert refused < 200


def test_many_calls_are_under_way(tmp_path: Path) -> None:
    with serving(lambda request: ScriptedReply(by_gold(request), delay=0.5)) as server:
        assert judge(qa(tmp_path / "many", 300), server, parallel=1000) == 0
    assert server.most_under_way > 60
    assert len(rows(tmp_path / "many")) == 300


FEW_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
from qassay.cli import main
sys.exit(main(["judge", *sys.argv[1:]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_process_with_few_files_has_fewer_calls_under_way(tmp_path: Path) -> None:
    place = qa(tmp_path / "few", 200)
    with serving(lambda request: ScriptedReply(by_gold(request), delay=0.2)) as server:
        given = f"llm(model=m, endpoint={server.url}, parallel=1000)"
        command = [sys.executable, "-c", FEW_FILES, str(place), "--with", given]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert len(rows(place)) == 200 == server.calls
    assert 20 < server.most_under_way <= 36


def test_nothing_is_paid_twice_after_a_kill(tmp_path: Path) -> None:
    """Killed twice: what a job had got when it was killed is not asked again; only calls under way are lost."""
    place, parallel = qa(tmp_path / "killed", 300), 8
    with serving(lambda request: ScriptedReply(by_gold(request), delay=0.02)) as server:
        given = f"llm(model=m, endpoint={server.url}, parallel={parallel})"
        command = [sys.executable, "-m", "qassay", "judge", str(place), "--with", given]
        for calls in (60, 180):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as job:
                while server.calls < calls and job.poll() is None:
                    time.sleep(0.005)
                job.kill()
            assert job.returncode == -signal.SIGKILL
        assert judge(place, server, parallel=parallel) == 0
        assert len(rows(place)) == 300
        assert 300 <= server.calls <= 300 + 2 * parallel
    assert sum(count - 1 for count in server.asked.values()) == server.calls - 300
    assert len({row["question"] for row in rows(place)}) == 300


def test_a_notebook_may_have_a_loop_of_its_own(folder: Path) -> None:
    async def cell(url: str) -> int:
        return qassay.judge(qassay.open(folder), f"llm(model=m, endpoint={url})").judged

    with serving(by_gold) as server:
        assert asyncio.run(cell(server.url)) == NUMBER


def test_equal_questions_about_equal_texts_are_asked_once(tmp_path: Path) -> None:
    """Two runs with the same long answer: nuggets are judged run by run, but paid for once."""
    place = nuggets(tmp_path / "rag", runs=("a", "b"))
    with serving(by_words) as server:
        assert judge(place, server) == 0
    assert len(rows(place)) == 2 * 12
    assert server.calls == 2


# ---- the kinds of judgment ------------------------------------------------------------------------------------------

FACTS = tuple(f"{city} has a river" for city in CITIES) + tuple(f"{city} has a tower" for city in CITIES)


def nuggets(place: Path, *, task: str = "nuggets", runs: tuple[str, ...] = ("a",), citations: bool = False) -> Path:
    """One question with twelve nuggets, of which the answer has the first six, the fourth in part."""
    place.mkdir()
    (place / "qassay.toml").write_text(f'task = "{task}"\n')
    question = {"id": "1", "type": "other" if task == "nuggets" else task, "text": "Cities?", "target": "Cities"}
    write(place / "questions.jsonl", [question])
    texts = [fact for number, fact in enumerate(FACTS) if number < 6]
    items = [{"text": text} | ({"citations": ["d1"]} if citations else {"doc": "d1"}) for text in texts]
    for run in runs:
        write(place / "runs" / f"{run}.jsonl", [{"run": run, "question": "1", "items": items}])
    listed = [{"question": "1", "nugget": f"n{n}", "vital": n < 4, "text": fact} for n, fact in enumerate(FACTS)]
    write(place / "nuggets" / "development.jsonl", listed)
    write(place / "collection" / "d.jsonl", [{"id": "d1", "text": "Paris has a river. London has a river."}])
    return place


def by_words(request: dict[str, Any]) -> dict[str, Any]:
    """An honest model of nuggets, citations and ratings."""
    shown = data_of(request)
    field = "found" if '"found"' in request["messages"][0]["content"] else "support"
    yes, no = ("yes", "no") if field == "found" else ("full", "none")
    if "decisions" not in shown:
        return {"reason": "", "support": "full" if shown["answer"] in shown["document"] else "none"}
    texts = [line.partition(". ")[2] for line in shown["decisions"].splitlines()]
    assert number_of_decisions(request) == len(texts)
    decisions = [{"number": n, field: yes if text in shown["answer"] else no} for n, text in enumerate(texts, 1)]
    if field == "support":
        decisions = [
            row | {"support": "partial"} if "Oslo has a river" in texts[row["number"] - 1] else row for row in decisions
        ]
    return {"decisions": decisions[::-1]}


def test_nuggets_are_judged_in_batches_with_partial_support(tmp_path: Path) -> None:
    place = nuggets(tmp_path / "rag")
    with serving(by_words) as server:
        assert judge(place, server) == 0
    assert server.calls == 2  # ten nuggets at a time
    expected = {f"n{n}": "none" if n > 5 else "partial" if n == 3 else "full" for n in range(12)}
    assert {row["nugget"]: row["support"] for row in rows(place)} == expected
    assert rows(place)[0]["trace"]["asked_together"] == 10


def test_citations_are_judged_where_they_are_asked_for(tmp_path: Path) -> None:
    place = nuggets(tmp_path / "rag", citations=True)
    with serving(by_words) as server:
        assert judge(place, server, citations="true") == 0
    cited = {row["sentence"]: row["support"] for row in rows(place) if "sentence" in row}
    assert cited == {n: "full" if n < 2 else "none" for n in range(6)}


def test_matches_are_put_together_from_their_nuggets(tmp_path: Path) -> None:
    place = nuggets(tmp_path / "definition", task="definition")
    with serving(by_words) as server:
        assert judge(place, server) == 0
    assert [row["nuggets"] for row in rows(place)] == [[f"n{n}" for n in range(6)]]


def test_a_wrong_number_of_decisions_is_malformed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def forgetful(request: dict[str, Any]) -> dict[str, Any]:
        return {"decisions": by_words(request)["decisions"][1:]}

    place = nuggets(tmp_path / "rag")
    with serving(forgetful) as server:
        assert judge(place, server) == 1
    assert server.calls == 6
    assert "the model m gave no usable answer: " in capsys.readouterr().err
    assert not (place / "judgments" / "m.jsonl").exists()


def test_lists_get_classes_in_the_spelling_of_known_answers(tmp_path: Path) -> None:
    place = tmp_path / "list"
    place.mkdir()
    (place / "qassay.toml").write_text('task = "qaciad"\n')
    asked = {"id": "1.1", "type": "list", "text": "Cities?", "series": "1", "target": "Cities"}
    write(place / "questions.jsonl", [asked])
    write(place / "answers.jsonl", [{"question": "1.1", "answer": "Paris"}])
    items = [{"doc": "d", "text": text} for text in ("paris", "City of Light", "London", "cheese")]
    write(place / "runs" / "a.jsonl", [{"run": "a", "question": "1.1", "items": items}])

    def lister(request: dict[str, Any]) -> dict[str, Any]:
        assert data_of(request)["gold"] == "Paris"
        names = ["PARIS", " paris", "London", None]
        labels = ["R", "R", "R", "W"]
        decisions = zip(range(1, 5), labels, names, strict=True)
        return {"decisions": [{"number": n, "judgment": label, "answer": name} for n, label, name in decisions]}

    with serving(lister) as server:
        assert judge(place, server) == 0
    assert server.calls == 1
    verdicts = {row["text"]: (row["judgment"], row.get("answer")) for row in rows(place)}
    assert verdicts["paris"] == verdicts["City of Light"] == ("R", "Paris")
    assert verdicts["London"] == ("R", "London")
    assert verdicts["cheese"] == ("W", None)


def test_factoids_are_shown_with_document_and_known_answers(tmp_path: Path) -> None:
    place = tmp_path / "factoid"
    place.mkdir()
    (place / "qassay.toml").write_text('task = "confidence"\n')
    write(place / "questions.jsonl", [{"id": "1", "type": "factoid", "text": "Where?"}])
    write(place / "answers.jsonl", [{"question": "1", "answer": "Warsaw"}])
    item = {"doc": "d1", "text": "Warsaw"}
    write(place / "runs" / "a.jsonl", [{"run": "a", "question": "1", "items": [item], "confidence": 1.0}])
    write(place / "collection" / "d.jsonl", [{"id": "d1", "text": "x" * 9000 + " in Warsaw then " + "y" * 9000}])
    seen: list[dict[str, str]] = []

    def script(request: dict[str, Any]) -> dict[str, str]:
        seen.append(data_of(request))
        return {"reason": "", "judgment": "R"}

    with serving(script) as server:
        assert judge(place, server) == 0
    assert [row["judgment"] for row in rows(place)] == ["R"]
    assert seen[0]["gold"] == "Warsaw"
    assert "in Warsaw then" in seen[0]["document"]
    assert len(seen[0]["document"]) < 6100
    assert "run" not in json.dumps(server.asked)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ({"understandability": 4, "correctness": 5}, {"understandability": 4, "correctness": 5}),
        ({"understandability": 2, "correctness": None}, {"understandability": 2}),
        ({"understandability": 2, "correctness": 3}, None),
        ({"understandability": 6, "correctness": 3}, None),
    ],
)
def test_pairs_and_justifications(tmp_path: Path, verdict: dict[str, Any], expected: dict[str, Any] | None) -> None:
    place = tmp_path / "pairs"
    place.mkdir()
    (place / "qassay.toml").write_text('task = "justification"\n')
    write(place / "questions.jsonl", [{"id": "1", "type": "pair", "text": "A cat sat.", "hypothesis": "A cat stood."}])
    answer = {"run": "a", "question": "1", "decision": "NO", "justification": "Sitting is not standing."}
    write(place / "runs" / "a.jsonl", [answer])
    with serving(lambda _: {"reason": "", **verdict}) as server:
        assert judge(place, server) == (0 if expected else 1)
    assert (
        data_of({"messages": [{"role": "user", "content": next(iter(server.asked))}]})["hypothesis"] == "A cat stood."
    )
    if expected is None:
        assert not (place / "judgments" / "m.jsonl").exists()
    else:
        names = ("understandability", "correctness")
        assert {name: rows(place)[0][name] for name in names if name in rows(place)[0]} == expected


def test_entailment_pairs(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    place.mkdir()
    (place / "qassay.toml").write_text('task = "entailment3"\n')
    write(place / "questions.jsonl", [{"id": "1", "type": "pair", "text": "A cat sat.", "hypothesis": "A cat stood."}])
    write(place / "runs" / "a.jsonl", [{"run": "a", "question": "1", "decision": "NO"}])
    with serving(lambda _: {"reason": "", "judgment": "NO"}) as server:
        assert judge(place, server) == 0
    assert [(row["question"], row["judgment"]) for row in rows(place)] == [("1", "NO")]


# ---- the end of a job ----------------------------------------------------------------------------------------------


def test_a_model_that_gives_no_usable_answer_is_left_after_ten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda _: "I am\x1b[31m only\n a \u202eparrot " + "x" * 900) as server:
        for options in ([], ["--json"]):
            assert judge(folder, server, *options) == 1
            shown = capsys.readouterr()
            assert "10 calls in a row have no usable answer; the last: " in shown.err
            assert "(it said: I am[31m only a parrot xxx" in shown.err
            assert len(shown.err) < 700
        assert server.calls == 2 * 30
        assert len(json.loads(shown.out)["errors"]) == 1
        with pytest.raises(qassay.InputError, match=r"it said: I am\[31m only a parrot"):
            qassay.judge(qassay.open(folder), f"llm(model=m, endpoint={server.url}, asks=1)")
        assert server.calls == 2 * 30 + 10
        assert not (folder / "judgments" / "m.jsonl").exists()
        server.script = lambda _: ScriptedReply(raw=b'{"error": "no model is loaded"}')
        assert judge(folder, server) == 1
    assert 'not a chat completion: {"error": "no model is loaded"}' in capsys.readouterr().err


def test_what_was_judged_before_a_model_fails_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The order of the pool is that of the names.
    usable = sorted(map(str, range(NUMBER)))[:12]

    def failing(request: dict[str, Any]) -> Any:
        return by_gold(request) if data_of(request)["answer"].rpartition(" ")[2] in usable else "no"

    with serving(failing) as server:
        assert judge(folder, server, parallel=1) == 1
        assert "10 calls in a row" in capsys.readouterr().err
        assert {row["question"] for row in rows(folder)} == {f"q{n}" for n in usable}
        assert server.calls < 12 + 3 * 12
        server.script = by_gold
        assert judge(folder, server) == 0
    assert len(rows(folder)) == NUMBER


def test_failures_that_are_not_in_a_row_stop_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(request: dict[str, Any]) -> Any:
        return by_gold(request) if int(data_of(request)["answer"].rpartition(" ")[2]) % 2 else "no"

    with serving(failing) as server:
        assert judge(folder, server) == 0
    assert "15 failed" in capsys.readouterr().out
    assert len(rows(folder)) == NUMBER // 2


def test_a_few_answers_none_of_which_can_be_used_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = qa(tmp_path / "few", 4)
    with serving(lambda _: "no") as server:
        assert judge(folder, server) == 1
    assert "the model m gave no usable answer: it is not a JSON object (it said: no)" in capsys.readouterr().err


def test_a_dry_run_needs_no_key(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with serving(by_gold) as server:
        assert judge(folder, server, "--dry-run", key_env="MY_KEY") == 0
        assert "30 decisions to make" in capsys.readouterr().out
        assert judge(folder, server, key_env="MY_KEY") == 2
        assert "the variable MY_KEY is not set" in capsys.readouterr().err
        assert server.calls == 0
    assert not (folder / ".models").exists()


# ---- prompts --------------------------------------------------------------------------------------------------------


def test_a_prompt_of_ones_own_is_used_and_has_another_hash(folder: Path, tmp_path: Path) -> None:
    with serving(by_gold) as server:
        assert judge(folder, server) == 0
        own = 'system = "Be strict. {form}"\nuser = """\n{question}\n\n{gold}\n\n{answer}\n"""\n'
        (tmp_path / "label.toml").write_text(own)
        assert judge(folder, server, "--set", "file", prompts=tmp_path / "label.toml") == 0
        (folder / "prompts").mkdir()
        (folder / "prompts" / "label.toml").write_text(own.replace("strict", "kind"))
        assert judge(folder, server, "--set", "folder") == 0
    assert server.calls == 3 * NUMBER
    hashes = {rows(folder, name)[0]["trace"]["prompt"] for name in ("m", "file", "folder")}
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system = 1", "system is a int"),
        ('system = "x"\nuser = "{answer}"', "{form} is missing"),
        ('system = "{answer} {form}"\nuser = "x"', "belongs into user"),
        ('system = "{form}"\nuser = "{anwser}"', "unknown placeholder {anwser}"),
        ('system = "{form}"\nuser = "x"\ncolour = 1', "unknown key 'colour'"),
        ("system = ", "not TOML"),
        ('system = "{form}"\nuser = "{gold}\\n\\n{answer}"', "user shows no {question} on its own"),
        ('system = "{form}"\nuser = "{question}\\n\\nKnown: {gold}"', "user shows no {answer} on its own"),
        ('system = "{form}"\nuser = "{question} {contexts}\\n\\n{answer}"', "user shows no {question} on its own"),
    ],
)
def test_a_broken_prompt_is_refused(text: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "label.toml").write_text(text)
    with serving(by_gold) as server:
        assert judge(folder, server) == 1
        assert server.calls == 0
    assert message in capsys.readouterr().err


# ---- lists of nuggets -----------------------------------------------------------------------------------------------


def writer(request: dict[str, Any]) -> dict[str, Any]:
    """Writes a nugget for every new line of the responses; rivers are vital."""
    shown = data_of(request)
    if "decisions" in shown:
        texts = [line.partition(". ")[2] for line in shown["decisions"].splitlines()]
        numbered = enumerate(texts, 1)
        return {"decisions": [{"number": n, "importance": "vital" if "river" in t else "okay"} for n, t in numbered]}
    lines = [line.removeprefix("(1) ") for line in shown["responses"].splitlines()]
    listed = [line.removeprefix("- ") for line in shown.get("listed", "").splitlines()]
    return {"nuggets": [*listed, *(line for line in lines if line not in listed)]}


def test_a_model_writes_the_nuggets_of_the_pool_and_rates_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = nuggets(tmp_path / "rag", runs=("a", "b"))
    (place / "nuggets" / "development.jsonl").unlink()
    with serving(writer) as server:
        assert judge(place, server, "--nuggets", "create", "--json", price="1/1") == 0
        done = json.loads(capsys.readouterr().out)
        assert (done["questions"], done["nuggets"], done["vital"], done["failed"]) == (1, 6, 6, [])
        assert server.calls == done["model"]["calls"] == 2  # equal responses are read once
        assert judge(place, server, "--nuggets", "create") == 2
        assert "already" in capsys.readouterr().err
    listed = [json.loads(line) for line in (place / "nuggets" / "m.jsonl").read_text().splitlines()]
    assert [row["text"] for row in listed] == list(FACTS[:6])
    assert [row["nugget"] for row in listed] == ["1", "2", "3", "4", "5", "6"]
    assert listed[0]["trace"]["created"]["prompt"].startswith("create-")
    assert listed[0]["trace"]["importance"]["prompt"].startswith("importance-")


def test_a_model_rates_a_list_and_leaves_it_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = nuggets(tmp_path / "rag")
    before = (place / "nuggets" / "development.jsonl").read_bytes()
    with serving(writer) as server:
        assert judge(place, server, "--nuggets", "rate", votes=3) == 0
    assert server.calls == 3
    assert "12 nuggets (6 vital) for 1 question" in capsys.readouterr().out
    assert (place / "nuggets" / "development.jsonl").read_bytes() == before
    listed = [json.loads(line) for line in (place / "nuggets" / "m.jsonl").read_text().splitlines()]
    assert [(row["nugget"], row["vital"]) for row in listed] == [(f"n{n}", n < 6) for n in range(12)]
    assert listed[0]["trace"]["importance"]["votes"] == {"vital": 3}


def test_unusable_nuggets_make_no_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = nuggets(tmp_path / "rag")
    (place / "nuggets" / "development.jsonl").unlink()
    with serving(lambda _: {"nuggets": ["x" * 500]}) as server:
        assert judge(place, server, "--nuggets", "create") == 1
        assert server.calls == 3
        assert "the model m gave no usable answer: " in capsys.readouterr().err
        assert judge(place, server, "--nuggets", "create", "--limit", "0.00001", price="1/1") == 5
    assert "the spending limit of 1e-05 is reached" in capsys.readouterr().err
    assert not (place / "nuggets" / "m.jsonl").exists()
    assert main(["judge", str(place), "--with", "overlap", "--nuggets", "create"]) == 2


def test_printed_and_written_results_are_as_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = nuggets(tmp_path / "rag")
    described = jsonschema_rs.validator_for(schema("judge"))

    def printed() -> Any:
        return json.loads(capsys.readouterr().out)

    with serving(writer) as server:
        assert judge(place, server, "--nuggets", "rate", "--set", "rated", "--json") == 0
        described.validate(printed())
        server.script = by_words
        assert judge(place, server, "--dry-run", "--json") == 0
        described.validate(printed())
        assert judge(place, server, "--json", price="1/1") == 0
        described.validate(printed())
    for name, path in (("judgment-row", "judgments/m.jsonl"), ("nugget-row", "nuggets/rated.jsonl")):
        rows_of = jsonschema_rs.validator_for(schema(name))
        for line in (place / path).read_text().splitlines():
            rows_of.validate(json.loads(line))
