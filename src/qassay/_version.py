"""The version, read by the build and by `qassay --version` without importing the package's parts."""

__version__ = "0.1.0"
