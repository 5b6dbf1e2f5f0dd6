"""Sentence embeddings without a network (the extra `embed`): texts as vectors, alike where the meaning is near.

    wordllama    the default: mean of the vectors of a text's tokens; the weights are in its wheel
    ONNX         any sentence model by path: a folder with model.onnx and tokenizer.json, or the .onnx file itself

Nothing is downloaded: wordllama's own loader would ask a model hub for its tokenizer, so that its files are read here.
Vectors have length 1, and a text without a token is all zeros. Models differ in how near unrelated texts are;
`contrast` takes the mean cosine of unrelated words as 0, so that one threshold can serve several models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.assessors.words import vocabulary
from qassay.errors import InputError, Problem
from qassay.extras import require

Vectors = NDArray[np.float32]

WORDLLAMA = "wordllama"
# What a model reads of a text; the rest is cut off before it is cut into tokens.
LONGEST_TEXT = 8_000
LONGEST_TOKENS = 512
BATCH = 32
# Words of no common subject: their pairs show how near unrelated texts are.
UNRELATED = vocabulary(
    "Norway 1848 violin copper Shakespeare marathon yellow hydrogen parliament giraffe cheese Apollo"
)


class Encoder(Protocol):
    """A model that turns texts into vectors of any length."""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""


@dataclass(frozen=True)
class Embedder:
    """A model by its path, or wordllama; it is loaded when the first text comes, in every process of its own."""

    path: str | None = None

    @property
    def family(self) -> str:
        """The coefficients that fit it: those for wordllama, or those for ONNX sentence models."""
        return WORDLLAMA if self.path is None else "onnx"

    @property
    def label(self) -> str:
        """The model in a trace: wordllama with its version, or the name of the folder or file."""
        if self.path is None:
            return _wordllama_label()
        return Path(self.path).resolve().name

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 per text; zeros for a text without a token."""
        distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        if not distinct:
            return np.zeros((0, 1), dtype=np.float32)
        encoded = _encoder(self.path)([text[:LONGEST_TEXT] for text in distinct])
        lengths = np.linalg.norm(encoded, axis=1, keepdims=True)
        unit = encoded / np.where(lengths > 0, lengths, 1)
        return np.asarray(unit[[distinct[text] for text in texts]], dtype=np.float32)

    def contrast(self, cosines: NDArray[np.floating[Any]]) -> Floats:
        """Cosines on a scale on which unrelated words are 0 and equal texts 1."""
        base = _base(self.path)
        return np.asarray((cosines - base) / (1 - base), dtype=np.float64)


def embedder(model: str | None) -> Embedder:
    """The model at a path, checked, or wordllama; an error that says what is missing."""
    require("embed", "the assessor embedding")
    if model is not None:
        _files(model)
    model_embedder = Embedder(model)
    _encoder(model)
    return model_embedder


def without_direction(vectors: Vectors, direction: Vectors) -> Vectors:
    """Each vector without its part along a direction, with length 1 again."""
    rest = vectors - (vectors * direction).sum(axis=1, keepdims=True) * direction
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    return np.asarray(np.where(lengths > 1e-6, rest / np.where(lengths > 0, lengths, 1), 0), dtype=np.float32)


@cache
def _wordllama_label() -> str:
    return f"{WORDLLAMA} {metadata.version(WORDLLAMA)}"


@cache
def _encoder(path: str | None) -> Encoder:
    return _wordllama() if path is None else _onnx(*_files(path))


@cache
def _base(path: str | None) -> float:
    """The mean cosine of unrelated words."""
    vectors = Embedder(path).vectors(UNRELATED)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(UNRELATED), 1)]
    return float(np.clip(cosines.mean(), -0.5, 0.95))


