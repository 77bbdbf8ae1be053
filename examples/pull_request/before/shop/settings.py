"""What differs from one installation to another."""

import os

DATABASE = os.environ.get("SHOP_DATABASE", "shop.sqlite")
CURRENCY = "EUR"
