"""Expected answer types and typed candidates: what patterns see in questions and sentences."""

from __future__ import annotations

import pytest

from qassay.systems.reference.answer_types import AnswerType, answer_type, fit
from qassay.systems.reference.candidates import enumerated, members, nouns, quantities
from qassay.systems.reference.names import names
from qassay.systems.text import content_words, sentences, stem, words


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who painted the ceiling?", AnswerType("person")),
        ("From whom did Britain buy the shares?", AnswerType("person")),
        ("Whose article did she translate?", AnswerType("person")),
        ("Which opera singer was in the city?", AnswerType("person", "singer")),
        ("Where is the statue?", AnswerType("place")),
        ("In what city was she born?", AnswerType("place", "city")),
        ("Which lakes does it cross?", AnswerType("place", "lake")),
        ("Which states founded it?", AnswerType("place", "state")),
        ("At which museum was he a curator?", AnswerType("organisation", "museum")),
        ("What was the name of the secret school that she attended?", AnswerType("organisation", "school")),
        ("When was the canal opened?", AnswerType("date")),
        ("On what date did it open?", AnswerType("date")),
        ("In what year did it open?", AnswerType("year")),
        ("At what time did it strike?", AnswerType("time")),
        ("How many ships were trapped in 1967?", AnswerType("count", "ship")),
        ("How many people live there?", AnswerType("count", "people")),
        ("How many years did it take?", AnswerType("measure", "year", "duration")),
        ("How old was she?", AnswerType("age")),
        ("How wide is the mirror?", AnswerType("measure", None, "length")),
        ("How long is the tunnel?", AnswerType("measure", None, "length")),
        ("How long did the war last?", AnswerType("measure", None, "duration")),
        ("How much does it weigh?", AnswerType("measure", None, "mass")),
        ("How much did it cost?", AnswerType("money")),
        ("What percentage of trade passes?", AnswerType("percent")),
        ("What kind of rock is it?", AnswerType("thing", "rock")),
        ("Which ship blocked it?", AnswerType("name", "ship")),
        ("What was its first accelerator?", AnswerType("name", "accelerator")),
        ("Name it.", AnswerType("name")),
        ("", AnswerType("name")),
    ],
)
def test_answer_types_of_questions(question: str, expected: AnswerType) -> None:
    assert answer_type(question) == expected


@pytest.mark.parametrize(
    ("sentence", "kind", "expected"),
    [
        ("She was born on 7 November 1867.", "date", ["7 November 1867", "1867"]),
        ("On November 7, 1867, it began.", "date", ["November 7, 1867", "1867"]),
        ("It was so in July 1895.", "year", ["1895"]),
        ("The decree of 196 BC stands.", "year", ["196 BC"]),
        ("In the 1840s there were 1840 ships.", "year", ["1840"]),
        ("It struck at 5:12 in the morning.", "time", ["5:12 in the morning"]),
        ("They came at about four o'clock.", "time", ["four o'clock"]),
        (
            "It is 2.4 metres wide, 1,500 km long and weighs 760 kilograms.",
            "measure",
            ["2.4 metres", "1,500 km", "760 kilograms"],
        ),
        ("It ran for two and a half hours.", "measure", ["two and a half hours"]),
        ("It cost $4.5 million and four million pounds.", "money", ["$4.5 million", "four million pounds"]),
        ("About 12 per cent of it, or 3.5%.", "percent", ["12 per cent", "3.5%"]),
        ("It had 20 lifeboats and thirty-six cabins.", "count", ["20", "thirty-six"]),
        ("She died at the age of thirty-six.", "age", ["thirty-six"]),
        ("A seven-year-old girl, aged 7, was 7 when it began.", "age", ["seven", "7", "7"]),
        ("Nothing is counted here.", "count", []),
    ],
)
def test_quantities(sentence: str, kind: str, expected: list[str]) -> None:
    candidates = [candidate for candidate in quantities(sentence) if kind in candidate.kinds]
    assert [candidate.text for candidate in candidates] == expected
    assert all(sentence[candidate.start : candidate.end] == candidate.text for candidate in candidates)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The physicist Felix Bloch came first.", {"Felix Bloch": "person"}),
        ("The ship sailed under Captain Arthur Rostron.", {"Arthur Rostron": "person"}),
        ("It was given to King Ptolemy V.", {"King Ptolemy V": "person"}),
        ("He studied at the Bergen Museum in Norway.", {"Bergen Museum": "organisation", "Norway": "place"}),
        (
            "She taught at the School of Industrial Physics and Chemistry.",
            {"School of Industrial Physics and Chemistry": "organisation"},
        ),
        ("It is kept in the National Air and Space Museum.", {"National Air and Space Museum": "organisation"}),
        ("They live in Warsaw.", {"Warsaw": "place"}),
        ("It crosses Lake Timsah.", {"Lake Timsah": "place"}),
        ("The company Perkin-Elmer made it.", {"Perkin-Elmer": "organisation"}),
        ("Then Cornelis Bakker of the Netherlands followed.", {"Cornelis Bakker": "person", "Netherlands": "place"}),
        ("Women could not go there on Monday in June.", {}),
        ("Napoleon's army met the French.", {}),
    ],
)
def test_names(sentence: str, expected: dict[str, str]) -> None:
    kinds = {
        candidate.text: max(("person", "organisation", "place"), key=lambda k: candidate.kinds.get(k, 0))
        for candidate in names(sentence)
    }
    assert kinds == expected


