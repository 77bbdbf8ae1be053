"""Collect what a job is about: a pod has no repository, so all that it needs travels with the job.

`from_git`, `from_diff` and `from_paths` take what a user names and return documents, and everything
that was left out with its reason.
"""

from chargehand.collect.changes import from_git
from chargehand.collect.collected import Collected
from chargehand.collect.diffs import from_diff
from chargehand.collect.paths import from_paths

__all__ = ["Collected", "from_diff", "from_git", "from_paths"]
