"""One game from start to end: the referee of the environments, fast because it is stepped often.

It follows the rules like a `Match`, with the same chance outcomes for the same seed, but stores
events only if asked to. A pending pick of a simultaneous choice is stored here, outside the state.

Transitions and ends of games come from `GameNode`, as for a `Snapshot`. An episode does not use
`Snapshot`: one more object for each event made random play of Firewall Breach 28 % slower, and of
Cipher Siege, Digit Duel and Number Wars 7 to 9 %.

>>> from duels.envs.encoding import encoding
>>> from duels.games import load
>>> episode = Episode(encoding(load("number-clash")), seed=7)
>>> episode.deciders
(0, 1)
>>> episode.pick(0, 6)
>>> episode.deciders, episode.state.numbers[0][-1]
((1,), 10)
>>> episode.pick(1, 7)
>>> episode.state.scores
(1, 0)
"""

from __future__ import annotations

from typing import Any

from duels.core.errors import IllegalMove
from duels.core.extras import Array
from duels.core.game import AnyGame, Event, History, Move, Result
from duels.core.match import TURN_LIMIT
from duels.core.payoffs import payoffs
from duels.core.player import View
from duels.core.presentation import player_name
from duels.envs.encoding import EventKey, GameEncoding, GameNode


class Episode:
    """A game in progress. `result` says how it ended."""

    def __init__(
        self,
        encoding: GameEncoding,
        seed: int,
        turn_limit: int = TURN_LIMIT,
        keep: bool = False,
        illegal: str = "forfeit",
    ) -> None:
        self.encoding = encoding
        self.seed = seed
        self.turn_limit = turn_limit
        self.illegal = illegal
        self.node = encoding.start
        self.result: Result | None = None
        self.deciders: tuple[int, ...] = ()  # players whose pick is pending
        self.happened: list[tuple[Any, Event]] | None = [] if keep else None
        self._decisions = self._outcomes = 0
        self._sealed: dict[int, int] = {}
        self._settle(self.node)

    # Queries.

    @property
    def state(self) -> Any:
        return self.node.state

    @property
    def entries(self) -> int:
        """The number of entries that a match's record would have."""
        return self._decisions + self._outcomes

    @property
    def limited(self) -> bool:
        """Whether the turn limit, and not the rules, ended it."""
        return self.result is not None and self.result.by == "limit"

    @property
    def rewards(self) -> tuple[float, float]:
        """What the winner is paid by the loser, at the end only: 1 in most games."""
        return payoffs(self.result)

    def mask(self, player: int) -> Array:
        """The mask of a player's legal actions; all 0 if the player does not choose now."""
        return self.node.turn.masks[player] if player in self.deciders else self.encoding.nothing

    def view(self, player: int | None) -> View:
        """The view of a player or a spectator; needs an episode made with `keep`."""
        game = self.encoding.game
        assert self.happened is not None
        history = tuple(game.redact(before, event, player) for before, event in self.happened)
        options: tuple[Move, ...] = ()
        if player is not None and player in self.deciders:
            options = self.node.turn.options[player]
        seen = game.observe(self.state, player)
        sealed = tuple(self._sealed)
        return View(game, player, seen, history, options, None, self.entries, sealed, self.result)

    # Actions.

    def pick(self, player: int, action: Any) -> None:
        """A player's action. An illegal one loses the game, or raises `IllegalMove`.

        The two actions of a simultaneous choice are checked together: if both are illegal, there is
        no winner.
        """
        node, encoding = self.node, self.encoding
        moves, action = encoding.moves, encoding.action(action)
        if player not in self.deciders:
            raise ValueError(f"{player_name(player)} has no choice now")
        if self.illegal == "raise" and not node.turn.masks[player][action]:
            raise IllegalMove(f"{moves[action]} is not an option now")
        key: EventKey = action
        if len(node.turn.deciders) == 2:
            self._sealed[player] = action
            self.deciders = tuple(other for other in self.deciders if other != player)
            if self.deciders:
                return
            key = self._sealed[0], self._sealed[1]
        picks = self._sealed or {player: action}
        wrong = [one for one in picks if not node.turn.masks[one][picks[one]]]
        if wrong:
            self._forfeit(wrong, moves[picks[wrong[0]]])
            return
        self._sealed = {}
        if self.happened is not None:
            self.happened.append((node.state, node.event(key)))
        self._decisions += 1
        self._settle(node.after(key))

    def pick_both(self, one: Any, two: Any) -> None:
        """Both picks of a simultaneous choice; if one is refused, neither is stored."""
        masks, picks = self.node.turn.masks, (self.encoding.action(one), self.encoding.action(two))
        first = int(bool(masks[0][picks[0]]))  # pick first what may be refused
        self.pick(first, picks[first])
        self.pick(1 - first, picks[1 - first])

    def forfeit(self, player: int, why: str) -> None:
        """End the game: the player loses by forfeit."""
        paid = self.encoding.game.highest_payoff()
        self._end(Result(1 - player, "forfeit", f"{player_name(player)} forfeits: {why}.", paid))

    # Internal.

    def _forfeit(self, wrong: list[int], move: str) -> None:
        if len(wrong) == 2:
            self._end(Result(None, "forfeit", "Both players forfeit: neither pick is an option."))
        else:
            self.forfeit(wrong[0], f"{move} is not an option")

    def _settle(self, node: GameNode) -> None:
        """Play chance events until a player must choose or the game is over."""
        turn, happened = node.turn, self.happened
        while turn.sampler is not None:
            self._outcomes += 1
            outcome = turn.sampler.draw(self.seed, self._outcomes)
            if happened is not None:
                happened.append((node.state, node.event(outcome)))
            node = node.after(outcome)
            turn = node.turn
        self.node = node
        result = node.result(self._decisions, self.turn_limit)
        if result is None:
            self.deciders = turn.deciders
        else:
            self._end(result)

    def _end(self, result: Result) -> None:
        self.result = result
        self.deciders = ()
        self._sealed = {}


class NarratedEpisode:
    """An episode in the form that the core's narrator reads."""

    def __init__(self, episode: Episode) -> None:
        self._happened = episode.happened or []
        self._state = episode.state
        self.game: AnyGame = episode.encoding.game
        self.events: list[Event] = [event for _, event in self._happened]
        self.result: Result | None = episode.result

    def state_before(self, number: int) -> Any:
        return self._happened[number][0]

    def state_after(self, number: int) -> Any:
        return self._happened[number + 1][0] if number + 1 < len(self._happened) else self._state

    def observed_event(self, number: int, viewer: int | None) -> Event:
        return self.game.redact(*self._happened[number], viewer)

    def history(self, viewer: int | None, before: int | None = None) -> History:
        return tuple(self.observed_event(n, viewer) for n in range(len(self.events))[:before])
