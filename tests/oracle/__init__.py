"""Slow, obviously correct references. Nothing here imports the library under test."""
