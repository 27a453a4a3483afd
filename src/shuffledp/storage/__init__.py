"""Whole files or none, and JSON in one spelling.

files      a file or a folder is there whole, or not at all; private files
canonical  JSON with one spelling, and its digest
"""
