"""shuffledp: certified privacy guarantees in the shuffle model. Start with ``shuffle(randomizer,
n=...)``.

errors       one sentence with a remedy; the tree of everything that can go wrong
choices      which row, which format, which scale: words that several packages take
judge        the second opinion: exact laws, enumeration, ball arithmetic; independent of the rest
wording      what terminal, page and figures say alike; numbers rounded to the safe side
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
    from shuffledp import engines, papers
    from shuffledp.accounting.accountant import Accountant
    from shuffledp.accounting.calibration import Calibration, calibrate
    from shuffledp.accounting.curves import Bound
    from shuffledp.accounting.groups import shuffle_groups
    from shuffledp.accounting.shuffled import shuffle
    from shuffledp.accounting.threshold import SampleAndThreshold
    from shuffledp.audits import Audit, audit
    from shuffledp.errors import DoesNotApply, InvalidInput, ShuffledpError
    from shuffledp.literature.comparison import Comparison, compare
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.planning import plan
    from shuffledp.poll import Poll
    from shuffledp.questions.count.options import count
    from shuffledp.questions.crosstab.options import crosstab
    from shuffledp.questions.histogram.options import histogram
    from shuffledp.questions.mean.options import mean
    from shuffledp.questions.quantile.options import quantile
    from shuffledp.questions.sum.options import sum
    from shuffledp.randomizers import (
        BLH,
        KRR,
        OLH,
        OUE,
        RAPPOR,
        RR,
        AllOf,
        AnyDeletionLDP,
        AnyLDP,
        CheckIn,
        FiniteRandomizer,
        FromMatrix,
        Gaussian,
        Hadamard,
        Laplace,
        LocalHash,
        OneOf,
        Randomizer,
        ShufflerDummies,
        SignedUnits,
        SplitShares,
        SubsetSelection,
        TreeDummies,
        Unary,
        UserFakes,
    )
    from shuffledp.release.released import Release
    from shuffledp.search.options import top
    from shuffledp.series.tracking import Series
    from shuffledp.training import RandomAllocation
    from shuffledp.training.calibration import calibrate_training
    from shuffledp.training.descent import BallsAndBins, ShuffledSGD

__version__ = "0.1.0"

__all__ = [
    "BLH",
    "KRR",
    "OLH",
    "OUE",
    "RAPPOR",
    "RR",
    "Accountant",
    "AllOf",
    "AnyDeletionLDP",
    "AnyLDP",
    "Audit",
    "BallsAndBins",
    "Bound",
    "Calibration",
    "CheckIn",
    "Comparison",
    "DoesNotApply",
    "Estimate",
    "FiniteRandomizer",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "InvalidInput",
    "Laplace",
    "LocalHash",
    "OneOf",
    "Poll",
    "RandomAllocation",
    "Randomizer",
    "Release",
    "SampleAndThreshold",
    "Series",
    "ShuffledSGD",
    "ShuffledpError",
    "ShufflerDummies",
    "SignedUnits",
    "SplitShares",
    "SubsetSelection",
    "TreeDummies",
    "Unary",
    "UserFakes",
    "__version__",
    "audit",
    "calibrate",
    "calibrate_training",
    "compare",
    "count",
    "crosstab",
    "engines",
    "histogram",
    "mean",
    "papers",
    "plan",
    "quantile",
    "shuffle",
    "shuffle_groups",
    "sum",
    "top",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "engines": "engines",
        "papers": "papers",
        "audits": "Audit audit",
        "questions.count.options": "count",
        "questions.crosstab.options": "crosstab",
        "questions.histogram.options": "histogram",
        "questions.mean.options": "mean",
        "questions.quantile.options": "quantile",
        "questions.sum.options": "sum",
        "search.options": "top",
        "release.released": "Release",
        "series.tracking": "Series",
        "accounting.calibration": "Calibration calibrate",
        "literature.comparison": "Comparison compare",
        "errors": "DoesNotApply InvalidInput ShuffledpError",
        "accounting.accountant": "Accountant",
        "accounting.shuffled": "shuffle",
        "accounting.groups": "shuffle_groups",
        "accounting.threshold": "SampleAndThreshold",
        "training": "RandomAllocation",
        "training.descent": "BallsAndBins ShuffledSGD",
        "training.calibration": "calibrate_training",
        "accounting.curves": "Bound",
        "mechanisms.estimate": "Estimate",
        "planning": "plan",
        "poll": "Poll",
        "randomizers": (
            "AllOf AnyDeletionLDP AnyLDP BLH CheckIn FiniteRandomizer FromMatrix Gaussian Hadamard KRR "
            "Laplace LocalHash OLH OUE OneOf RAPPOR RR Randomizer ShufflerDummies SignedUnits SplitShares "
            "SubsetSelection TreeDummies Unary UserFakes"
        ),
    },
)
