"""The classes of a list question: chosen from what is known, renamed and merged, blind to everybody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import worksheets as sheets


@pytest.fixture
def number(site: Any, accounts: dict[str, int]) -> int:
    """The assessor's assignment on the list question."""
    sheets.give_out(site, accounts)
    return int(sheets.assignment(site, accounts["assessor"], "1.6"))


def judge_all(client: Any, number: int, name: Callable[[str], str] = str) -> None:
    """Call every element of every list right, in the class of its name."""
    for item in client.get(f"/api/judge/{number}").json()["items"]:
        view = client.get(f"/api/judge/{number}/items/{item['id']}").json()
        for index, element in enumerate(view["body"]["elements"]):
            sheets.decide(client, number, item["id"], str(index), {"judgment": "R", "answer": name(element["text"])})


def classes(client: Any, number: int) -> dict[str, int]:
    """The classes that are offered, with the assessor's items in each."""
    answer = client.get(f"/api/judge/{number}/classes")
    assert answer.status_code == 200
    return {list_class["name"]: list_class["items"] for list_class in answer.json()["classes"]}


def test_classes_grow_with_judging_and_are_nobody_elses(
    site: Any, client: Callable[..., Any], number: int, accounts: dict[str, int]
) -> None:
    mine = client("assessor")
    assert classes(mine, number) == {"Zoe": 0}
    judge_all(mine, number)
    assert classes(mine, number) == {"Zoe": 0, "Ann": 2, "Bob": 1, "Robert": 1}
    other = client("adjudicator")
    assert other.get(f"/api/judge/{number}/classes").status_code == 404
    assert classes(other, sheets.assignment(site, accounts["adjudicator"], "1.6")) == {"Zoe": 0}


def test_merging_changes_all_judgments_once_and_is_undone(client: Callable[..., Any], number: int) -> None:
    mine = client("assessor")
    judge_all(mine, number)
    sent = {"key": sheets.key(), "before": "Robert", "after": "Bob"}
    first, second = (mine.post(f"/api/judge/{number}/classes/rename", json=sent) for _ in range(2))
    assert (first.json()["changed"], second.json()["changed"]) == (1, 0)
    assert classes(mine, number) == {"Zoe": 0, "Ann": 2, "Bob": 2}
    undo = {"key": sheets.key(), "of": sent["key"]}
    assert mine.post(f"/api/judge/{number}/classes/undo", json=undo).status_code == 200
    assert classes(mine, number)["Robert"] == 1


def test_a_second_tab_learns_that_the_class_is_gone(client: Callable[..., Any], number: int) -> None:
    mine = client("assessor")
    judge_all(mine, number)
    path = f"/api/judge/{number}/classes/rename"
    mine.post(path, json={"key": sheets.key(), "before": "Robert", "after": "Bob"})
    late = mine.post(path, json={"key": sheets.key(), "before": "Robert", "after": "Rob"})
    assert late.status_code == 409
    assert "'Robert'" in late.json()["message"]


def test_a_decision_made_before_a_merge_meets_the_new_version(client: Callable[..., Any], number: int) -> None:
    mine = client("assessor")
    judge_all(mine, number, lambda text: "same")
    item = mine.get(f"/api/judge/{number}").json()["items"][0]["id"]
    mine.post(f"/api/judge/{number}/classes/rename", json={"key": sheets.key(), "before": "same", "after": "one"})
    sent = {"key": sheets.key(), "item": item, "part": "0", "expected": 1, "verdict": {"judgment": "W"}}
    answer = mine.post(f"/api/judge/{number}/decisions", json=sent)
    assert answer.status_code == 409
    assert answer.json()["standing"] == {"judgment": "R", "answer": "one"}


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [("Zoe", "Zoey", 400), ("nobody", "Bob", 409), ("Ann", " ", 422), ("Ann", "x" * 501, 422)],
)
def test_impossible_renamings_are_refused(
    client: Callable[..., Any], number: int, before: str, after: str, status: int
) -> None:
    mine = client("assessor")
    judge_all(mine, number)
    sent = {"key": sheets.key(), "before": before, "after": after}
    assert mine.post(f"/api/judge/{number}/classes/rename", json=sent).status_code == status
    assert classes(mine, number) == {"Zoe": 0, "Ann": 2, "Bob": 1, "Robert": 1}
