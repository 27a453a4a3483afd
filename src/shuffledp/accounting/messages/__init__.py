"""Several messages of everybody: what fakes, noise in shares and mixing hide, law by law.

fakes       fakes per bucket, such as a shuffler adds, as a pair of laws; those that users send
light_laws  lightly randomized reports among either: two counts, and the rest
sums        counts by messages +1 and -1, sums with noise in shares or mixed shares
reductions  a law + people -> the curves that bound what is seen; levels; what a small distance adds
"""
