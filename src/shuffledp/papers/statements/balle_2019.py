"""Balle, Bell, Gascon and Nissim 2019: the privacy blanket."""

from shuffledp.papers.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    name="balle-2019",
    cited="Balle et al. 2019",
    authors="Borja Balle, James Bell, Adrià Gascón and Kobbi Nissim",
    year=2019,
    title="The Privacy Blanket of the Shuffle Model",
    published="CRYPTO 2019, LNCS 11693, pages 638-667; arXiv 1903.02837",
    link="https://arxiv.org/abs/1903.02837",
    brought=(
        "The privacy blanket: the part of a report that does not depend on its sender's data hides everyone else's. "
        "Amplification bounds for any randomizer, k-RR and Laplace noise, and an optimal one-message protocol for "
        "sums of real numbers."
    ),
    start="shuffledp epsilon --bound balle-2019-blanket-exact --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6",
)
