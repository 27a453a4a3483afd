"""shuffledp: certified privacy guarantees in the shuffle model. Start with ``shuffle(randomizer,
n=...)``.

errors       one sentence with a remedy; the tree of everything that can go wrong
judge        the second opinion: exact laws, enumeration, ball arithmetic; independent of the rest
wording      what terminal, page and figures say alike; numbers rounded to the safe side
numerals     numbers as people write them, bounds rounded to the safe side
schema       what a field of a file may hold, said once as its type
storage      whole files or none, and JSON in one spelling
data         a table to try things on
sampling     random words -> exact draws; all tables of noise
randomizers  one report's law: described, drawn, debiased; a file for each family, one for names
accounting   a law -> both ends of epsilon and delta: haystack, reductions, curves, rounds
training     noisy training: random allocation, permuted passes, other samplers
literature   every published bound, one file per paper, beside the truth
workload     which sums of people answer a question
domain       how a value becomes a place: what clients and browsers read of a design
mechanisms   how reports hide, and what is estimated from what arrives
design       the one file that clients, shuffler and analyst share
questions    what can be asked, a folder each; other distributions add theirs
poll         a question, the mechanism that hides its answers, and a target
search       frequent words that were never listed, level by level
planning     every mechanism that answers a question, side by side
testing      the same checks for a class of your own
audits       attacks on running code
figures      drawing, and nothing but drawing
record       a release, typed and versioned: what page, verify and ledger read
tables       columns, values, reports files, external shuffle, tally; no accounting
client       values -> reports, with a law and a sampler and nothing else
ledger       recorded is spent
page         record -> one HTML page
verify       record -> every number computed again, by the judge
release      question + values -> record: from a file, from Python
series       one design, asked every week: paid for in advance, with its trend
engines      the same where the data are: on Spark, on Beam
survey       the same between parties that do not trust each other
papers       the statements, figures and tables of four papers
studio       the planner: a page on this machine that asks the accountant while you move
cli          options, commands, one progress bar
"""

from shuffledp._lazy import lazy

TYPE_CHECKING = False  # typing is not loaded for it: until the command line is there, nobody answers Ctrl-C
if TYPE_CHECKING:
    from shuffledp import engines as engines
    from shuffledp import papers as papers
    from shuffledp import training as training
    from shuffledp.accounting.accountant import Accountant as Accountant
    from shuffledp.accounting.calibration import calibrate as calibrate
    from shuffledp.accounting.curves import Bound as Bound
    from shuffledp.accounting.shuffled import shuffle as shuffle
    from shuffledp.audits import Audit as Audit
    from shuffledp.audits import audit as audit
    from shuffledp.design import Design as Design
    from shuffledp.errors import DoesNotApply as DoesNotApply
    from shuffledp.errors import InvalidInput as InvalidInput
    from shuffledp.errors import ShuffledpError as ShuffledpError
    from shuffledp.literature.comparison import Comparison as Comparison
    from shuffledp.literature.comparison import compare as compare
    from shuffledp.mechanisms.estimate import Estimate as Estimate
    from shuffledp.mechanisms.mechanism import Mechanism as Mechanism
    from shuffledp.planning import plan as plan
    from shuffledp.poll import Poll as Poll
    from shuffledp.questions.count.options import count as count
    from shuffledp.questions.crosstab.options import crosstab as crosstab
    from shuffledp.questions.histogram.options import histogram as histogram
    from shuffledp.questions.mean.options import mean as mean
    from shuffledp.questions.quantile.options import quantile as quantile
    from shuffledp.questions.question import Question as Question
    from shuffledp.questions.sum.options import sum as sum
    from shuffledp.randomizers import BLH as BLH
    from shuffledp.randomizers import KRR as KRR
    from shuffledp.randomizers import OLH as OLH
    from shuffledp.randomizers import OUE as OUE
    from shuffledp.randomizers import RAPPOR as RAPPOR
    from shuffledp.randomizers import RR as RR
    from shuffledp.randomizers import AnyLDP as AnyLDP
    from shuffledp.randomizers import FromMatrix as FromMatrix
    from shuffledp.randomizers import Gaussian as Gaussian
    from shuffledp.randomizers import Hadamard as Hadamard
    from shuffledp.randomizers import Laplace as Laplace
    from shuffledp.randomizers import LocalHash as LocalHash
    from shuffledp.randomizers import Randomizer as Randomizer
    from shuffledp.randomizers import SubsetSelection as SubsetSelection
    from shuffledp.randomizers import Unary as Unary
    from shuffledp.record.record import Record as Record
    from shuffledp.release.released import Release as Release
    from shuffledp.search.options import top as top
    from shuffledp.series.tracking import Series as Series

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "accounting.accountant": "Accountant",
        "accounting.calibration": "calibrate",
        "accounting.curves": "Bound",
        "accounting.shuffled": "shuffle",
        "audits": "Audit audit",
        "design": "Design",
        "engines": "engines",
        "errors": "DoesNotApply InvalidInput ShuffledpError",
        "literature.comparison": "Comparison compare",
        "mechanisms.estimate": "Estimate",
        "mechanisms.mechanism": "Mechanism",
        "papers": "papers",
        "planning": "plan",
        "poll": "Poll",
        "questions.count.options": "count",
        "questions.crosstab.options": "crosstab",
        "questions.histogram.options": "histogram",
        "questions.mean.options": "mean",
        "questions.quantile.options": "quantile",
        "questions.question": "Question",
        "questions.sum.options": "sum",
        "randomizers": (
            "BLH KRR OLH OUE RAPPOR RR AnyLDP FromMatrix "
            "Gaussian Hadamard Laplace LocalHash Randomizer SubsetSelection Unary"
        ),
        "record.record": "Record",
        "release.released": "Release",
        "search.options": "top",
        "series.tracking": "Series",
        "training": "training",
    },
    "__version__",
)
