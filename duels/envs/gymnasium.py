"""Gymnasium environments of every game: one agent against an opponent.

Importing this module registers them: `gymnasium.make("duels/FirewallBreach-v0")`, or without the
import `gymnasium.make("duels.envs.gymnasium:duels/FirewallBreach-v0")`.

>>> duel = gymnasium.make("duels/FirewallBreach-v0", opponent="greedy", seat=0)
>>> observation, info = duel.reset(seed=3)
>>> observation.tolist(), info["action_mask"].tolist()
([10, 10, 1], [1, 1])
>>> observation, reward, terminated, truncated, info = duel.step(1)
>>> duel.unwrapped.move_name(1), reward, terminated
('bypass', 0.0, False)
"""

from __future__ import annotations

from random import Random
from typing import Any

from duels.algorithms import solve
from duels.core.chance import stream
from duels.core.errors import DuelsError, IllegalMove, Misbehaved, UnknownName, quote
from duels.core.extras import Array, need, whole
from duels.core.game import AnyGame, Move
from duels.core.match import TURN_LIMIT
from duels.core.player import Player, answer
from duels.core.presentation import listed
from duels.envs.encoding import encoding, np
from duels.envs.episode import Episode
from duels.envs.policy import ArrayFunction, EnvPolicy
from duels.envs.registration import env_id
from duels.envs.render import METADATA, MODES, EpisodeRenderer
from duels.envs.settings import ILLEGAL, SEATS, Scale, one_of, rules_of
from duels.games import catalogue
from duels.players import BUILT_IN as PLAYERS
from duels.players import COMMAND, HUMAN, make_player, needs_solution, parse_spec

gymnasium: Any = need("gymnasium", extra="rl")

SETTINGS = (
    "game", "opponent", "seat", "turn_limit", "illegal", "normalize", "memory", "render_mode",
)  # fmt: skip
MOST_SKIPPED = 100


