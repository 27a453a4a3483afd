"""Feldman, McMillan and Talwar 2020: hiding among the clones."""

from shuffledp.papers.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    name="feldman-2020",
    cited="Feldman, McMillan and Talwar 2020",
    authors="Vitaly Feldman, Audra McMillan and Kunal Talwar",
    year=2020,
    title="Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy Amplification by Shuffling",
    published="FOCS 2021, pages 954-964; arXiv 2012.12803",
    link="https://arxiv.org/abs/2012.12803",
    brought=(
        "Clones: with some probability every other person's report is drawn as if it were the target's. A bound for "
        "any local randomizers, chosen adaptively, with the right dependence on epsilon0, in closed form and "
        "numerically; frequency estimation and SGD over permuted data."
    ),
    start="shuffledp epsilon --bound feldman-2020-clones-exact --randomizer any --epsilon0 4 --n 100000 --delta 1e-6",
)
