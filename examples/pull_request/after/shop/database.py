"""The connection to the database."""

import sqlite3
from contextlib import contextmanager

from shop.settings import DATABASE


@contextmanager
def connect():
    """Give a connection whose rows can be read by name, and commit at the end."""
    connection = sqlite3.connect(DATABASE)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()
