"""The cart of a customer."""


def add(cart, product, count=1):
    """Put a product into the cart."""
    cart.append({"id": product["id"], "price_cents": product["price_cents"], "count": count})
    return cart
