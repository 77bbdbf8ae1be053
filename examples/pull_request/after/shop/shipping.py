"""What it costs to send an order."""

NEIGHBOURS = {"AT", "BE", "CH", "CZ", "DK", "FR", "LU", "NL", "PL"}
FREE_FROM_CENTS = 10_000


def is_free(total_cents, country):
    """Tell whether an order is sent for free."""
    return country == "DE" and total_cents >= FREE_FROM_CENTS


def cost(country, grams, express, islands, fragile):
    """Return the price of a parcel, in cents."""
    if country == "DE":
        if express:
            if grams > 10_000:
                if islands:
                    return 3_900 if fragile else 3_400
                return 2_900
            if islands or fragile:
                return 1_900
            return 1_400
        if grams > 10_000:
            return 1_200 if fragile else 900
        return 700 if islands else 500
    if country in NEIGHBOURS:
        if express and grams > 10_000:
            return 4_900 if fragile else 4_400
        if express or fragile:
            return 2_400
        return 1_600 if grams > 10_000 else 1_100
    if express and not fragile:
        return 6_900
    return 5_900 if grams > 10_000 else 3_900
