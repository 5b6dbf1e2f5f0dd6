"""The versions of the store, oldest first."""
