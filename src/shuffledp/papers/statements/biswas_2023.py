"""Biswas, Jung and Palamidessi 2023: guarantees for shuffled k-RR."""

from shuffledp.papers.paper import Paper

__all__ = ["PAPER"]

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
)
