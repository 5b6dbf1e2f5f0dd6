"""Names of metrics that people's tools write: which columns are metrics and not systems, and which are better if low.

The names are those of ragas, DeepEval, promptfoo, MLflow, TruLens, LangSmith, Phoenix, of text comparison and of IR.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from qassay.arrays import TIE
from qassay.directions import Direction
from qassay.errors import unknown
from qassay.matrix import ScoreMatrix

ALL = "all"

# Names without blanks, marks and capitals.
_LOWER = frozenset({
    "bias", "brier", "calibrationerror", "cer", "charactererrorrate", "contradiction", "contradictionrate",
    "crossentropy", "ece", "editdistance", "embeddingdistance", "error", "errorrate", "errors",
    "expectedcalibrationerror", "failurerate", "hallucination", "hallucinationrate", "hallucinations",
    "harmfulness", "levenshteindistance", "logloss", "loss", "mae", "maliciousness", "meanabsoluteerror",
    "meansquarederror", "mse", "nll", "noisesensitivity", "noisesensitivityirrelevant", "noisesensitivityrelevant",
    "perplexity", "ppl", "rmse", "stringdistance", "ter", "timeoutrate", "toxicity", "toxicityrate",
    "translationeditrate", "wer", "worderrorrate",
})  # fmt: skip
_OTHERS = frozenset({
    "accuracy", "agentgoalaccuracy", "answerability", "answeraccuracy", "answercorrectness", "answerrelevance",
    "answerrelevancy", "answersimilarity", "ap", "argumentcorrectness", "arigradelevel", "aspectcritic",
    "averageprecision", "bartscore", "bert", "bertf1", "bertprecision", "bertrecall", "bleu", "bleu1", "bleu2",
    "bleu3", "bleu4", "bleurt", "bpref", "chrf", "chunkrelevance", "cider", "citationprecision", "citationrecall",
    "coherence", "comet", "completeness", "comprehensiveness", "conciseness", "contextentitiesrecall",
    "contextentityrecall", "contextfaithfulness", "contextprecision", "contextrecall", "contextrelevance",
    "contextrelevancy", "contextualprecision", "contextualrecall", "contextualrelevance", "contextualrelevancy",
    "contextutilisation", "contextutilization", "controversiality", "conversationcompleteness",
    "conversationrelevancy", "correctness", "criminality", "dcg", "documentrecall", "documentrelevance", "em",
    "err", "exactmatch", "f1", "factscore", "factualcorrectness", "factuality", "faithfulness",
    "fleschkincaidgradelevel", "fluency", "geval", "groundedness", "groundtruthagreement", "guidelineadherence",
    "guidelines", "helpfulness", "hit", "hitrate", "hits", "infap", "infndcg", "insensitivity", "iou",
    "jsoncorrectness", "knowledgeretention", "languagematch", "llmcontextprecision",
    "llmcontextprecisionwithoutreference", "llmcontextprecisionwithreference", "llmcontextrecall", "llmrubric",
    "map", "mauve", "meanaverageprecision", "meanreciprocalrank", "meteor", "misogyny", "modelgradedclosedqa",
    "modelgradedfactuality", "mrr", "multimodalfaithfulness", "multimodalrelevance", "ndcg", "ndcgatk",
    "nonllmcontextprecisionwithreference", "nonllmcontextrecall", "nonllmstringsimilarity", "piileakage",
    "precision", "precisionatk", "promptalignment", "qacorrectness", "qags", "qsrelevance", "rbp", "recall",
    "recallatk", "reciprank", "reciprocalrank", "relevance", "relevancetoquery", "relevancy",
    "responsecompleteness", "responseconciseness", "responsegroundedness", "responserelevancy",
    "retrievalgroundedness", "retrievalrelevance", "retrievalsufficiency", "roleadherence", "rouge", "rouge1",
    "rouge2", "rougel", "rougelsum", "rprec", "rr", "rubrics", "sacrebleu", "safety", "semanticsimilarity",
    "sentiment", "spice", "sqlsemanticequivalence", "squadf1", "stereotypes", "stringpresence", "success",
    "summarisation", "summarization", "taskcompletion", "tokenf1", "toolcallaccuracy", "toolcallf1",
    "toolcorrectness", "topicadherence", "turnrelevancy", "usefulness",
})  # fmt: skip
# What an answer cost: a name of these words and of those around them, at least one of the first.
_COSTS = frozenset({
    "cost", "costs", "duration", "elapsed", "latency", "length", "price", "prices", "runtime", "time", "timestamp",
    "token", "tokens", "ttft",
})  # fmt: skip
_AROUND_COSTS = frozenset({
    "answer", "api", "average", "avg", "call", "characters", "chars", "completion", "count", "e2e", "end", "eur",
    "first", "generation", "in", "inference", "input", "llm", "mean", "median", "ms", "ns", "num", "number", "of",
    "output", "p50", "p90", "p95", "p99", "per", "prompt", "query", "question", "request", "response", "retrieval",
    "s", "sec", "seconds", "secs", "to", "total", "us", "usd", "wall", "words",
})  # fmt: skip
# Words around the name of a metric, and names of one letter, which are metrics with a cutoff only.
_AROUND = frozenset({
    "average", "avg", "cut", "eval", "feedback", "mean", "metric", "metrics", "score", "scores", "v1", "v2",
    "value",
})  # fmt: skip
_CUTOFF = re.compile(r"(?:p|r|rr|ap|f)[@_]\d+", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|@\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", _CAMEL.sub(" ", _ASIDE.sub(" ", name)).lower())


def _folded(name: str) -> str:
    """The name without what varies: case, marks, cutoffs and words such as score.

    >>> _folded("Answer Relevancy"), _folded("answerRelevancy"), _folded("ndcg_cut_10"), _folded("toxicity/v1/score")
    ('answerrelevancy', 'answerrelevancy', 'ndcg', 'toxicity')
    """
    return "".join(word for word in _words(name) if word not in _AROUND and not word.isdecimal())


def is_cost(name: str) -> bool:
    """Whether a column says what an answer cost.

    >>> is_cost("latency_ms"), is_cost("Total_Tokens"), is_cost("low_latency"), is_cost("faithfulness")
    (True, True, False, False)
    """
    words = set(_words(name))
    return not words.isdisjoint(_COSTS) and words <= _COSTS | _AROUND_COSTS


def is_metric(name: str) -> bool:
    """Whether a column has the name of a known metric.

    >>> is_metric("nDCG@10"), is_metric("contextRecall"), is_metric("P@5"), is_metric("P"), is_metric("new")
    (True, True, True, False, False)
    """
    return _folded(name) in _LOWER | _OTHERS or is_cost(name) or bool(_CUTOFF.fullmatch(name.strip()))


def is_better_low(name: str) -> bool:
    """Whether low scores of a metric of this name are the better ones.

    >>> is_better_low("hallucination_rate"), is_better_low("latency_ms"), is_better_low("recall")
    (True, True, False)
    """
    return _folded(name) in _LOWER or is_cost(name)


def is_stated(metric: str, lower_is_better: Collection[str]) -> bool:
    """Whether these names of metrics, or "all", say that lower scores of a metric are better."""
    return ALL in lower_is_better or _plain(metric) in map(_plain, lower_is_better)


def _plain(name: str) -> str:
    """The name without what people write in several ways: case, blanks, underscores, hyphens."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def check_stated(lower_is_better: Collection[str], metrics: Collection[str]) -> None:
    """Stop at a name that is not one of the metrics."""
    for name in lower_is_better:
        if not any(is_stated(metric, [name]) for metric in metrics):
            raise unknown("metric", name, metrics)


def with_direction(matrix: ScoreMatrix, lower_is_better: Collection[str], says: bool | None = None) -> ScoreMatrix:
    """The matrix with the direction of its metric: the stated one, the log's own, or an assumed one."""
    if is_stated(matrix.measure, lower_is_better):
        direction = Direction(higher_is_better=False)
    elif says is not None:
        direction = Direction(says)
    elif is_better_low(matrix.measure):
        direction = Direction(higher_is_better=False, assumed=True)
    else:
        direction = Direction(assumed=bool((matrix.values < -TIE).any() or (matrix.values > 1 + TIE).any()))
    read = matrix.read.removesuffix(matrix.direction.words)
    return replace(matrix, direction=direction, read=f"{read}{direction.words}" if read else "")
