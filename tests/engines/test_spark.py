"""Spark: what it counts is what the library counts, of one drawing that was committed; whatever is
wrong is said in one sentence, and leaves nothing.
"""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.engines import spark, spark_column, spark_commit, spark_session
from shuffledp.engines.batch import ReportTally, added_up
from shuffledp.engines.spark_column import SparkColumn
from shuffledp.engines.spark_commit import Claim, WorkFolder
from shuffledp.errors import InvalidInput
from shuffledp.release.stages import analyse
from shuffledp.tables.cleaning import Cleaning
from shuffledp.tables.counted_reports import read_counted
from shuffledp.tables.values import reader_of
from shuffledp.verify.verification import verify

PEOPLE, PROMISE = 2000, {"epsilon": 1.0, "delta": 1e-5}
WAYS = ("bus", "car", "bike", "feet", "train")
METHODS = ("hadamard", "hash", "subset", "oue")


def poll(method: str = "krr", n: int = PEOPLE, honest: int | None = None) -> Any:
    if method == "krr":
        return Poll("histogram", categories=WAYS, n=n, honest=honest, **PROMISE)
    if method == "mean":
        return Poll("mean", lower=0.0, upper=100.0, n=n, **PROMISE)
    return Poll("histogram", categories=[*WAYS, *map(str, range(60))], n=n, mechanism=method, **PROMISE)


@pytest.fixture(scope="module")
def people(session: Any) -> Any:
    listed = ", ".join(f"'{way}'" for way in WAYS)
    way, age = f"element_at(array({listed}), cast(id % 5 as int) + 1) as way", "cast(id % 90 as double) as age"
    return session.range(PEOPLE, numPartitions=3).selectExpr(way, age, "id as who", "array(id) as many")


def own_tally(design: Any, folder: Path) -> Any:
    return ReportTally.of(design).added(pq.read_table(folder / "reports").to_batches())


