"""What a call costs, from a table that needs no network."""

import logging
from functools import cache
from typing import Any

logger = logging.getLogger(__name__)


def cost(response: dict[str, Any], model: str) -> float:
    """Return a call's price in USD; a model without a known price costs nothing, and is named."""
    from genai_prices import extract_usage

    try:
        return float(extract_usage(response, provider_id="anthropic").calc_price().total_price)
    except (LookupError, ValueError):
        _unpriced(model)
        return 0.0


@cache
def _unpriced(model: str) -> None:
    """Say once for each model that its price is not known."""
    logger.warning("the price of model %r is not known; its cost counts as 0", model)
