"""The pages of docs/ that are computed: ``python -m pages`` writes them, and the tests check that
they are as it would.
"""
