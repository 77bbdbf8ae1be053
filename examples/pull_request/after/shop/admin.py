"""The pages of the staff."""

from flask import Blueprint, jsonify, request

from shop import orders, payments
from shop.accounts import staff_only

admin = Blueprint("admin", __name__)


@admin.get("/admin/orders")
@staff_only
def open_orders():
    """List the orders that wait for shipping."""
    return jsonify(orders.waiting())


@admin.post("/admin/orders/<int:order_id>/ship")
@staff_only
def ship(order_id):
    """Mark an order as shipped."""
    orders.mark_shipped(order_id, request.form["tracking"])
    return "", 204


@admin.post("/admin/orders/<int:order_id>/refund")
def refund(order_id):
    """Pay an order back."""
    order = orders.find(order_id)
    payments.refund(order["payment_id"], order["total_cents"])
    return "", 204
