"""Observations of a snapshot for OpenSpiel: strings and tensors, from the view of one player."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from duels.core.extras import need
from duels.core.game import HIDDEN
from duels.envs.encoding import GameEncoding, np
from duels.envs.snapshot import Snapshot, event_items

pyspiel: Any = need("pyspiel", extra="openspiel")

OWN, OTHER, CHANCE = 1, 2, 3  # the actor of an event, in the tensor of a history
SINGLE, NONE = pyspiel.PrivateInfoType.SINGLE_PLAYER, pyspiel.PrivateInfoType.NONE


class Observer:
    """An observation type. With perfect recall it contains all that the player has seen."""

    def __init__(self, encoding: GameEncoding, slots: int, kind: Any) -> None:
        self.encoding = encoding
        self.recall = kind.perfect_recall
        self.public = kind.public_info
        self.private = kind.private_info
        if self.private not in (SINGLE, NONE):
            raise ValueError(
                "an observation is one player's or everyone's, not all players' at once"
            )
        self.slots = slots if self.recall else 0
        pieces: dict[str, tuple[int, ...]] = {"player": (2,)} if self.private == SINGLE else {}
        if self.public or (self.private == SINGLE and encoding.game.private):
            pieces["observation"] = (len(encoding.features),)
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
        """Write a player's observation into the tensor."""
        self.tensor.fill(0)
        # At the root, OpenSpiel asks for the shape with an invalid player.
        seat = max(0, player)
        if "player" in self.dict:
            self.dict["player"][seat] = 1
        snapshot: Snapshot = state.snapshot
        if "observation" in self.dict:
            self.dict["observation"][:] = self._numbers(snapshot, seat)
        if "history" in self.dict:
            self._write_history(snapshot, seat if self.private == SINGLE else None)

    def _numbers(self, snapshot: Snapshot, seat: int) -> Any:
        """The player's whole observation, its public part (as Player 1), or its private part."""
        if self.public and self.private == SINGLE:
            return snapshot.node.observation(seat)
        game, now = self.encoding.game, snapshot.node.state
        if self.public:
            return game.encode(game.observe(now, None), 0)
        open_to_all = game.encode(game.observe(now, None), seat)
        return snapshot.node.observation(seat) - np.array(open_to_all)

    def _write_history(self, snapshot: Snapshot, player: int | None) -> None:
        numbers = [
            (_who(who, player or 0), self._what(who, what))
            for step in snapshot.path()
            for who, what in event_items(step.redact(player))
        ]
        if len(numbers) > self.slots:
            raise ValueError(f"the history has more than {self.slots} entries")
        if numbers:
            self.dict["history"][: len(numbers)] = numbers

    def _what(self, who: str, what: str) -> int:
        """A number for an event: a move's index plus 1, 0 if it is hidden.

        Chance outcomes have the number in their text if there is one; other texts, such as moves
        that are partly hidden, are hashed. All numbers are exact as 32-bit floats.
        """
        if what == HIDDEN:
            return 0
        if not who.startswith("chance"):
            place = self.encoding.index.get(what)
            if place is not None:
                return place + 1
        elif what.isdigit() and len(what) < 7:
            return int(what)
        return len(self.encoding.moves) + 1 + crc32(what.encode()) % 2**23

    def string_from(self, state: Any, player: int) -> str:
        snapshot: Snapshot = state.snapshot
        if self.recall:
            return self._history(snapshot, player)
        game, now = self.encoding.game, snapshot.node.state
        seen, open_to_all = game.observe(now, player), game.observe(now, None)
        if not self.public:
            return _private_part(seen, open_to_all) if self.private == SINGLE else ""
        shown = seen if self.private == SINGLE else open_to_all
        return ", ".join(
            f"{name}={value}" for name, value in zip(shown._fields, shown, strict=True)
        )

    def _history(self, snapshot: Snapshot, player: int) -> str:
        if self.private == NONE:
            return snapshot.known(None) if self.public else ""
        if self.public:
            return f"Player {player + 1}: {snapshot.known(player)}"
        if not self.encoding.game.private:
            return ""
        own = (
            event_items(step.redact(player))
            for step in snapshot.path()
            if step.redact(player) != step.redact(None)
        )
        return "; ".join(f"{who}:{what}" for event in own for who, what in event)


def _who(who: str, player: int) -> int:
    return CHANCE if who.startswith("chance") else OWN if who == str(player + 1) else OTHER


def _private_part(seen: Any, open_to_all: Any) -> str:
    """The fields of an observation that only the player sees."""
    pairs = zip(seen._fields, seen, open_to_all, strict=True)
    return ", ".join(f"{name}={mine}" for name, mine, theirs in pairs if mine != theirs)
