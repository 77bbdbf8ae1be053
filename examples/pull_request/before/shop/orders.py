"""The orders and their way to the customer."""

from shop.database import connect


def find(order_id):
    """Return one order, or None."""
    with connect() as db:
        return db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()


def waiting():
    """Return the orders that wait for shipping."""
    with connect() as db:
        rows = db.execute("SELECT * FROM orders WHERE shipped_at IS NULL ORDER BY id")
        return [dict(row) for row in rows]
