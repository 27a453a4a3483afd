"""What others proved, beside what is certified here.

bounds            every published bound, one file per paper
comparison        all of them on one mechanism, beside the certified interval
proof             the certified interval again, in ball arithmetic
bound             ``Published``, a bound described, and ``Setting``, what it is asked about
balle             Balle et al. 2019: the privacy blanket, by Hoeffding's and Bennett's inequalities
feldman           Feldman et al. 2020: closed forms and the numerical algorithm
feldman_lemmas    the same: its lemmas, Theorem 4.1, and rounds through Renyi divergences
gradient_descent  the same in closed form for noisy gradient descent, and its rival
koskela           Koskela et al. 2021: the Fourier accountant
koskela_pairs     its pairs of laws
fourier           ``FourierAccountant``: both ends of a pair's epsilon and delta
biswas            Biswas et al. 2023
other_papers      Erlingsson et al. 2019, Cheu et al. 2019, Balle et al. 2020, Girgis et al. 2021,
                  Wang et al. 2023
own_bounds        what this package proves
composition       from one round to many, knowing only (epsilon, delta)
"""
