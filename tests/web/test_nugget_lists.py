"""Nugget lists: blind, versioned, idempotent; a change after matching began says what to look at again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import worksheets as sheets

from qassay.store.judging import nugget_changes
from qassay.web import similar_strings
from qassay.web.similar_strings import grouped, is_like


class Sheet:
    """The assessor's sheet on the `other` question."""

    def __init__(self, client: Any, number: int) -> None:
        self.client, self.number = client, number

    def send(self, way: str, **body: Any) -> Any:
        """Send a change under a new key, unless one is given."""
        return self.client.post(f"/api/judge/{self.number}/nuggets/{way}", json={"key": sheets.key(), **body})

    def list(self) -> dict[str, Any]:
        """The list as it is."""
        return dict(self.client.post(f"/api/judge/{self.number}/nuggets/begin").json())

    def texts(self) -> list[str]:
        """The nuggets in their order."""
        return [nugget["text"] for nugget in self.list()["nuggets"]]

    def responses(self) -> dict[str, dict[str, Any]]:
        """The responses by their first string."""
        items = self.client.get(f"/api/judge/{self.number}?stage=matches").json()["items"]
        views = [self.client.get(f"/api/judge/{self.number}/items/{item['id']}").json() for item in items]
        return {view["body"]["elements"][0]["text"]: view for view in views}

    def look_through(self, links: dict[str, dict[str, list[str]]]) -> None:
        """Link nuggets with strings, and look every response through."""
        for first, view in self.responses().items():
            for part, nuggets in links.get(first, {}).items():
                sheets.decide(self.client, self.number, view["id"], part, {"nuggets": nuggets})
            sheets.decide(self.client, self.number, view["id"], "", {"nuggets": []})

    def open_ones(self) -> set[str]:
        """First strings of the responses that are to be looked through."""
        return {first for first, view in self.responses().items() if not view["complete"]}


NORTH, SOUTH, WEST = "She won a prize.", "Radium it was.", "Nothing of interest."
LINKS = {NORTH: {"0": ["1"], "1": ["2"]}, SOUTH: {"0": ["2"]}}


@pytest.fixture
def sheet(site: Any, client: Callable[..., Any], accounts: dict[str, int]) -> Sheet:
    """The assessor's list, begun."""
    sheets.give_out(site, accounts)
    opened_sheet = Sheet(client("assessor"), sheets.assignment(site, accounts["assessor"], "1.7"))
    opened_sheet.list()
    return opened_sheet


def test_all_strings_are_shown_once_in_an_order_that_tells_of_no_run(sheet: Sheet) -> None:
    answer = sheet.client.get(f"/api/judge/{sheet.number}/strings")
    groups = [[nugget["text"] for nugget in group] for group in answer.json()["groups"]]
    assert sorted(text for group in groups for text in group) == sorted([NORTH, "It was radium.", SOUTH, WEST])
    assert ["It was radium.", SOUTH] in groups
    assert not any(tag in answer.text for tag in sheets.RUNS)


def test_strings_that_another_request_throws_out_are_still_shown(sheet: Sheet, site: Any) -> None:
    class Forgetful(dict[str, Any]):
        def __setitem__(self, *_: Any) -> None:
            """What is put here is gone at once."""

    site.app.state.site.memory["strings"] = Forgetful()
    assert sheet.client.get(f"/api/judge/{sheet.number}/strings").json()["groups"]


