"""The sentences of the page. Words in braces are filled in by the section that says the sentence;
theorem, assumptions and the meaning of epsilon are in ``shuffledp.wording``.
"""

from __future__ import annotations

# The head: what nobody must overlook, and what epsilon and delta are.
SEEDED = (
    "The noise came from a seeded generator. Anyone who knows the seed knows the noise, so the certificate below "
    "does not hold. Run the release again without a seed."
)
LARGE_DELTA = "Such a δ would allow one person’s value to be published outright. Choose a smaller one."
LEVEL_MEAN = "with {level} confidence"
LEVEL_EACH = "people, {each}with {level} confidence"
LEVEL_TOGETHER = "people, for all at once, with {level} confidence"
GLOSS_EPSILON = (
    "ε (epsilon) limits how much anyone can learn about one person: 0 means nothing at all, and smaller is more "
    "private. "
)
GLOSS_DELTA = "δ (delta) is, roughly, the probability that this limit fails: {delta}{odds}. "
GLOSS_REPORTS = (
    "Every value was randomized on its own, and the randomized reports were shuffled, so that nobody who sees them "
    "can tell which report is whose."
)
GLOSS_FAKES = (
    "Every person’s message names a value{lightly}, and people send random values beside it: fakes, which nobody can "
    "tell from the others. All messages were shuffled. Whoever counts them must trust that enough people sent their "
    "fakes{sealed}."
)
GLOSS_DUMMIES = (
    "Every person’s message names a value{lightly}. Whoever mixed the messages added dummies, about {dummies} for each "
    "value, which nobody else can tell from the others. Everybody must trust that this was done, and that nobody was "
    "told which they are{sealed}."
)
GLOSS_TREE = (
    "Every person’s messages name a value, coarsely and finely: one message for each of {levels} levels. Whoever mixed "
    "the messages added dummies to every level, about {dummies} for everything that a message can name, which nobody "
    "else can tell from the others. Everybody must trust that this was done, and that nobody was told which they are, "
    "or which messages came from one person{sealed}."
)
GLOSS_SHARES = (
    "Every person’s messages add up to the value and a little noise, and all messages were shuffled: only the noise of "
    "all people together hides a value. Everybody must trust that enough people added theirs, and that nobody but the "
    "analyst could read a message."
)
LIGHTLY = ", randomized a little"
UNREAD = ", and that nobody but the analyst could read a message, which is the truth"
REPEATED = "{rows} from the same people left out"
MISSING_COUNTED = "; their number is among the estimates"

# A mean of clipped values.
OUTSIDE = "Values outside the range were counted as its nearest end; no report says how far outside they were. {ends}"
NO_ENDS = "Nor do shares say how many people are at either end."
AT_ENDS = (
    "Estimated from the same reports, at most {most_low} of the people are at or below {lower}, and at least "
    "{least_low} are below {near_low}; at most {most_high} are at or above {upper}, and at least {least_high} are "
    "above {near_high} (with {level} confidence, for all of these at once)."
)
MANY_CLIPPED = (
    "{words} So many values may have been clipped that the two means must not be confused. If values can lie "
    "outside, a wider range, such as {low} to {high}, would clip fewer of them, at about {times} the "
    "standard error; but it would be another release about the same people, and would cost privacy again."
)

# The estimates.
MAP = (
    "Every cell counts the people with these values; the darker, the more people. The last column and the last row are "
    "sums, and (all) in both is how many answered."
)
DISTRIBUTION = (
    "The share of people below each cut point. The band holds at all {many} of them at once, with {level} confidence "
    "(by Bonferroni's inequality). Bins are drawn equally wide."
)
SUMS_AGREE = (
    "Every sum is the sum of its cells as they are estimated, so that the table agrees with itself; its error is "
    "smaller than that of as many separate estimates. A count below 0 is noise around a true count that is 0 or small."
)
TOO_FEW = "too few to say"
SHARES = (
    "A share is of those in the same group. Its interval covers the error of both counts. A group whose count cannot "
    "be told from 0 has no shares, nor has a cell of which every share from 0 to 100 % would be possible: {silent} "
    "here."
)
COVERAGE = (
    "The interval covers the error that the privacy noise adds: with about the stated probability, or a higher "
    "one, the true value among those who answered lies inside it. It does not account for people who did not "
    "answer, or did not answer truthfully. "
)
NEGATIVE = (
    "A count below 0 is not a mistake: it is noise around a true count that is 0 or small. The estimates are "
    "unbiased, which means that they are right on average; setting negative ones to 0 would make totals too large."
)
BELOW_ZERO = "An interval may extend below 0: read that as 0."
TOGETHER = (
    "Of many separate intervals, some will miss. These are wider, so that with the stated probability none of them "
    "misses its true value. Use them to compare values with one another."
)
ALL_AT_ONCE = "Intervals that hold for all values at once"
MEAN_TITLE = (
    "The {label} is estimated at {value}, with a {level} interval of {ends}, on a scale from {lower} to {upper}."
)
ENLARGED = " Below it, the part around the estimate, enlarged."
MARGIN = "± is the distance to the farther end of the {level} interval; ends are rounded outward. "
MORE_IN_CSV = "{number} more, all smaller, are in the CSV file beside this page"
VOTES_DIGEST = (
    "{more}. With that file beside the page, `shuffledp verify` checks this: the SHA-256 of the votes for all "
    "values is {digest}."
)
THIN = "; where none is visible, it is thinner than a line"
BARS_ARE = "{largest}Error bars are {level} intervals, drawn to scale{thin}."
BARS_ARE_FOR_ALL = (
    "{largest}{real}. Error bars are {level} intervals that hold for all {of} at once, drawn to scale{thin}."
)
TOLD = "{told} of them can be distinguished from 0"
NONE_TOLD = "None of them can be distinguished from 0: noise alone would make some as large"

