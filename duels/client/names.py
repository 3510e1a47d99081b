"""Names of players: normalised, visible, and not those of computer players or of the operator.

A name is normalised by NFKC. Its characters are letters, digits, punctuation, symbols and single
spaces. A character that is invisible, controls the direction of text or is not assigned is refused;
variation selectors are removed. Its length is counted in base characters, each with at most
`MOST_MARKS` combining marks. Letters of Latin, Greek, Cyrillic, Armenian and Cherokee, which have
similar shapes, are not mixed in one name. Other scripts may be mixed, as Japanese uses several.

Reserved names and the words of an operator are compared by skeletons. A skeleton has no accents,
spaces and punctuation, and similar characters are replaced by one of them. The table covers Latin
letters beside ASCII, Greek and Cyrillic letters that look like Latin ones, and digits and signs
that stand for letters. It does not cover other scripts.

>>> checked_name("  Ada   Lovelace ")
'Ada Lovelace'
>>> checked_name("P-e-r-f-3-c-t")
Traceback (most recent call last):
duels.core.errors.OptionError: 'P-e-r-f-3-c-t' looks like a reserved name; choose another
>>> checked_name("p\\u0430ypal")
Traceback (most recent call last):
duels.core.errors.OptionError: a name must not mix Latin and Cyrillic letters
>>> blocked = blocking(["rat", "*spam*"])
>>> [is_blocked(name, blocked) for name in ("A rat", "R4T", "Pirate", "My S p a m!")]
[True, True, False, True]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby

from duels.core.errors import OptionError, quote
from duels.players import BUILT_IN, HUMAN

LONGEST_NAME = 24  # base characters
MOST_MARKS = 3  # combining marks of a base character; written languages use up to three
NEVER = r"(?!)"  # a pattern that matches nothing
DELETED = "Deleted player"  # the name of a player whose data was deleted
RESERVED = (
    HUMAN, *BUILT_IN, DELETED, "computer", "player", "player 1", "player 2", "opponent",
    "spectator", "admin", "administrator", "moderator", "operator", "server", "system", "root",
    "staff", "support", "official", "duels",
)  # fmt: skip

# General categories of refused characters: control, format, surrogate, private use, not assigned;
# separators of lines and paragraphs; marks that enclose the previous character.
REFUSED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me")
# Letters, marks and symbols that are not visible.
INVISIBLE = frozenset(map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0xFFFC, 0x1D159)))
VARIATION = re.compile("[\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef]")
SIMILAR_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE")
# The characters that look like a letter or stand for it; first the letter, in lower case.
_SIMILAR = (
    "aαаɑᴀ", "bβвьъƅʙ", "cϲсƈᴄ", "dԁɗđᴅð", "eεеєҽɛᴇ", "fƒғꜰ", "gɡɢǥ", "hһнħʜ", "ilιіıӏɩɪł",
    "jјϳʝᴊ", "kκкƙᴋ", "nηпɴƞ", "oοσоөøɵᴏ", "pρрƿᴘþ", "qԛɋ", "rгяʀɍ", "sѕꜱʂ", "tτтŧᴛ", "uυцʋᴜμ",
    "vνѵᴠ", "xχх", "yγуүʏɏ", "zζʐᴢƶ",
)  # fmt: skip
_DIGITS = ("a4", "b8", "e3", "g9", "i1", "o0", "s5", "t7", "z2")
_SIGNS = ("a@", "c(¢", "e€", "i|!¡", "s$", "t+", "x×", "y¥")
_PAIRS = {"m": "rn", "м": "rn", "ᴍ": "rn", "w": "vv", "ѡ": "vv", "ԝ": "vv", "ω": "vv", "æ": "ae"}
# Capitals that look like other letters than they do in lower case.
_CAPITALS = str.maketrans("ΗΜΝΥ", "hmny")


def _table(*rows: str) -> dict[str, str]:
    return {character: row[0] for row in rows for character in row[1:]}


_LETTERS = str.maketrans(_table(*_SIMILAR, *_DIGITS) | _PAIRS)
_SIGN = str.maketrans(_table(*_SIGNS))


def checked_name(text: object, blocked: re.Pattern[str] | None = None) -> str:
    """A valid name of a player, normalised; `blocked` is the result of `blocked_words`."""
    normal = unicodedata.normalize("NFKC", VARIATION.sub("", text if isinstance(text, str) else ""))
    name = re.sub(" +", " ", normal).strip(" ")
    for character in name:
        refused = unicodedata.category(character) in REFUSED or character in INVISIBLE
        if refused or not character.isprintable():
            raise OptionError(
                "a name may contain printable characters only; "
                f"U+{ord(character):04X} is not allowed"
            )
    marks = [unicodedata.category(character).startswith("M") for character in name]
    if not name or len(name) - sum(marks) > LONGEST_NAME:
        raise OptionError(f"a name must have 1 to {LONGEST_NAME} printable characters")
    if any(mark and (n == 0 or name[n - 1] == " ") for n, mark in enumerate(marks)):
        raise OptionError("a combining mark in a name must follow a letter")
    if any(mark and len(list(run)) > MOST_MARKS for mark, run in groupby(marks)):
        raise OptionError(f"a letter of a name may have at most {MOST_MARKS} combining marks")
    scripts = [script.title() for script in SIMILAR_SCRIPTS if script in _scripts(name)]
    if len(scripts) > 1:
        raise OptionError(f"a name must not mix {scripts[0]} and {scripts[1]} letters")
    if not _RESERVED.isdisjoint(_skeletons(name)):
        raise OptionError(f"{quote(name)} looks like a reserved name; choose another")
    if blocked is not None and is_blocked(name, blocked):
        raise OptionError("this name is not allowed on this server; choose another")
    return name


def _scripts(name: str) -> set[str]:
    """The first words of the Unicode names of the letters, which name their scripts."""
    letters = (character for character in name if character.isalpha())
    return {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}


def skeleton(text: str, signs: bool = True) -> str:
    """A text without accents, spaces and punctuation, and with one character for similar ones.

    With `signs` the signs that stand for letters are replaced, otherwise they are left out.

    >>> skeleton("PÉRFECT") == skeleton("p3rf3ct") == skeleton("\\u0440erfect") == "perfect"
    True
    >>> skeleton("@dm1n!"), skeleton("admin!", signs=False)
    ('adrnini', 'adrnin')
    """
    plain = unicodedata.normalize("NFKD", text).translate(_CAPITALS).casefold()
    plain = unicodedata.normalize("NFKD", plain)
    plain = "".join(c for c in plain if not unicodedata.category(c).startswith("M"))
    if signs:
        plain = plain.translate(_SIGN)
    return "".join(c for c in plain.translate(_LETTERS) if c.isalnum())


def _skeletons(text: str) -> set[str]:
    return {skeleton(text), skeleton(text, signs=False)}


_RESERVED = frozenset(skeleton(name) for name in RESERVED)


def blocking(words: Iterable[str]) -> re.Pattern[str]:
    """The words of an operator as one pattern over skeletons; `*` stands for any characters."""
    parts = [[re.escape(skeleton(part)) for part in word.split("*")] for word in words]
    return re.compile("|".join(".*".join(part) for part in parts) or NEVER)


def is_blocked(name: str, blocked: re.Pattern[str]) -> bool:
    """Whether a name, or one of its words, matches a pattern of an operator."""
    found = {text for part in (name, *name.split(" ")) for text in _skeletons(part)}
    return any(blocked.fullmatch(text) for text in found)


def blocked_words(path: str) -> re.Pattern[str]:
    """The pattern of a file of words: one in each line, a comment after `#`."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.partition("#")[0].strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise OptionError(f"{path} cannot be read: {reason}") from None
    for number, line in enumerate(lines, 1):
        if line and not skeleton(line.replace("*", "")):  # it would match every name, or none
            raise OptionError(f"{path}, line {number}: expected a word; got {quote(line)}")
    return blocking(filter(None, lines))
