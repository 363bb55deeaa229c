"""One format a file: how bytes of each become fields."""
