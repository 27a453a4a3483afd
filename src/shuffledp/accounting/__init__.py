"""From one report's law to a certified guarantee."""
