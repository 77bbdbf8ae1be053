"""The orders and their way to the customer."""

from shop.database import connect


def find(order_id):
    """Return one order, or None."""
    with connect() as db:
        return db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()


def waiting():
    """Return the orders that wait for shipping, each with its items."""
    with connect() as db:
        rows = db.execute("SELECT * FROM orders WHERE shipped_at IS NULL ORDER BY id")
        orders = [dict(row) for row in rows]
        for order in orders:
            items = db.execute("SELECT * FROM items WHERE order_id = ?", (order["id"],))
            order["items"] = [dict(item) for item in items]
        return orders


def mark_shipped(order_id, tracking):
    """Note when an order left the house, and its tracking number."""
    with connect() as db:
        db.execute(
            "UPDATE orders SET shipped_at = CURRENT_TIMESTAMP, tracking = ? WHERE id = ?",
            (tracking, order_id),
        )
