"""Embeddings beside words: vectors against an independent computation, and an assessor that works without a network."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
from qassay.assessors import embeddings, open_assessor
from qassay.assessors.embeddings import Embedder, embedder, without_direction
from qassay.assessors.features import FEATURES
from qassay.assessors.learned import COSINES, cosines, shipped_model
from qassay.cli import main

WORDS = ("[UNK]", "paris", "rome", "is", "in", "france", "italy")
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


# ---- a small ONNX model, written byte by byte: input_ids -> rows of a table ------------------------------------------


def _field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes(parts) + bytes([value])


def _value(name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(_field(1, _field(2, size.encode())) for size in dimensions)
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _onnx(table: np.ndarray, inputs: Iterable[str] = ("input_ids", "attention_mask")) -> bytes:
    tensor = b"".join(_field(1, size) for size in table.shape) + _field(2, 1) + _field(8, b"table")
    tensor += _field(9, table.astype("<f4").tobytes())
    first = next(iter(inputs)).encode()
    node = _field(1, b"table") + _field(1, first) + _field(2, b"hidden") + _field(4, b"Gather")
    graph = _field(1, node) + _field(2, b"g") + _field(5, tensor)
    graph += b"".join(_field(11, _value(name, 7, "batch", "sequence")) for name in inputs)
    graph += _field(12, _value("hidden", 1, "batch", "sequence", "width"))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The folder of a sentence model whose vectors are known."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(_onnx(TABLE))
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _expected(*texts: str) -> np.ndarray:
    rows = np.array([TABLE[[WORDS.index(word) for word in text.split()]].mean(axis=0) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is looked up and nothing is connected to."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("embeddings must not use the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    embeddings._encoder.cache_clear()


# ---- vectors --------------------------------------------------------------------------------------------------------


def test_an_onnx_model_gives_the_mean_of_its_tokens(model: Path, offline: None) -> None:
    texts = ["paris is in france", "rome", "paris", "rome is in italy"]
    embed = embedder(str(model))
    np.testing.assert_allclose(embed.vectors(texts), _expected(*texts), atol=1e-6)
    np.testing.assert_allclose(embedder(str(model / "model.onnx")).vectors(["Rome"]), _expected("rome"), atol=1e-6)
    assert embed.vectors([]).shape[0] == 0


def test_wordllama_is_read_from_its_wheel(offline: None) -> None:
    embed = embedder(None)
    vectors = embed.vectors(["The cat sat on the mat.", "A kitten was sitting on a rug.", "Interest rates rose.", ""])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0], atol=1e-5)
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert near > far + 0.2
    contrast = embed.contrast(vectors[:3] @ vectors[:3].T)
    np.testing.assert_allclose(np.diag(contrast), 1, atol=1e-5)
    assert contrast[0, 2] < near


def test_unrelated_words_are_zero_on_the_scale_of_contrast(model: Path) -> None:
    vectors = Embedder().vectors(embeddings.UNRELATED)
    pairs = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    assert Embedder().contrast(pairs).mean() == pytest.approx(0, abs=1e-5)
    # To the small model all these words are the same unknown one: the scale stays finite.
    assert Embedder(str(model)).contrast(np.array([1.0, 0.95])).tolist() == pytest.approx([1, 0], abs=1e-5)


def test_a_direction_is_taken_out() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    direction = np.array([[1, 0], [1, 0]], dtype=np.float32)
    np.testing.assert_allclose(without_direction(vectors, direction), [[0, 0], [0, 1]], atol=1e-6)


def test_cosines_of_answers_against_their_definition(model: Path) -> None:
    embed = embedder(str(model))
    question, answer, golds = "is in france", "rome", ("italy", "paris")
    row = cosines(embed, [(question, answer, "paris", golds), (question, "paris", "paris", golds)])
    asked, answered, *known = _expected(question, answer, *golds)
    largest = embed.contrast(np.array([max(answered @ gold for gold in known)]))[0]
    rest = [side - (side @ asked) * asked for side in (answered, known[1])]
    new = rest[0] @ rest[1] / (np.linalg.norm(rest[0]) * np.linalg.norm(rest[1]))
    np.testing.assert_allclose(row[0], [largest, new], atol=1e-5)
    np.testing.assert_allclose(row[1], [1, 1], atol=1e-5)


def test_shipped_models_have_the_features_of_the_code() -> None:
    for family in ("wordllama", "onnx"):
        assert shipped_model(family).features == (*FEATURES, *COSINES)


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda place: shutil.rmtree(place), "there is no ONNX model; name a folder with model.onnx"),
        (lambda place: (place / "tokenizer.json").unlink(), "has no tokenizer.json beside it"),
        (lambda place: (place / "tokenizer.json").write_text("{}"), "is not a tokenizer"),
        (lambda place: (place / "model.onnx").write_bytes(b"no model"), "onnxruntime cannot read it"),
        (
            lambda place: (place / "model.onnx").write_bytes(_onnx(TABLE, ["pixel_values"])),
            "is not a sentence model: it takes pixel_values",
        ),
    ],
)
def test_a_faulty_model_is_named_with_its_place(
    model: Path, folder: Path, change: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(model)
    assert main(["judge", str(folder), "--with", f"embedding(model={model})"]) == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert "tiny" in printed
    assert not (folder / "judgments").exists() or not list((folder / "judgments").iterdir())


# ---- the assessor ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A `qa` evaluation of right and wrong answers."""
    place = tmp_path / "qa"
    assert main(["init", str(place), "--task", "qa"]) == 0
    cities = {"France": "Paris", "Italy": "Rome", "Norway": "Oslo", "Spain": "Madrid"}
    rows = [
        {"id": country, "type": "qa", "text": f"What is the capital of {country}?", "gold": [city]}
        for country, city in cities.items()
    ]
    (place / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "runs").mkdir(exist_ok=True)
    wrong = dict(zip(cities, ("Rome", "Oslo", "Madrid", "Paris"), strict=True))
    for run, others in (("right", cities), ("wrong", wrong)):
        answers = [{"run": run, "question": c, "items": [{"text": f"It is {city}."}]} for c, city in others.items()]
        (place / "runs" / f"{run}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    return place


def test_it_judges_answers_in_free_text_offline(folder: Path, offline: None) -> None:
    done = qassay.judge(qassay.open(folder), "embedding")
    assert done.set_name == "embedding"
    scores = {row.run: row.score for row in qassay.open(folder).score("embedding").runs}
    assert scores == {"right": 1.0, "wrong": 0.0}
    row = json.loads((folder / "judgments" / "embedding.jsonl").read_text().splitlines()[0])
    assert row["trace"]["model"].startswith("wordllama ")
    assert 0 <= row["trace"]["probability"] <= 1


def test_a_model_by_path_gives_its_name_to_the_set(folder: Path, model: Path) -> None:
    assessor = open_assessor(f"embedding(model={model})", qassay.open(folder))
    assert assessor.name == "embedding(model=tiny)"
    qassay.judge(qassay.open(folder), assessor)
    assert "embedding(model=tiny)" in qassay.open(folder).sets


def test_it_judges_nuggets_from_other_questions(tmp_path: Path) -> None:
    place = tmp_path / "rag"
    assert main(["demo", "--which", "rag", "--to", str(place)]) == 0
    done = {name: qassay.judge(qassay.open(place), name) for name in ("learned", "embedding", "embedding(hits=true)")}
    assert {name: count.judged for name, count in done.items()} == dict.fromkeys(done, 264)
    for name in done:
        assert qassay.trust(qassay.open(place), name, resamples=0).kappa > 0.3
    shutil.rmtree(place / "judgments")
    with pytest.raises(qassay.InputError, match=r"embedding needs people's judgments of some nuggets; .* use overlap"):
        qassay.judge(qassay.open(place), "embedding")
