"""What a rebuild must not change, as values."""
