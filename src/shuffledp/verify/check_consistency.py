"""What the parts of a record say about each other: counts, promises, hashes.

The design: read as a client would, and its integers computed again by rules of our own. Whether
its question resolves to its domain is for the recheck of that question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.laws import CountedLaw, CountedLevels, CountedMessages
from shuffledp.judge.shares import CountedShares
from shuffledp.record import HASHED, Record
from shuffledp.verify.outcomes import Check, equal, holds, unchecked


def check_consistency(record: Record, law: CountedLaw) -> list[Check]:
    """Everything that needs no oracle."""
    mine, how = record.digests(), "SHA-256 of the sorted JSON"
    return [
        *_counts(record, law),
        *_collected(record, law),
        *_series(record),
        *_promise(record, law),
        *(equal(f"hash of the {name}", getattr(record.hashes, name), mine[name], how) for name in HASHED),
        *_beyond(record),
    ]


def _counts(record: Record, law: CountedLaw) -> list[Check]:
    design, tally, reports = record.design, record.tally, record.counted.reports
    arrived = f"{design.honest} to {design.n}"
    checks = [
        equal("reports", reports, tally.reports, "the tally"),
        holds("reports that arrived", reports, arrived, "the design", design.honest <= reports <= design.n),
        equal("the question that was asked", record.asked.question, design.question.type, "the design"),
    ]
    if isinstance(law, CountedShares):
        if len(tally.votes) != 2:
            return [*checks, holds("what was added up", len(tally.votes), "two numbers", "the design", False)]
        checks.append(equal("reports in all blocks", len(tally.blocks or ()), 0, "this randomizer has none"))
        rule, right = law.usual(tally.votes, reports, design.honest)
        said = f"{tally.votes[0]} and {tally.votes[1]}"
        return [*checks, holds("what was added up", said, rule, "the law of all messages", right)]
    if tally.digest is None and record.counted.search is None:
        checks.append(equal("places that have votes", len(tally.votes), law.places, "the design"))
    if law.signed:
        blocks = tally.blocks or ()
        claimed, found = (len(blocks), sum(blocks)), (law.blocks[0], reports)
        checks.append(equal("reports in all blocks", claimed, found, "every report lies in one block"))
    elif tally.blocks:
        checks.append(equal("reports in all blocks", len(tally.blocks), 0, "this randomizer has none"))
    fewest = -reports if law.signed else 0
    most, how = law.most_votes(reports), "every message votes at most once"
    within = all(fewest <= each <= most for each in tally.votes)
    cast = f"{len(tally.votes)} counts"
    checks.append(holds("votes for each value", cast, f"at most {most}", how, within))
    if isinstance(law, CountedFakes) and len(tally.votes) == law.places:
        checks.append(_fakes_there(law, sum(tally.votes), reports, design.honest))
    if law.support is not None and len(tally.votes) == law.places:
        how = "every report votes for as many values"
        checks.append(equal("votes in all", sum(tally.votes), reports * law.support, how))
    return checks


def _fakes_there(law: CountedFakes, votes: int, people: int, honest: int) -> Check:
    """Whether the messages are as many as with the fakes that hide people's values."""
    low, high = law.usual_votes(people, honest)
    how = f"the law of all messages of {people} people"
    return holds("messages that name a value", votes, f"{low} to {high}", how, low <= votes <= high)


def _collected(record: Record, law: CountedLaw) -> list[Check]:
    """What is said of a collection over the network."""
    collected, rounds = record.counted.collected, record.design.rounds
    if collected is None:
        return []
    alone = collected.messages is None
    how = "reports that arrived, without the invalid ones" if alone else "people whose messages arrived"
    checks = [
        equal("valid reports of the collection", record.counted.reports, collected.people, how),
        holds("round of the collection", collected.round, f"1 to {rounds}", "the design", collected.round <= rounds),
        _named("digest of the collection", collected.digest),
    ]
    if (messages := collected.messages) is not None:
        most = f"at most {messages}"
        checks.append(holds("invalid messages", collected.invalid, most, "all of them", collected.invalid <= messages))
    return [*checks, _messages(record, law, collected.messages)]


def _messages(record: Record, law: CountedLaw, messages: int | None) -> Check:
    """How many messages there were: those of all people, or where the shuffler adds some, all that
    name a value.
    """
    what, collected, votes = "messages of the collection", record.counted.collected, record.tally.votes
    if collected is None or not isinstance(law, CountedMessages):
        return equal(what, messages, None, "every person sends one")
    if not isinstance(law, CountedFakes) or not law.from_shuffler:
        return equal(what, messages, collected.arrived * law.messages, "so many of each person who arrived")
    found, how = sum(votes) + collected.invalid, "all votes, and the invalid ones"
    if len(votes) == law.places or messages is None:
        return equal(what, messages, found, how)
    return holds(what, messages, f"at least {found}", how, messages >= found)


def _named(what: str, digest: str) -> Check:
    right = re.fullmatch("[0-9a-f]{64}", digest) is not None
    return holds(what, digest, "64 hexadecimal digits", "a SHA-256", right)