def test_a_list_has_an_end(sheet: Sheet, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attack on the server and on the people who judge by the list: nuggets without end."""
    monkeypatch.setattr(nugget_changes, "MOST_NUGGETS", len(sheet.texts()) + 2)
    answers = [sheet.send("add", text=f"fact {number}", vital=False) for number in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 400]
    assert "merge or remove some first" in answers[-1].json()["message"]
    last = answers[1].json()["nuggets"][-1]
    split = {"nugget": last["nugget"], "expected": last["version"], "texts": ["one fact", "another"]}
    assert sheet.send("split", **split).status_code == 400
    assert sheet.send("remove", nugget=last["nugget"], expected=last["version"]).status_code == 200
    assert sheet.send("add", text="in its place", vital=True).status_code == 200


def test_the_series_so_far_is_in_view_with_answers(sheet: Sheet) -> None:
    earlier = sheet.client.get(f"/api/judge/{sheet.number}/earlier").json()["questions"]
    assert [(question["id"], question["answers"]) for question in earlier] == [("1.6", ["Zoe"])]


def test_answers_judged_right_join_the_answers_of_the_series(site: Any, sheet: Sheet, accounts: dict[str, int]) -> None:
    lists = sheets.assignment(site, accounts["assessor"], "1.6")
    items = sheet.client.get(f"/api/judge/{lists}").json()["items"]
    for item in items:
        sheets.decide(sheet.client, lists, item["id"], "0", {"judgment": "R", "answer": "Ann"})
    earlier = sheet.client.get(f"/api/judge/{sheet.number}/earlier").json()["questions"]
    assert earlier[0]["answers"] == ["Zoe", "Ann"]


def test_each_assessor_has_a_list_of_his_own(
    site: Any, client: Callable[..., Any], sheet: Sheet, accounts: dict[str, int]
) -> None:
    assert sheet.send("add", text="a secret fact", vital=True).status_code == 200
    other = Sheet(client("adjudicator"), sheets.assignment(site, accounts["adjudicator"], "1.7"))
    assert other.texts() == ["won a prize", "radium"]
    assert Sheet(client("adjudicator"), sheet.number).send("add", text="x", vital=True).status_code == 404
    for path in ("nuggets", "strings", "earlier", "aids", "items"):
        assert "a secret fact" not in client("adjudicator").get(f"/api/judge/{other.number}/{path}").text


def test_a_second_assessor_without_development_sees_nothing_of_the_first(
    site: Any, client: Callable[..., Any], accounts: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "NUGGETS", [])
    sheets.give_out(site, accounts)
    first = Sheet(client("assessor"), sheets.assignment(site, accounts["assessor"], "1.7"))
    first.send("add", text="a secret fact", vital=True)
    other = Sheet(client("adjudicator"), sheets.assignment(site, accounts["adjudicator"], "1.7"))
    assert other.texts() == []
    assert "a secret fact" not in other.client.get(f"/api/judge/{other.number}/aids").text


def test_a_list_is_written_ordered_split_and_merged(sheet: Sheet) -> None:
    sheet.send("add", text="third", vital=False)
    sheet.send("move", nugget="3", expected=1, before="1")
    assert sheet.texts() == ["third", "won a prize", "radium"]
    answer = sheet.send("split", nugget="3", expected=2, texts=["one", "two"])
    assert [nugget["text"] for nugget in answer.json()["nuggets"]] == ["one", "two", "won a prize", "radium"]
    by_text = {nugget["text"]: nugget for nugget in answer.json()["nuggets"]}
    first, second = by_text["one"], by_text["two"]
    merged = sheet.send(
        "merge",
        nugget=first["nugget"],
        expected=first["version"],
        other=second["nugget"],
        other_expected=second["version"],
        text="both",
    )
    assert [row["text"] for row in merged.json()["nuggets"]] == ["both", "won a prize", "radium"]


def test_a_change_sent_twice_is_one(sheet: Sheet) -> None:
    key = sheets.key()
    answers = [sheet.send("add", key=key, text="once", vital=True) for _ in range(3)]
    assert answers[0].json() == answers[2].json()
    assert sheet.texts().count("once") == 1


def test_a_second_tab_gets_the_current_list(sheet: Sheet) -> None:
    sheet.send("change", nugget="1", expected=1, text="won two prizes", vital=True)
    late = sheet.send("change", nugget="1", expected=1, text="won three", vital=True)
    assert late.status_code == 409
    assert late.json()["standing"] == {"text": "won two prizes", "vital": True, "version": 2}
    sheet.send("remove", nugget="1", expected=2)
    gone = sheet.send("change", nugget="1", expected=2, text="won three", vital=True)
    assert (gone.status_code, gone.json()["standing"]) == (409, None)
    assert sheet.texts() == ["radium"]


def test_step_2_needs_a_nugget_and_then_is_open(sheet: Sheet) -> None:
    for name in ("1", "2"):
        sheet.send("remove", nugget=name, expected=1)
    assert sheet.client.post(f"/api/judge/{sheet.number}/matching").status_code == 422
    sheet.send("add", text="a fact", vital=True)
    assert sheet.client.get(f"/api/judge/{sheet.number}").json()["screen"] == "nuggets"
    assert sheet.client.post(f"/api/judge/{sheet.number}/matching").json()["step"] == 2
    assert sheet.client.get(f"/api/judge/{sheet.number}").json()["screen"] == "matches"


@pytest.mark.parametrize(
    ("way", "body", "again", "opened"),
    [
        ("add", {"text": "the element radium", "vital": True}, "similar", {NORTH, SOUTH}),
        ("add", {"text": "the element radium", "vital": True}, "all", {NORTH, SOUTH, WEST}),
        ("add", {"text": "the element radium", "vital": True}, "none", set()),
        ("change", {"nugget": "1", "expected": 1, "text": "a medal", "vital": True}, "linked", {NORTH}),
        ("change", {"nugget": "1", "expected": 1, "text": "a medal", "vital": True}, "similar", {NORTH, SOUTH}),
        ("remove", {"nugget": "2", "expected": 1}, "linked", {NORTH, SOUTH}),
        ("split", {"nugget": "1", "expected": 1, "texts": ["won", "a prize"]}, "linked", {NORTH}),
    ],
)
def test_a_change_after_matching_began_asks_what_to_look_at_again(
    sheet: Sheet, way: str, body: dict[str, Any], again: str, opened: set[str]
) -> None:
    sheet.look_through(LINKS)
    assert sheet.list()["closed"]
    asked = sheet.send(way, **body)
    assert (asked.status_code, asked.json().get("asks")) == (409, "again")
    answer = sheet.send(way, **body, again=again)
    assert answer.status_code == 200, answer.text
    assert sheet.open_ones() == opened
    assert answer.json()["closed"] is (not opened)
    assert answer.json()["done"] == 3 - len(opened)


def test_marking_moving_and_removing_what_is_not_linked_ask_nothing(sheet: Sheet) -> None:
    sheet.look_through({NORTH: {"0": ["1"]}})
    for way, body in (
        ("change", {"nugget": "1", "expected": 1, "text": "won a prize", "vital": False}),
        ("remove", {"nugget": "2", "expected": 1}),
        ("move", {"nugget": "1", "expected": 2, "before": None}),
    ):
        assert sheet.send(way, **body).status_code == 200
    assert sheet.list()["closed"]


def test_a_removed_nugget_leaves_no_link_and_undo_brings_both_back(sheet: Sheet) -> None:
    sheet.look_through(LINKS)
    key = sheets.key()
    sheet.send("remove", key=key, nugget="2", expected=1, again="all")
    parts = sheet.responses()[NORTH]["parts"]
    assert [part["verdict"] for part in parts] == [None, {"nuggets": ["1"]}, {"nuggets": []}]
    assert sheet.send("undo", of=key).status_code == 200
    parts = sheet.responses()[NORTH]["parts"]
    assert [part["verdict"] for part in parts] == [{"nuggets": []}, {"nuggets": ["1"]}, {"nuggets": ["2"]}]
    assert sheet.list()["closed"]


@pytest.mark.parametrize(
    ("way", "body"),
    [
        ("add", {"text": "  ", "vital": True}),
        ("add", {"text": "x" * 1001, "vital": True}),
        ("add", {"key": "short", "text": "x", "vital": True}),
        ("add", {"key": "with_percent_%_____", "text": "x", "vital": True}),
        ("split", {"nugget": "1", "expected": 1, "texts": ["one"]}),
        ("add", {"text": "x", "vital": True, "again": "some"}),
    ],
)
def test_a_bad_change_is_refused(sheet: Sheet, way: str, body: dict[str, Any]) -> None:
    assert sheet.send(way, **body).status_code == 422
    assert sheet.texts() == ["won a prize", "radium"]


def test_a_question_without_nuggets_has_no_list(site: Any, sheet: Sheet, accounts: dict[str, int]) -> None:
    lists = Sheet(sheet.client, sheets.assignment(site, accounts["assessor"], "1.6"))
    assert lists.send("add", text="x", vital=True).status_code == 404
    assert lists.client.post(f"/api/judge/{lists.number}/matching").status_code == 404


def test_no_answer_to_an_assessor_names_a_run(sheet: Sheet) -> None:
    sheet.look_through(LINKS)
    answers = [sheet.list(), sheet.responses(), sheet.client.get(f"/api/judge/{sheet.number}").json()]
    assert not any(f'"{tag}"' in json.dumps(answers) for tag in sheets.RUNS)


@pytest.mark.parametrize("limit", ["MOST", "MOST_CHARACTERS", "MOST_STEPS"])
def test_strings_that_take_too_long_to_group_are_in_order_only(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: one run with 20 MB of long strings for a question, which stalled the server for every assessor."""
    strings = ["won a prize", "born in Warsaw", "the prize that she won"]
    assert len(grouped(strings)) == 2
    monkeypatch.setattr(similar_strings, limit, 2)
    assert grouped(strings) == grouped(strings[::-1]) == sorted([string] for string in strings)


def test_similar_strings_stand_together_whatever_order_they_come_in() -> None:
    strings = ["radium was found", "he was born in Rome", "they found radium in 1898", "born in Rome", "", "!!!"]
    groups = grouped(strings)
    assert groups == grouped(reversed(strings))
    assert {frozenset(group) for group in groups} == {
        frozenset({"radium was found", "they found radium in 1898"}),
        frozenset({"he was born in Rome", "born in Rome"}),
        frozenset({""}),
        frozenset({"!!!"}),
    }


def test_a_string_is_like_a_nugget_when_it_holds_half_of_its_words() -> None:
    assert is_like("discovered polonium", "polonium")
    assert not is_like("discovered polonium in 1898", "polonium")
    assert not is_like("of the", "of the")


def test_a_key_that_comes_with_another_change_is_refused(sheet: Sheet) -> None:
    """Answering with the list as it is would lose the second change."""
    key = sheets.key()
    first = sheet.send("add", key=key, text="a  fact", vital=True)
    assert sheet.send("add", key=key, text="a  fact", vital=True).json() == first.json()
    number = first.json()["nuggets"][-1]["nugget"]
    for way, body in (
        ("add", {"text": "another fact", "vital": True}),
        ("change", {"nugget": "1", "expected": 1, "text": "a fact", "vital": True}),
        ("remove", {"nugget": "1", "expected": 1}),
    ):
        refused = sheet.send(way, key=key, **body)
        assert refused.status_code == 422, way
        assert "belongs to another change" in refused.json()["message"]
    changes: list[tuple[str, dict[str, Any]]] = [
        ("change", {"nugget": number, "expected": 1, "text": "the fact", "vital": False}),
        ("split", {"nugget": number, "expected": 2, "texts": ["one half", "the other"]}),
        ("move", {"nugget": number, "expected": 3, "before": "1"}),
    ]
    for way, body in changes:
        key = sheets.key()
        answers = [sheet.send(way, key=key, **body) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200], way
        assert answers[0].json() == answers[1].json()
