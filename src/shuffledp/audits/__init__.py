"""Attacks on a running poll: an empirical lower bound on epsilon, to hold against the certified
upper end.

reports     what an attacker makes of one report, by the judge's law, and what the auditor draws
census      all values in all places: by value, by place, and between users; p-values
thresholds  the integers that the sampler draws with, exactly, found with scripted words
shuffler    what comes out of a shuffler, against what went in
trial       what is attacked, and the parts of it, tried alone
messages    laws of several messages under attack: all that the shuffler hands on is read at once
subject     polls, gradient descent, or a randomizer behind a shuffler, under attack
attack      tests whose thresholds are chosen on half of the runs; whether the runs are right
poisoning   people who cheat: how far they move an estimate, beside what the poll says
verdict     ``audit`` and its answer, ``Audit``
"""

from __future__ import annotations

from shuffledp.audits.attack import Check
from shuffledp.audits.poisoning import Poisoned, poison
from shuffledp.audits.subject import subject_of
from shuffledp.audits.trial import Subject
from shuffledp.audits.verdict import Audit, audit

__all__ = ["Audit", "Check", "Poisoned", "Subject", "audit", "poison", "subject_of"]
