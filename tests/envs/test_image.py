"""The render mode `rgb_array`: frames of one size that show the table, and nothing hidden."""

from __future__ import annotations

import importlib
import struct
import warnings
import zlib
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.core.errors import OptionError
from duels.core.game import AnyGame, History
from duels.core.presentation import Die, Hand, Item, Meter, Part, Pile, Points, Sealed, Tokens
from duels.core.views import table_of
from duels.games import BUILT_IN, load
from duels.plotting.bitmap import FONT, Canvas
from tests.plugins.goofspiel import Goofspiel, State
from tests.variants import VARIANTS, name

EXTRA = "needs the extra: pip install 'duels[rl]'"
np: Any = pytest.importorskip("numpy", reason=EXTRA)
gymnasium: Any = pytest.importorskip("gymnasium", reason=EXTRA)
gym: Any = importlib.import_module("duels.envs.gymnasium")
zoo: Any = importlib.import_module("duels.envs.pettingzoo")
image: Any = importlib.import_module("duels.envs.image")
Episode: Any = importlib.import_module("duels.envs.episode").Episode
encoding: Any = importlib.import_module("duels.envs.encoding").encoding
env_id: Any = importlib.import_module("duels.envs.registration").env_id
checker: Any = importlib.import_module("gymnasium.utils.env_checker")

SIZE = (image.HEIGHT, image.WIDTH, 3)


@pytest.mark.cases(10)
@pytest.mark.parametrize("game", [*VARIANTS, Goofspiel(cards=13)], ids=name)
def test_frames_have_one_size_and_change_with_the_table(game: AnyGame) -> None:
    env = gym.DuelEnv(game, "random", seat="random", render_mode="rgb_array", turn_limit=30)
    _, info = env.reset(seed=5)
    shown: list[tuple[Any, list[Part]]] = []
    over, randomness = False, Random(1)
    while not over and len(shown) < 8:
        shown.append((env.render(), table_of(env.episode.view(env.player))))
        action = randomness.choice(info["action_mask"].nonzero()[0].tolist())
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    assert {(frame.shape, str(frame.dtype)) for frame, _ in shown} == {(SIZE, "uint8")}
    for (one, parts), (two, others) in pairwise(shown):
        assert (one != two).any() or parts == others
    assert (env.render() == env.render()).all()  # looking changes nothing


@pytest.mark.parametrize("slug", BUILT_IN)
def test_gymnasiums_own_check_with_images(slug: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(env_id(slug), seat="random", render_mode="rgb_array")
        checker.check_env(env.unwrapped)
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert env.metadata["render_fps"] > 0
    listing = gymnasium.make(env_id(slug), render_mode="rgb_array_list")
    listing.reset(seed=1)
    assert [frame.shape for frame in listing.render()] == [SIZE]


@pytest.mark.extra("torch")
def test_stable_baselines_makes_its_vector_environment() -> None:
    util = pytest.importorskip("stable_baselines3.common.env_util", reason="needs duels[torch]")
    for slug in BUILT_IN:
        envs = util.make_vec_env(env_id(slug), 4, seed=1)
        assert envs.reset().shape[0] == 4
        envs.step(np.zeros(4, np.int64))
        assert [frame.shape for frame in envs.get_images()] == [SIZE] * 4
        envs.close()


def test_record_video_writes_a_video(tmp_path: Path) -> None:
    pytest.importorskip("moviepy", reason="needs moviepy")
    env = gymnasium.make(env_id("cipher-siege"), render_mode="rgb_array")
    recorded = gymnasium.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda n: True)
    recorded.reset(seed=1)
    recorded.step(0)
    recorded.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1000


def test_a_batch_says_what_can_be_rendered() -> None:
    with pytest.raises(OptionError, match="Use vectorization_mode='sync' to render"):
        gymnasium.make_vec(env_id("number-wars"), num_envs=2, render_mode="rgb_array")
    copies = gymnasium.make_vec(
        env_id("number-wars"), num_envs=2, vectorization_mode="sync", render_mode="rgb_array"
    )
    copies.reset(seed=1)
    assert [frame.shape for frame in copies.render()] == [SIZE] * 2


@pytest.mark.parametrize("slug", BUILT_IN)
def test_pettingzoo_draws_what_a_spectator_sees(slug: str) -> None:
    checks: Any = importlib.import_module("pettingzoo.test")
    checks.render_test(lambda **mode: zoo.env(slug, **mode))
    env = zoo.env(slug, render_mode="rgb_array")
    env.reset(seed=2)
    assert env.render().shape == SIZE
    assert (env.render() == image.frame(env.unwrapped.episode, None)).all()


