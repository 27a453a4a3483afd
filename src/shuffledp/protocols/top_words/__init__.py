"""Which words are frequent, when nobody has listed them: a tree of beginnings, one level after the
other, each asked of other people.

alphabet      words as rows of symbols: bytes, or tokens of one's own
level_places  which word counts as which value at a level
top_level     one level as a protocol
vote_tails    the exact law of a word's votes, and the thresholds that follow from it
search        what everybody agrees on before anybody is asked: people, laws, levels, thresholds
search_plan   the search that finds the rarest words
progress      from the tallies so far to the next level, or to the words
found_words   the words, with estimates and what may have been missed

Every person draws one level, whatever their word is, and answers at that level alone. So the
promise to a person is that of one level: whatever the others answered, and whatever is asked next,
does not depend on their word. More levels cost accuracy, and no privacy.
"""
