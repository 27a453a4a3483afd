"""Biswas, Jung and Palamidessi 2023: guarantees for shuffled k-RR."""

from shuffledp.papers.paper import Paper, Statement, Verdict

EXACT, BOUND = "shuffledp.judge", "shuffledp.literature.biswas"
UTILITY = "shuffledp.papers.biswas_utility"
PLAIN: tuple[tuple[str, Verdict, str, str], ...] = (
    ("Definition 1", "definition", "(epsilon, delta)-differential privacy.", f"{EXACT}.worst_delta"),
    (
        "Definition 2",
        "definition",
        "Adaptive DP, for one user's x_0 and x_1. DP implies it for all of them (Remark 1).",
        f"{EXACT}.hockey_stick",
    ),
    ("Definition 3", "definition", "Delta is tight if no smaller one holds.", f"{EXACT}.worst_delta"),
    ("Definition 4", "definition", "Local differential privacy.", "shuffledp.randomizers.KRR"),
    ("Definition 5", "definition", "k-ary randomized response.", "shuffledp.randomizers.KRR"),
    ("Definition 6", "definition", "The shuffle model: randomize, then permute.", "shuffledp.shuffle"),
    ("Definition 7", "definition", "How often each report occurs.", f"{EXACT}.shuffled_law"),
    ("Definition 8", "definition", "Equation (1), the privacy loss log P(y)/Q(y).", f"{BOUND}.delta_corrected"),
    ("Definition 9", "definition", "The losses' distribution.", "shuffledp.accounting.pld.LossDistribution"),
    ("Equations (3) to (5)", "definition", "The constants kappa_1, kappa_2, kappa_3, all positive (Remark 2).", BOUND),
    ("Definition 10", "definition", "The loss v_s of one bin's count s.", f"{BOUND}.delta_corrected"),
    ("Definition 11", "definition", "Equation (6): delta as a sum over s.", f"{BOUND}.delta_corrected"),
)
GOWALLA = (
    "The check-ins are not part of this package, so the cities are made up. Boxes and cells are ours: the text of the paper has none. "
    "For real check-ins get loc-gowalla_totalCheckins.txt.gz from the SNAP collection, and add `--gowalla loc-gowalla_totalCheckins.txt.gz`."
)
PAPER = Paper(
    name="biswas-2023",
    cited="Biswas et al. 2023",
    authors="Sayan Biswas, Kangsoo Jung and Catuscia Palamidessi",
    year=2023,
    title="Tight Differential Privacy Guarantees for the Shuffle Model with k-Randomized Response",
    published="FPS 2023, LNCS 14551, pages 440-458; arXiv 2205.08858",
    link="https://arxiv.org/abs/2205.08858",
    brought=(
        "An exact formula for the delta of one bin of the histogram of shuffled k-RR, and a comparison of the "
        "estimated histogram with that of a central Gaussian mechanism, on real check-ins."
    ),
    start="shuffledp delta --bound biswas-2023-one-bin --randomizer krr --k 10 --epsilon0 2 --n 100 --epsilon 0.5",
    statements=(
        *(Statement(label=label, verdict=verdict, says=says, where=where) for label, verdict, says, where in PLAIN),
        Statement(
            label="Equations (8) to (10)",
            says="The chances of s, and delta from them.",
            where=f"{BOUND}.delta_corrected",
            run=""">>> from math import exp
>>> from shuffledp import judge
>>> from shuffledp.literature.biswas import delta_corrected
>>> laws = [judge.shuffled_law(judge.krr(3, 1.0), [x, 0, 0, 1, 2]) for x in (0, 1)]
>>> P, Q = ([sum(law[bag] for bag in law if bag[0] == s) for s in range(6)] for law in laws)
>>> print(f"{sum(max(p - exp(0.3) * q, 0) for p, q in zip(P, Q)):.6f} {delta_corrected(5, 3, 1.0, 2, 0.3):.6f}")""",
            ours="0.057760, enumerated and by them",
            why="The results are right. Our text has misprints in the steps of (8) and (9), perhaps of the conversion.",
        ),
        Statement(
            label="Result 1",
            says="Equation (2): delta sums 1 - e^(epsilon - loss) over the losses above epsilon, which is the hockey-stick divergence.",
            where="shuffledp.judge.hockey_stick",
            run=">>> from math import exp\n>>> from shuffledp import judge\n>>> P, Q = (judge.shuffled_law(judge.krr(3, 1.0), [x, 0, 2, 2]) for x in (0, 1))\n>>> print(f'{judge.hockey_stick(P, Q, 0.3):.6f} {sum(P[y] * max(1 - exp(0.3) * Q[y] / P[y], 0) for y in P):.6f}')",
            printed="equal",
            ours="0.114000 on both sides",
        ),
        Statement(
            label="Theorem 1",
            says="With n_x0 of the others at x_0, the delta of equation (6) is tight for x_0 against x_1.",
            where=f"{BOUND}.delta_corrected",
            bounds=("biswas-2023-printed", "biswas-2023-one-bin"),
            run=">>> from shuffledp.literature.biswas import delta_corrected, delta_printed\n>>> print(*(f'{delta(100, 10, 2.0, 80, 0.5):.3e}' for delta in (delta_printed, delta_corrected)))",
            printed="3.25E-22 in Table 3",
            ours="3.245e-22 as printed, 2.606e-08 corrected",
            verdict="paper errs",
            why="Its loss has both the factor s-r and C(n-1-n0, s-1-r), of which one belongs there. Corrected, it is the exact delta of one bin.",
            erratum=1,
        ),
        Statement(
            label="Corollary 1",
            says="Equation (7), with the largest loss over x_0 and x_1, is said to be the tight delta of the released histogram.",
            where=f"{BOUND}.delta_corrected",
            bounds=("biswas-2023-corrected",),
            run="shuffledp papers reproduce biswas-gap",
            printed="tight",
            ours="27 and 23 orders of magnitude too small as printed, 5.3 and 11.0 corrected",
            verdict="paper errs",
            why="One bin's count, for one dataset in one order, is no guarantee. The bounds try five n0, and take the largest delta instead of the largest loss of each s.",
            erratum=2,
        ),
        Statement(
            label="Equation (11)",
            says="The privacy loss v_s, with the misprint of Theorem 1.",
            where=f"{BOUND}.delta_printed",
            run=""">>> from shuffledp.literature.biswas import delta_corrected, delta_printed
>>> print(*(f"{delta(5, 3, 1.0, 2, 0.3):.6f}" for delta in (delta_printed, delta_corrected)))""",
            ours="delta is 0.019315 with it, and 0.057760 without",
            verdict="paper errs",
            erratum=1,
        ),
        Statement(
            label="Equation (12)",
            says="Inverting the matrix of k-RR (shuffle+INV) estimates the histogram without bias.",
            where=f"{UTILITY}.inverted",
            run=">>> import numpy as np\n>>> from shuffledp import KRR\n>>> from shuffledp.papers.biswas_utility import inverted, reports\n>>> seen = reports(np.array([500, 300, 150, 50]), krr := KRR(k=4, epsilon0=2.0), np.random.default_rng(1), runs=40_000)\n>>> print(*inverted(seen, krr).mean(axis=0).round())",
            printed="unbiased",
            ours="500.0, 300.0, 150.0 and 50.0 in the mean",
        ),
        Statement(
            label="Individual specific utility",
            says="|estimate - truth| at one value, in users.",
            where=f"{UTILITY}.individual_utility",
            run=">>> from shuffledp.papers.biswas_utility import individual_utility\n>>> print(*individual_utility([70, 20, 10], [64.5, 22.0, 13.5]))",
            ours="5.5, 2.0, 3.5",
        ),
        Statement(
            label="Equations (13) and (14)",
            says="The community level utility of shuffling and of central noise: the total variation distance of truth and estimate.",
            where=f"{UTILITY}.community_utility",
            run=">>> from shuffledp.papers.biswas_utility import community_utility\n>>> print(community_utility([70, 20, 10], [64.5, 22.0, 13.5]))",
            ours="0.055",
        ),
        Statement(
            label="Equation (15)",
            says="Delta-hat of a dataset, the largest delta over the values in it, is said to make a guarantee.",
            where=f"{BOUND}.delta_of_dataset",
            run=">>> from shuffledp import judge\n>>> from shuffledp.literature.biswas import delta_of_dataset\n>>> print(f'{delta_of_dataset([3, 2, 1], 1.0, 0.5):.4f} {judge.worst_delta(judge.krr(3, 1.0), 6, [0.5])[0]:.4f}')",
            printed="(epsilon, delta-hat)-DP",
            ours="0.0139 corrected, where the released histogram has 0.0388",
            verdict="paper errs",
            why="It is a property of one dataset and of one bin, not a guarantee: other datasets leak more.",
            erratum=2,
        ),
        Statement(
            label="Gaussian mechanism",
            says="The central mechanism to compare with, calibrated as in Balle and Wang 2018.",
            where="shuffledp.accounting.analytic_gaussian.sigma",
            run=">>> from shuffledp.accounting import analytic_gaussian\n>>> print(f'{analytic_gaussian.sigma(epsilon=1.0, delta=1e-6, sensitivity=2**0.5):.2f}')",
            ours="sigma 5.97",
        ),
        Statement(
            label="Table 1",
            says="Delta of four other papers and of Theorem 1, n = 100 and epsilon0 = 0.5.",
            where="shuffledp.papers.biswas_tables.TABLE_1",
            run="shuffledp papers reproduce biswas-table1",
            printed="2.38E-28, 1.61E-42, 5.22E-57, 5.14E-72",
            ours="2.389e-28, 1.617e-42, 5.223e-57, 5.146e-72 from the misprint",
            verdict="paper errs",
            why="They need k = 10 and n0 = 80, which were found by fitting. Three other columns are recomputed; how that of [14] (Koskela et al. 2021) was computed is not known.",
            erratum=1,
        ),
        Statement(
            label="Table 2",
            says="The parameters of the experiments: epsilon and epsilon0 to 3, n to 100,000, k to 15. It has no results.",
            where=f"{BOUND}.delta_corrected",
            run="shuffledp delta --bound biswas-2023-one-bin --randomizer krr --k 15 --epsilon0 3 --n 100000 --epsilon 0.1",
            ours="1.016e-25 at the largest n",
        ),
        Statement(
            label="Table 3",
            says="Delta of Theorem 1 while epsilon0, n and k vary.",
            where="shuffledp.papers.biswas_tables.TABLE_3",
            run="shuffledp papers reproduce biswas-table3",
            printed="36 positive numbers",
            ours="33 of the 36 are the misprint's",
            verdict="paper errs",
            why="The rows for n = 50 and n = 150 have n0 = 0.8 n, not 80.",
            erratum=1,
        ),
        Statement(
            label="Table 4",
            says="Individual specific utility on data from N(0, 2), where the Gaussian is said to have the same guarantee.",
            where=f"{UTILITY}.experiments",
            run="shuffledp papers reproduce biswas-table4",
            printed="comparable at n = 1,000",
            ours="14 to 22 times the error at n = 1000, 151 to 212 at n = 100000",
            verdict="paper errs",
            why="At epsilon = epsilon0 delta is 0, which no Gaussian has; ours is the ratio to geometric noise. At the guarantee of shuffling they are comparable.",
            erratum=14,
        ),
        Statement(
            label="Table 5",
            says="The same on check-ins.",
            where=f"{UTILITY}.experiments",
            run="shuffledp papers reproduce biswas-table5",
            printed="comparable",
            ours="319 to 369 and 73 to 107 over geometric noise",
            verdict="data not public",
            why=f"Here, too, delta is 0 (erratum 14). {GOWALLA}",
        ),
        Statement(
            label="Figure 1",
            says="The check-ins of a northern part of San Francisco and of a part of Paris.",
            where="shuffledp.papers.cities.read_gowalla",
            run="shuffledp papers reproduce biswas-fig1",
            verdict="data not public",
            why=GOWALLA,
        ),
        Statement(
            label="Figure 2",
            says="The maps as estimated with shuffle+INV and with the Gaussian.",
            where=f"{UTILITY}.experiments",
            run="shuffledp papers reproduce biswas-map",
            printed="very close to the original",
            ours="total variation distance 0.155 and 0.148, 0.143 and 0.146",
            verdict="data not public",
            why=GOWALLA,
        ),
        Statement(
            label="Figure 3",
            says="Box plots of the total variation distance for growing n.",
            where="shuffledp.papers.biswas_utility.box_plots",
            run="shuffledp papers reproduce biswas-fig3",
            printed="almost indistinguishable when the number of samples and the privacy level are low",
            ours="ratio to the Gaussian 1.01 to 1.36 at the guarantee of shuffling",
            verdict="data not public",
            why=GOWALLA,
        ),
    ),
)