def deals(game: AnyGame) -> Any:
    return (Episode(encoding(game), seed, keep=True) for seed in range(3000))


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_hands_that_a_viewer_may_not_see_change_no_pixel(viewer: int | None) -> None:
    """Deals that look alike to the viewer, with other cards in the hidden hands."""
    game = load("cipher-siege")
    first, found = Episode(encoding(game), seed=0, keep=True), 0
    hidden = next(player for player in (1, 0) if player != viewer)
    for other in deals(game):
        if other.state.hands[hidden] == first.state.hands[hidden]:
            continue
        if other.view(viewer)[2:4] == first.view(viewer)[2:4]:
            found += 1
            assert (image.frame(other, viewer) == image.frame(first, viewer)).all()
            assert (image.frame(other, hidden) != image.frame(first, hidden)).any()
        if found == 4:
            return
    pytest.fail("too few deals look alike")


@pytest.mark.parametrize("game", [load("number-clash"), load("digit-duel", hidden=True)], ids=name)
def test_a_sealed_pick_shows_its_back_alone(game: AnyGame) -> None:
    for viewer in (1, None):
        frames = []
        for action in (None, 2, 5):
            episode = Episode(encoding(game), seed=1, keep=True)
            if action is not None:
                episode.pick(0, action)
            frames.append(image.frame(episode, viewer))
        assert (frames[1] == frames[2]).all()
        assert (frames[0] != frames[1]).any()


class Shown(Goofspiel):
    """A game with the table that a test wants to see drawn."""

    wanted: tuple[Part, ...] = ()

    def table(self, seen: State, viewer: int | None, history: History = ()) -> list[Part]:
        return list(self.wanted)


def shown(*parts: Part) -> bytes:
    game: type[Shown] = type("Shown", (Shown,), {"wanted": parts})
    pixels = image.frame(Episode(encoding(game()), seed=1, keep=True), viewer=0)
    assert pixels.shape == SIZE
    found: bytes = pixels.tobytes()
    return found


def items(*faces: str) -> tuple[Item, ...]:
    return tuple(map(Item, faces))


def test_all_that_a_part_says_is_in_the_image() -> None:
    tables: list[tuple[Part, ...]] = [
        (),
        *((Meter("Life", value, top, 0),) for value, top in ((3, 5), (4, 5), (4, 6), (40, 90))),
        (Meter("Life", 3, 5, 1),),
        (Meter("Force", 3, 5, 0),),
        (Tokens("Digits", items("1", "2"), 0),),
        (Tokens("Digits", (Item("1"), Item("2", spent=True)), 0),),
        *((Hand("Hand", items(*faces), hidden, 0),) for faces, hidden in (("45", 0), ("46", 0))),
        *((Hand("Hand", items("4"), hidden, 0),) for hidden in (0, 1, 2)),
        *((Pile("Deck", size),) for size in (0, 1, 12)),
        *((Pile("Gone", 3, items(*faces)),) for faces in ("123", "122", "221", "222")),
        *((Die("Die", face, owner),) for face in "1234567" for owner in (0, 1)),
        *((Die("Die", face),) for face in ("10", "A♠", "A♥", "A♦", "A♣")),
        *((Sealed("Choice", owner=owner),) for owner in (0, 1)),
        *((Points("Points", points, goal, 0),) for points, goal in ((1, 3), (2, 3), (2, 4))),
        *((Points("Points", points, goal, 0),) for points, goal in ((20, 30), (-4, 30), (0, 30))),
    ]
    frames = [shown(*parts) for parts in tables]
    assert len(set(frames)) == len(frames)


def test_tables_that_are_too_full_or_cannot_be_written_are_drawn_all_the_same() -> None:
    assert shown(Hand("Hand", items("1"), 400, 0)) != shown(Hand("Hand", items("2"), 400, 0))
    assert shown(Tokens("Zahlen für Zoë ✓ " * 9, items("愛" * 90, ""), 1)) != shown()
    assert shown(Meter("", 7, 0, 0), Meter("Over", 9, 5, 0), Meter("Under", -9, 5)) != shown()


def test_the_canvas_as_a_png_and_cut_off_at_its_edges() -> None:
    canvas = Canvas(20, 9, palette=((0, 0, 0), (9, 8, 7)))
    canvas.text(-3, -2, "Wide letters", 1, size=2)
    canvas.rectangle(15, 5, 90, 90, 1, radius=3)
    data = canvas.png()
    assert struct.unpack(">II", data[16:24]) == (20, 9)
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4 : start])
    rows = zlib.decompress(data[start + 4 : start + 4 + length])
    assert b"".join(rows[21 * n + 1 : 21 * n + 21] for n in range(9)) == canvas.pixels
    assert len(set(FONT.values())) == len(FONT)
