"""Which words are frequent, when nobody has listed them: a tree of beginnings, one level after the
other, each asked of other people.

alphabet  words as rows of symbols: bytes, or tokens; which word counts as which value
level     one level as a protocol, and the exact law of a word's votes
options   what the command and Python take
question  what a level asks, as a design stores it
search    what is agreed before the first answer: people, laws, levels, thresholds
progress  from the tallies so far to the next level, or to the words with estimates

Every person draws one level, whatever their word is, and answers at that level alone. So the
promise to a person is that of one level: whatever the others answered, and whatever is asked next,
does not depend on their word. More levels cost accuracy, and no privacy.
"""
