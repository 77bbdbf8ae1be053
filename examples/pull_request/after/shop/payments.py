"""Payments, by the service of our bank."""

import logging

import requests

from shop.settings import PAYMENT_API_KEY, PAYMENT_SECONDS, PAYMENT_URL

log = logging.getLogger(__name__)


def charge(order_id, cents, card):
    """Charge a card, and return the payment's id."""
    answer = requests.post(
        f"{PAYMENT_URL}/charges",
        json={"order": order_id, "amount": cents, "card": card},
        headers={"Authorization": f"Bearer {PAYMENT_API_KEY}"},
        timeout=PAYMENT_SECONDS,
    )
    answer.raise_for_status()
    return answer.json()["id"]


def refund(payment_id, cents):
    """Pay back what a customer paid; tell whether it worked."""
    try:
        answer = requests.post(
            f"{PAYMENT_URL}/refunds",
            json={"payment": payment_id, "amount": cents},
            headers={"Authorization": f"Bearer {PAYMENT_API_KEY}"},
        )
        return answer.ok
    except Exception:
        return False
