"""How much may be asked, and how little is remembered of whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey.shuffler.app import MOST_ADDRESSES, Rates, Room, Token, made_token, read_token
from shuffledp.survey.wire import Refused


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_address_has_so_many_requests_and_then_waits() -> None:
    clock = Clock()
    rates = Rates(2.0, 3.0, clock=clock)
    assert [rates.wait("10.0.0.1") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert rates.wait("10.0.0.2") == 0.0, "another address is not held up"
    clock.now += 0.5
    assert [rates.wait("10.0.0.1") for _ in range(2)] == [0.0, 0.5]
    clock.now += 1000
    assert [rates.wait("10.0.0.1") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert Rates(0.0, 0.0).wait("10.0.0.1") == 0.0


def test_a_network_of_one_customer_counts_as_one() -> None:
    rates = Rates(1.0, 1.0, clock=Clock())
    assert rates.wait("2001:db8:1:2::1") == 0.0
    assert rates.wait("2001:db8:1:2:ffff::9") > 0.0
    assert rates.wait("2001:db8:1:3::1") == 0.0
    assert rates.wait("192.0.2.1") == 0.0
    assert rates.wait("::ffff:192.0.2.1") > 0.0
    assert rates.wait("not an address") == 0.0


def test_addresses_are_forgotten_and_never_pile_up() -> None:
    clock = Clock()
    rates = Rates(1.0, 1.0, clock=clock)
    for number in range(1000):
        rates.wait(f"10.0.{number // 256}.{number % 256}")
    assert len(rates) == 1000
    assert not any(b"10.0" in key for key in rates._now), "only hashes"
    for _ in range(2):
        clock.now += 61
        rates.wait("192.0.2.1")
    assert len(rates) <= 2
    other = Rates(1.0, 1.0, clock=clock)
    assert rates._hash("10.0.0.1") != other._hash("10.0.0.1"), "under a key of the process"
    rates._now = dict.fromkeys((b"%d" % number for number in range(MOST_ADDRESSES)), (0.0, clock.now))
    for number in range(10):
        rates.wait(f"10.1.0.{number}")
    assert len(rates) <= MOST_ADDRESSES + 10


def test_uploads_together_have_so_much_room() -> None:
    room = Room(100)
    with room.share("192.0.2.1") as take:
        take(50)
        with room.share("192.0.2.2") as other:
            other(40)
            with room.share("192.0.2.3") as third, pytest.raises(Refused, match="too much to do") as refused:
                third(11)
            assert (refused.value.status, refused.value.wait) == (503, 5)
        assert room.taken == 50
    assert room.taken == 0


@pytest.mark.parametrize("again", ["2001:db8::1", "2001:db8::ffff:1%eth0"])
def test_nobody_takes_all_the_room(again: str) -> None:
    """Bodies that arrive slowly, over many connections of one address, leave half of it to others."""
    room = Room(100)
    with room.share("2001:db8::1") as take, room.share(again) as more, room.share("2001:db8:1::1") as other:
        take(30)
        more(20)
        with pytest.raises(Refused, match="too much to do"):
            more(1)
        other(50)
    assert room.taken == 0
    assert not room._of, "no address is remembered"


def test_a_token_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "token"
    text = made_token(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert made_token(path) == read_token(path) == text
    assert made_token(tmp_path / "other") != text
    token = Token(text)
    assert token.admits(f"Bearer {text}")
    assert token.admits(f"bearer  {text} ")
    for wrong in (None, "", "Bearer", f"Bearer {text[:-1]}", f"Bearer {text}0", text, f"Basic {text}", "Bearer \udcff"):
        assert not token.admits(wrong)
    assert text not in repr(token)
    assert text not in str(vars(token))


def test_of_shufflers_that_start_at_once_all_have_the_token_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    text = made_token(path)
    monkeypatch.setattr("os.path.lexists", lambda _: False)  # as if both had looked before either wrote
    assert made_token(path) == read_token(path) == text


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    made_token(path)
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="readable by its owner alone, got permissions 644"):
        made_token(path)
    path.chmod(0o600)
    for wrong in ("", "abc", "0" * 63, "0" * 65, "Z" * 64):
        path.write_text(wrong)
        with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
            made_token(path)
    with pytest.raises(InvalidInput, match="got none that can be read"):
        read_token(tmp_path / "none")
    with pytest.raises(InvalidInput, match="must exist"):
        made_token(tmp_path / "nowhere" / "token")
