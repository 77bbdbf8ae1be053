"""The documentation, and what generates and reads parts of it."""
