"""OpenSpiel games: importing this module registers `python_duels_...` for every game.

A game's options and the turn limit are its parameters.

>>> game = pyspiel.load_game("python_duels_firewall_breach(strength=3/7,hit=5)")
>>> state = game.new_initial_state()
>>> [state.action_to_string(action) for action in state.legal_actions()]
['attack', 'bypass']
>>> state.apply_action(0)
>>> state.is_chance_node(), len(state.chance_outcomes())
(True, 6)
"""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

from duels.algorithms.belief import believe
from duels.core.errors import IllegalMove
from duels.core.extras import need, whole
from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.core.options import Option
from duels.core.payoffs import payoffs
from duels.envs.encoding import GameEncoding, encoding
from duels.envs.observer import Observer
from duels.envs.registration import loaded, spiel_name
from duels.envs.snapshot import GameTraits, event_key, initial, traits_of
from duels.games import load

pyspiel: Any = need("pyspiel", extra="openspiel")

TYPE = pyspiel.GameType
PLAYER = pyspiel.PlayerId
LIMIT = "turn_limit"
PARTICLES = 32  # samples of hidden information, extended in parallel


def parameter(option: Option[Any]) -> bool | int | str:
    """An option's default as an OpenSpiel parameter: numbers as numbers, pairs as `10/10`."""
    value = option.default
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    text = option.show(value)
    return int(text) if text.isdigit() else text


