"""Encode and count where the data are: on an engine that has them already.

batch  an Arrow batch of values -> an Arrow batch of reports, or of sums; no engine is imported
"""
