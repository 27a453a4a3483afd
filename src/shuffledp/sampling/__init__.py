"""Random words and exact draws from them."""
