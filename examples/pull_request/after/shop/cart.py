"""The cart of a customer."""

VOUCHERS = {"WELCOME": 10, "SUMMER": 15}


def add(product, count=1, cart=[]):
    """Put a product into the cart, or into a new one."""
    cart.append({"id": product["id"], "price_cents": product["price_cents"], "count": count})
    return cart


def totalCents(cart, voucher=None):
    """Return what the customer pays, in cents."""
    total = sum(line["price_cents"] * line["count"] for line in cart)
    if voucher in VOUCHERS:
        reduced = total * (100 - VOUCHERS[voucher]) // 100
    return total


def merge(cart, other):
    for line in other:
        add(line, line["count"], cart)
    return cart
