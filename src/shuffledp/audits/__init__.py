"""Attacks on a running protocol: an empirical lower bound on epsilon, to hold against the certified
upper end.

reading        what an attacker makes of one report: a class, and the classes' accounted law
joint          the joint law of a value that the auditor draws and the report that comes back
census         all values in all places: by value, by place, and between users; p-values
thresholds     the integers that the sampler draws with, exactly, found with scripted words
shuffler       what comes out of a shuffler, against what went in
trial          what is attacked, and the parts of a protocol, tried alone
messages_seen  what an attacker makes of several messages, by laws in code of its own
messaged       a law of several messages, or its protocol, under attack
subject        protocols of one message, or a randomizer behind a shuffler, under attack
attack         tests whose thresholds are chosen on half of the runs; whether the runs are right
poisoning      people who cheat: how far they move an estimate, beside what the protocol says
auditing       ``audit`` and its answer, ``Audit``
"""

from __future__ import annotations

from shuffledp.audits.attack import Check
from shuffledp.audits.auditing import Audit, audit
from shuffledp.audits.poisoning import Poisoned, poison
from shuffledp.audits.subject import subject_of
from shuffledp.audits.trial import Subject

__all__ = ["Audit", "Check", "Poisoned", "Subject", "audit", "poison", "subject_of"]
