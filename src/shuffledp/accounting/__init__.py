"""From one report's law to a certified guarantee.

accuracy     every gap and tolerance, each with its reason
haystack     a needle and its hay -> delta(epsilon), with both ends
swapping     the kinds of users that a randomizer has, for the first-clone swap
reductions   randomizer + users + adversary -> the curves that bound the leak; each one a theorem
pairs        the same for one pair of the target's inputs
hulls        what lies surely below a convex curve, and hulls
meeting_delta  the epsilon at which a curve meets a delta
curves       intervals, and envelopes of curves
bisection    the one bisection
pld          curve -> privacy loss distribution -> many rounds
renyi        Renyi divergences from curves
guarantee    what is certified, whatever it is made of: epsilon, delta, and the curves between
rounds       one round, given by its curves, and ``Rounds`` (which laws are composed)
accountant   different rounds added up
sampled      a random sample of the users answers
views        whole reports, or only sums of bits
mechanism    ``shuffle``
groups       ``shuffle_groups``: every group of users with its own epsilon0
threshold    ``SampleAndThreshold``: counts of samples, published from a least count on
training     noisy steps over records that are allocated to them at random
messages     several messages of everybody, and what fakes, noise in shares and mixing hide
explanation  a guarantee in words
calibration  the one unknown of a plan
training_plan  the same of a training
interop      a guarantee for dp-accounting
dp_events    random allocation as one of its events
"""