def _wordllama() -> Encoder:
    from safetensors.numpy import load_file

    spec = find_spec(WORDLLAMA)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    folder = Path(places[0]) if places else Path()
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    tokens = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if not weights.is_file() or not tokens.is_file():
        message = (
            f"{_wordllama_label()} has no weights in its package; install 0.4.0.post1, or name a model: model=PATH"
        )
        raise InputError(Problem("configuration", message))
    table = load_file(weights)["embedding.weight"].astype(np.float32)
    tokenizer = _tokenizer(tokens)

    def encode(texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        for place, text in enumerate(tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            if text.ids:
                vectors[place] = table[np.minimum(text.ids, len(table) - 1)].mean(axis=0)
        return vectors

    return encode


def _tokenizer(path: Path, longest: int = LONGEST_TOKENS) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001  # the library raises plain exceptions
        raise InputError(Problem("configuration", f"is not a tokenizer: {error}", str(path))) from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer


def _files(model: str) -> tuple[Path, Path]:
    """The ONNX file and the tokenizer of a model."""
    place = Path(model)
    onnx = next((file for file in (place, place / "model.onnx", place / "onnx" / "model.onnx") if file.is_file()), None)
    if onnx is None:
        message = "there is no ONNX model; name a folder with model.onnx and tokenizer.json, or the .onnx file"
        raise InputError(Problem("configuration", message, model))
    beside = (onnx.parent / "tokenizer.json", onnx.parent.parent / "tokenizer.json")
    tokens = next((file for file in beside if file.is_file()), None)
    if tokens is None:
        raise InputError(Problem("configuration", "has no tokenizer.json beside it; copy the model's there", str(onnx)))
    return onnx, tokens


def _longest(folder: Path) -> int:
    """How many tokens a model takes, as its own settings say."""
    try:
        most = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"]
        return max(8, min(LONGEST_TOKENS, int(most)))
    except (OSError, ValueError, KeyError, TypeError):
        return LONGEST_TOKENS // 2


def _onnx(path: Path, tokens: Path) -> Encoder:
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  # onnxruntime has exceptions of its own for every fault
        raise InputError(Problem("configuration", f"onnxruntime cannot read it: {_line(error)}", str(path))) from None
    inputs = [entry.name for entry in session.get_inputs()]
    strange = set(inputs) - {"input_ids", "attention_mask", "token_type_ids"}
    if strange or "input_ids" not in inputs:
        message = f"is not a sentence model: it takes {', '.join(inputs)} in place of input_ids and attention_mask"
        raise InputError(Problem("configuration", message, str(path)))
    tokenizer = _tokenizer(tokens, _longest(tokens.parent))

    def encode(texts: Sequence[str]) -> Vectors:
        encoded = [text.ids for text in tokenizer.encode_batch(list(texts))]
        # Texts of one length together: what is filled up is computed too.
        order = sorted(range(len(encoded)), key=lambda place: len(encoded[place]))
        rows: dict[int, Vectors] = {}
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            rows.update(zip(places, _pooled(session, inputs, [encoded[place] for place in places], path), strict=True))
        return np.stack([rows[place] for place in range(len(encoded))])

    return encode


def _pooled(session: Any, inputs: Sequence[str], encoded: Sequence[Sequence[int]], path: Path) -> Vectors:
    """The output of the model for each text; where it has one vector per token, their mean."""
    ids = np.zeros((len(encoded), max(1, *map(len, encoded))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(encoded):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    try:
        output = np.asarray(session.run(None, {name: arrays[name] for name in inputs})[0], dtype=np.float32)
    except Exception as error:  # noqa: BLE001  # as above
        raise InputError(Problem("configuration", f"onnxruntime: {_line(error)}", str(path))) from None
    if output.ndim == 2:
        return output
    if output.ndim != 3 or output.shape[:2] != ids.shape:
        message = f"its first output has the shape {output.shape}; a sentence model has one vector per text or token"
        raise InputError(Problem("configuration", message, str(path)))
    counts = np.maximum(mask.sum(axis=1, keepdims=True), 1)
    return np.asarray((output * mask[..., None]).sum(axis=1) / counts, dtype=np.float32)


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
