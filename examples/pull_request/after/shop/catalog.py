"""The products and how they are found."""

import hashlib

from shop.database import connect

PAGE_SIZE = 24
SORTABLE = {"name": "name", "price": "price_cents", "newest": "created_at"}


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


def search(text, page=1):
    """Return one page of the products whose name holds the text."""
    offset = (page - 1) * PAGE_SIZE
    query = (
        f"SELECT * FROM products WHERE name LIKE '%{text}%' "
        f"ORDER BY name LIMIT {PAGE_SIZE} OFFSET {offset}"
    )
    with connect() as db:
        return db.execute(query).fetchall()


def in_category(category_id, limit=PAGE_SIZE):
    """Return products of a category, the cheapest first."""
    with connect() as db:
        rows = db.execute(
            "SELECT * FROM products WHERE category_id = ? ORDER BY price_cents LIMIT ?",
            (category_id, limit),
        )
        return rows.fetchall()


def price_drops(prices):
    """Count the days on which a product became cheaper than it was the day before."""
    drops = 0
    for day in range(1, len(prices) + 1):
        if prices[day] < prices[day - 1]:
            drops += 1
    return drops
