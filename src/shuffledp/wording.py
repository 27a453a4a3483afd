"""What terminal, page and figures say alike: numbers rounded to the safe side, and the sentences
behind the ids of theorems and assumptions.
"""

from __future__ import annotations

import decimal
import math
import shlex
from collections.abc import Iterable

# Every sentence that a certificate can hold; {rounds} stands for their number.
SENTENCES: dict[str, str] = {
    "adjacency": ("replace one: two data sets are neighbors if they differ in one person's value"),
    "adversary": ("the analyst, and anyone who reads the results, sees the shuffled reports and nothing else"),
    "sums adversary": (
        "the analyst, and anyone who reads the results, sees how often each bit was set and nothing else"
    ),
    "blanket": ("privacy blanket (Balle et al. 2019, Lemma 8)"),
    "swap": ("first-clone swap (docs/theory.md)"),
    "scan": ("scan over all datasets of binary randomized response (docs/theory.md)"),
    "blanket of groups": ("privacy blanket, every group with its own share of noise (docs/theory.md)"),
    "one pair": ("the target holds one of the two inputs that were named; the others may hold anything"),
    "all holders": ("sum over the counts, for every number of holders (docs/theory.md)"),
    "add or remove a holder": (
        "add-or-remove adjacency: neighboring datasets differ in one holder of one value, who is there or is not"
    ),
    "secret sample": ("who was sampled stays secret, and every holder is sampled independently with probability p"),
    "unlabeled groups": (
        "every person adds the noise of their own group, chosen without regard to their value, and no report says "
        "which group it comes from"
    ),
    "sums": ("two independent sums of bits, each over all datasets (docs/theory.md)"),
    "composed": ("; {rounds} rounds composed as privacy loss distributions"),
    "replace one": ("replace-one adjacency: neighboring datasets differ in one person's value"),
    "shuffler": ("the shuffler releases only the mixed reports and does not collude with the analyst"),
    "sums only": (
        "the shuffler releases only how often each bit was set, and no report, and does not collude with the analyst"
    ),
    "fresh randomness": ("every honest person draws fresh, independent randomness from exactly this randomizer"),
    "ideal hash": (
        "every person draws an ideal, uniformly random hash function (what runs: the MurmurHash3 finaliser with a "
        "64-bit seed)"
    ),
    "worst pair": "the input pair (0, 1) is the worst: proven in part, checked on a grid otherwise",
    "worst pair on a grid": "the input pair (0, 1) is the worst: checked on a grid of pairs, not proven",
    "fresh rounds": (
        "every round uses fresh randomness and a fresh permutation; data, and the choice of later rounds, may depend "
        "on what was released"
    ),
    "allocation": ("random allocation as a needle in a haystack (docs/theory.md)"),
    "allocation blocks": (
        "random allocation in blocks, each a needle in a haystack, composed as privacy loss distributions "
        "(docs/theory.md)"
    ),
    "add or remove": (
        "add-or-remove adjacency: neighboring datasets differ in one record, which is there or is not (zeroed)"
    ),
    "one step": (
        "in every epoch each record's steps are drawn uniformly at random, independently of all other records, and "
        "not published"
    ),
    "noisy steps": (
        "every step's noise is fresh, and a record changes the step's sum, which may depend on earlier steps, by at "
        "most the clipping norm"
    ),
    "rows": (
        "every row of the table is a different person; someone with several rows is protected less, like a group of "
        "people"
    ),
    "senders": (
        "every report comes from a different person; someone who sends several is protected less, like a group of "
        "people"
    ),
    "levels": ("the level of each person is drawn at random, and who helps the analyst does not depend on it"),
    "counts": (
        "the number of people who report and the number of missing values may be known: both are published as they are"
    ),
    "fakes": ("a true report among the fakes of all honest people (docs/theory.md)"),
    "fakes and reports": ("privacy blanket of fakes and of randomized reports together (docs/theory.md)"),
    "dummies": ("two values with the shuffler's dummies, added up over their counts (docs/theory.md)"),
    "tree": (
        "two nodes of each level with the shuffler's dummies, added up over their counts; levels composed as privacy "
        "loss distributions (docs/theory.md)"
    ),
    "signed units": ("counts of +1 and -1 with noise in shares, added up (docs/theory.md)"),
    "split shares": ("the noise of the sum, and how far mixed shares are from it (docs/theory.md)"),
    "messages mixed": ("the shuffler releases only the mixed messages and does not collude with the analyst"),
    "honest dummies": (
        "the shuffler keeps messages and adds dummies at random exactly as described, does not reveal which are "
        "dummies, releases only the mixed messages, and does not collude with the analyst"
    ),
    "sealed": (
        "only the analyst can read a message, and the analyst does not learn who sent it: a message alone is not "
        "protected"
    ),
}


