from pathlib import Path

import pytest

from tests.integration.cli.user import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A person with an empty folder, and no stack."""
    return User(tmp_path)
