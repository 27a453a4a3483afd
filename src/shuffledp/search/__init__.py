"""Which words are frequent, when nobody has listed them: a tree of prefixes, one level after the
other, each asked of other people.

alphabet  words as rows of symbols: bytes, or tokens; which word counts as which place
options   what the command and Python take
question  what a level asks, as a design stores it
votes     the exact law of a word's votes
terms     what is recorded of a search: what was agreed, and its levels
search    the file that all agree on before the first answer; from tallies to the next design
planning  how many levels a search has, and how they draw their reports
found     the words at the end, with estimates, and what may have been missed
recheck   judges the words that were found, for ``verify``

Every person draws one level, whatever their word is, and answers at that level alone. So the
promise to a person is that of one level: whatever the others answered, and whatever is asked next,
does not depend on their word. More levels cost accuracy, and no privacy.
"""