def test_a_word_that_opens_a_sentence_is_a_name_where_it_is_one_elsewhere() -> None:
    assert [candidate.text for candidate in names("Columbia flew.")] == []
    assert [candidate.text for candidate in names("Columbia flew.", known=frozenset({"Columbia"}))] == ["Columbia"]


def test_names_stand_where_they_say() -> None:
    sentence = "At Oslo, Jean-Louis Michel and J. R. R. Tolkien met Simon van der Meer of CERN."
    for candidate in names(sentence):
        assert sentence[candidate.start : candidate.end] == candidate.text
    assert [candidate.text for candidate in names(sentence)] == [
        "Oslo",
        "Jean-Louis Michel",
        "J. R. R. Tolkien",
        "Simon van der Meer",
        "CERN",
    ]


def test_things_and_enumerations() -> None:
    assert [candidate.text for candidate in nouns("It proved to be granodiorite.")] == ["granodiorite"]
    text = "They set up a seismometer, a laser reflector and a sheet of foil."
    assert [candidate.text for candidate in members(text)] == ["seismometer", "laser reflector", "sheet"]
    assert [text[a:b] for a, b in enumerated("A, B and C")[0]] == [text[0:1], text[3:4], text[9:10]]


def test_a_number_counts_the_noun_that_follows() -> None:
    sentence = "The ship had 20 lifeboats with places for 1,178 people."
    lifeboats, people = AnswerType("count", "lifeboat"), AnswerType("count", "people")
    fits = {
        candidate.text: (fit(candidate, lifeboats, sentence), fit(candidate, people, sentence))
        for candidate in quantities(sentence)
    }
    assert fits["20"][0] == pytest.approx(1)
    assert fits["1,178"][1] == pytest.approx(1)
    assert fits["20"][1] < 0.5
    assert fits["1,178"][0] < 0.5


def test_a_measure_has_the_dimension_that_is_asked_for() -> None:
    sentence = "It is 27 kilometres long and weighs 760 kilograms."
    fits = {
        candidate.text: fit(candidate, AnswerType("measure", None, "mass"), sentence)
        for candidate in quantities(sentence)
    }
    assert fits["760 kilograms"] == 1.0
    assert fits["27 kilometres"] == 0.0


def test_the_questions_noun_names_the_answer() -> None:
    sentence = "In 2021 the container ship Ever Given lay before Port Said."
    fits = {candidate.text: fit(candidate, AnswerType("name", "ship"), sentence) for candidate in names(sentence)}
    assert fits["Ever Given"] > fits["Port Said"]
    sentence = "It is the Stanford Linear Accelerator Center in California."
    fits = {
        candidate.text: fit(candidate, AnswerType("name", "accelerator"), sentence) for candidate in names(sentence)
    }
    assert fits["Stanford Linear Accelerator Center"] > fits["California"]


def test_words_stems_and_sentences() -> None:
    assert words("Ève's 2.4-metre X-ray") == ["ève", "s", "2", "4", "metre", "x", "ray"]
    assert stem("painted") == stem("paints") == stem("painter")
    assert stem("1906") == "1906"
    assert content_words("Who designed his ship, the Fram?") == ["designed", "ship", "fram"]
    assert sentences("A Headline\n\nIt met Dr. Smith\nin Oslo. Then it left.") == [
        "A Headline",
        "It met Dr. Smith in Oslo.",
        "Then it left.",
    ]
