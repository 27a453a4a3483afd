"""What is certified: a statement that a privacy officer can sign, its premises, and the whole
curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shuffledp.collection.page.charts import curve
from shuffledp.collection.page.markup import Markup, element, join, label
from shuffledp.collection.page.parts import facts_list, figure, section
from shuffledp.collection.page.words import count, exact, factor_of, many, scientific, sentence, tied
from shuffledp.collection.record import Certificate, DeltaBound, EpsilonBound, Record

__all__ = ["certificate", "profile"]

DIGITS = 6
FAMILIES = {
    "krr": (
        "k-ary randomised response: the true value is sent or, with a set probability, one drawn at random from all "
        "of them"
    ),
    "hadamard": "Hadamard response: a value’s row of signs is sent as one index, sometimes a wrong one",
    "hash": "local hashing: the value is hashed into a few groups, and the group is randomised",
    "subset": "subset selection: a set of values is sent, which contains the true one more often than others",
    "oue": "optimised unary encoding: one bit per value, each bit randomised",
    "rappor": "basic RAPPOR: one bit per value, each bit randomised",
}


def certificate(record: Record) -> Markup:
    """The block to sign."""
    certified = record.certificate
    premises = [
        element("li", element("span", class_="box", aria_hidden="true"), sentence(each))
        for each in certified.assumptions
    ]
    signed = [element("div", element("span", name), class_="sign") for name in ("Name", "Role", "Date", "Signature")]
    return section(
        "certificate",
        "The certificate",
        element(
            "div",
            _reservations(record),
            _statement(certified),
            facts_list(_terms(record)),
            element("h3", "It holds if"),
            element("ul", premises, class_="premises"),
            element("div", signed, class_="signatures print-only"),
            class_="certificate",
        ),
    )


def _reservations(record: Record) -> list[Markup]:
    """Why not to sign, on the very sheet that is signed."""
    words = (
        []
        if record.secure
        else ["Do not sign: the noise came from a seeded generator, and this certificate does not hold."]
    )
    if record.asked.learned:
        words.append("Not covered: the list of categories, which was learned from the private data.")
    return [element("p", element("strong", each), class_="banner") for each in words]


def _statement(certified: Certificate) -> Markup:
    epsilon, delta, rounds = certified.epsilon.upper, certified.epsilon.delta, certified.rounds
    together = "" if rounds == 1 else f" of all {count(rounds)} rounds together"
    return element(
        "p",
        "We certify that, whatever one person’s value is, it changes the probability of any result by at most a factor "
        "of ",
        element("span", "e", element("sup", "ε"), f" = {factor_of(epsilon)}", class_="whole"),
        ", plus ",
        element("span", f"δ = {exact(delta)}", class_="whole"),
        f". This covers all that the shuffled reports{together} reveal, also to somebody who already knows the values "
        f"of all others.",
        class_="statement",
    )


def _terms(record: Record) -> list[tuple[str, object]]:
    certified = record.certificate
    bound, delta, once = certified.epsilon, certified.delta, certified.rounds == 1
    each = "" if once else ", in each round,"
    rows: list[tuple[str, object]] = [("Certified ε", f"{_between(bound)}, at δ = {exact(bound.delta)}")]
    if delta is not None:
        rows.append(
            (
                "Promised",
                f"ε = {exact(delta.epsilon)} at δ = {exact(bound.delta)}; at this ε, the certified δ is "
                f"{_between(delta)}",
            )
        )
    rows += [
        (
            "How to read it",
            "the true ε lies between the two: the upper end is proven for all data sets, and a data set is known that "
            "needs the lower one",
        ),
        ("Against whom", sentence(certified.adversary)),
        ("What is protected", sentence(certified.adjacency)),
        ("Users", many(certified.users, "person", "people")),
        ("Honest users", _honest(certified)),
        (
            "Rounds",
            "1: every person reports once"
            if once
            else f"{count(certified.rounds)}: every person may report in each of them",
        ),
        (
            "A report alone",
            f"ε₀ = {exact(certified.alone)}: all that protects a person{each} should the shuffler and the analyst "
            f"collude",
        ),
        ("Theorem", label(certified.method)),
        ("Numerical error", _numerical(certified.numerical_error)),
        ("Randomizer", _law(record.design.law)),
    ]
    return rows


def _numerical(error: float | None) -> str:
    safe = "inside the interval: both ends are rounded outwards"
    return (
        f"{safe}, and several rounds keep only the safe side of every step"
        if error is None
        else f"{safe}, and \u03b4 is known to a relative {error:.0e}"
    )


def _between(bound: EpsilonBound | DeltaBound) -> str:
    return (
        f"between {scientific(bound.lower, up=False, digits=DIGITS)} and "
        f"{scientific(bound.upper, up=True, digits=DIGITS)}"
    )


def _honest(certified: Certificate) -> str:
    users, honest = certified.users, certified.honest
    if honest == users:
        return f"all {count(users)}: nobody who reports helps the analyst, and no report is lost"
    return f"at least {count(honest)}: up to {count(users - honest)} may help the analyst, or their reports be lost"


def _law(law: Mapping[str, Any]) -> Markup:
    name = str(law["randomizer"])
    numbers = [
        f"{key.replace('epsilon0', 'ε₀')} = {exact(value) if isinstance(value, float) else count(value)}"
        for key, value in law.items()
        if key not in {"randomizer", "integers"}
    ]
    integers = join([element("code", each) for each in law["integers"]], ", ")
    words = (
        f"{FAMILIES.get(name, name)} ({', '.join(numbers)}). It runs on whole numbers, so that no rounding can leak: "
    )
    return join([tied(words), integers, " out of 2", element("sup", "64"), "."])


def profile(record: Record) -> Markup:
    """Delta against epsilon: the certificate is one point of it."""
    certified = record.certificate
    points, bound, alone = certified.curve, certified.epsilon, certified.alone
    title = (
        f"The certified δ falls from at most {scientific(points.upper[0], up=True, digits=2)} at ε = 0 to at most "
        f"{scientific(points.upper[-1], up=True, digits=2)} at ε = "
        f"{scientific(points.epsilon[-1], up=True, digits=3)}."
    )
    drawn = curve(
        title,
        points.epsilon,
        points.lower,
        points.upper,
        promise=(bound.upper, bound.delta),
        alone=alone,
    )
    far = (
        ""
        if alone <= points.epsilon[-1]
        else f" One report alone, without the shuffler, guarantees only ε₀ = {exact(alone)}, "
        "beyond the right end of this figure."
    )
    return section(
        "curve",
        "The certificate at every δ",
        element(
            "p",
            "The certificate is one point of a curve. Whoever wants a smaller δ, or a smaller ε, reads here what the "
            "other then is: the release is the same.",
        ),
        figure(
            drawn,
            "Solid: δ is at most this. Dashed: δ is at least this. Where only one line is seen, the two differ by less "
            "than its width." + far,
        ),
        keep=True,
    )
