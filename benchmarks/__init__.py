"""Measurements of Qassay beside its peers and beside plain versions of the same work, as ratios in one run."""