def _series(record: Record) -> list[Check]:
    """What is said of a series: its weeks are the rounds of the design."""
    series, collected = record.asked.series, record.counted.collected
    if series is None:
        return []
    checks = [
        equal("weeks of the series", series.weeks, record.design.rounds, "the rounds of the design"),
        holds("week of the series", series.week, f"1 to {series.weeks}", "the series", series.week <= series.weeks),
        _named("digest of the series", series.digest),
    ]
    if collected is not None:
        checks.append(equal("week that was collected", series.week, collected.round, "the round of the collection"))
    return checks


def _promise(record: Record, law: CountedLaw) -> list[Check]:
    design, certificate, search = record.design, record.certificate, record.counted.search
    promised, delta = certificate.delta, design.delta if search is None else search.delta
    people = (design.n, design.honest) if search is None else (search.people, search.honest)
    of = "the design" if search is None else "the search"
    told = None if promised is None else promised.epsilon
    checks = [
        equal("users of the certificate", certificate.users, people[0], of),
        equal("honest of the certificate", certificate.honest, people[1], of),
        equal("rounds of the certificate", certificate.rounds, design.rounds, "the design"),
        equal("epsilon0 of the certificate", certificate.alone, law.alone, "the design"),
        equal("delta of the certificate", certificate.epsilon.delta, delta, of),
        equal("epsilon that was promised", told, design.epsilon, "the design"),
    ]
    if promised is not None and design.epsilon is not None:
        kept = promised.upper <= delta and certificate.epsilon.upper <= design.epsilon
        claimed = f"epsilon = {design.epsilon}, delta = {delta}"
        checks.append(holds("the promise", claimed, f"delta at most {promised.upper:.6g}", "the certificate", kept))
    return checks


def _beyond(record: Record) -> list[Check]:
    """What no page can prove about itself."""
    counted = record.counted
    drawn = "a page does not show how its noise was drawn"
    if not record.secure:
        drawn = "this page itself says that a seed drew its noise: it is not for release, whatever else agrees"
    checks = [
        unchecked("secure randomness", record.secure, drawn),
        unchecked("missing values", counted.missing, "the data are not here, nor any row that was left out"),
    ]
    if counted.repeated is not None:
        checks.append(unchecked("other rows of the same people", counted.repeated, "the data are not here"))
    if counted.collected is not None:
        why = "no envelope is here; `sha256sum collection.json` shows which collection it was"
        checks.append(unchecked("what arrived, and from where", counted.collected.arrived, why))
    return checks


VERSION = 1
LEAST_EPSILON0, MOST_EPSILON0 = Decimal("1e-12"), Decimal(50)  # of a report that hides something, and not all


def check_design(record: Record, law: CountedLaw) -> list[Check]:
    """Everything that a design says of itself, but for its promise, which the oracle judges."""
    design = record.design
    broken = next(_broken(design, law), None)
    return [
        equal("version of the design", design.version, VERSION, "what shuffledp writes"),
        holds("the design", "one that runs", broken or "it does", "read as a client would", broken is None),
        *_check_law(record, law),
    ]


def _check_law(record: Record, law: CountedLaw) -> list[Check]:
    """The integers of the law, and of each of its levels, if it has some."""
    digits = "the integers, as fractions; logarithm to 60 digits"
    least = "the least noise out of 2^64 that keeps epsilon0, to 60 digits"
    said = "none: it is the truth" if law.alone is None else law.epsilon0
    checks = [
        equal("values that a report can name", law.k, record.design.domain.size, "the domain"),
        holds("epsilon0 of one report", said, f"{law.implied:.20}", digits, law.implied <= Decimal(law.epsilon0)),
        equal("integers of the randomizer", _listed(law.integers), _listed(law.least_integers), least),
    ]
    if isinstance(law, CountedLevels):
        loud = all(level.implied <= Decimal(level.epsilon0) for level in law.levels)
        ran, due = ([_listed(getattr(each, name)) for each in law.levels] for name in ("integers", "least_integers"))
        checks += [
            equal("weights of the levels", list(law.weights), [float(each) for each in law.shares], "the integers"),
            equal("integers of the levels", ran, due, least),
            holds("epsilon0 of the levels", law.epsilon0, "at least that of each", "the integers, as fractions", loud),
        ]
    return checks


def _listed(integers: tuple[int, ...]) -> str:
    return ", ".join(map(str, integers))


def _broken(design: Design, law: CountedLaw) -> Iterator[str]:
    """The rules of a client that a design breaks."""
    if strange := sorted(set(design.mechanism.as_json()) ^ law.names):
        yield f"a law with another {strange[0]}"
    if law.alone is not None and not LEAST_EPSILON0 <= Decimal(law.epsilon0) <= MOST_EPSILON0:
        yield f"epsilon0 = {law.epsilon0:g}"
    try:
        Design.from_json(design.as_json())
    except InvalidInput as error:
        yield str(error)
