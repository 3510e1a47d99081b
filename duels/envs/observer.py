"""What OpenSpiel is shown of a position: strings and tensors, as one viewer may know them."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from duels.core.game import HIDDEN
from duels.envs.coding import Coding, np
from duels.envs.extras import need
from duels.envs.position import Position, told_as

pyspiel: Any = need("pyspiel", extra="openspiel")

OWN, OTHER, CHANCE = 1, 2, 3  # who did it, in the tensor of a history
SINGLE, NONE = pyspiel.PrivateInfoType.SINGLE_PLAYER, pyspiel.PrivateInfoType.NONE


class Observer:
    """One kind of observation. With perfect recall it holds all that the player has seen."""

    def __init__(self, coding: Coding, slots: int, kind: Any) -> None:
        self.coding = coding
        self.recall = kind.perfect_recall
        self.public = kind.public_info
        self.private = kind.private_info
        if self.private not in (SINGLE, NONE):
            raise ValueError(
                "an observation is one player's or everyone's, not all players' at once"
            )
        self.slots = slots if self.recall else 0
        pieces: dict[str, tuple[int, ...]] = {"player": (2,)} if self.private == SINGLE else {}
        if self.public or (self.private == SINGLE and coding.game.private):
            pieces["observation"] = (len(coding.features),)
        if self.public and self.recall:
            pieces["history"] = (slots, 2)
        sizes = {name: int(np.prod(shape)) for name, shape in pieces.items()}
        self.tensor = np.zeros(sum(sizes.values()), np.float32)
        self.dict = {}
        at = 0
        for name, shape in pieces.items():
            self.dict[name] = self.tensor[at : at + sizes[name]].reshape(shape)
            at += sizes[name]

    def set_from(self, state: Any, player: int) -> None:
        """Write what a player knows into the tensor."""
        self.tensor.fill(0)
        # At the root, OpenSpiel asks for the shape with a player that is none.
        seat = max(0, player)
        if "player" in self.dict:
            self.dict["player"][seat] = 1
        position: Position = state.position
        if "observation" in self.dict:
            self.dict["observation"][:] = self._numbers(position, seat)
        if "history" in self.dict:
            self._write_history(position, seat if self.private == SINGLE else None)

    def _numbers(self, position: Position, seat: int) -> Any:
        """What the player sees, what all see as Player 1 would number it, or what all do not."""
        if self.public and self.private == SINGLE:
            return position.node.observation(seat)
        game, now = self.coding.game, position.node.state
        if self.public:
            return game.encode(game.observe(now, None), 0)
        open_to_all = game.encode(game.observe(now, None), seat)
        return position.node.observation(seat) - np.array(open_to_all)

    def _write_history(self, position: Position, player: int | None) -> None:
        numbers = [
            (_who(who, player or 0), self._what(who, what))
            for step in position.path()
            for who, what in told_as(step.redact(player))
        ]
        if len(numbers) > self.slots:
            raise ValueError(f"the history has more than {self.slots} entries")
        if numbers:
            self.dict["history"][: len(numbers)] = numbers

    def _what(self, who: str, what: str) -> int:
        """A number for what was seen: a move's index plus 1, 0 for what is hidden.

        Chance outcomes, and moves seen in part, have the number that they say or else one made of
        their text. All are whole and exact as 32-bit floats.
        """
        if what == HIDDEN:
            return 0
        if not who.startswith("chance"):
            place = self.coding.index.get(what)
            if place is not None:
                return place + 1
        elif what.isdigit() and len(what) < 7:
            return int(what)
        return len(self.coding.moves) + 1 + crc32(what.encode()) % 2**23

    def string_from(self, state: Any, player: int) -> str:
        position: Position = state.position
        if self.recall:
            return self._history(position, player)
        game, now = self.coding.game, position.node.state
        seen, open_to_all = game.observe(now, player), game.observe(now, None)
        if not self.public:
            return _private_part(seen, open_to_all) if self.private == SINGLE else ""
        shown = seen if self.private == SINGLE else open_to_all
        return ", ".join(
            f"{name}={value}" for name, value in zip(shown._fields, shown, strict=True)
        )

    def _history(self, position: Position, player: int) -> str:
        if self.private == NONE:
            return position.known(None) if self.public else ""
        if self.public:
            return f"Player {player + 1}: {position.known(player)}"
        if not self.coding.game.private:
            return ""
        own = (
            told_as(step.redact(player))
            for step in position.path()
            if step.redact(player) != step.redact(None)
        )
        return "; ".join(f"{who}:{what}" for told in own for who, what in told)


def _who(who: str, player: int) -> int:
    return CHANCE if who.startswith("chance") else OWN if who == str(player + 1) else OTHER


def _private_part(seen: Any, open_to_all: Any) -> str:
    """What of an observation is the player's alone."""
    pairs = zip(seen._fields, seen, open_to_all, strict=True)
    return ", ".join(f"{name}={mine}" for name, mine, theirs in pairs if mine != theirs)
