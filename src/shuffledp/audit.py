"""Attacks on a running protocol."""
