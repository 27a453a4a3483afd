"""The report: one HTML file without scripts or network, for the person who has to sign.

page         the whole document, from the facts of a release alone
answer       what was asked, and the answer at a glance
estimates    what was learnt, drawn and in numbers
certificate  what is certified, as a block to sign and as a curve
context      what other trust would cost, the budget, and how to check it all again
charts       the figures, as SVG that keeps its type size on every screen
parts        pieces that several sections are made of
svg          axes, ticks and shapes
markup       HTML in which nothing can be left unescaped
words        numbers and sentences
"""

from shuffledp.collection.page.document import html, plain, unchanged

__all__ = ["html", "plain", "unchanged"]