# What an upper end may rest on without a proof, in the words that stand beside the number.
RESERVATIONS = {
    "ideal hash": "if the hash functions are ideal",
    "worst pair": "if (0, 1) is the worst pair, which was checked on a grid",
    "worst pair on a grid": "if (0, 1) is the worst pair, which was checked on a grid",
}


def reserved(assumptions: Iterable[str]) -> str:
    """What an upper end rests on that is not proven; empty where all of it is.

    >>> (
    ...     reserved([statement("shuffler"), statement("ideal hash")]),
    ...     reserved([statement("shuffler")]),
    ... )
    ('if the hash functions are ideal', '')
    """
    found = (RESERVATIONS[name] for name in statement_ids(assumptions) if name in RESERVATIONS)
    return " and ".join(dict.fromkeys(found))


def statement(name: str, *, rounds: int | None = None) -> str:
    """The sentence behind an id.

    >>> statement("blanket") + statement("composed", rounds=3)
    'privacy blanket (Balle et al. 2019, Lemma 8); 3 rounds composed as privacy loss distributions'
    """
    words = SENTENCES[name]
    return words if rounds is None else words.replace("{rounds}", str(rounds))


def statement_ids(sentences: Iterable[str]) -> tuple[str, ...]:
    """The ids of sentences; one that has none, as of a stranger's randomizer, stands for itself.

    >>> statement_ids([statement("shuffler"), "the moon is full"])
    ('shuffler', 'the moon is full')
    """
    known = {words: name for name, words in SENTENCES.items()}
    return tuple(known.get(words, words) for words in sentences)


def meaning(factor: str, addition: str) -> str:
    """What a certified (epsilon, delta) says, for those who have not read a paper about it;
    ``factor`` is e to the epsilon, ``addition`` delta, as they are to be shown.
    """
    return (
        f"Changing one person's answer changes the probability of any result by at most a factor of {factor}, plus "
        f"{addition}."
    )


def right(epsilon0: float | None, k: int) -> float:
    """The probability that the best guess from one report is right, if all k answers seemed equally
    likely: at most E / (E + k - 1) for any randomizer with that epsilon0, E = e^epsilon0, and for
    k-ary randomized response exactly that, as its report is the guess. Without epsilon0 it is 1.

    >>> right(math.log(3.0), 2), right(None, 5)
    (0.75, 1.0)
    """
    return 1.0 if epsilon0 is None else 1.0 / (1.0 + (k - 1) * math.exp(-epsilon0))


def in_percent(share: float, *, up: bool) -> str:
    """A probability, rounded to the nearest or ``up``, and below 100 unless it is very close.

    >>> in_percent(0.75, up=True), in_percent(0.99941, up=False), in_percent(0.99941, up=True)
    ('75.0 %', '99.9 %', '99.95 %')
    """
    scaled = (1e2 * share * 10**digits - (1e-9 if up else 0.5) for digits in range(1, 6))
    texts = (f"{math.ceil(each) / 10**digits:.{digits}f}" for digits, each in enumerate(scaled, 1))
    return f"{next((text for text in texts if float(text) < 100.0), '100')} %"


def large_delta(delta: float, n: int) -> list[str]:
    """What a careful colleague would say of a delta for n people, if anything.

    >>> large_delta(1e-6, 1000), large_delta(0.01, 1000)[0].partition(":")[0]
    ([], "delta is not below 1/n, so it would allow one person's value to be published outright")
    """
    if n <= 1 or delta * n < 1.0:
        return []
    return [
        "delta is not below 1/n, so it would allow one person's value to be published outright: "
        f"aim for less than {1.0 / n:.1g}"
    ]


