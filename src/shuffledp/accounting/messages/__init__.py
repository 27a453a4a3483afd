"""Several messages of everybody: what fakes, noise in shares and mixing hide, law by law.

bucket_pairs   fakes per bucket, such as a shuffler adds
user_hay       fakes that users send: a haystack
light_views    lightly randomized reports among either: two counts, and the rest
noise_shares   negative binomial noise that many people draw together
discrete_pair  a pair of laws, atom by atom
signed_view    counts by messages +1 and -1
central_noise  sums with discrete Laplace noise
composed_levels  levels of a tree side by side
split_sums     what mixed shares show beyond their sum
inexact        what a cut table or a small distance adds to delta
message_reductions  a law + people -> the curves that bound what is seen; each one a theorem
"""
