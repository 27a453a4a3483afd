"""Encode and count where the data are: on an engine that has them already.

batch  an Arrow batch of values -> an Arrow batch of reports, or of sums; no engine is imported
beam   Apache Beam: transforms from batches of values to reports, and to their counts
beam_commit  what makes a drawing stand, however often a runner attempts it; no engine is imported
"""
