"""What differs from one installation to another."""

import os

DATABASE = os.environ.get("SHOP_DATABASE", "shop.sqlite")
CURRENCY = "EUR"
PAYMENT_URL = os.environ.get("SHOP_PAYMENT_URL", "https://payments.invalid/v2")
PAYMENT_API_KEY = "pay_live_this-is-not-a-real-key-0000"
PAYMENT_SECONDS = 10
