"""What is drawn, in words."""

from __future__ import annotations

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.mechanism import Rounds, Shuffled
from shuffledp.errors import InvalidInput

__all__ = ["describe", "parts"]


def describe(guarantee: Guarantee) -> str:
    """What is shuffled, in a line.

    >>> from shuffledp import KRR, shuffle
    >>> describe(shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30))
    'krr, k = 16, epsilon0 = 4; 10,000 users; 30 rounds'
    """
    words = []
    for part, rounds in parts(guarantee):
        facts = dict(part.randomizer.describe())
        law = [
            str(facts.pop("randomizer")),
            *(
                f"{key} = {value:.6g}" if isinstance(value, float) else f"{key} = {value}"
                for key, value in facts.items()
            ),
        ]
        users = f"{part.n:,} user{'s' * (part.n > 1)}" + (
            "" if part.honest == part.n else f", {part.honest:,} of them honest"
        )
        view = [] if part.adversary == "shuffled" else [f"{part.adversary} adversary"]
        words.append("; ".join([", ".join(law), users, *view, *([f"{rounds:,} rounds"] if rounds > 1 else [])]))
    return " + ".join(words)


def parts(guarantee: Guarantee) -> tuple[tuple[Shuffled, int], ...]:
    """The mechanisms in a guarantee, each with the number of its rounds."""
    if isinstance(guarantee, Rounds):
        return guarantee.parts
    if isinstance(guarantee, Shuffled):
        return ((guarantee, 1),)
    raise InvalidInput(
        f"guarantee must come from shuffle(...) or compose(...), got {guarantee!r}. Pass one of those; of an "
        f"Accountant, its total."
    )
