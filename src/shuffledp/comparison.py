"""Every published bound on one mechanism, side by side."""
