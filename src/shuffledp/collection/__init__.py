"""From data to a defended answer."""
