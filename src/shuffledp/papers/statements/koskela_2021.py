"""Koskela, Heikkila and Honkela, two versions of 2021: the Fourier accountant for the shuffle model."""

from shuffledp.papers.paper import FIRST, REVISION, Paper, Statement

__all__ = ["PAPER"]

PAPER = Paper(
    name="koskela-2021",
    cited="Koskela et al. 2021",
    authors="Antti Koskela, Mikko A. Heikkilä and Antti Honkela",
    year=2021,
    title="Tight Accounting in the Shuffle Model of Differential Privacy",
    published="arXiv 2106.00477, two versions; Transactions on Machine Learning Research 2023 as Numerical Accounting in the Shuffle Model of Differential Privacy",
    link="https://arxiv.org/abs/2106.00477",
    brought=(
        "Several rounds are composed numerically: privacy loss distributions on a grid, added up by the fast Fourier "
        "transform, with an error bound. Weak and strong adversaries against k-RR."
    ),
    start="shuffledp epsilon --bound koskela-2021-feldman --randomizer any --epsilon0 4 --n 10000 --rounds 4 --delta 1e-6",
    numbering="The two versions number their statements differently; each label below says which version it is of.",
    statements=(
        Statement(
            label="Theorem 8",
            version=REVISION,
            says="Against k-RR the strong adversary's delta is P(N1/N2 >= e^epsilon), called tight.",
            where="shuffledp.literature.bounds.koskela_pairs.krr_strong_pair",
            bounds=("koskela-2021-krr-strong", "koskela-2021-krr-strong-exact"),
            run="shuffledp epsilon --bound koskela-2021-krr-strong --randomizer krr --k 2 --gamma 0.9 --n 100 --adversary strong --delta 1e-9",
            printed="tight",
            ours="1.135",
            verdict="paper errs",
            why="Mostly loose, yet not a bound: here the exact epsilon is 1.187.",
            erratum=4,
        ),
        Statement(
            label="Definition 8",
            version=FIRST,
            says="The strong adversary's view is compared by one count, equation (5.1).",
            where="shuffledp.literature.bounds.koskela_pairs.one_count_pair",
            bounds=("koskela-2021-krr-strong-first",),
            verdict="paper errs",
            erratum=3,
        ),
    ),
)
