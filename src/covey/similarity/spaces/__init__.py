"""similarity/spaces."""
