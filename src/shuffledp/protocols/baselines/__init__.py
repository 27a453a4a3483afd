"""The same answers under other trust: by a curator, to whom the values are given.

curator            ``CentralHistogram``, ``CentralMean``, ``CentralSum``
central            what the curator's noise gives away
analytic_gaussian  how much noise an answer needs
"""
