"""What is certified: a statement that a privacy officer can sign, its premises, and the whole
curve.
"""

from __future__ import annotations

from shuffledp.page import phrases
from shuffledp.page.charts import curve
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import count, exact, factor_of, many, scientific, sentence, tied
from shuffledp.page.parts import facts_list, figure, section
from shuffledp.record import DeltaBound, EpsilonBound, Record
from shuffledp.wording import algorithm, reserved

__all__ = ["certificate", "profile"]

DIGITS = 6
LISTED = 12  # whole numbers of a law; a table of fakes has hundreds


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
            _statement(record),
            facts_list(_terms(record)),
            element("h3", phrases.HOLDS_IF),
            element("ul", premises, class_="premises"),
            element("div", signed, class_="signatures print-only"),
            class_="certificate",
        ),
    )


def _reservations(record: Record) -> list[Markup]:
    """Why not to sign, on the very sheet that is signed."""
    words = [] if record.secure else [phrases.SEEDED_CERTIFICATE]
    return [element("p", element("strong", each), class_="banner") for each in words]


def _statement(record: Record) -> Markup:
    certified = record.certificate
    epsilon, delta, rounds = certified.epsilon.upper, certified.epsilon.delta, certified.rounds
    together = "" if rounds == 1 else f" of all {count(rounds)} rounds together"
    return element(
        "p",
        phrases.STATEMENT,
        element("span", "e", element("sup", "ε"), f" = {factor_of(epsilon)}", class_="whole"),
        ", plus ",
        element("span", f"δ = {exact(delta)}", class_="whole"),
        phrases.STATEMENT_COVERS.format(together=together),
        class_="statement",
    )


def _terms(record: Record) -> list[tuple[str, object]]:
    certified = record.certificate
    bound, delta, once = certified.epsilon, certified.delta, certified.rounds == 1
    each = "" if once else ", in each round,"
    only = reserved(certified.assumptions)
    reading = phrases.HOW_TO_READ if bound.lower > 0.0 else phrases.HOW_TO_READ_MOST
    if only:
        reading = phrases.READ_IF.format(only=only)
    ends = f"{_between(bound)}, at δ = {exact(bound.delta)}"
    rows: list[tuple[str, object]] = [("Certified ε", f"{ends}, {only}" if only else ends)]
    if delta is not None:
        rows.append(
            (
                "Promised",
                f"ε = {exact(delta.epsilon)} at δ = {exact(bound.delta)}; at this ε, the certified δ is "
                f"{_between(delta)}",
            )
        )
    rows += [
        ("How to read it", reading),
        ("Against whom", sentence(certified.adversary)),
        ("What is protected", sentence(certified.adjacency)),
        ("Users", _users(record)),
        ("Honest users", _honest(record)),
        (
            "Rounds",
            "1: every person reports once"
            if once
            else f"{count(certified.rounds)}: every person may report in each of them",
        ),
        ("A report alone", _alone(record, each)),
        ("Theorem", label(certified.method)),
        ("Numerical error", _numerical(record)),
    ]
    law = record.design.law
    if known := algorithm(record.design.task, law.randomizer, law.k, law.integers):
        rows.append(("Algorithm", known))
    return [*rows, ("Randomizer", _law(record))]


def _alone(record: Record, each: str) -> str:
    if (alone := record.certificate.alone) is None:
        return phrases.NOTHING_ALONE.format(shown=record.design.shown_alone, each=each)
    return phrases.REPORT_ALONE.format(alone=exact(alone), shown=record.design.shown_alone, each=each)


def _numerical(record: Record) -> str:
    safe, error = phrases.BOTH_ENDS, record.certificate.numerical_error
    if record.counted.search is not None:
        return phrases.UPPER_END
    if error is None:
        return phrases.SEVERAL_ROUNDS_ERROR.format(safe=safe)
    return phrases.ONE_ROUND_ERROR.format(safe=safe, error=scientific(error, up=True, digits=1))


def _between(bound: EpsilonBound | DeltaBound) -> str:
    if bound.lower == 0.0:
        return f"at most {scientific(bound.upper, up=True, digits=DIGITS)}"
    return (
        f"between {scientific(bound.lower, up=False, digits=DIGITS)} and "
        f"{scientific(bound.upper, up=True, digits=DIGITS)}"
    )


def _users(record: Record) -> str:
    users, reported = many(record.certificate.users, "person", "people"), record.counted.people
    return users if reported == record.certificate.users else f"at most {users}; {count(reported)} reported"


def _honest(record: Record) -> str:
    """Those who did not report cannot help the analyst, and leave less room for those who do."""
    users, honest, reported = record.certificate.users, record.certificate.honest, record.counted.people
    if honest == users:
        return phrases.HONEST_ALL.format(users=count(users))
    if reported != users:
        others = f"up to {count(reported - honest)}" if reported > honest else "none"
        each = "" if record.certificate.rounds == 1 else ", and as many in each other round"
        return phrases.HONEST_OF.format(honest=count(honest), each=each, reported=count(reported), others=others)
    return phrases.HONEST.format(honest=count(honest), others=count(users - honest))


def _law(record: Record) -> Markup:
    law = record.design.law
    numbers = [
        f"{name.replace('epsilon0', 'ε₀')} = {_parameter(value)}"
        for name, value in law.parameters.items()
        if value is not None and not isinstance(value, list)
    ]
    if law.questions is not None:
        sizes = ", ".join(count(level.k) for level in law.questions)
        numbers.append(f"levels of {sizes} runs of bins")
    family = phrases.FAMILIES.get(law.randomizer, law.randomizer)
    integers = join([element("code", each) for each in law.integers[:LISTED]], ", ")
    if (more := len(law.integers) - LISTED) > 0:
        integers = join([integers, phrases.MORE_INTEGERS.format(more=count(more))])
    words = phrases.INTEGERS.format(family=family, numbers=", ".join(numbers))
    return join([tied(words), integers, " out of 2", element("sup", "64"), "."])


def _parameter(value: int | str | float) -> str:
    if isinstance(value, str):
        return value
    return count(value) if isinstance(value, int) else exact(value)


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
        points.lower if any(points.lower) else None,
        points.upper,
        promise=(bound.upper, bound.delta),
        alone=alone,
        alone_label=phrases.ONE_REPORT_ALONE,
    )
    far = "" if alone is None or alone <= points.epsilon[-1] else phrases.FAR_ALONE.format(alone=exact(alone))
    return section(
        "curve",
        "The certificate at every δ",
        element("p", phrases.ONE_POINT),
        figure(drawn, (phrases.SOLID_AND_DASHED if any(points.lower) else phrases.SOLID) + far),
        keep=True,
    )