# The certificate and its curve.
SEEDED_CERTIFICATE = "Do not sign: the noise came from a seeded generator, so this certificate does not hold."
STATEMENT = (
    "We certify that, whatever one person’s value is, it changes the probability of any result by at most a factor of "
)
STATEMENT_COVERS = (
    ". This covers everything that the shuffled reports{together} reveal, even to someone who already knows "
    "everybody else’s value."
)
HOLDS_IF = "This holds if"
HOW_TO_READ = (
    "the true ε lies between the two: the upper end is proven for every data set, and some data set is known to "
    "need at least the lower one"
)
READ_IF = (
    "the true ε lies between the two {only}: the upper end then holds for every data set, and some data set is known "
    "to need at least the lower one"
)
HOW_TO_READ_MOST = "the true ε is at most this, proven for every data set; no lower end is claimed"
HONEST_ALL = "all {users}: nobody who reports helps the analyst, and no report is lost"
HONEST = "at least {honest}: up to {others} may help the analyst, or their reports may be lost"
HONEST_OF = "at least {honest}{each}: of the {reported} who reported, {others} may help the analyst"
REPORT_ALONE = "ε₀ = {alone}: {shown}. It is all that protects a person{each} if the shuffler and the analyst collude"
NOTHING_ALONE = "nothing: {shown}, and nothing protects a person{each} if the shuffler and the analyst collude"
BOTH_ENDS = "within the interval: both ends are rounded outward"
UPPER_END = "included: every number is an upper end, rounded up"
SEVERAL_ROUNDS_ERROR = "{safe}, and for several rounds only the safe side of every step is kept"
ONE_ROUND_ERROR = "{safe}, and the theorem’s δ was computed to within a relative error of {error}"
INTEGERS = "{family} ({numbers}). It is drawn with whole numbers, so that no rounding can leak anything: "
FAMILIES = {
    "one of": (
        "one of several levels of coarse and fine bins, drawn at random, and k-ary randomized response about the "
        "value’s run of bins in that level"
    ),
    "krr": (
        "k-ary randomized response: the true value is sent or, with a fixed probability, one drawn at random from "
        "all values"
    ),
    "fakes": ("fakes from users: the true value is sent, and beside it values drawn at random from all, or blanks"),
    "dummies": (
        "dummies from the shuffler: the true value is sent, and the shuffler adds messages of its own for every value"
    ),
    "tree": (
        "dummies from the shuffler in all levels of a tree: the true value is sent coarsely and finely, a message for "
        "each level, and the shuffler adds messages of its own for every node"
    ),
    "hadamard": ("Hadamard response: one index into the value’s row of signs is sent, sometimes a wrong one"),
    "hash": ("local hashing: the value is hashed into one of a few groups, and the group is randomized"),
    "subset": ("subset selection: a set of values is sent that contains the true one more often than any other"),
    "oue": ("optimized unary encoding: one bit per value, each bit randomized"),
    "rappor": ("basic RAPPOR: one bit per value, each bit randomized"),
    "signed": (
        "+1 and −1 messages: whoever holds the value sends +1, and everybody adds a few +1 and −1 at random, and "
        "blanks, so that all send equally many"
    ),
    "split": (
        "split and mix: the number, with its sender’s share of the noise, is cut into random shares, each of which "
        "says nothing; only the sum of everybody’s does"
    ),
}
MORE_INTEGERS = ", and {more} more, in estimates.json"
ONE_POINT = (
    "The certificate is one point of a curve. For a smaller δ, or a smaller ε, the curve shows what the other then "
    "is: the release is the same."
)
SOLID_AND_DASHED = (
    "Solid: δ is at most this. Dashed: δ is at least this. Where only one line is visible, the two differ by less "
    "than its width."
)
SOLID = "δ is at most this."
FAR_ALONE = (
    " One report alone, without the shuffler, guarantees only ε₀ = {alone}, beyond the right end of this figure."
)
ONE_REPORT_ALONE = "one report alone"

