"""What others proved, beside what is certified here.

exact       brute force for a handful of users: it imports nothing, and judges everything
bounds      every published bound, one file per paper
comparison  all of them on one mechanism, beside the certified interval
proof       the certified interval again, in ball arithmetic
"""