@pytest.mark.parametrize("method", ["krr", *METHODS, "mean"])
def test_counts_are_those_of_the_library(
    method: str, session: Any, people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, out = poll(method), tmp_path / "work"
    encoded = spark.encode(people, asked, column="age" if method == "mean" else "way", out=out)
    counted, own = spark.count(session, encoded), own_tally(asked, out)
    assert counted.votes.tolist() == own.numbers.tolist()
    assert counted.reports == own.people == PEOPLE
    assert counted.batches == (encoded.batch,)
    if method == "hadamard":  # long sums are added up by workers
        monkeypatch.setattr(spark_commit, "COLLECTED", 1)  # not one row fits
        assert spark.count(session, encoded).votes.tolist() == own.numbers.tolist()


def test_sums_of_tasks_are_one_row_each(session: Any, people: Any, tmp_path: Path) -> None:
    spark.encode(people, poll("oue"), column="way", out=tmp_path / "work", tallied=True)
    rows = pq.read_table(tmp_path / "work" / "reports")
    assert sorted(rows["partition"].to_pylist()) == [0, 1, 2]
    counted = spark.count(session, tmp_path / "work")
    assert counted.votes.tolist() == added_up(rows.to_batches(), poll("oue").randomizer).numbers.tolist()
    assert (counted.reports, counted.missing, counted.repeated) == (PEOPLE, 0, None)


def test_one_row_for_each_person(session: Any, tmp_path: Path) -> None:
    """Ten persons, of whom one has no value at all, and one only words for it."""
    rows = [(f"p{row % 10}", None if row % 10 == 9 else "n/a" if row % 10 == 8 else WAYS[row % 5]) for row in range(40)]
    table = session.createDataFrame(rows, "who string, way string")
    cleaning = Cleaning(na=("n/a",))
    found = spark.survey(table, column="way", categories=WAYS, ids="who", cleaning=cleaning)
    assert found == (8, 2, 30)
    asked = Poll("histogram", categories=WAYS, n=8, epsilon=5.0, delta=1e-2)
    spark.encode(table, asked, column="way", out=tmp_path / "work", tallied=True, ids="who", cleaning=cleaning)
    counted = spark.count(session, tmp_path / "work")
    assert (counted.reports, counted.missing, counted.repeated) == (8, 2, 30)


@pytest.mark.parametrize("name", ["a.b`c", "id"])
def test_columns_of_any_name(name: str, session: Any, people: Any, tmp_path: Path) -> None:
    table = people.select("way", "who").toDF(name, "the.person")
    assert spark.survey(table, column=name, categories=WAYS, ids="the.person") == (PEOPLE, 0, 0)
    assert spark.survey(table, column=name, categories=WAYS).people == PEOPLE
    for ids in (None, "the.person"):
        out = tmp_path / f"work of {ids}"
        spark.encode(table, poll(), column=name, out=out, tallied=True, ids=ids)
        assert spark.count(session, out).reports == PEOPLE


def test_names_that_differ_in_their_case(session: Any, people: Any, tmp_path: Path) -> None:
    spark.encode(people.select("way", "age").toDF("way", "WAY"), poll(), column="way", out=tmp_path / "work")
    assert spark.count(session, tmp_path / "work").reports == PEOPLE


def test_a_task_that_runs_again_chooses_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Spark would notice other rows than before, and give up."""
    rows = pa.record_batch({"who": ["p", "p", "q"], "way": ["bus", "car", None]})
    reader = reader_of(Design.of(poll()).domain, missing=None, clip=False, cleaning=Cleaning())
    marks, others = (spark_column.Marks("way", "who", reader) for _ in range(2))

    def keys(task: spark_column.Marks, partition: int = 0) -> list[list[int | None]]:
        context = SimpleNamespace(partitionId=lambda: partition)
        monkeypatch.setattr("pyspark.TaskContext.get", lambda: context)
        return [batch["key"].to_pylist() for batch in task([rows, rows])]

    first = keys(marks)
    assert keys(pickle.loads(pickle.dumps(marks))) == first
    assert len({str(each) for each in [*first, *keys(marks, 1), *keys(others)]}) == 6
    assert [each[2] for each in first] == [None, None]


def test_a_survey_counts_values_by_the_rules_of_files(session: Any) -> None:
    table = session.createDataFrame([("Bus ",), ("bus",), (None,), ("?",)], "way string")
    rules = Cleaning(strip=True, ignore_case=True, na=("?",))
    assert spark.survey(table, column="way", categories=WAYS, cleaning=rules) == (2, 2, None)
    assert spark.survey(table, column="way", categories=WAYS, cleaning=rules, missing="none") == (4, 0, None)
    ages = session.createDataFrame([(3.0,), (float("nan"),), (None,)], "age double")
    assert spark.survey(ages, column="age", lower=0, upper=9) == (1, 2, None)


def test_a_release_verifies_and_a_second_start_draws_nothing(session: Any, people: Any, tmp_path: Path) -> None:
    work, asked = tmp_path / "work", poll()
    terms = {"column": "way", "work": work, "ledger": tmp_path / "budget.sqlite", "population": "riders"}
    limits = {"limit_epsilon": 3.0, "limit_delta": 1e-4}
    first = spark.release(people, asked, out=tmp_path / "first", title="How they came", **terms, **limits)
    assert verify((tmp_path / "first" / "page.html").read_text()).verdict == "pass"
    assert sum(row.estimate for row in first.estimates) == pytest.approx(PEOPLE)
    drawn = sorted(path.name for path in (work / "reports").iterdir())
    again = spark.release(people, asked, column="way", work=work)  # not charged: nobody asked for that
    assert [row.estimate for row in again.estimates] == [row.estimate for row in first.estimates]
    assert sorted(path.name for path in (work / "reports").iterdir()) == drawn
    with pytest.raises(InvalidInput, match=r"work' must be the work folder of this question, got that of another\. "):
        spark.release(people, asked, column="way", work=work, missing="bus")
    second = spark.release(people, asked, out=tmp_path / "second", **terms)  # the same multiset, and charged again
    assert [row.estimate for row in second.estimates] == [row.estimate for row in first.estimates]
    assert second.record.ledger is not None
    assert second.record.ledger.releases == 2
    counted = spark.count(session, work, design=asked, out=tmp_path / "counted.json")  # for the analyst
    written = read_counted(tmp_path / "counted.json")
    assert (written.votes.tolist(), written.batches) == (counted.votes.tolist(), counted.batches)
    made = analyse(tmp_path / "counted.json", tmp_path / "third", design=Design.of(asked))
    assert verify((tmp_path / "third" / "page.html").read_text()).verdict == "pass"
    assert made.record.counted.reports == PEOPLE


def test_a_second_start_about_another_table_is_refused(session: Any, people: Any, tmp_path: Path) -> None:
    """Of the same design, column and rules: the counts of others must not be published for it."""
    place, terms = str(tmp_path / "people"), {"column": "way", "work": tmp_path / "work"}
    people.select("way").write.parquet(place)
    read = session.read.parquet
    first = spark.release(read(place), poll(), **terms)
    assert spark.release(read(place), poll(), **terms).record.tally == first.record.tally
    sentence = "must be the work folder of this question about this table, got that of another. Name a new folder"
    assert sentence in refused(lambda: spark.release(read(place).where("way < 'zoo'"), poll(), **terms))
    people.selectExpr("'bus' as way").write.mode("overwrite").parquet(place)
    assert sentence in refused(lambda: spark.release(read(place), poll(), **terms))


def test_what_tells_a_table_from_another(session: Any, tmp_path: Path) -> None:
    """How it is made, to the last column and number; not what Spark happens to count on the way."""
    place = str(tmp_path / "people")
    session.range(3).selectExpr("id as a", "id as b").write.parquet(place)

    def asked(query: str) -> str:
        return SparkColumn(frame=session.sql(query.replace("people", f"parquet.`{place}`")), name="way").fingerprint()

    long = ", ".join(map(str, range(60)))
    different = [
        "select a as way from people",
        "select b as way from people",
        "select a as way from people where a = 1",
        "select a as way from people where b = 1",
        f"select a as way from people where a in ({long}, 60)",
        f"select a as way from people where a in ({long}, 61)",
    ]
    assert len({asked(query) for query in different}) == len(different)
    same = [
        "with c as (select * from people where a > 0) select x.a as way from c x join c y on x.a = y.b",
        "select a as way from people where a > (select avg(b) from people)",
        "select element_at(transform(array(a), x -> x + b), 1) as way from people",
    ]
    assert [asked(query) for query in same] == [asked(query) for query in same]


def test_a_plan_is_numbered_anew() -> None:
    """Also where a subquery and a column have the same number in one session, and not in another."""
    plan = "Project [a#{0}L, lambda x_{3}#{1}]\n:- CTERelationDef {2}\n+- CTERelationRef {2} [a#{0}L, b#{1}]"
    first, second, other = (
        spark_column._steady(plan.format(*numbers)) for numbers in ((7, 8, 7, 1), (0, 3, 5, 2), (7, 7, 7, 1))
    )
    assert first == second != other
    assert spark_column._steady("CollectMetrics m, [n#3L], 47\n+- Range") == spark_column._steady("\n+- Range")


@pytest.mark.parametrize("tallied", [False, True])
def test_reports_that_nobody_commits_are_not_drawn(tallied: bool, people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: Any, **__: Any) -> None:
        raise AssertionError("drawn")

    for module in (spark, spark_commit):
        monkeypatch.setattr(module, "encoded", drawn)
    assert refused(lambda: spark.encode(people, poll(), column="way", ids="who", tallied=tallied)) == (
        "out must be given, got none: reports that are not committed would be drawn anew at every look. Add "
        'out="work", a new folder that all workers share.'
    )


HOSTILE = {
    "spark.sql.files.maxRecordsPerFile": "100",
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
}


def test_settings_of_the_session_do_not_reach_the_commit(session: Any, people: Any, tmp_path: Path) -> None:
    before = {name: session.conf.get(name, None) for name in HOSTILE}
    try:
        for name, value in HOSTILE.items():
            session.conf.set(name, value)
        people.select("way").write.parquet(str(tmp_path / "plain"))  # the control: they reach everybody else
        spark.encode(people, poll(), column="way", out=tmp_path / "work")
        assert session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "100"
    finally:
        for name, value in before.items():
            session.conf.unset(name) if value is None else session.conf.set(name, value)
    plain, ours = tmp_path / "plain", tmp_path / "work" / "reports"
    assert (len([*plain.glob("part-*")]), (plain / "_SUCCESS").exists()) == (21, False)
    assert (len([*ours.glob("part-*")]), (ours / "_SUCCESS").exists()) == (3, True)


def refused(call: Any) -> str:
    with pytest.raises(InvalidInput) as refusal:
        call()
    return str(refusal.value)


def test_what_is_wrong_with_a_frame_is_one_sentence(people: Any, tmp_path: Path) -> None:
    out, asked = tmp_path / "work", poll()

    def encode(frame: Any, column: str, design: Any = asked, **more: Any) -> str:
        return refused(lambda: spark.encode(frame, design, column=column, out=out, **more))

    assert encode(people, "wey") == (
        "column must name a column of the table, got 'wey'. Did you mean 'way'? The columns are 'way', 'age', 'who', "
        "'many'."
    )
    assert encode(people, "many") == (
        "column 'many' must hold text, whole numbers, booleans or dates, got a column of list<element: int64 not "
        "null>. Convert it to text first."
    )
    assert encode(people, "way", poll("mean")) == (
        "column 'way' must hold numbers, got a column of string. Convert it, or count it by category, with a histogram."
    )
    unlisted = encode(people.selectExpr("'boat' as way"), "way")  # a worker finds it, and is tried again in vain
    assert unlisted == (
        "column 'way' must hold only the 5 categories, got 'boat'. Add it to the list, or count such values together: "
        'other="elsewhere".'
    )
    assert encode(people.where("way = 'boat'"), "way") == (
        "column 'way' must hold at least one value, got none. Check that these are the right data."
    )
    assert encode(people.selectExpr("way", "cast(null as string) as who"), "way", ids="who").startswith(
        "ids in the table must name everybody, got "
    )
    assert encode(people, "way", ids="who", keep="first") == (
        "keep must be random on an engine, where no row is the first, got 'first'. Leave it out, or keep one row of "
        "each person before."
    )
    assert encode(people.selectExpr("if(rand() < 0.5, 'bus', 'car') as way"), "way").startswith(
        "frame must be the same however often Spark computes it, got one with a random function"
    )
    assert encode(people.selectExpr("way", "way"), "way") == (
        "column must name one column of the table, got 'way', a name that 2 columns have. Rename them."
    )
    assert encode(people, "way", ids="many").startswith("ids must be numbers or text in UTF-8, got others in a column")
    moments = people.selectExpr("timestamp'2024-01-01' as way", "way as other")
    for terms in ({"column": "way"}, {"column": "other", "ids": "way"}):
        assert encode(moments, **terms) == (
            "column 'way' must hold text, numbers, booleans or dates, got a column of timestamp. Convert it to text "
            "first."
        )
    assert encode(people.toPandas(), "way") == (
        "frame must be a DataFrame of Spark, got a DataFrame. Read it by spark.read.parquet(...)."
    )
    assert not out.exists()  # nothing half written
    empty = people.where("way = 'boat'")
    assert refused(lambda: spark.survey(empty, column="way", categories=WAYS)) == (
        "column 'way' must hold at least one value, got no rows. Check that these are the right data."
    )


def test_a_work_folder_that_cannot_be_had(people: Any, tmp_path: Path) -> None:
    def encode(out: object) -> str:
        return refused(lambda: spark.encode(people, poll(), column="way", out=out))

    (tmp_path / "there").mkdir()
    assert encode(tmp_path / "there").endswith(
        "there' must not exist yet, got a folder that does. Name a new one, or count what it holds."
    )
    assert encode(tmp_path / "no" / "work").endswith(
        f"no/work' must exist, got none. Create it first: mkdir -p {tmp_path}/no"
    )
    assert encode("/proc/work").startswith("'/proc/work' must be writable, got: ")
    assert encode("nowhere://here/work") == (
        "the work folder 'nowhere://here/work' must be within reach, got: No FileSystem for scheme \"nowhere\". Check "
        "its address, and who may write there."
    )
    assert encode("work*").startswith("the work folder must be a path or an address, without any of ")


def test_a_folder_that_was_tampered_with_is_refused(session: Any, people: Any, tmp_path: Path) -> None:
    work, asked = tmp_path / "work", poll()
    spark.encode(people, asked, column="way", out=work)

    def count(**terms: Any) -> str:
        return refused(lambda: spark.count(session, work, **terms))

    assert "must be of the design in design, got another" in count(design=poll(n=PEOPLE + 1))
    assert refused(lambda: spark.count(people, work)).startswith(
        "session must be one of Spark itself, got a DataFrame."
    )
    part = next((work / "reports").glob("part-*"))
    twin = part.with_name(part.name.replace("part-00000", "part-000000").replace("part-00001", "part-000001"))
    twin = twin if twin != part else part.with_name(part.name.replace("part-00002", "part-000002"))
    shutil.copy(part, twin)
    assert "must hold every partition once, got one twice." in count()
    twin.unlink()
    shutil.copy(part, part.with_name(part.name.replace("part-", "another-")))
    assert "must hold the reports of one job, got files of others." in count()
    (work / "reports" / "_SUCCESS").unlink()
    never = "got a folder that was begun and never committed. Delete the folder and start again"
    assert never in count()
    assert "must not exist yet" in refused(lambda: spark.encode(people, asked, column="way", out=work))
    (work / "claim.json").write_text('{"format":"shuffledp-work"}')
    assert "must hold a whole claim.json of this version of shuffledp, got another one. If another version" in count()
    (work / "claim.json").unlink()
    assert "must be a work folder, got none: it holds no claim.json." in count()


def test_a_folder_of_another_version_may_have_been_counted(session: Any, people: Any, tmp_path: Path) -> None:
    """To say that it was not would invite a second drawing for the same people."""
    work = tmp_path / "work"
    spark.release(people, poll(), column="way", work=work)
    claim = json.loads((work / "claim.json").read_text(encoding="utf-8"))
    (work / "claim.json").write_text(json.dumps(claim | {"keyed": False}), encoding="utf-8")
    for ask in (
        lambda: spark.count(session, work),
        lambda: spark.release(people, poll(), column="way", work=work),
    ):
        said = refused(ask)
        assert "count it with that one. If it may have been counted, draw no other reports of these people" in said
        assert "nothing of it was counted" not in said
    assert (work / "reports" / "_SUCCESS").exists()


def test_a_start_over_a_run_that_never_committed_is_refused(people: Any, tmp_path: Path) -> None:
    work, terms = tmp_path / "work", {"column": "way", "work": tmp_path / "work"}
    spark.release(people, poll(), **terms)
    (work / "reports" / "_SUCCESS").unlink()  # as a driver leaves it that is killed
    said = refused(lambda: spark.release(people, poll(), **terms))
    assert "got a folder that was begun and never committed. Delete the folder and start again" in said


def test_sums_that_are_not_one_row_for_each_partition_are_refused(session: Any, people: Any, tmp_path: Path) -> None:
    """Every name is right: what they hold is not."""
    work = tmp_path / "work"
    spark.encode(people, poll(), column="way", out=work, tallied=True)
    first, second, third = sorted((work / "reports").glob("part-*"))
    for sums in (work / "reports").glob(".*.crc"):
        sums.unlink()
    before = second.read_bytes()
    second.write_bytes(first.read_bytes())
    said = refused(lambda: spark.count(session, work))
    assert (
        "must hold one row of sums for every partition, got others. If it may have been counted, draw no other" in said
    )
    second.write_bytes(before)
    assert spark.count(session, work).reports == PEOPLE
    second.unlink()
    said = refused(lambda: spark.count(session, work))
    assert "must hold every partition, got 2 of more. Is it on storage that all workers share?" in said
    assert third.exists()


def test_only_one_of_two_runs_can_claim_a_folder(session: Any, tmp_path: Path) -> None:
    """Both looked when nothing was there."""
    facts = {"design": Design.of(poll()).as_json(), "column": "way", "tallied": True, "ids": None, "rules": {}}
    first, second = Claim(**facts), Claim(**facts)
    WorkFolder(session, tmp_path / "work").begin(first)
    with pytest.raises(InvalidInput):
        WorkFolder(session, tmp_path / "work").begin(second)
    WorkFolder(session, tmp_path / "work").withdraw(second)  # not its own
    assert WorkFolder(session, tmp_path / "work").claim().batch == first.batch


def test_who_loses_patience_leaves_nothing(people: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(spark_commit, "arrow_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spark.encode(people, poll(), column="way", out=tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_settings_that_could_publish_two_attempts_are_refused(session: Any, people: Any, tmp_path: Path) -> None:
    direct = "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol"
    try:
        session.conf.set(spark_session.PROTOCOL, direct)
        said = refused(lambda: spark.encode(people, poll(), column="way", out=tmp_path / "work"))
    finally:
        session.conf.unset(spark_session.PROTOCOL)
    assert said.startswith(f"{spark_session.PROTOCOL} must be Spark's own where reports are drawn, got '{direct}'")
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("name", spark_session.NOTICED)
def test_people_who_would_be_put_elsewhere_again_must_be_noticed(
    name: str, session: Any, people: Any, tmp_path: Path
) -> None:
    try:
        session.conf.set(name, "false")
        said = refused(lambda: spark.encode(people, poll(), column="way", out=tmp_path / "work"))
    finally:
        session.conf.unset(name)
    assert said.startswith(f"{name} must be true where reports are drawn, got false: after a failure, people whom ")
    assert not (tmp_path / "work").exists()


def test_frames_of_which_spark_does_not_notice_it(session: Any, tmp_path: Path) -> None:
    rows = session.sparkContext.parallelize([(1, "bus"), (1, "car")], 2)
    kept = session.createDataFrame(rows.reduceByKey(lambda one, _: one), "who int, way string")
    said = refused(lambda: spark.encode(kept, poll(), column="way", out=tmp_path / "work"))
    assert said.startswith("frame must be computed by Spark's own operators, got one from an RDD with a shuffle, ")


def test_what_a_function_of_the_user_raises_is_said(people: Any, tmp_path: Path) -> None:
    def wrong(_: Any) -> Any:
        raise KeyError("the user's own")

    frame = people.select("way").mapInArrow(wrong, "way string")
    with pytest.raises(spark.EngineFailed, match=r'got: KeyError: "the user\'s own"\. Nothing of it is read'):
        spark.encode(frame, poll(), column="way", out=tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_what_is_no_session(people: Any) -> None:
    for given in (None, people):
        said = refused(lambda given=given: spark.count(given, "work"))
        assert said.startswith("session must be one of Spark itself, got ")


@pytest.mark.parametrize(
    "name, value", [("spark.speculation", "true"), ("spark.hadoop.outputCommitCoordination.enabled", "false")]
)
def test_settings_of_the_cluster_are_refused(name: str, value: str) -> None:
    conf = SimpleNamespace(get=lambda asked, default: value if asked == name else default)
    fake: Any = SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: conf))
    assert refused(lambda: spark_session.check_session(fake)).startswith(f"{name} must be ")


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "pyspark.sql", raising=False)
    assert refused(lambda: spark.encode(object(), poll(), column="way", out="work")) == (  # type: ignore[arg-type]
        "pyspark must be installed for Spark, got no module named pyspark. pip install 'shuffledp[spark]'"
    )


def test_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert refused(spark_session.check_java) == (
        f"Java 17 or later must be installed for Spark, got no program java in JAVA_HOME, '{tmp_path}'. On Debian: apt "
        f"install openjdk-17-jre-headless"
    )
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "got no program java on the PATH." in refused(spark_session.check_java)
    monkeypatch.setenv("JAVA_HOME", "")  # Spark looks on the PATH then
    assert "got no program java on the PATH." in refused(spark_session.check_java)


def test_with_an_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Which ends at once, in a process that has no session."""
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    script = "from shuffledp.engines.spark_session import open_session as o; o('local[1]')"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert said.stderr.strip().endswith(
        "InvalidInput: Java must be 17 or later, and start, for Spark, got one that ended at once: openjdk version "
        '"11.0.2". On Debian: apt install openjdk-17-jre-headless; JAVA_HOME says which one is used.'
    )


@pytest.mark.parametrize("mechanism", ["dummies", "fakes"])
def test_fakes_and_dummies_are_drawn_once_however_often_it_is_started(
    mechanism: str, people: Any, tmp_path: Path
) -> None:
    """The dummies are committed with the sums of one task: a second start finds them there, and the
    ledger knows the drawing again.
    """
    asked = Poll("histogram", mechanism=mechanism, categories=WAYS, n=PEOPLE, **PROMISE)
    first = spark.release(people, asked, column="way", work=tmp_path / "work", out=tmp_path / "first")
    again = spark.release(people, asked, column="way", work=tmp_path / "work")
    assert again.record.tally == first.record.tally
    assert verify((tmp_path / "first" / "page.html").read_text()).verdict == "pass"
    for row in first.estimates:
        assert abs(row.estimate - PEOPLE / len(WAYS)) < 8.0 * row.stderr
    other = spark.release(people, asked, column="way", work=tmp_path / "other")
    assert other.record.tally != first.record.tally
    assert "must be sealed to the analyst" in refused(
        lambda: spark.encode(people, asked, column="way", out=tmp_path / "stored")
    )
