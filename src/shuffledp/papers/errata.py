"""Formulas that are wrong as printed, each with a few lines that show it. ``python -m
shuffledp.papers.errata`` prints docs/errata.md.
"""

import doctest
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erratum:
    """One mistake: in which paper, as ``shuffledp papers list`` names it, and where; what is wrong,
    why, what to use instead, and a session that shows it after ``SETUP``.
    """

    number: int
    paper: str
    where: str
    wrong: str
    why: str
    instead: str
    snippet: str


# The blank lines are those of a formatter, and they end the function when this is pasted into a
# terminal.
SETUP = """\
from math import exp, log, log1p, sqrt

from scipy.stats import binom

import shuffledp as sdp
from shuffledp import judge
from shuffledp.literature.bounds import LITERATURE, Setting
from shuffledp.literature import biswas


def show(*values):
    print(*(f"{value:.4g}" for value in values))


bound = {b.name: b for b in LITERATURE}
"""

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        number=1,
        paper="biswas-2023",
        where="Biswas, Jung and Palamidessi 2023, Theorem 1, equation (11), Tables 1 and 3",
        wrong="The sum has the factor s - r and the binomial C(n-1-n0, s-1-r). One of the two belongs there, not both.",
        why=(
            "(s-r) C(m, s-r) = m C(m-1, s-1-r): together they square the share of noise reports, so the loss and delta "
            "come out far too small. "
            "The tables of the paper are the values of the misprint: n = 100, k = 10, epsilon0 = 2, n0 = 80 is a row "
            "of Table 3."
        ),
        instead="`biswas.delta_corrected`, which is the exact delta of that count",
        snippet="""\
>>> truth, lie = judge.krr(10, 2.0)[0, :2]  # the count of one value: everything else is one output
>>> P, Q = (judge.shuffled_law([[truth, 1 - truth], [lie, 1 - lie]], [x] + 80 * [0] + 19 * [1]) for x in (0, 1))
>>> show(judge.hockey_stick(P, Q, 0.5), biswas.delta_printed(100, 10, 2.0, 80, 0.5), biswas.delta_corrected(100, 10, 2.0, 80, 0.5))
2.606e-08 3.245e-22 2.606e-08
""",
    ),
    Erratum(
        number=2,
        paper="biswas-2023",
        where="Biswas, Jung and Palamidessi 2023, Theorem 1, what it is about",
        wrong="Even corrected it is not a guarantee of the released histogram.",
        why=(
            "It is about one bin's count, for one known dataset, in one order of the two neighbors. The histogram has "
            "k bins, and other datasets are worse."
        ),
        instead="`sdp.shuffle(sdp.KRR(...), n=...)`; the corrected formula is a lower bound",
        snippet="""\
>>> one_bin = max(biswas.delta_corrected(6, 3, 1.0, n0, 0.5) for n0 in range(6))
>>> show(one_bin, *judge.worst_delta(judge.krr(3, 1.0), 6, [0.5]))
0.02011 0.03877
""",
    ),
    Erratum(
        number=3,
        paper="koskela-2021",
        where="Koskela, Heikkila and Honkela 2021, first version, (5.1)",
        wrong=(
            "The hockey-stick divergence of Bin(n-1, gamma/k) + 1 from Bin(n-1, gamma/k) is called the strong "
            "adversary's delta."
        ),
        why=(
            "The adversary sees two counts, and one of them is not enough. In the printed order the value is below "
            "even what the shuffler alone leaks "
            "(first line). By Definition 1 the larger of both orders counts: it is right more often, and still not a "
            "bound (second line: printed order, larger order, the adversary's exact delta). Which of them the figures "
            "show, the text does not say."
        ),
        instead="`shuffledp-strong`, or `koskela-2021-krr-strong-exact` with the paper's own algorithm",
        snippet="""\
>>> p = sdp.KRR(k=3, epsilon0=2.0).gamma / 3
>>> show(judge.hockey_stick(binom.pmf(range(-1, 8), 7, p), binom.pmf(range(9), 7, p), 0.6), *judge.worst_delta(judge.krr(3, 2.0), 8, [0.6]))
0.2428 0.2552
>>> survey, names = Setting(sdp.KRR.from_gamma(k=2, gamma=0.2), n=20), ("koskela-2021-krr-strong-first-printed-order", "koskela-2021-krr-strong-first")
>>> show(*(bound[name].delta(survey, epsilon=0.8) for name in names), judge.strong_delta(judge.krr(2, survey.epsilon0), 20, (0, 1), 0.8))
0.03862 0.1351 0.1661
""",
    ),
    Erratum(
        number=4,
        paper="koskela-2021",
        where="Koskela, Heikkila and Honkela 2021, revision, Theorem 8",
        wrong=(
            "delta = P(N1/N2 >= e^epsilon) with independent N1 and N2 is called tight. It is loose for most "
            "parameters, and for some not a bound at all."
        ),
        why=(
            "It leaves out the factor 1 - gamma and the weight 1 - e^(epsilon - loss), which makes it loose. But the "
            "two counts are negatively correlated, so "
            "their ratio spreads more than that of independent ones. The exact strong view of the first case is 0.3349 "
            "at 0.6 and 0.3179 at 0.9."
        ),
        instead="`shuffledp-strong`, or `koskela-2021-krr-strong-exact` with the paper's own algorithm",
        snippet="""\
>>> survey = Setting(sdp.KRR(k=3, epsilon0=2.0), n=8, adversary="strong")
>>> show(bound["koskela-2021-krr-strong"].delta(survey, epsilon=0.6), judge.strong_delta(judge.krr(3, 2.0), 8, (0, 1), 0.6))
0.6656 0.3349
>>> survey = Setting(sdp.KRR.from_gamma(k=2, gamma=0.9), n=100, adversary="strong")
>>> show(bound["koskela-2021-krr-strong"].epsilon(survey, delta=1e-9), bound["shuffledp-lower"].epsilon(survey, delta=1e-9))
1.135 1.187
""",
    ),
    Erratum(
        number=5,
        paper="koskela-2021",
        where="Koskela, Heikkila and Honkela 2021, the clones pair, (6.1) of the first version and (5.1) of the revision",
        wrong=(
            "P = (A+D, C-A), Q = (A, C-A+D) is not the pair of Feldman et al. 2020, Theorem 3.2, which is (A+D, "
            "C-A+1-D), (A+1-D, C-A+D)."
        ),
        why=(
            "Without 1 - D the size of the view shows D. The pair dominates Feldman's, so it is still a bound, and a "
            "looser one."
        ),
        instead="`feldman-2020-clones-exact`, or `koskela-2021-feldman` with the paper's own algorithm",
        snippet="""\
>>> anything = Setting(sdp.AnyLDP(epsilon0=2.0), n=50)
>>> show(bound["koskela-2021-clones"].delta(anything, epsilon=0.6), bound["feldman-2020-clones-exact"].delta(anything, epsilon=0.6))
0.1008 0.06996
""",
    ),
    Erratum(
        number=6,
        paper="koskela-2021",
        where="Koskela, Heikkila and Honkela 2021, first version, section 4 (binary randomized response)",
        wrong="The dataset in which all others hold 0 is taken for the worst one.",
        why="One other user with a 1 makes it worse here. There is no one worst dataset: it depends on epsilon.",
        instead=(
            "`shuffledp-binary`, which scans them all; the paper's value is a lower bound, `koskela-2021-2rr-lower`"
        ),
        snippet="""\
>>> laws = {ones: [judge.shuffled_law(judge.krr(2, 1.0), [x] + ones * [1] + (19 - ones) * [0]) for x in (0, 1)] for ones in (0, 1)}
>>> show(judge.hockey_stick(*laws[0], 0.5), judge.hockey_stick(*laws[1], 0.5), *judge.worst_delta(judge.krr(2, 1.0), 20, [0.5]))
0.003833 0.004235 0.004235
""",
    ),
    Erratum(
        number=7,
        paper="balle-2019",
        where="Balle, Bell, Gascon and Nissim 2019, Lemma 11 (Bennett)",
        wrong="The factor is printed as b / (a m log(1 + ab/c)). It must be b / log(1 + ab/c).",
        why=(
            "The left side is a sum of m terms with the unit of b, so 1/(a m) cannot be there. The authors' later code "
            "has it commented out. (In Lemma 8 of "
            "the same paper, 1/gamma^n stands for 1/(gamma n).) From left to right: a lower bound on the truth, as "
            "printed, corrected."
        ),
        instead="`balle-2019-bennett-krr`",
        snippet="""\
>>> survey = Setting(sdp.KRR(k=10, epsilon0=2.0), n=100)
>>> names = ("shuffledp-lower", "balle-2019-bennett-krr-printed", "balle-2019-bennett-krr")
>>> show(*(bound[name].delta(survey, epsilon=0.3) for name in names))
0.01054 0.005122 0.1081
""",
    ),
    Erratum(
        number=8,
        paper="wang-2023",
        where="Wang et al. 2023, the variation-ratio reduction with the parameters of k-RR",
        wrong="It is not an upper bound for k >= 3.",
        why=(
            "The target may land on outputs other than the two in question, where the reduction does not count who "
            "else lands there. For k >= 3 its pair is "
            "one dataset, all others holding a third value: a lower bound. Near epsilon0 other datasets are far worse."
        ),
        instead="`balle-2019-blanket-exact`",
        snippet="""\
>>> survey = Setting(sdp.KRR(k=3, epsilon0=1.0), n=6)
>>> show(bound["wang-2023-variation-ratio-krr"].delta(survey, epsilon=0.9), *judge.worst_delta(judge.krr(3, 1.0), 6, [0.9]))
0.0002098 0.00348
""",
    ),
    Erratum(
        number=9,
        paper="feldman-2022",
        where='Feldman, McMillan and Talwar 2022, "stronger clones", r = 2 / (e^epsilon0 + 1)',
        wrong="The published proof does not cover every randomizer; its authors say so in an erratum.",
        why=(
            "The number is right nevertheless: docs/theory.md proves it by another route, also for randomizers chosen "
            "adaptively."
        ),
        instead="`shuffledp-any`; what 2-RR and 3-RR really leak is below it",
        snippet="""\
>>> anything = Setting(sdp.AnyLDP(epsilon0=1.0), n=8)
>>> show(*(judge.worst_delta(judge.krr(k, 1.0), 8, [0.5])[0] for k in (2, 3)), bound["shuffledp-any"].delta(anything, epsilon=0.5))
0.0321 0.02375 0.04022
""",
    ),
    Erratum(
        number=10,
        paper="koskela-2021",
        where="Koskela, Heikkila and Honkela 2021, revision, Theorems 10 and 11 (weak adversary)",
        wrong=(
            "With N1 and N2 independent given B, as printed, delta = P(loss >= epsilon) is not an upper bound, for "
            "one round or for several."
        ),
        why=(
            "The counts of two values among B reports are negatively correlated. Read as in the theorem's proof "
            "(multinomial) it is a bound, but not tight. "
            "Right: the exact weak adversary, and the lower end of two rounds of it."
        ),
        instead=(
            "`balle-2019-blanket-exact`; `koskela-2021-krr-weak-exact` or, as in the proof, "
            "`koskela-2021-krr-weak-multinomial`"
        ),
        snippet="""\
>>> survey = Setting(sdp.KRR.from_gamma(k=2, gamma=0.5), n=20, adversary="weak")
>>> show(bound["koskela-2021-krr-weak"].delta(survey, epsilon=1.0), judge.weak_delta(judge.krr(2, survey.epsilon0), 20, (0, 1), 1.0))
0.0001137 0.0002978
>>> survey = Setting(sdp.KRR.from_gamma(k=3, gamma=0.4), n=30, rounds=2, adversary="weak")
>>> show(bound["koskela-2021-krr-weak"].epsilon(survey, delta=1e-6), bound["shuffledp-lower"].epsilon(survey, delta=1e-6))
2.775 2.868
""",
    ),
    Erratum(
        number=11,
        paper="feldman-2020",
        where="Feldman, McMillan and Talwar 2020, Theorem 3.1, its condition epsilon0 <= log(n / (16 log(2/delta)))",
        wrong=(
            "Not wrong, but slack: with 4 in place of 16, equation (1) held in every case tried. With 2 it fails for "
            "the clones pair it is derived from."
        ),
        why=(
            "At epsilon0 = 7.65, n = 1e5, delta = 1e-10 the condition with 2 holds, and the pair's delta at the "
            "epsilon of equation (1) is 440 times delta. "
            "No randomizer leaks that much, by the any-randomizer theorem (last number). Outside the published "
            "condition the bound refuses."
        ),
        instead="`feldman-2020-thm-3.1` inside its condition, `shuffledp-any` everywhere",
        snippet="""\
>>> e, n, delta = exp(7.65), 10**5, 1e-10
>>> epsilon = log1p((e - 1) / (e + 1) * (8 * sqrt(e * log(4 / delta) / n) + 8 * e / n))
>>> show(delta, *(bound[name].delta(Setting(sdp.AnyLDP(epsilon0=7.65), n), epsilon=epsilon) for name in ("feldman-2020-clones-exact", "shuffledp-any")))
1e-10 4.41e-08 4.472e-14
""",
    ),
    Erratum(
        number=12,
        paper="balle-2019",
        where="Balle, Bell, Gascon and Nissim 2019, Figure 3 (iii) and (iv), the Bennett curves for k-RR, and the text on (ii)",
        wrong=(
            "The local privacy that they allow is too weak: with 1e5 users and 100 values, epsilon0 = 5.2 is said to "
            "give epsilon <= 0.1."
        ),
        why=(
            "They agree with Lemma 11 as printed (erratum 7), as in the authors' first code. From left to right: as "
            "printed, a lower bound on the truth, "
            "corrected. The Laplace curve of (iii) allows too much as well, from 21,544 users on. That Bennett is always "
            "better than Hoeffding, as the text says of this figure, is not true of the corrected lemma either. From (ii) "
            "it reads that 2-RR amplifies better than Laplace noise and 100-RR, which is the order of Hoeffding's bounds. "
            "With 1e5 users and epsilon0 = 4.35, 2-RR amplifies least: the last line is the lower end of its epsilon, "
            "and the upper ends of those of 100-RR and Laplace noise."
        ),
        instead="`balle-2019-bennett-krr`, or `sdp.calibrate(sdp.KRR, k=100, n=100_000, epsilon=0.1, delta=1e-6)`",
        snippet="""\
>>> survey, names = Setting(sdp.KRR(k=100, epsilon0=5.2), n=100_000), ("balle-2019-bennett-krr-printed", "shuffledp-lower", "balle-2019-bennett-krr")
>>> show(*(bound[name].epsilon(survey, delta=1e-6) for name in names))
0.09696 0.182 0.2168
>>> two, *others = (sdp.shuffle(law, n=100_000).epsilon(delta=1e-6) for law in (sdp.KRR(k=2, epsilon0=4.35), sdp.KRR(k=100, epsilon0=4.35), sdp.Laplace(epsilon0=4.35)))
>>> show(two.lower, *(each.upper for each in others))
0.1035 0.093 0.08299
""",
    ),
    Erratum(
        number=13,
        paper="koskela-2021",
        where="Koskela, Heikkila and Honkela 2021, first version, (5.2), the weak adversary",
        wrong=(
            "The divergence between the distributions of one value's count is called the weak adversary's delta. It "
            "is below even what the shuffler alone leaks, in either order."
        ),
        why=(
            "As in erratum 3, the view holds two counts. The revision replaces the formula (erratum 10). From left to "
            "right: printed order, larger order, what the shuffler alone leaks."
        ),
        instead="`balle-2019-blanket-exact`, which is the weak adversary's delta",
        snippet="""\
>>> survey = Setting(sdp.KRR(k=3, epsilon0=2.0), n=8)
>>> names = ("koskela-2021-krr-weak-first-printed-order", "koskela-2021-krr-weak-first")
>>> show(*(bound[name].delta(survey, epsilon=0.6) for name in names), *judge.worst_delta(judge.krr(3, 2.0), 8, [0.6]))
0.1745 0.2298 0.2552
""",
    ),
    Erratum(
        number=14,
        paper="biswas-2023",
        where="Biswas, Jung and Palamidessi 2023, Tables 4 and 5",
        wrong=(
            "Shuffled reports with epsilon = epsilon0 = 4 are compared with a central Gaussian mechanism of the same "
            "guarantee. There is none."
        ),
        why=(
            "At epsilon = epsilon0 the delta of one report, and so of the shuffled ones, is 0, as the paper's own "
            "formula says; no Gaussian is (4, 0)-private. "
            "The shuffler adds nothing there: its gain is at smaller epsilon. Compared at the certified guarantee, the "
            "paper's conclusion (a small gap) holds."
        ),
        instead=(
            "`shuffledp.accounting.analytic_gaussian` at the epsilon that `sdp.shuffle` certifies; figures biswas-table4 "
            "and biswas-table5"
        ),
        snippet="""\
>>> survey = sdp.shuffle(sdp.KRR(k=15, epsilon0=4.0), n=1000)
>>> show(survey.delta(epsilon=4.0).upper, biswas.delta_printed(1000, 15, 4.0, 50, 4.0), survey.epsilon(delta=1e-6).upper)
0 0 1.401
""",
    ),
    Erratum(
        number=15,
        paper="chen-2024",
        where="Chen, Cao and Ge 2024 (AAAI), personalized epsilon0, the central limit theorem for shuffled reports",
        wrong=(
            'Shuffled reports are called "approximately mu-GDP" with mu^2 = 2 / (sum of (1 - delta_i) / (1 + '
            "e^(epsilon_i)) less its largest term). Read as a guarantee, it is not one."
        ),
        why=(
            "The variance is that of binary responses, and randomizers with more outputs hide less: a thousand ternary "
            "responses with epsilon0 = 4 leak eleven times the delta that it allows, and their "
            "epsilon at delta = 1e-6 is at least 1.797, not 1.449."
        ),
        instead="`sdp.shuffle_groups` for k-RR; for others there is no theorem about different epsilon0",
        snippet="""\
>>> mu = sqrt(2 / (999 / (1 + exp(4.0))))
>>> ternary = sdp.shuffle(sdp.KRR(k=3, epsilon0=4.0), n=1000)
>>> show(sdp.Gaussian(sigma=1 / mu).local_delta(epsilon=1.45), ternary.delta(epsilon=1.45).lower, ternary.epsilon(delta=1e-6).lower)
9.915e-07 1.117e-05 1.797
""",
    ),
)


def plain(session: str) -> str:
    """A session without its prompts, to be pasted as it is; what it prints becomes a comment.

    >>> print(plain(">>> x = 2\\n>>> x + 1\\n3\\n"), end="")
    x = 2
    x + 1
    # 3
    """
    examples = doctest.DocTestParser().get_examples(session)
    return "".join(
        example.source + "".join(f"# {said}\n" for said in example.want.splitlines()) for example in examples
    )


def page() -> str:
    """docs/errata.md: every erratum with its session."""
    parts = [
        "# Errata",
        "What is wrong in the papers on shuffling, as far as exact enumeration has shown it. Every block below runs in "
        "the tests: paste the first one, and "
        "then any other; the comment under a line is what it prints. This page is generated from "
        "`shuffledp.papers.errata`.",
        f"```python\n{SETUP}```",
    ]
    for erratum in ERRATA:
        parts += [
            f"## {erratum.number}. {erratum.where}",
            f"{erratum.wrong} {erratum.why}",
            f"```python\n{plain(erratum.snippet)}```",
            f"Use instead: {erratum.instead}.",
        ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
