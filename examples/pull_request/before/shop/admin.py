"""The pages of the staff."""

from flask import Blueprint, jsonify

from shop import orders
from shop.accounts import staff_only

admin = Blueprint("admin", __name__)


@admin.get("/admin/orders")
@staff_only
def open_orders():
    """List the orders that wait for shipping."""
    return jsonify(orders.waiting())
