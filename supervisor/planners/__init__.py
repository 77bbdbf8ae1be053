"""Planners that work by rules: from a job and its team to steps."""
