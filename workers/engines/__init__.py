"""How a specialist thinks."""
