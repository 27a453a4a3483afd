"""The page: one HTML file without scripts or network, for the person who has to sign. It shows the
record of a release, and nothing that is not in it.

document       the whole page, and the list of its sections
head           what was asked, and the answer at a glance
shown_by_task  which module shows the answer to which task
shown_answer   what every task says of its answer
answers        how many people hold each value; a mean or a sum
margins        how far off estimates may be, and how many digits are shown
distribution   a distribution function, its quantiles and ranges
crosstabs      the same of several columns at once
searching      the words that a search found, level by level
signing        what is certified, as a block to sign and as a curve
collecting     how reports came over the network, and what colluders would learn
context        what other trust would cost, the budget, and how to check it all again
poisoning      how far malicious people could have moved the estimates
phrases        sentences of the page
clipping       what is said of a mean of clipped values, here and on the terminal
trend_chart    the weeks of a series, as such a figure
charts         the figures, as SVG that keeps its type size on every screen
parts          pieces that several sections are made of
svg            axes, ticks and shapes
svg_file       such a figure by itself, in a notebook or a file
markup         HTML in which nothing can be left unescaped
numerals       numbers, in words and figures

To add a section: write it (a function of the record), list it in ``document.SECTIONS``, and say its
sentences in ``phrases``. A task that derives from another is shown like it; one of its own
kind needs a module, which ``shown_by_task`` names.
"""

from shuffledp.page.document import html, plain, unchanged

__all__ = ["html", "plain", "unchanged"]
