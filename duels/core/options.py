"""Rule options: declared as fields of a game, with their types, limits and text forms.

The command line (`--set life=9/10`), records and error messages use the same text form.

>>> life = Pair(10, 1, 999, "starting life points")
>>> life.read("9/10"), life.read(10), life.show((9, 10)), life.show((10, 10))
((9, 10), (10, 10), '9/10', '10')
"""

from __future__ import annotations

from typing import Any, Generic, SupportsIndex, TypeVar, overload

from duels.core.errors import OptionError, quote

T = TypeVar("T")


class Option(Generic[T]):
    """One rule option. `read` parses text or a value; `show` returns the text of a value."""

    expects = ""

    def __init__(self, default: T, about: str) -> None:
        self.default = default
        self.about = about
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    # Only called for the class: an instance has its own value under the same name.
    @overload
    def __get__(self, game: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, game: object, owner: type) -> T: ...
    def __get__(self, game: object | None, owner: type) -> Any:
        return self

    def read(self, value: object) -> T:
        """Convert a value or its text to the type of the option; `OptionError` if invalid."""
        raise NotImplementedError

    def show(self, value: Any) -> str:
        """The text form of a value, which `read` parses."""
        return str(value)

    def describe(self, value: Any) -> str:
        """The value as part of a sentence."""
        return self.show(value)

    def refuse(self, value: object) -> OptionError:
        """The error for an invalid value, with what was expected."""
        return OptionError(f"{self.name} takes {self.expects}; got {quote(value)}")


def whole_number(value: object, low: int, high: int) -> int | None:
    """Convert a value or text to a whole number; None if it is not one within the bounds."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        number = value.__index__()  # accepts numpy integers too
        return number if low <= number <= high else None
    return None


class Number(Option[int]):
    """A whole number within bounds."""

    def __init__(self, default: int, low: int, high: int, about: str) -> None:
        super().__init__(default, about)
        self.low, self.high = low, high
        self.expects = f"a number from {low} to {high}"

    def read(self, value: object) -> int:
        number = whole_number(value, self.low, self.high)
        if number is None:
            raise self.refuse(value)
        return number


class Pair(Option[tuple[int, int]]):
    """One number for both players, or one each as a handicap."""

    def __init__(self, default: int, low: int, high: int, about: str) -> None:
        super().__init__((default, default), about)
        self.low, self.high = low, high
        self.expects = f"a number from {low} to {high}, or two such as {default - 1}/{default}"

    def read(self, value: object) -> tuple[int, int]:
        parts: list[object]
        if isinstance(value, str):
            parts = list(value.split("/"))
        else:
            parts = list(value) if isinstance(value, tuple | list) else [value]
        numbers = [whole_number(part, self.low, self.high) for part in parts]
        if len(numbers) not in (1, 2) or numbers[0] is None or numbers[-1] is None:
            raise self.refuse(value)
        return numbers[0], numbers[-1]

    def show(self, value: tuple[int, int]) -> str:
        return str(value[0]) if value[0] == value[1] else f"{value[0]}/{value[1]}"

    def describe(self, value: tuple[int, int]) -> str:
        one, two = value
        return str(one) if one == two else f"{one} (Player 1) or {two} (Player 2)"


class Flag(Option[bool]):
    """Yes or no."""

    expects = "yes or no"

    def read(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("yes", "true", "on", "1"):
            return True
        if isinstance(value, str) and value.lower() in ("no", "false", "off", "0"):
            return False
        raise self.refuse(value)

    def show(self, value: bool) -> str:
        return "yes" if value else "no"


class Choice(Option[str]):
    """One of a few words."""

    def __init__(self, *words: str, about: str) -> None:
        super().__init__(words[0], about)
        self.words = words
        self.expects = " or ".join(words)

    def read(self, value: object) -> str:
        if isinstance(value, str) and value.lower() in self.words:
            return value.lower()
        raise self.refuse(value)


class First(Option[int]):
    """The player who moves first: 0 or 1 in code, "1" or "2" as text."""

    expects = "1 or 2"

    def read(self, value: object) -> int:
        if isinstance(value, str):
            number = whole_number(value, 1, 2)
            if number is None:
                raise self.refuse(value)
            return number - 1
        number = whole_number(value, 0, 1)
        if number is None:
            raise OptionError(
                f"{self.name} takes 0 or 1 as a number, '1' or '2' as text; got {quote(value)}"
            )
        return number

    def show(self, value: int) -> str:
        return str(value + 1)
