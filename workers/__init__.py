"""Stateless pods: each takes a step's contract from its queue, works, and stores the outcome."""
