"""`list`, `definition` and `series` by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qassay.collections import Collection
from qassay.errors import UsageError
from qassay.questions import Question
from qassay.systems import Answer, Item, make_reference
from qassay.systems.reference.candidates import Candidate
from qassay.systems.reference.definitions import definition, main_clause, naming, score, take
from qassay.systems.reference.evidence import RankedAnswer, Sentence
from qassay.systems.reference.factoid import cut, list_answers, merged, together

Collect = Callable[..., Collection]
Ask = Callable[..., Answer]


def sentence(text: str, about: float = 0.0) -> Sentence:
    return Sentence("D1", 0, len(text), text, 0.0, about)


def ranked(text: str, score: float, within: str) -> RankedAnswer:
    start = within.index(text)
    return RankedAnswer(text, score, sentence(within), Candidate(text, start, start + len(text), {"person": 1.0}))


CREW = "His companions were Otto Sverdrup, Oluf Dietrichson and Samuel Balto, while Eva Sars stayed."


def test_two_ways_to_cut() -> None:
    candidates = [ranked("Otto Sverdrup", 0.8, CREW), ranked("Samuel Balto", 0.5, CREW), ranked("Eva Sars", 0.2, CREW)]
    assert [candidate.score for candidate in cut(candidates, threshold=0.5, fraction=None)] == [0.8, 0.5]
    assert [candidate.score for candidate in cut(candidates, threshold=0.81, fraction=None)] == []
    assert [candidate.score for candidate in cut(candidates, threshold=None, fraction=0.25)] == [0.8, 0.5, 0.2]
    assert [candidate.score for candidate in cut(candidates, threshold=None, fraction=0.26)] == [0.8, 0.5]
    assert [candidate.score for candidate in cut(candidates, threshold=None, fraction=None)] == [0.8]
    assert cut([], threshold=None, fraction=0.5) == []


def test_members_of_an_enumeration_stand_together() -> None:
    candidates = [ranked("Otto Sverdrup", 0.8, CREW), ranked("Eva Sars", 0.3, CREW), ranked("Samuel Balto", 0.2, CREW)]
    assert {candidate.text: candidate.score for candidate in together(candidates)} == {
        "Otto Sverdrup": 0.8,
        "Samuel Balto": pytest.approx(0.76),
        "Eva Sars": 0.3,
    }


def test_a_surname_is_part_of_a_whole_name() -> None:
    text = "John Jacob Astor came. Astor died. Madeleine lived."
    candidates = [ranked("Astor", 0.7, text), ranked("John Jacob Astor", 0.4, text), ranked("Madeleine", 0.3, text)]
    assert [(candidate.text, candidate.score) for candidate in merged(candidates)] == [
        ("John Jacob Astor", 0.7),
        ("Madeleine", 0.3),
    ]


def test_a_list_question(collect: Collect, ask: Ask) -> None:
    documents = collect(
        "Nansen crossed Greenland in 1888. His companions on the crossing were Otto Sverdrup, Oluf Dietrichson and"
        " Samuel Balto.",
        "Eva Sars sang in Oslo.",
    )
    answer = ask(list_answers(documents), "Who were the companions of Nansen?", "list", target="Nansen")
    assert {item.text for item in answer.items} == {"Otto Sverdrup", "Oluf Dietrichson", "Samuel Balto"}
    assert {item.doc for item in answer.items} == {"D1"}
    single = ask(list_answers(documents, limit=1), "Who were the companions of Nansen?", "list", target="Nansen")
    assert len(single.items) == 1
    none = ask(list_answers(documents, threshold=0.999), "Who were the companions of Nansen?", "list", target="Nansen")
    assert none == Answer()
    assert ask(list_answers(documents), "Who?", target="Nansen") == Answer(nil=True)


def test_one_way_to_cut_at_a_time(collect: Collect) -> None:
    with pytest.raises(UsageError, match="not both"):
        list_answers(collect("x"), threshold=0.2, fraction=0.5)


def test_copulas_and_appositives_say_what_something_is() -> None:
    target = naming("Henry Dunant")
    plain = score(sentence("The town had seen Henry Dunant."), target, ())
    copular = score(sentence("Henry Dunant was a businessman."), target, ())
    appositive = score(sentence("Henry Dunant, a businessman, saw it."), target, ())
    assert copular > appositive > plain
    # A copula 1, the subject 0.4; an appositive 0.8, the subject 0.4.
    assert (copular, appositive, plain) == (pytest.approx(1.4), pytest.approx(1.2), 0.0)


def test_earlier_answers_come_last(collect: Collect, ask: Ask) -> None:
    documents = collect("Dunant was a businessman. Dunant was born in Geneva. Dunant was a writer.")
    fresh = ask(definition(documents), "", "other", target="Dunant")
    before = (Question("0", "factoid", "Where was Dunant born?"), Answer((Item("Geneva", "D1"),)))
    answer = ask(definition(documents), "", "other", target="Dunant", history=[before])
    assert [item.text for item in answer.items][-1] == "Dunant was born in Geneva."
    assert {item.text for item in fresh.items} == {item.text for item in answer.items}


def test_repetitions_are_left_out() -> None:
    sentences = list(
        take(
            [
                sentence("Dunant was a rich businessman from Geneva."),
                sentence("Dunant was a businessman from Geneva."),
                sentence("Dunant shared the first Nobel Peace Prize."),
            ],
            limit=9,
            length=1000,
            most=0.6,
        )
    )
    assert [item.text for item in sentences] == [
        "Dunant was a rich businessman from Geneva.",
        "Dunant shared the first Nobel Peace Prize.",
    ]


def test_limit_and_length() -> None:
    many = [sentence(f"Dunant did thing{number} with helper{number}.") for number in range(9)]
    assert len(list(take(many, limit=4, length=1000, most=0.9))) == 4
    assert sum(len(item.text) for item in take(many, limit=9, length=100, most=0.9)) <= 100


def test_pronouns_follow_in_the_targets_own_documents(collect: Collect, ask: Ask) -> None:
    documents = collect(
        "Henry Dunant was a businessman. He died at Heiden in 1910. The town is small.", "He died too. Nothing else."
    )
    answer = ask(definition(documents), "", "other", target="Henry Dunant")
    assert [(item.doc, item.text) for item in answer.items] == [
        ("D1", "Henry Dunant was a businessman."),
        ("D1", "He died at Heiden in 1910."),
    ]


def test_fragments_are_main_clauses(collect: Collect, ask: Ask) -> None:
    documents = collect("Henry Dunant was a businessman from Geneva, which he left in 1867.")
    answer = ask(definition(documents, fragments=True), "", "other", target="Henry Dunant")
    assert [item.text for item in answer.items] == ["Henry Dunant was a businessman from Geneva"]
    assert main_clause("It ran.") == "It ran."


def test_a_definition_question_names_its_target(collect: Collect, ask: Ask) -> None:
    documents = collect("A golden parachute is an agreement. Rain falls.")
    answer = ask(definition(documents), "What is a golden parachute?", "definition")
    assert [item.text for item in answer.items] == ["A golden parachute is an agreement."]
    assert ask(definition(documents), "What?", "list") == Answer()


def test_series_asks_the_system_for_the_type(collect: Collect, ask: Ask) -> None:
    documents = collect("The Fram was a ship. Colin Archer designed the Fram.")
    system = make_reference("series(other=sentence-baseline, list=list(fraction=0.1))", documents)
    assert ask(system, "Who designed it?", target="Fram").items[0].text == "Colin Archer"
    assert [item.text for item in ask(system, "", "other", target="Fram").items] == [
        "The Fram was a ship.",
        "Colin Archer designed the Fram.",
    ]
    assert [item.text for item in ask(system, "Who designed it?", "list", target="Fram").items] == ["Colin Archer"]
    assert ask(system, "text", "pair") == Answer()
