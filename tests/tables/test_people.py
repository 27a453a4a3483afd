"""One row for each person: found whatever the memory, fair where it is drawn, and no id is taken
for another.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.questions.histogram.options import histogram
from shuffledp.sampling import SeededSource
from shuffledp.schema import Keep
from shuffledp.tables.columns import open_column
from shuffledp.tables.memory import held_table
from shuffledp.tables.people import Chosen, Persons, SeveralRows, names_people
from shuffledp.tables.values import Numbers, Places, read
from tests.sampling.enumerated import laws
from tests.tables.tables import FORMATS, Write

ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "a\0", "x" * 16, "x" * 17, "x" * 16 + "\0", "é" * 40]), st.booleans()),
    max_size=40,
)


def chosen(
    rows: list[tuple[str, bool]], keep: Keep, *, memory: int = 1 << 20, cuts: int = 1, rng: object = None
) -> Chosen:
    with Persons(memory=memory) as persons:
        for part in np.array_split(np.arange(len(rows)), cuts):
            ids, present = [rows[i][0] for i in part], [rows[i][1] for i in part]
            persons.add(pa.array(ids, pa.string()), np.array(present, dtype=np.bool_), "a table")
        return persons.choose(keep, rng=rng)  # type: ignore[arg-type]


@given(rows=ROWS, memory=st.sampled_from([64, 500, 1 << 20]), cuts=st.integers(1, 4))
def test_the_first_row_with_a_value_is_what_a_loop_would_find(
    rows: list[tuple[str, bool]], memory: int, cuts: int
) -> None:
    """Also where one id is the beginning of another, or fills a block of the cipher."""
    taken, expected = set[str](), []
    for who, present in rows:
        expected.append(present and who not in taken)
        if present:
            taken.add(who)
    found = chosen(rows, "first", memory=memory, cuts=cuts)
    assert found.kept.tolist() == expected
    assert (found.people, found.absent) == (len({who for who, _ in rows}), len({who for who, _ in rows} - taken))


@given(rows=ROWS, memory=st.sampled_from([64, 1 << 20]))
def test_a_random_row_is_one_of_the_persons_own(rows: list[tuple[str, bool]], memory: int) -> None:
    found = chosen(rows, "random", memory=memory)
    kept = [rows[i] for i in np.flatnonzero(found.kept)]
    assert sorted(who for who, _ in kept) == sorted({who for who, present in rows if present})
    assert all(present for _, present in kept)


def test_every_row_of_a_person_has_exactly_the_same_probability() -> None:
    """Two rows of one person, and one without a value; three rows of another: one coin, and one
    word from each third of all words.
    """
    rows = [("a", True), ("b", True), ("a", False), ("b", True), ("a", True), ("b", True)]
    words = {"u1": [0, 1], "u2": [10_000, 30_000, 50_000]}
    law, left = laws(
        lambda source: tuple(np.flatnonzero(chosen(rows, "random", rng=source).kept).tolist()), words, most_words=4
    )
    assert law == {tuple(sorted((a, b))): Fraction(1, 6) for a in (0, 4) for b in (1, 3, 5)}
    assert left == 0
    drawn = Counter(tuple(np.flatnonzero(chosen(rows, "random").kept).tolist()) for _ in range(1200))
    assert set(drawn) == set(law)
    assert min(drawn.values()) > 130  # of 200; nine standard deviations of the mean would be 75


def test_ids_of_many_people_are_told_apart_and_found_again() -> None:
    rng = np.random.default_rng(6)
    numbers = rng.integers(0, 200_000, 300_000)
    ids = pa.array([f"person-{number:x}@example.org" for number in numbers.tolist()])
    with Persons(memory=1 << 22) as persons:
        persons.add(ids, None, "a table")
        found = persons.choose("first")
        again = persons.repeated()
    _, firsts = np.unique(numbers, return_index=True)
    assert np.array_equal(np.flatnonzero(found.kept), np.sort(firsts))
    assert np.array_equal(again, np.setdiff1d(np.arange(len(numbers)), firsts))


def test_fingerprints_name_nobody_and_differ_from_run_to_run() -> None:
    ids = pa.array(["ada", "bob"])
    with Persons() as one, Persons() as other:
        for each in (one, other):
            each.add(ids, None, "a table")
        (mine,), (theirs,) = one._spool.blocks(), other._spool.blocks()
    assert not np.array_equal(mine, theirs)
    assert b"ada" not in mine.tobytes()


@pytest.mark.parametrize("write", FORMATS)
def test_a_column_is_read_with_one_row_of_each_person(tmp_path: Path, write: Write) -> None:
    table = pa.table(
        {
            "city": ["A", "B", "A", None, "B", None],
            "who": ["x", "x", "y", "y", "z", "w"],
            "age": [1.0, 2.0, 3.0, None, 5.0, None],
        }
    )
    write(tmp_path / "table", table)
    with read(open_column(str(tmp_path / "table"), "city", kind="text", ids="who"), Places(("A", "B"))) as values:
        assert np.concatenate(list(values.chunks())).tolist() == [0, 0, 1]
        assert (values.count, values.missing, values.repeated) == (3, 1, 2)
    with read(
        open_column(str(tmp_path / "table"), "age", kind="number", ids="who"), Numbers(0.0, 9.0), keep="random"
    ) as values:
        assert np.concatenate(list(values.chunks())).tolist() in ([1.0, 3.0, 5.0], [2.0, 3.0, 5.0])
    with read(open_column(str(tmp_path / "table"), "city", kind="text"), Places(("A", "B"))) as values:
        assert (values.count, values.missing, values.repeated) == (4, 2, None)


def test_rows_without_an_id_are_refused(tmp_path: Path) -> None:
    FORMATS[2](tmp_path / "table", pa.table({"city": ["A", "B", "A"], "who": ["x", None, None]}))
    with pytest.raises(InvalidInput, match=r"ids in .* must name everybody, got 2 rows without one"):
        read(open_column(str(tmp_path / "table"), "city", kind="text", ids="who"), Places(("A", "B")))
    (tmp_path / "t.csv").write_text("age,who\n1,x\n2,\n3,\n")
    with pytest.raises(InvalidInput, match=r"got 2 rows without one"):
        read(open_column(str(tmp_path / "t.csv"), "age", kind="number", ids="who"), Numbers(0.0, 9.0))
    with pytest.raises(InvalidInput, match=r"ids in a table must have at most 1,024 bytes, got one of 5,000"):
        chosen([("a" * 5000, True)], "first")
    with pytest.raises(InvalidInput, match="keep must be one of first, random"):
        chosen([("a", True)], "last")  # type: ignore[arg-type]
    assert chosen([("a", True), ("a", True)], "random", rng=SeededSource(np.random.default_rng(1))).kept.sum() == 1


@pytest.mark.parametrize("write", FORMATS)
def test_a_column_that_is_named_like_an_id_must_not_repeat(tmp_path: Path, write: Write) -> None:
    def people(**other: list[object]) -> int:
        write(tmp_path / "table", pa.table({"city": ["A", "B", "A", "B"], **other}))
        with read(open_column(str(tmp_path / "table"), "city", kind="text"), Places(("A", "B"))) as values:
            return values.count

    assert people(user=["x", "y", "z", "X"], product_id=[1, 1, 1, 2], e_mail=["a", None, None, "b"]) == 4
    assert people(member=["yes", "no", "No", "yes"]) == 4  # whether, not who
    with pytest.raises(InvalidInput, match=r"got 3 different values in 4 rows of column 'User ID'"):
        people(**{"User ID": [1, 2, 3, 1]})


def test_which_names_say_whose_row_it_is() -> None:
    who = "id|ID|userId|User #|cust_id|emp_no|user_id_hash|customer_unique_id|anon_id|id_user|reviewerID|E-Mail|ssn"
    what = "paid|valid|video|Customer type|user_type|product_id|order id|survey_id|household_id|case|subject|Name|acct"
    assert [name for name in who.split("|") if not names_people(name)] == []
    assert [name for name in what.split("|") if names_people(name)] == []


def test_an_id_that_comes_again_in_a_later_part_is_found_and_none_is_taken_for_another() -> None:
    with SeveralRows(["user"], "a table") as several:
        for part in range(3):
            several.add("user", pa.array([f"u{i}" for i in range(1000 * part, 1000 * part + 1000)]))
            several.check()
        several.add("user", pa.array(["new", "u17"]))
        with pytest.raises(InvalidInput, match=r"got 3,001 different values in 3,002 rows of column 'user'"):
            several.check()
    frame = {"user": [1, 1, 2], "city": ["A", "B", "A"]}
    with pytest.raises(InvalidInput, match=r"Add ids with the column .*, or one_row_per_person=True if"):
        histogram(pa.table(frame), "city", categories=["A", "B"], epsilon=1.0, delta=1e-2)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2), pa.dictionary(pa.int8(), pa.binary())])
def test_an_id_that_is_no_utf_8_hides_no_other_id_and_is_one_itself(tmp_path: Path, kind: pa.DataType) -> None:
    for again in (b"aa", b"\xff\xfe"):
        with SeveralRows(["User ID"], "a table") as several:
            several.add("User ID", pa.array([b"bb", b"cc"]))
            several.add("User ID", pa.array([b"\xff\xfe", b"aa", None, None], pa.binary()).cast(kind))
            several.check()
            several.add("User ID", pa.array([again, b"dd"]))
            with pytest.raises(InvalidInput, match=r"got 5 different values in 6 rows of column 'User ID'"):
                several.check()
    (tmp_path / "t.csv").write_bytes(b"answer,User ID\nyes,\xff\nno,a\nyes,a\nno,b\nyes,b\nno,c\n")
    with pytest.raises(InvalidInput, match=r"got 4 different values in 6 rows of column 'User ID'"):
        read(open_column(str(tmp_path / "t.csv"), "answer", kind="text"), Places(("yes", "no")))


def test_two_columns_of_one_name_that_is_like_an_id_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("answer,id,id,x,x\nyes,1,1,1,1\nno,1,2,1,1\n")
    with pytest.raises(InvalidInput, match=r"got 2 columns of the name 'id', which .* one_row_per_person=True"):
        open_column(str(tmp_path / "t.csv"), "answer", kind="text")
    alone = open_column(str(tmp_path / "t.csv"), "answer", kind="text", one_row_per_person=True)
    with read(alone, Places(("yes", "no"))) as values:
        assert values.count == 2


@pytest.mark.parametrize("write", FORMATS[2:])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.dictionary(pa.int8(), pa.float64())])
def test_nan_is_a_missing_id(tmp_path: Path, write: Write, kind: pa.DataType) -> None:
    ids = pa.array([1.0, float("nan"), float("nan"), None])
    coded = ids.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else ids.cast(kind)
    write(tmp_path / "table", pa.table({"city": ["A", "B", "A", "B"], "user": coded}))
    with read(open_column(str(tmp_path / "table"), "city", kind="text"), Places(("A", "B"))) as values:
        assert values.count == 4
    with pytest.raises(InvalidInput, match=r"must name everybody, got 3 rows without one"):
        read(open_column(str(tmp_path / "table"), "city", kind="text", ids="user"), Places(("A", "B")))


def test_what_a_column_that_nobody_asks_about_holds_is_no_reason_to_refuse_the_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"answer,user\nyes,\xff\nno,\xfe\n")
    for source, name in ((str(tmp_path / "t.csv"), "answer"), (odd_frame(), "answer")):
        data = source if isinstance(source, str) else held_table(source)
        with read(open_column(data, name, kind="text"), Places(("yes", "no"))) as values:
            assert values.count == 2


def odd_frame() -> pandas.DataFrame:
    return pandas.DataFrame({"answer": ["yes", "no"], "user": [{1: 2}, "x"]})