# A collection over the network.
COLLECTED = (
    "The answers came over the network. Every device is to randomize its own answer, to seal the report so that only "
    "the analyst’s key opens it, and to send it to a shuffler. The shuffler stores what it cannot read, and is to "
    "release it sorted by its bytes: without senders, without times, and in an order that says nothing. No page can "
    "prove that everybody kept to that."
)
MESSAGES_OF = "{messages} for {people} people"
ARRIVED = "{arrived}, all of them valid"
ARRIVED_SOME_INVALID = (
    "{arrived}, {invalid} of them invalid and left out: those did not open, or held no report of this design"
)
COLLUDING = (
    "A shuffler that keeps to it sees which devices connect, and no report; the analyst sees every report, and no "
    "sender. The two together could trace a report to its sender. So could, from what is published here, a shuffler "
    "that drops the reports of others and puts its own in their place. What would then be left to protect a "
    "person{each} is the noise in the report itself: ε₀ = {alone}, so that {shown}."
)
COLLUDING_TRUTH = (
    "A shuffler that keeps to it sees which devices connect, and no message; the analyst sees every message, and no "
    "sender. The two together could trace a message to its sender. So could, from what is published here, a shuffler "
    "that drops the messages of others and puts its own in their place. Nothing would then be left to protect a "
    "person{each}: {shown}."
)
PINNED = " (the SHA-256 of its collection.json, which every device could compare)"

# People who cheat.
ANY_ESTIMATE = "any of these numbers"
THE_ESTIMATE = "the estimate"
FAKED_WORD = (
    "About {faked_from} malicious people who agree on a word are enough to have it listed, though nobody holds it."
)
ANY_BELOW = "the number of people below any cut point"
SWAYED = "Estimated {name} had they reported honestly: {one} (one person), {some} (1 %)."
SWAY = (
    "A malicious person may send whatever passes for a report, and no protocol that hides who sent what can tell. One "
    "such person could have moved {what} by {one} at most; 1 % of those who {reported} ({some}) by {all} at most. The "
    "intervals do not cover this."
)
UNLIMITED_SWAY = (
    "A malicious person may send whatever passes for a report, and no protocol that hides who sent what can tell. In "
    "this protocol nothing limits how far one such person could have moved {what}. The intervals do not cover this."
)

# Other kinds of trust, the budget, and how to check it all.
TRUST_TITLE = "What other kinds of trust would cost"
NO_GAIN = (
    "The shuffler gains nothing here: the error would be the same if nobody were trusted. The crowd is too small, "
    "or the promise too weak."
)
VERSUS_CURATOR = "{ratio} times as large as"
BUDGET = (
    " together are certified at {spent}, at δ = {delta}: {share} % of the limit. Any release beyond the limit is "
    "refused."
)
SEAL = " The seal of this one in the ledger’s chain of records is "
RECOMPUTE = "Every number above can be computed again from the record inside this page, by slower, independent code:"
VERIFY_LINE = "shuffledp verify page.html"
VERIFY_SAYS = (
    "This needs none of the private data. It says pass or fail, number by number, and lists what no page can prove "
    "about itself: how the noise was drawn, which values were missing, where the categories came from, and "
    "the words of the person who asked."
)
CUT_DESIGN = "... and {number} more, in the record inside this page"
NOT_PRINTED = "{summary}: too long to be printed; open the page to see them."
FOOTER = (
    "Made by shuffledp {version}. This page loads nothing and runs nothing: it can be kept, sent and printed as it is."
)

# A search for frequent words.
FOUND_NONE = "No word was found that enough people hold."
LISTED_WORDS = (
    "With probability {sure}, every listed word is held by at least {least} of the {people} people, and so is every "
    "beginning that was followed: what fewer hold reaches the votes that are needed, at any level, with probability "
    "{error} at most. "
)
COUNTED_WORDS = (
    "Counts are estimates for all {people} people, from the {reports} who were asked at the last level; error bars and "
    "limits are {level} intervals, noise and sampling included, that hold at once for all {counted} words that were "
    "counted, and for all others that might have been counted in their place. "
)
GOES_ON_WORDS = (
    "A word with … at its end stands for all longer words that begin so: more than {longest} symbols were not asked. "
)
ONE_LEVEL = (
    "Each person drew one level, whatever their word is, and was asked at that level alone, with the same noise at "
    "each. So the whole search shows at most what one level does: the first one, with the fewest people that it may "
    "have. What was asked at a level follows from the votes of the levels before it."
)
OWN_LAW = (
    "Each person drew one level, whatever their word is, and was asked at that level alone, with the same noise at "
    "each but the last, where words are counted: more people tell fewer values apart there, and need less noise to "
    "show no more. So the whole search shows at most what one level does: the first one, with the fewest people that "
    "it may have. What was asked at a level follows from the votes of the levels before it."
)
MISSED_WORDS = (
    "A word that {found_from} or more people hold is missed with probability {miss} at most, if it is not crowded out. "
)
MISSED_ANY = "Any word may have been missed: there are too few people. "
