"""similarity."""
