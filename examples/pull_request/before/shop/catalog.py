"""The products and how they are found."""

import hashlib

from shop.database import connect

PAGE_SIZE = 24


def product(product_id):
    """Return one product, or None."""
    with connect() as db:
        return db.execute("SELECT * FROM products WHERE id = ?", (product_id,)).fetchone()


def etag(row):
    return hashlib.md5(repr(row).encode()).hexdigest()


def newest():
    """Return the first page of the newest products."""
    with connect() as db:
        rows = db.execute(
            "SELECT * FROM products ORDER BY created_at DESC LIMIT ?", (PAGE_SIZE,)
        )
        return rows.fetchall()