GROUPED, UNREADABLE = 1e3, 1e7  # from here a number has commas; from there it has an exponent


def rounded(value: float, *, up: bool, digits: int = 4, zeros: bool = True) -> str:
    """``value`` in a few digits, rounded to the safe side: up for an upper end, down for a lower
    one; in a sentence, where nothing stands below it, without ``zeros`` at its end.

    >>> (
    ...     rounded(0.361590001, up=True),
    ...     rounded(0.36158999, up=False),
    ...     rounded(2.5e-07, up=True),
    ...     rounded(12345678.9, up=True),
    ... )
    ('0.3616', '0.3615', '2.500e-7', '1.235e+7')
    """
    if not math.isfinite(value):
        return "infinite"
    direction = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    short = float(decimal.Context(prec=digits, rounding=direction).create_decimal_from_float(value))
    if GROUPED <= abs(short) < UNREADABLE:
        return number(short, digits)
    text = f"{short:#.{digits}g}" if zeros else f"{short:.{digits}g}"
    return text.removesuffix(".").replace(".e", "e").replace("e-0", "e-").replace("e+0", "e+")


def number(value: float, digits: int = 4) -> str:
    """``value`` in a few digits, with commas: the one way in which a number is shown.

    >>> number(1056.3), number(10563.0), number(8.75801), number(1.23e-05), number(99.99999)
    ('1,056', '10,560', '8.758', '1.23e-5', '100')
    """
    short = float(f"{value:.{digits}g}")
    if GROUPED <= abs(short) < UNREADABLE:
        text = f"{short:,.{max(digits - 1 - math.floor(math.log10(abs(short))), 0)}f}"
        return text.rstrip("0").removesuffix(".") if "." in text else text
    return f"{short:.{digits}g}".replace("e-0", "e-").replace("e+0", "e+")


def short(value: float) -> str:
    """A number as a person would write it.

    >>> short(1e-06), short(4.0)
    ('1e-6', '4')
    """
    return number(value, 6)


def exactly(value: float) -> str:
    """A number that is part of a claim: short where that is the number itself, and in full where it
    is not.

    >>> exactly(1e-06), exactly(1.0000004e-06)
    ('1e-6', '1.0000004e-06')
    """
    return short(value) if float(short(value).replace(",", "")) == value else repr(value)


def brief(value: object, most: int = 3) -> str:
    """A value in a repr: of a long list the first few and how many there are, of a function its
    name.

    >>> (
    ...     brief(("tea", "coffee", "water", "milk")),
    ...     brief(1e-06),
    ...     brief(range(500)),
    ...     brief("hadamard"),
    ... )
    ("('tea', 'coffee', 'water', and 1 more)", '1e-6', 'range(0, 500)', "'hadamard'")
    """
    if isinstance(value, float):
        return short(value)
    if isinstance(value, (tuple, list)) and len(value) > most:
        return f"({', '.join(map(repr, value[:most]))}, and {len(value) - most:,} more)"
    return getattr(value, "__name__", repr(value)) if callable(value) else repr(value)


def people(number: int) -> str:
    """How many of them.

    >>> people(10_000), people(1)
    ('10,000 people', '1 person')
    """
    return f"{number:,} {'people' if number > 1 else 'person'}"


def quote(text: str) -> str:
    """One word of a command to copy. What a terminal would not show is written as an escape, which
    a shell takes back.

    >>> print(quote("plain"), quote("two words"), quote("bell\\a"))
    plain 'two words' $'bell\\x07'
    """
    if text.isprintable():
        return shlex.quote(text)

    def escaped(letter: str) -> str:
        code = ord(letter)
        if letter.isprintable():
            return f"\\{letter}" if letter in "\\'" else letter
        if code < 0x80 or 0xDC80 <= code <= 0xDCFF:  # the latter is a byte of a path that is no UTF-8
            return f"\\x{code & 0xFF:02x}"
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return f"$'{''.join(map(escaped, text))}'"
