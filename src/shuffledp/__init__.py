"""shuffledp: certified privacy guarantees in the shuffle model. Start with ``shuffle(randomizer,
n=...)``.

errors       what can go wrong, what may be asked, and the checks that say so
wording      what terminal, page and figures say alike
storage      whole files or none, and JSON in one spelling
data         a table to try things on
sampling     random words -> exact draws
randomizers  one report's law
accounting   a law -> both ends of epsilon and delta
literature   every published bound, and brute force that judges everything
protocols    a question, its randomizer, its estimator
testing      checks for a class of one's own
audits       attacks on running code
figures      drawing
collection   from data to a defended answer
engines      the same on Spark and Beam: a door to ``collection.engines``
papers       figures, tables and errata of four papers
studio       the planner: a page on this machine that asks the accountant while you move
cli          the command ``shuffledp``
"""

from shuffledp._lazy import lazy

TYPE_CHECKING = False  # typing is not loaded for it: until the command line is there, nobody answers Ctrl-C
if TYPE_CHECKING:
    from shuffledp import engines, papers
    from shuffledp.accounting.accountant import Accountant
    from shuffledp.accounting.calibration import Calibration, calibrate
    from shuffledp.accounting.curves import Bound
    from shuffledp.accounting.groups import shuffle_groups
    from shuffledp.accounting.mechanism import shuffle
    from shuffledp.accounting.threshold import SampleAndThreshold
    from shuffledp.accounting.training import RandomAllocation
    from shuffledp.accounting.training_plan import calibrate_training
    from shuffledp.audits import Audit, audit
    from shuffledp.collection.door import count, crosstab, frequency, histogram, mean, quantile, sum, top
    from shuffledp.collection.release.released import Release
    from shuffledp.collection.tracking import Series
    from shuffledp.errors import DoesNotApply, InvalidInput, ShuffledpError
    from shuffledp.literature.comparison import Comparison, compare
    from shuffledp.protocols import (
        BallsAndBins,
        CentralHistogram,
        CentralMean,
        CentralSum,
        Crosstab,
        DummyHistogram,
        Estimate,
        FakesHistogram,
        Frequency,
        Histogram,
        LocalHistogram,
        LocalMean,
        Mean,
        Quantiles,
        ShuffledSGD,
        SignedCount,
        SplitMean,
        SplitSum,
        StatisticalQuery,
        Sum,
    )
    from shuffledp.protocols.planning import plan
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
    "CentralHistogram",
    "CentralMean",
    "CentralSum",
    "CheckIn",
    "Comparison",
    "Crosstab",
    "DoesNotApply",
    "DummyHistogram",
    "Estimate",
    "FakesHistogram",
    "FiniteRandomizer",
    "Frequency",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "Histogram",
    "InvalidInput",
    "Laplace",
    "LocalHash",
    "LocalHistogram",
    "LocalMean",
    "Mean",
    "OneOf",
    "Quantiles",
    "RandomAllocation",
    "Randomizer",
    "Release",
    "SampleAndThreshold",
    "Series",
    "ShuffledSGD",
    "ShuffledpError",
    "ShufflerDummies",
    "SignedCount",
    "SignedUnits",
    "SplitMean",
    "SplitShares",
    "SplitSum",
    "StatisticalQuery",
    "SubsetSelection",
    "Sum",
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
    "frequency",
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
        "collection.door": "count crosstab frequency histogram mean quantile sum top",
        "collection.release.released": "Release",
        "collection.tracking": "Series",
        "accounting.calibration": "Calibration calibrate",
        "literature.comparison": "Comparison compare",
        "errors": "DoesNotApply InvalidInput ShuffledpError",
        "accounting.accountant": "Accountant",
        "accounting.mechanism": "shuffle",
        "accounting.groups": "shuffle_groups",
        "accounting.threshold": "SampleAndThreshold",
        "accounting.training": "RandomAllocation",
        "accounting.training_plan": "calibrate_training",
        "accounting.curves": "Bound",
        "protocols": (
            "BallsAndBins CentralHistogram CentralMean CentralSum Crosstab DummyHistogram Estimate "
            "FakesHistogram Frequency Histogram LocalHistogram LocalMean Mean Quantiles ShuffledSGD "
            "SignedCount SplitMean SplitSum StatisticalQuery Sum plan"
        ),
        "randomizers": (
            "AllOf AnyDeletionLDP AnyLDP BLH CheckIn FiniteRandomizer FromMatrix Gaussian Hadamard KRR "
            "Laplace LocalHash OLH OUE OneOf RAPPOR RR Randomizer ShufflerDummies SignedUnits SplitShares "
            "SubsetSelection TreeDummies Unary UserFakes"
        ),
    },
)
