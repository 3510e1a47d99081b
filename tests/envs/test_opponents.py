"""Built-in opponents in a batch choose as they do at a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.core.errors import OptionError
from duels.core.game import AnyGame, Chance, Decide, Event, Outcome, Over, Pick
from duels.core.player import View
from duels.envs.opponents import CachedOpponent, batch_opponents, chooser
from duels.envs.vector import Batch, Versus
from duels.games import BUILT_IN, load
from duels.kernels import kernel_of, no_policy, np
from duels.players import make_opponent
from duels.players.base import MixedStrategyOpponent
from duels.players.optimal import Level, Perfect
from duels.players.uniform import Uniform
from tests.kernels.test_kernels import Dice
from tests.variants import long_unless
from tests.variants import name as label_of

pytestmark = pytest.mark.slow

# The levels differ by a number; "medium" is looked at in the variants of each game.
OPPONENTS = [
    "greedy",
    "perfect",
    *(pytest.param(level, marks=pytest.mark.long) for level in ("easy", "medium", "hard")),
]
GAMES: list[AnyGame] = [load(slug) for slug in BUILT_IN]
VARIANTS: list[AnyGame] = [
    load("firewall-breach", strength="3/7"),
    load("number-clash", numbers=6, points=4),
    load("cipher-siege", first=1),
    load("digit-duel", digits=4, life=4),
    load("digit-duel", life="9/30", first=1),
    load("digit-duel", digits=4, life=3, hidden=True),
    load("number-wars", numbers=3, lp=9),
    load("number-wars", lp=45),  # no number to spare, so that careful levels err from the start
    load("number-wars", refresh=False, numbers=4, lp="9/12"),
]
# In the fast tests: dice, and a strategy that depends on the history. Of sealed choices a variant.
MOSTLY_LONG = long_unless(lambda game: game.slug in ("firewall-breach", "number-wars"), GAMES)
DRAWS = 100_000


def label(value: object) -> str:
    return value if isinstance(value, str) else label_of(value)  # type: ignore[arg-type]


class Trail:
    """One game of a batch by the pure rules, with what each player has seen of it."""

    def __init__(self, game: AnyGame, seed: int) -> None:
        self.game, self.batch, self.dice = game, Batch(game, 1, seed), Dice(seed, 0)
        self._begin()

    def _begin(self) -> None:
        self.state, self.happened = self.game.start(), list[tuple[Any, Event]]()
        self._settle()

    def _settle(self) -> None:
        while isinstance(turn := self.game.turn(self.state), Chance):
            self._happen(Outcome(self.dice.outcome(self.state, turn), turn.by))
        if isinstance(turn, Over):
            self._begin()

    def _happen(self, event: Event) -> None:
        self.happened.append((self.state, event))
        picks = [event.outcome] if isinstance(event, Outcome) else [m for _, m in event.moves]
        self.state = self.game.play(self.state, *picks)

    def views(self) -> Iterator[View]:
        turn = self.game.turn(self.state)
        assert isinstance(turn, Decide)
        for seat, options in turn.options.items():
            past = tuple(self.game.redact(state, event, seat) for state, event in self.happened)
            yield View(self.game, seat, self.game.observe(self.state, seat), past, options)

    def step(self) -> None:
        actions = self.batch.random_actions()
        turn = self.game.turn(self.state)
        assert isinstance(turn, Decide)
        picks = [self.game.moves()[action] for action in actions.reshape(-1).tolist()]
        self.batch.step(actions)
        self._happen(Pick(tuple(zip(sorted(turn.options), picks, strict=True))))
        self._settle()
        assert self.batch.state(0) == self.state


def differing(game: AnyGame, opponent: str, player: str, steps: int, draws: int) -> list[str]:
    """Where the compiled opponent's choices do not fit the mix of a player, over a random game."""
    found = chooser(game, opponent)
    assert found is not None
    asked = make_opponent(player, "")
    assert isinstance(asked, MixedStrategyOpponent)
    trail, batch = Trail(game, seed=4), Batch(game, draws, seed=2)
    wrong = []
    for _ in range(steps):
        for view in trail.views():
            batch._state[:] = trail.batch._state[0]
            picked = batch.choices_of(found, np.full(draws, view.player))
            counts = np.bincount(picked, minlength=len(game.moves()))
            if not fits(counts.tolist(), asked.mixed_strategy(view), game.moves()):
                wrong.append(f"{view.observation} {asked.mixed_strategy(view)}")
        trail.step()
    return wrong


def fits(counts: list[int], mix: Mapping[str, float], moves: tuple[str, ...]) -> bool:
    """Whether every move came up as often as its chance says, to within some 6 deviations."""
    total = sum(counts)
    for move, count in zip(moves, counts, strict=True):
        chance = mix.get(move, 0.0)
        spread = (total * chance * (1 - chance)) ** 0.5
        if abs(count - total * chance) > 6 * spread + (3 if 1e-9 < chance < 1 - 1e-9 else 0):
            return False
    return True


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("game", MOSTLY_LONG, ids=label)
def test_in_100_000_games_every_move_comes_up_as_often_as_the_player_would_choose_it(
    game: AnyGame, opponent: str
) -> None:
    """And only that move where the mix is pure."""
    assert differing(game, opponent, opponent, steps=30, draws=DRAWS) == []


@pytest.mark.cases(4)
@pytest.mark.parametrize("game", VARIANTS, ids=label)
def test_variants_too_are_played_by_greedy_as_the_player_would(game: AnyGame) -> None:
    assert differing(game, "greedy", "greedy", steps=25, draws=10_000) == []


