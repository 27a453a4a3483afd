"""Other papers whose bounds or theorems are in this package."""

from shuffledp.papers.paper import Paper


def _arxiv(
    name: str, cited: str, authors: str, year: int, title: str, number: str, brought: str, bound: str = ""
) -> Paper:
    return Paper(
        name=name,
        cited=cited,
        authors=authors,
        year=year,
        title=title,
        published=f"arXiv {number}",
        link=f"https://arxiv.org/abs/{number}",
        brought=brought,
        start=bound and f"shuffledp epsilon --bound {bound} --epsilon0 1 --n 10000 --delta 1e-6",
    )


INSTEAD = {  # of papers without a bound here: their erratum, and what to use
    "feldman-2022": (9, "shuffledp-any; what 2-RR and 3-RR really leak is below it"),
    "chen-2024": (15, "sdp.shuffle_groups for k-RR; for others there is no theorem about different epsilon0"),
}
OTHERS = (
    _arxiv(
        "cheu-2019",
        "Cheu et al. 2019",
        "Albert Cheu, Adam Smith, Jonathan Ullman, David Zeber and Maxim Zhilyaev",
        2019,
        "Distributed Differential Privacy via Shuffling",
        "1808.01394",
        "The shuffle model as a model of computation, and a bound for shuffled binary randomized response.",
        "cheu-2019 --randomizer rr",
    ),
    _arxiv(
        "erlingsson-2019",
        "Erlingsson et al. 2019",
        "Úlfar Erlingsson, Vitaly Feldman, Ilya Mironov, Ananth Raghunathan, Kunal Talwar and Abhradeep Thakurta",
        2019,
        "Amplification by Shuffling: From Local to Central Differential Privacy via Anonymity",
        "1811.12469",
        "The first amplification bound for any local randomizers, chosen adaptively.",
        "erlingsson-2019-general --randomizer any",
    ),
    _arxiv(
        "balle-2020",
        "Balle et al. 2020",
        "Borja Balle, Peter Kairouz, H. Brendan McMahan, Om Thakkar and Abhradeep Thakurta",
        2020,
        "Privacy Amplification via Random Check-Ins",
        "2007.06605",
        "A better dependence on epsilon0 for adaptive randomizers, and people who choose at random when they report.",
        "balle-2020-checkins --randomizer any",
    ),
    _arxiv(
        "girgis-2021",
        "Girgis et al. 2021",
        "Antonious M. Girgis, Deepesh Data, Suhas Diggavi, Ananda Theertha Suresh and Peter Kairouz",
        2021,
        "On the Renyi Differential Privacy of the Shuffle Model",
        "2105.05180",
        "A closed form for Renyi divergences of shuffled reports, for rounds.",
        "girgis-2021 --randomizer any",
    ),
    _arxiv(
        "feldman-2022",
        "Feldman, McMillan and Talwar 2022",
        "Vitaly Feldman, Audra McMillan and Kunal Talwar",
        2022,
        "Stronger Privacy Amplification by Shuffling for Rényi and Approximate Differential Privacy",
        "2208.04591",
        "Twice as many clones; its authors published an erratum about the proof. shuffledp-any has another proof.",
    ),
    _arxiv(
        "wang-2023",
        "Wang et al. 2023",
        "Shaowei Wang, Yun Peng, Jin Li, Zikai Wen, Zhipeng Li, Shiyu Yu, Di Wang and Wei Yang",
        2023,
        "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened",
        "2304.05007",
        "The variation-ratio reduction: one pair of distributions with parameters for each family of randomizers.",
    ),
    Paper(
        name="chen-2024",
        cited="Chen, Cao and Ge 2024",
        authors="E Chen, Yang Cao and Yifei Ge",
        year=2024,
        title="A Generalized Shuffle Framework for Privacy Amplification: Strengthening Privacy Guarantees and Enhancing Utility",
        published="AAAI 2024, pages 11267-11275; arXiv 2312.14388",
        link="https://arxiv.org/abs/2312.14388",
        brought="People with different epsilon0, by a central limit theorem.",
    ),
)
