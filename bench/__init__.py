"""Measurements against peers, in one run; RESULTS.md keeps what was seen."""
