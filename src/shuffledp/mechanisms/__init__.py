"""The same answers under other trust: by a curator, to whom the values are given.

best_curator  the best curator that is known here, by name
best_local    the best that lone reports are known to do, by name
curator       ``CentralHistogram``, ``CentralMean``, ``CentralSum``
central       what the curator's noise gives away
"""
