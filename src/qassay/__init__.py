"""Qassay: judge question answering, score it, and know what the scores are worth."""

from qassay._version import __version__

__all__ = ["__version__"]