class DuelEnv(gymnasium.Env):  # type: ignore[misc]
    """One seat of a game; the opponent and chance play between two steps."""

    metadata = METADATA

    def __init__(
        self,
        game: str | AnyGame,
        opponent: str | Player = "greedy",
        seat: int | str = 0,
        *,
        render_mode: str | None = None,
        turn_limit: int = TURN_LIMIT,
        illegal: str = "forfeit",
        normalize: bool = False,
        memory: bool = False,
        **options: object,
    ) -> None:
        self.encoding = encoding(rules_of(game, SETTINGS, options))
        self.game = self.encoding.game
        self.opponent = opponent if hasattr(opponent, "choose") else self._named(opponent)
        self.seat = one_of("seat", seat, SEATS)
        self.render_mode = one_of("render_mode", render_mode, (None, *MODES))
        self.turn_limit = whole("turn_limit", turn_limit, low=1)
        self.illegal = one_of("illegal", illegal, ILLEGAL)
        self.memory = memory
        self.scale = Scale(self.game, normalize, memory)
        self.action_space = gymnasium.spaces.Discrete(len(self.encoding.moves))
        self.observation_space = self.scale.space(gymnasium.spaces)
        self.player = 0  # the agent's seat in this episode
        self._begun = 0  # episodes since the last seed
        self.episode: Episode | None = None
        self._other: Player | None = None
        self._screen = EpisodeRenderer()

    # Names of actions and features.

    def move_name(self, action: int) -> Move:
        """The move that an action stands for."""
        return self.encoding.move(action)

    def feature_names(self) -> tuple[str, ...]:
        """The names of an observation's numbers, in order."""
        return (*self.encoding.features, *(self.game.recalled() if self.memory else ()))

    def action_masks(self) -> Array:
        """The mask of legal actions, in the form of sb3-contrib's MaskablePPO."""
        return self._playing().mask(self.player).astype(bool)

    def policy(self, function: ArrayFunction) -> EnvPolicy:
        """`function` over this environment's observations, as `duels.measure` takes it."""
        return EnvPolicy(function, self.game, self.scale, self.memory, self.seat)

    # Gymnasium's interface.

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode. With a seed, it is the match with that seed; later ones follow from it.

        A game that ends before the agent's first choice is not an episode: the next game begins,
        and the info contains the number of `skipped` games and their returns, which
        `duels.envs.statistics` includes.
        """
        super().reset(seed=seed)
        skipped: list[float] = []
        if seed is not None:
            self._begun = 0
        self._begin(int(self.np_random.integers(2**63)) if seed is None else int(seed))
        while self._playing().result is not None:
            skipped.append(self._playing().rewards[self.player])
            if len(skipped) > MOST_SKIPPED:
                raise DuelsError("with these settings the agent never has a choice")
            self._begin(int(self.np_random.integers(2**63)))
        if self.render_mode == "human":
            self.render()
        skips = {
            "skipped": len(skipped), "skipped_return": float(sum(skipped)),
            "skipped_wins": skipped.count(1.0),
        }  # fmt: skip
        return self._observation(), self._info() | skips

    def step(self, action: int) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        episode = self._playing()
        if episode.result is not None:
            raise IllegalMove("the episode is over: call reset")
        episode.pick(self.player, action)
        self._let_opponent_play()
        if self.render_mode == "human":
            self.render()
        over, limited = episode.result is not None, episode.limited
        reward = episode.rewards[self.player]
        return self._observation(), reward, over and not limited, limited, self._info()

    def render(self) -> str | Array | None:
        """The game as text or as an image, from the view of this seat's player."""
        return self._screen.render(self.render_mode, self._playing(), viewer=self.player)

    def close(self) -> None:
        """End the opponent's program, if there is one; a player object stays open."""
        if self._other is not None and isinstance(self.opponent, str):
            self._other.close()

    # Internal.

    def _named(self, opponent: object) -> str:
        """The full name of an opponent that can play this variant."""
        found = parse_spec(opponent) if isinstance(opponent, str) else None
        if found is None or found.kind == HUMAN:
            raise UnknownName(
                f"the opponent is one of {listed(PLAYERS)}, a program as './bot', a MODULE:CLASS, "
                f"or has a method choose(view); got {quote(opponent)}"
            )
        if needs_solution(found.text):
            solve(self.game)
        return found.text

    def _playing(self) -> Episode:
        if self.episode is None:
            raise IllegalMove("there is no episode yet: call reset")
        return self.episode

    def _begin(self, seed: int) -> None:
        drawn = {"random": Random(f"{seed} seat").randrange(2), "alternate": self._begun % 2}
        self.player = drawn[self.seat] if isinstance(self.seat, str) else int(self.seat)
        self._begun += 1
        self._other = self._seated(stream(seed, 1 - self.player))
        self.episode = Episode(self.encoding, seed, self.turn_limit, True, self.illegal)
        self._screen = EpisodeRenderer()
        self._let_opponent_play()

    def _seated(self, own: str) -> Player:
        """The opponent of a new episode; a running program is reused with a new random stream."""
        if not isinstance(self.opponent, str):
            return self.opponent
        if self._other is None or parse_spec(self.opponent).kind != COMMAND:
            return make_player(self.opponent, own)
        self._other.stream = own
        return self._other

    def _let_opponent_play(self) -> None:
        """Play until the agent must choose. In a simultaneous choice the opponent picks first.

        A program that fails forfeits: the agent wins, and the info contains the reason.
        """
        episode, other, opponent = self._playing(), 1 - self.player, self._other
        assert opponent is not None
        while other in episode.deciders:
            try:
                move = answer(opponent, episode.view(other))
            except Misbehaved as error:
                episode.forfeit(other, str(error))
                return
            action = self.encoding.index.get(move)
            if action is None:
                raise IllegalMove(
                    f"the opponent chose {quote(move)}, which is not a move of {self.game.slug}"
                )
            episode.pick(other, action)

    def _observation(self) -> Array:
        episode = self._playing()
        found = episode.node.observation(self.player)
        if self.memory:
            recalled = self.game.recall(episode.view(self.player).history, self.player)
            found = np.concatenate([found, np.array(recalled, found.dtype)])
        return self.scale.of(found)

    def _info(self) -> dict[str, Any]:
        episode = self._playing()
        info: dict[str, Any] = {
            "action_mask": episode.mask(self.player).copy(),
            "seat": self.player,
        }
        if episode.result is not None:
            info |= {"by": episode.result.by, "reason": episode.result.reason}
            forfeit = episode.result.by == "forfeit"
            info["illegal"] = forfeit and episode.result.winner != self.player
        return info


def register() -> None:
    """Let `gymnasium.make` and `make_vec` find every game of the catalogue."""
    for slug in catalogue():
        if env_id(slug) not in gymnasium.registry:
            gymnasium.register(
                env_id(slug),
                entry_point="duels.envs.gymnasium:DuelEnv",
                vector_entry_point="duels.envs.vector_env:DuelVectorEnv",
                kwargs={"game": slug},
            )


register()