def game_type(game: AnyGame, found: GameTraits) -> Any:
    options = type(game).options()
    return TYPE(
        short_name=spiel_name(game.slug),
        long_name=game.title,
        dynamics=TYPE.Dynamics.SIMULTANEOUS if found.sealed else TYPE.Dynamics.SEQUENTIAL,
        chance_mode=(
            TYPE.ChanceMode.EXPLICIT_STOCHASTIC if found.chance else TYPE.ChanceMode.DETERMINISTIC
        ),
        information=(
            TYPE.Information.IMPERFECT_INFORMATION
            if game.private
            else TYPE.Information.PERFECT_INFORMATION
        ),
        utility=TYPE.Utility.ZERO_SUM,
        reward_model=TYPE.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification={
            **{name: parameter(option) for name, option in options.items()},
            LIMIT: TURN_LIMIT,
        },
    )


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """A game of the catalogue with its options; each game has a subclass with its slug."""

    slug: ClassVar[str]

    def __init__(self, parameters: dict[str, Any]) -> None:
        options = {
            name: value if isinstance(value, bool) else str(value)
            for name, value in parameters.items()
            if name != LIMIT
        }
        rules = load(self.slug, **options)
        found = traits_of(rules)
        limit = whole(LIMIT, parameters.get(LIMIT, TURN_LIMIT), low=1)
        longest = min(limit, rules.longest() or limit)
        most = float(rules.highest_payoff())
        self.encoding: GameEncoding = encoding(rules)
        self.chance_most = found.dealt + found.between * longest
        self.slots = longest * (2 if found.sealed else 1) + self.chance_most
        self.root = initial(self.encoding, limit)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.encoding.moves),
            max_chance_outcomes=found.outcomes,
            num_players=2,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=longest,
        )
        super().__init__(game_type(rules, found), info, parameters)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return reload, (str(self),)

    def new_initial_state(self) -> SpielState:
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.chance_most

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        if params:
            raise ValueError(f"observations take no parameters; got {params}")
        usual = pyspiel.IIGObservationType(perfect_recall=False)
        return Observer(self.encoding, self.slots, iig_obs_type or usual)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """An OpenSpiel state. Its snapshot is immutable, so that a clone copies one reference."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.snapshot = game.root

    # The current turn.

    def current_player(self) -> Any:
        snapshot = self.snapshot
        if snapshot.result is not None:
            return PLAYER.TERMINAL
        deciders = snapshot.node.turn.deciders
        if len(deciders) == 1:
            return deciders[0]
        return PLAYER.SIMULTANEOUS if deciders else PLAYER.CHANCE

    def is_terminal(self) -> bool:
        return self.snapshot.result is not None

    def returns(self) -> list[float]:
        return list(payoffs(self.snapshot.result))

    def _legal_actions(self, player: int) -> list[int]:
        return self.snapshot.node.turn.actions[player]

    # OpenSpiel implements these with the methods above. They are overridden because for callers in
    # Python the detour through C++ costs more than the result.

    def is_chance_node(self) -> bool:
        return self.snapshot.node.turn.sampler is not None

    def is_simultaneous_node(self) -> bool:
        return len(self.snapshot.node.turn.deciders) == 2 and self.snapshot.result is None

    def legal_actions(self, player: int | None = None) -> list[int]:
        turn = self.snapshot.node.turn
        given = () if player is None else (player,)
        if (
            self.snapshot.result is not None
            or not turn.deciders
            or len(turn.deciders) > 1 + len(given)
        ):
            found: list[int] = super().legal_actions(*given)
            return found
        return list(turn.actions.get(turn.deciders[0] if player is None else int(player), ()))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        sampler = self.snapshot.node.turn.sampler
        if sampler is None:
            raise IllegalMove("nothing is left to chance here")
        return list(sampler.numbered())

    def _action_to_string(self, player: int, action: int) -> str:
        if player == PLAYER.CHANCE:
            return self._outcome(action)
        return self.snapshot.node.encoding.move(action)

    def _outcome(self, action: int) -> str:
        sampler = self.snapshot.node.turn.sampler
        assert sampler is not None
        return sampler.outcomes[action]

    # Actions.

    def _apply_action(self, action: int) -> None:
        snapshot = self.snapshot
        turn = snapshot.node.turn
        if turn.sampler is not None and 0 <= action < len(turn.sampler.outcomes):
            self.snapshot = snapshot.after(turn.sampler.outcomes[action])
            return
        if snapshot.result is not None or turn.sampler is not None or len(turn.deciders) == 2:
            raise IllegalMove(f"action {action} cannot be applied: {self._awaited()}")
        move = snapshot.node.encoding.move(action)
        if not turn.masks[turn.deciders[0]][action]:
            raise IllegalMove(f"{move} is not an option")
        self.snapshot = snapshot.after(action)

    def _awaited(self) -> str:
        """Describes which action is expected."""
        sampler = self.snapshot.node.turn.sampler
        if self.snapshot.result is not None:
            return "the game is over"
        if sampler is None:
            return "both players choose at once, with apply_actions"
        return f"chance has the outcomes 0 to {len(sampler.outcomes) - 1}"

    def _apply_actions(self, actions: list[int]) -> None:
        snapshot = self.snapshot
        encoding, masks = snapshot.node.encoding, snapshot.node.turn.masks
        if snapshot.result is not None or len(masks) != 2:
            raise IllegalMove(
                f"actions {actions} cannot be applied: the players do not choose at once"
            )
        one, two = map(encoding.action, actions)
        if not (masks[0][one] and masks[1][two]):
            raise IllegalMove(f"{actions} are not both options")
        self.snapshot = snapshot.after((one, two))

    def resample_from_infostate(self, player: int, sampler: Any) -> SpielState:
        """A state that the player cannot distinguish from this one, for OpenSpiel's ISMCTS."""
        encoding = self.snapshot.node.encoding
        history = [step.redact(player) for step in self.snapshot.path()]
        particles = believe(encoding.game, history, player, Random(str(sampler())), PARTICLES)
        state: SpielState = self.get_game().new_initial_state()
        for event in next(particles).events():
            key = event_key(encoding, event)
            if isinstance(key, tuple):
                state.apply_actions(list(key))
            elif isinstance(key, int):
                state.apply_action(key)
            else:
                chance = state.snapshot.node.turn.sampler
                assert chance is not None
                state.apply_action(chance.outcomes.index(key))
        return state

    def __str__(self) -> str:
        """The full state, hidden information included: for debugging."""
        return str(self.snapshot.node.state)


def reload(name: str) -> Any:
    """The game of a pickle; importing this module has registered it."""
    return pyspiel.load_game(name)


def register() -> None:
    """Register every game of the catalogue with OpenSpiel, once."""
    known = set(pyspiel.registered_names())
    for slug, game in loaded():
        if spiel_name(slug) not in known:
            # OpenSpiel holds what is registered beyond the end of the interpreter; a class, unlike
            # a closure, has other references then.
            made = type(type(game).__name__, (SpielGame,), {"slug": slug})
            pyspiel.register_game(game_type(game, traits_of(game)), made)


register()
