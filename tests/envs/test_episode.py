"""The lean referee of the environments does what a match does, whatever it remembers."""

from __future__ import annotations

import copy
import importlib
import pickle
from random import Random
from typing import Any

import pytest

from duels.core.errors import IllegalMove
from duels.core.game import AnyGame, Decide, Outcome, Pick
from duels.core.match import Match
from duels.games import load
from tests.variants import VARIANTS, name

pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[rl]'")
encoding: Any = importlib.import_module("duels.envs.encoding")
episodes: Any = importlib.import_module("duels.envs.episode")


def play(game: AnyGame, seed: int, turn_limit: int = 500) -> tuple[Match, Any]:
    """A match and an episode through the same random picks, compared at every choice."""
    randomness = Random(f"{game!r} {seed}")
    match = Match(game, seed, turn_limit=turn_limit)
    episode = episodes.Episode(encoding.encoding(game), seed, turn_limit, keep=True)
    while match.result is None:
        assert episode.state == match.state
        assert episode.deciders == match.deciders
        for player in match.deciders:
            assert isinstance(match.turn, Decide)
            options = match.turn.options[player]
            if len(match.events) < 20 or len(match.events) % 50 == 0:  # views are long later on
                view = episode.view(player)
                assert view._replace(sealed=()) == match.view(player)._replace(sealed=())
                assert view.sealed == tuple(
                    p for p in match.turn.options if p not in match.deciders
                )
            actions = episode.mask(player).nonzero()[0].tolist()
            assert sorted(episode.encoding.moves[a] for a in actions) == sorted(options)
            move = randomness.choice(options)
            match.submit(player, move)
            episode.pick(player, episode.encoding.index[move])
    return match, episode


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_an_episode_is_the_match_with_its_seed(game: AnyGame) -> None:
    for seed in range(3):
        match, episode = play(game, seed)
        assert episode.result == match.result
        assert episode.state == match.state
        kept = [event for _, event in episode.happened]
        assert kept == [e for e in match.events if isinstance(e, Pick | Outcome)]


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_remembering_changes_nothing(game: AnyGame, monkeypatch: pytest.MonkeyPatch) -> None:
    """With next to no memory, every path through the caches is taken."""
    monkeypatch.setattr(encoding, "WIDE", 3)
    monkeypatch.setattr(encoding, "MOST", 10)
    monkeypatch.setattr(encoding, "CACHED", 2)
    fresh = encoding.GameEncoding(game)
    monkeypatch.setattr(encoding, "encoding", lambda game: fresh)
    for seed in range(2):
        match, episode = play(game, seed)
        assert episode.result == match.result


def test_the_turn_limit_ends_an_episode_without_a_winner() -> None:
    match, episode = play(load("firewall-breach"), seed=1, turn_limit=5)
    assert episode.limited
    assert episode.result == match.result
    assert episode.rewards == (0.0, 0.0)


def test_a_masked_action_loses_the_game() -> None:
    episode = episodes.Episode(encoding.encoding(load("number-clash")), seed=1)
    for action in (0, 1):
        episode.pick(0, 9)
        assert episode.result is None  # a sealed pick is looked at with the other
        episode.pick(1, action)
    assert episode.result.by == "forfeit"
    assert episode.result.reason == "Player 1 forfeits: 10 is not an option."
    assert episode.rewards == (-1.0, 1.0)
    assert not episode.mask(0).any()
    assert not episode.mask(1).any()


def test_two_masked_sealed_picks_are_a_draw_in_either_order() -> None:
    for order in ((0, 1), (1, 0)):
        episode = episodes.Episode(encoding.encoding(load("number-clash")), seed=1)
        episode.pick_both(4, 4)
        for player in order:
            episode.pick(player, 4)
        assert (episode.result.winner, episode.result.by) == (None, "forfeit")


def test_a_refused_sealed_pick_leaves_both_awaited() -> None:
    for wrong in ((4, 5), (5, 4), (4, 4)):
        episode = episodes.Episode(encoding.encoding(load("number-clash")), 1, illegal="raise")
        episode.pick_both(4, 4)
        with pytest.raises(IllegalMove, match="5 is not an option now"):
            episode.pick_both(*wrong)
        assert episode.deciders == (0, 1)
        episode.pick_both(5, 6)
        assert episode.state.scores == (1, 0)


@pytest.mark.parametrize("action", [-1, 10, None])
def test_an_index_out_of_range_is_an_error(action: int) -> None:
    episode = episodes.Episode(encoding.encoding(load("number-clash")), seed=1)
    with pytest.raises(IllegalMove, match="from 0 to 9"):
        episode.pick(0, action)
    assert episode.deciders == (0, 1)


def test_no_player_picks_out_of_turn() -> None:
    episode = episodes.Episode(encoding.encoding(load("digit-duel")), seed=1)
    with pytest.raises(ValueError, match="Player 2"):
        episode.pick(1, 0)
    sealed = episodes.Episode(encoding.encoding(load("number-clash")), seed=1)
    sealed.pick(0, 0)
    with pytest.raises(ValueError, match="Player 1"):
        sealed.pick(0, 1)


def test_a_view_has_options_only_where_a_pick_is_awaited() -> None:
    episode = episodes.Episode(encoding.encoding(load("number-clash", points=1)), seed=1, keep=True)
    episode.pick(0, 4)
    assert episode.view(0).options == ()
    assert len(episode.view(1).options) == 10
    assert episode.view(1).sealed == episode.view(0).sealed == (0,)
    episode.pick(1, 0)
    for player in (0, 1):
        view = episode.view(player)
        assert (view.options, view.sealed) == ((), ())
        assert view.result == episode.result is not None


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_copies_and_pickles_go_on_alike(game: AnyGame) -> None:
    randomness = Random(name(game))
    episode = episodes.Episode(encoding.encoding(game), 5, keep=True)
    for _ in range(randomness.randrange(1, 6)):
        if episode.result is None:
            pick_randomly(episode, randomness)
    others = [copy.deepcopy(episode), pickle.loads(pickle.dumps(episode))]
    script = randomness.getstate()
    while episode.result is None:
        pick_randomly(episode, randomness)
    for other in others:
        randomness.setstate(script)
        while other.result is None:
            pick_randomly(other, randomness)
        assert (other.state, other.result) == (episode.state, episode.result)
        assert other.happened == episode.happened


def pick_randomly(episode: Any, randomness: Random) -> None:
    player = episode.deciders[0]
    episode.pick(player, randomness.choice(episode.mask(player).nonzero()[0].tolist()))


def test_a_shared_mask_cannot_be_written_to() -> None:
    code = encoding.encoding(load("firewall-breach"))
    with pytest.raises(ValueError, match="read-only"):
        code.start.turn.masks[0][0] = 0


def test_two_illegal_sealed_picks_are_a_draw_one_after_the_other_too() -> None:
    for order in ((0, 1), (1, 0)):
        episode = episodes.Episode(encoding.encoding(load("number-clash")), seed=1)
        episode.pick_both(3, 3)
        for player in order:
            assert episode.result is None
            episode.pick(player, 3)
        assert episode.result is not None
        assert (episode.result.winner, episode.result.by) == (None, "forfeit")
        assert episode.rewards == (0.0, 0.0)
    episode = episodes.Episode(encoding.encoding(load("number-clash")), seed=1)
    episode.pick_both(3, 3)
    episode.pick(0, 3)
    episode.pick(1, 4)
    assert episode.result is not None
    assert episode.result.winner == 1
