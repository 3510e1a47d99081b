"""Names of players are normalised and visible, and imitate no reserved name."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from hypothesis import given
from hypothesis import strategies as st

from duels.client.names import (
    _DIGITS,
    _SIGNS,
    _SIMILAR,
    LONGEST_NAME,
    MOST_MARKS,
    RESERVED,
    blocked_words,
    checked_name,
    skeleton,
)
from duels.core import Match
from duels.core.errors import OptionError
from duels.games import load
from tests.server.server import QUICK, run, served

ANY = st.text(st.characters(codec="utf-8"), max_size=40)
LIKE: dict[str, str] = {}
for row in (*_SIMILAR, *_DIGITS, *_SIGNS):
    LIKE[row[0]] = LIKE.get(row[0], row[0]) + row[1:]


@given(ANY)
def test_an_accepted_name_is_in_normal_form_visible_and_bounded(text: str) -> None:
    with suppress(OptionError):
        name = checked_name(text)
        assert checked_name(name) == name == unicodedata.normalize("NFKC", name)
        kinds = [unicodedata.category(character) for character in name]
        assert not {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me"} & {*kinds}
        assert 1 <= sum(not kind.startswith("M") for kind in kinds) <= LONGEST_NAME
        assert len(name) <= LONGEST_NAME * (1 + MOST_MARKS)
        assert not kinds[0].startswith("M")
        assert name == name.strip()
        assert "  " not in name
        Match(load("digit-duel"), seed=1, players=(name, name))  # a record can contain it


@given(st.sampled_from(RESERVED), st.data())
def test_reserved_names_are_refused_in_similar_characters(name: str, data: st.DataObject) -> None:
    written = ""
    for character in name.lower():
        if character == " ":
            written += data.draw(st.sampled_from(("", " ", "-", "_")))
            continue
        similar = data.draw(st.sampled_from(LIKE.get(character, character)))
        accent = data.draw(st.sampled_from(("", "\u0301", "\u0308")))
        written += (similar.upper() if data.draw(st.booleans()) else similar) + accent
        written += data.draw(st.sampled_from(("", "", ".", " ")))
    with pytest.raises(OptionError):
        checked_name(written)


@given(st.text("αβγδабвгabcdאבגあア漢", min_size=1, max_size=12))
def test_similar_scripts_are_not_mixed(text: str) -> None:
    ranges = ("abcd", "αβγδ", "абвг")
    mixed = sum(any(c in letters for c in text) for letters in ranges) > 1
    if mixed:
        with pytest.raises(OptionError, match="must not mix"):
            checked_name(text)
    else:
        assert checked_name(text) == text


@given(ANY, ANY)
def test_equal_skeletons_do_not_depend_on_case_spaces_or_accents(one: str, two: str) -> None:
    joined = unicodedata.normalize("NFD", f"{one} {two}")
    assert skeleton(joined) == skeleton(skeleton(one) + skeleton(two))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a\u200bb", r"U\+200B"),  # zero-width space
        ("a\u202eb", r"U\+202E"),  # text from right to left
        ("a\u2066b", r"U\+2066"),
        ("a\ufeffb", r"U\+FEFF"),
        ("a\u00adb", r"U\+00AD"),  # soft hyphen
        ("a\u3164b", r"U\+1160"),  # Hangul filler, after normalisation
        ("a\u2800b", r"U\+2800"),  # empty braille cell
        ("a\u1680b", r"U\+1680"),  # the space of Ogham
        ("a\U000e0041b", r"U\+E0041"),  # tag
        ("a\x00b", r"U\+0000"),
        ("\u0301a", "combining mark in a name must follow a letter"),
        ("Z" + "\u0334" * 4, "at most 3 combining marks"),
        ("", "1 to 24"),
        ("\u3000 \u00a0", "1 to 24"),
        ("x" * 25, "1 to 24"),
        (None, "1 to 24"),
        ("Player l", "reserved"),
        ("АDМIN", "mix"),
        ("ＰＥＲＦＥＣＴ", "reserved"),
        ("𝓅𝑒𝓇𝒻𝑒𝒸𝓉", "reserved"),
        ("сервер", None),
        ("perfect!", "reserved"),
        ("Deleted Player", "reserved"),
        ("Perfectionist", None),
        ("Łukasz", None),
        ("Nguyễn", None),
        ("ผู้เล่น", None),
        ("राम", None),
        ("さくらSakura", None),
        ("Ада", None),
        ("❤\ufe0f Ada", None),
        ("é" * 24, None),
    ],
)
def test_names_one_by_one(given: object, reason: str | None) -> None:
    if reason is None:
        checked_name(given)
    else:
        with pytest.raises(OptionError, match=reason):
            checked_name(given)


def test_the_words_of_an_operator_are_refused_by_the_server(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("# names\nrat\n*spam*   # anywhere\n\n", encoding="utf-8")

    async def test() -> None:
        async with served(QUICK, blocked_words=str(words)) as server:
            ada = server.person()

            async def rename(name: str) -> tuple[int, str]:
                done = await ada.http.put("/api/me", headers=ada.headers, json={"name": name})
                return done.status_code, done.text

            for name in ("Rat", "R@T", "big rat", "5p4mmer", "S.p.a.m"):
                status, text = await rename(name)
                assert status == 400
                assert "not allowed on this server" in text
                assert name not in text
            for name in ("Pirate", "Ada"):
                assert (await rename(name))[0] == 200

    run(test)


def test_a_file_of_words_is_checked_when_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be read"):
        blocked_words(str(tmp_path / "none"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match="not UTF-8"):
        blocked_words(str(tmp_path / "binary"))
    (tmp_path / "all").write_text("word\n*\n", encoding="utf-8")
    with pytest.raises(OptionError, match="line 2"):
        blocked_words(str(tmp_path / "all"))