@pytest.mark.parametrize("opponent", ["medium", pytest.param("perfect", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "game",
    long_unless(lambda game: game.slug in ("firewall-breach", "number-wars"), VARIANTS),
    ids=label,
)
def test_variants_too_are_played_as_the_player_would(game: AnyGame, opponent: str) -> None:
    assert differing(game, opponent, opponent, steps=25, draws=10_000) == []


@pytest.mark.cases(2)
@pytest.mark.parametrize("game", [*GAMES[:-1], load("number-wars", lp=45)], ids=label)
def test_a_wrong_mix_would_be_noticed(game: AnyGame) -> None:
    assert differing(game, "hard", "medium", steps=30, draws=DRAWS)
    assert not fits([51_000, 49_000], {"a": 0.5, "b": 0.5}, ("a", "b"))
    assert not fits([99_999, 1], {"a": 1.0}, ("a", "b"))


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize(
    "slug",
    [
        pytest.param(slug, marks=() if slug == "number-wars" else pytest.mark.long)
        for slug in BUILT_IN
    ],
)
def test_nothing_is_asked_in_python(
    slug: str, opponent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = Versus(load(slug), 50, seed=3, opponent=opponent, seat="alternate")
    assert games.policy is None
    for found in (Uniform, Perfect, Level):
        monkeypatch.setattr(found, "mixed_strategy", None)
    for _ in range(20):
        games.step(games.random_actions())


@pytest.mark.parametrize(
    "opponent", long_unless(lambda name: name == "perfect", ["greedy", "easy", "perfect"])
)
@pytest.mark.parametrize("game", MOSTLY_LONG, ids=label)
def test_a_game_does_not_depend_on_the_size_of_its_batch(game: AnyGame, opponent: str) -> None:
    def played(size: int) -> list[object]:
        games = Versus(game, size, seed=6, opponent=opponent, seat="alternate")
        shown: list[object] = []
        for _ in range(30):
            step = games.step(games.random_actions())
            shown.append([array[:5].tolist() for array in (*step, games.observation, games.mask)])
        return shown

    assert played(5) == played(64)


@pytest.mark.parametrize("game", [load("number-clash"), load("number-clash", numbers=5)], ids=label)
def test_a_memory_that_is_full_changes_nothing(game: AnyGame) -> None:
    found = chooser(game, "medium")
    assert found is not None
    small = found._replace(tables=found.tables._replace(memory=found.tables.memory[:8].copy()))
    one, two = Batch(game, 300, seed=1), Batch(game, 300, seed=1)
    seats = np.arange(300) % 2
    for _ in range(30):
        assert one.choices_of(found, seats).tolist() == two.choices_of(small, seats).tolist()
        actions = one.random_actions()
        assert actions.tolist() == two.random_actions().tolist()
        one.step(actions)
        two.step(actions)


@pytest.mark.parametrize(
    ("slug", "value"), [("firewall-breach", 277 / 486), ("cipher-siege", 0.7179)]
)
def test_perfect_against_perfect_has_the_known_value(slug: str, value: float) -> None:
    """In Cipher Siege that takes all that the strategy remembers."""
    games = Versus(load(slug), 4000, seed=3, opponent="perfect", seat=0)
    own, seats = chooser(games.batch.game, "perfect"), np.zeros(4000, np.int64)
    assert own is not None
    won = ended = 0
    for _ in range(60):
        step = games.step(games.batch.choices_of(own, seats))
        won += int((step.rewards > 0).sum())
        ended += int(step.terminated.sum())
    assert ended > 10_000
    assert abs(won / ended - value) < 4 * (value * (1 - value) / ended) ** 0.5 + 0.003


@pytest.mark.parametrize(
    "game", [load("firewall-breach", strength=3), load("number-clash", numbers=4)], ids=label
)
def test_a_kernel_without_opponents_asks_them_in_python(
    game: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duels.envs import opponents

    kernel = kernel_of(game)._replace(chooser=no_policy)
    monkeypatch.setattr(opponents, "kernel_of", lambda game, progress=None: kernel)
    games = Versus(game, 2000, seed=2, opponent="medium", seat=1)
    assert isinstance(games.policy, CachedOpponent)
    asked = make_opponent("medium", "")
    assert isinstance(asked, MixedStrategyOpponent)
    view = View(game, 0, game.start(), (), game.moves())
    batch, rows = Batch(game, DRAWS, seed=2), np.arange(DRAWS)
    seen = batch.observation[:, 0] if batch.sealed else batch.observation
    picked = games.policy.choose(batch, rows, np.zeros(DRAWS, np.int64), seen)
    counts = np.bincount(picked, minlength=len(game.moves())).tolist()
    assert fits(counts, asked.mixed_strategy(view), game.moves())
    for _ in range(5):
        games.step(games.random_actions())


def test_an_opponent_may_be_named_by_its_beginning() -> None:
    assert Versus(load("number-wars"), 2, opponent="gre").opponent == "greedy"


@pytest.mark.parametrize("slug", BUILT_IN)
def test_an_opponent_that_needs_history_is_refused(slug: str) -> None:
    assert batch_opponents(load(slug)) == ["easy", "medium", "hard", "perfect", "greedy", "random"]
    with pytest.raises(OptionError, match=f"in a batch of {slug} the opponent is one of easy, "):
        Versus(load(slug), 2, opponent="ismcts")


def test_unknown_and_impossible_opponents_are_refused_in_one_line() -> None:
    with pytest.raises(OptionError, match=r"there is no player 'nobody'; .* or give a policy"):
        Versus(load("number-wars"), 2, opponent="nobody")
    with pytest.raises(OptionError, match="got 'human'"):
        Versus(load("number-wars"), 2, opponent="human")
    with pytest.raises(Exception, match="swap=chosen is not solved"):
        Versus(load("cipher-siege", swap="chosen"), 2, opponent="perfect")
