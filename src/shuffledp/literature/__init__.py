"""What others proved, beside what is certified here.

bounds            every published bound, one file per paper
comparison        all of them on one mechanism, beside the certified interval
proof             the certified interval again, in ball arithmetic
bound             ``Published``, a bound described, and ``Setting``, what it is asked about
erlingsson        Erlingsson et al. 2019
cheu              Cheu et al. 2019
balle             Balle et al. 2019: the privacy blanket, by Hoeffding's and Bennett's inequalities
checkins          Balle et al. 2020: random check-ins
feldman           Feldman et al. 2020: closed forms and the numerical algorithm
feldman_lemmas    the same: its lemmas, and Theorem 4.1
gradient_descent  the same in closed form for noisy gradient descent, and its rival
girgis            Girgis et al. 2021: Renyi divergences
clones_renyi      Feldman et al. 2020, through Renyi divergences
koskela           Koskela et al. 2021: the Fourier accountant
koskela_pairs     its pairs of laws
fourier           ``FourierAccountant``: both ends of a pair's epsilon and delta
biswas            Biswas et al. 2023
variation_ratio   Wang et al. 2023
own_bounds        what this package proves
composition       from one round to many, knowing only (epsilon, delta)
"""
