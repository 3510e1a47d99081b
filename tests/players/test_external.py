"""Programs and classes as players: what they are sent, what is made of their answers."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from duels.core import record
from duels.core.chance import stream
from duels.core.errors import IllegalMove, Misbehaved, OptionError, UnknownName
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.player import Player, View
from duels.core.wire import dump_view, load_view
from duels.games import BUILT_IN, find, load
from duels.players import (
    CLASS,
    COMMAND,
    PlayerSpec,
    external_kind,
    make_player,
    needs_solution,
    parse_spec,
)
from duels.players.check import check, variants
from duels.players.external import External, ProcessLimits, request
from duels.players.runner import MatchRunner
from duels.players.uniform import Uniform
from tests.players.zoo import command
from tests.plugins.goofspiel import Goofspiel
from tests.variants import VARIANTS, name

ROOT = Path(__file__).parents[2]
PATIENT = ProcessLimits(seconds=60.0, start=60.0)
GAMES = [find(slug) for slug in BUILT_IN]


# What a text names


def test_texts_name_players() -> None:
    assert parse_spec("greed") == PlayerSpec("built-in", "greedy")
    assert parse_spec(" human ") == PlayerSpec("human", "human")
    assert parse_spec("some.module:Clever") == PlayerSpec(CLASS, "some.module:Clever")
    assert parse_spec(f"{sys.executable} bot.py") == PlayerSpec(COMMAND, f"{sys.executable} bot.py")
    assert [external_kind(text) for text in ("greedy", "x:Y", "./bot")] == [None, CLASS, COMMAND]


def test_players_have_names_and_limits_of_their_own() -> None:
    bot = f"{sys.executable} bot.py"
    found = parse_spec(f"new={bot} --depth=3,time=0.5,memory=256")
    assert found == PlayerSpec(COMMAND, f"{bot} --depth=3", "new", 0.5, 256)
    assert found.text == f"new={bot} --depth=3,time=0.5,memory=256"
    assert (found.title, parse_spec(bot).title) == ("new", bot)
    limits = found.limits()
    assert (limits.seconds, limits.memory, limits.always) == (0.5, 256, True)
    assert parse_spec(bot).limits() == ProcessLimits.usual()
    assert parse_spec("it=x.y:Z,time=2") == PlayerSpec(CLASS, "x.y:Z", "it", 2.0)
    assert parse_spec("strong=perf") == PlayerSpec("built-in", "perfect", "strong")
    # An equals sign or a comma of the command's own is not a name or a limit.
    assert parse_spec(f"{sys.executable} bot.py x=1").label == ""
    assert parse_spec(f"{sys.executable} bot.py 'x,time=2'").seconds is None
    assert [external_kind(text) for text in ("a=greedy", "a=x:Y", "a=./bot,time=1")] == [
        None, CLASS, COMMAND,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("perfect=./bot", "a built-in player is called perfect; choose another name"),
        ("a(b=./bot", "a player's name has up to 24 letters"),
        ("x" * 25 + "=greedy", "a player's name has up to 24 letters"),
        ("./bot,time=soon", "time: expected a number of seconds above 0; got 'soon'"),
        ("./bot,memory=1.5", "memory: expected a whole number of MB above 0; got '1.5'"),
        ("./bot,time=1,time=2", "time is given twice"),
        ("greedy,time=1", "only programs and classes take limits; greedy is built in"),
        ("me=human", "a human cannot be given a name here"),
    ],
)
def test_names_and_limits_that_are_wrong_are_told_so(text: str, why: str) -> None:
    with pytest.raises(OptionError, match=re.escape(why)):
        parse_spec(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is no player ''"),
        ("nobody", "or a program as ./NAME or a MODULE:CLASS"),
        ("./nothing-here", "there is no program './nothing-here'"),
        ("no-such-program --fast", "there is no program 'no-such-program'"),
        ("python3 'bot.py", "No closing quotation"),
        ("./bot\x1b[2J", "expected printable text"),
        ("./" + "x" * 300, "expected printable text"),
        ("h", "could be human or hard"),
    ],
)
def test_texts_that_name_no_player_are_told_so(text: str, why: str) -> None:
    with pytest.raises((UnknownName, OptionError), match=re.escape(why)):
        parse_spec(text)


def test_a_file_that_cannot_be_run_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("")
    with pytest.raises(UnknownName, match="chmod"):
        parse_spec(f"{tmp_path}/bot.py")


CLASSES = """
from duels.core import Player

class Plain(Player):
    def choose(self, view):
        return view.options[0]

class Streamed(Player):
    def __init__(self, stream):
        self.stream = stream
    choose = Plain.choose

class Needy(Player):
    def __init__(self, table): ...

class Raises(Player):
    def choose(self, view):
        raise ValueError("no\\nidea")

class Exits(Player):
    def choose(self, view):
        raise SystemExit("enough")

class Numbers(Player):
    def choose(self, view):
        return 7

class Elsewhere(Player):
    def choose(self, view):
        return "elsewhere"

class Solved(Plain):
    needs_solution = True

class Deaf(Plain):
    def on_event(self, number, entry):
        raise OSError("what?")
"""


@pytest.fixture
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of players, in the folder that one is in."""
    module = f"players_of_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{module}.py").write_text(CLASSES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return module


def test_classes_are_found_and_made(classes: str) -> None:
    assert type(make_player(f"{classes}:Plain", "s")).__name__ == "Plain"
    assert make_player(f"{classes}:Streamed", "s").stream == "s"
    assert needs_solution(f"{classes}:Solved")
    assert not needs_solution(f"{classes}:Plain", f"{sys.executable} bot.py")
    for wrong, why in (
        ("Needy", "cannot be created"),
        ("Nobody", "is not a subclass"),
        ("Player.choose", "is not a subc"),
    ):
        with pytest.raises(UnknownName, match=why):
            make_player(f"{classes}:{wrong}", "s")
    with pytest.raises(UnknownName, match="cannot be imported: ModuleNotFoundError"):
        make_player("no_such_module_here:Bot", "s")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("Raises", "ValueError: no idea"),
        ("Exits", "SystemExit: enough"),
        ("Numbers", "expected a move as text; got 7"),
        ("Elsewhere", "'elsewhere' is not an option"),
        ("Deaf", "OSError: what?"),
    ],
)
def test_a_class_that_fails_forfeits_with_the_reason(classes: str, wrong: str, why: str) -> None:
    match = Match(load("cipher-siege"), seed=2)
    MatchRunner(match, {0: Uniform(""), 1: make_player(f"{classes}:{wrong}", "s")}).finish()
    assert match.result is not None
    assert (match.result.winner, match.result.by) == (0, "forfeit")
    assert why in record.to_json(match)["entries"][-1]["why"]


def test_what_goes_wrong_in_an_opponent_of_ours_is_not_its_forfeit() -> None:
    game = load("cipher-siege", values=3)
    with pytest.raises(Exception, match="solve"):
        MatchRunner(
            Match(game, seed=2), dict.fromkeys((0, 1), make_player("perfect", "s"))
        ).finish()


# What is sent


def views(game: AnyGame, seed: int, undo: bool = False) -> list[View]:
    match, luck = Match(game, seed), Random(seed)
    found: list[View] = []
    while match.result is None and len(found) < 60:
        for seat in match.deciders:
            found.append(match.view(seat))
            match.submit(seat, luck.choice(found[-1].options))
        if undo and match.result is None and luck.random() < 0.3:
            with suppress(IllegalMove):  # nothing of that player's to take back
                match.undo(luck.randrange(2))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_a_request_is_the_view_of_the_wire_and_can_be_read_back(game: AnyGame) -> None:
    bot = External(f"{sys.executable} bot.py")
    for view in [*views(game, seed=1), *views(game, seed=2, undo=True)]:
        line = request(view, 2.5, "a seed", bot._history(view.history))
        assert "\n" not in line
        asked = json.loads(line)
        assert (asked["type"], asked["seconds"], asked["seed"]) == ("choose", 2.5, "a seed")
        wanted = json.loads(json.dumps(dump_view(view, display=False)))
        assert asked["view"] == wanted
        assert load_view(asked["view"], load) == view


# What is made of it


def finished(bot: Player, seed: int, slug: str = "number-wars") -> Match:
    bot.stream = stream(seed, 0)
    match = Match(load(slug), seed)
    MatchRunner(match, {0: bot, 1: make_player("greedy", stream(seed, 1))}).finish()
    return match


def test_a_mix_is_drawn_from_by_the_seed_and_as_it_says() -> None:
    bot = External(command("mixes"), limits=PATIENT)
    assert finished(bot, 3).events == finished(bot, 3).events
    assert finished(bot, 3).events != finished(bot, 4).events
    view = Match(load("firewall-breach"), seed=1).view(0)
    drawn: Counter[str] = Counter()
    for number in range(400):
        bot.stream = str(number)
        drawn[bot.choose(view)] += 1
    assert bot.last_strategy == {"attack": 0.5, "bypass": 0.5}
    assert bot.mixed_strategy(view) == {"attack": 0.5, "bypass": 0.5}
    assert 140 < drawn["attack"] < 260  # six standard deviations
    bot.close()


def test_a_bot_that_seeds_its_randomness_can_be_replayed(tmp_path: Path) -> None:
    from duels.cli.bot import TEMPLATES

    bot = External(f"{sys.executable} {TEMPLATES}/bot.py", limits=PATIENT)
    assert finished(bot, 3).events == finished(bot, 3).events
    assert finished(bot, 3).events != finished(bot, 4).events
    bot.close()


def written(tmp_path: Path, text: str) -> External:
    (tmp_path / "bot.py").write_text(text)
    return External(f"{sys.executable} {tmp_path}/bot.py", limits=PATIENT)


TELLS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(line, end="", file=open(sys.argv[0] + ".told", "a"), flush=True)
    if asked["type"] == "hello":
        print(json.dumps({"type": "ready", "games": ["number-wars"], "history": False}), flush=True)
    if asked["type"] == "choose":
        print(json.dumps({"type": "move", "move": asked["view"]["options"][0]}), flush=True)
"""


def test_a_bot_says_what_it_plays_and_that_it_wants_no_history(tmp_path: Path) -> None:
    bot = written(tmp_path, TELLS)
    match = finished(bot, 3)
    assert match.result is not None
    assert match.result.by == "rules"
    with pytest.raises(Misbehaved, match="it plays number-wars, not digit-duel"):
        bot.choose(Match(load("digit-duel"), seed=1).view(0))
    bot.close()
    told = [json.loads(line) for line in (tmp_path / "bot.py.told").read_text().splitlines()]
    assert told[0]["type"] == "hello"
    assert {line["type"] for line in told[1:-1]} == {"choose"}
    assert all(line["view"]["history"] == [] for line in told[1:-1])
    assert told[-1] == {"type": "over", "result": json.loads(json.dumps(dump(match)))}


def dump(match: Match) -> object:
    from duels.core.wire import dump

    return dump(match.result)


def test_a_bot_is_told_the_clock_and_not_the_other_hand(tmp_path: Path) -> None:
    bot = written(
        tmp_path, TELLS.replace('"games": ["number-wars"], "history": False', '"more": 1')
    )
    match = Match(load("cipher-siege"), seed=3, time_limit=50.0)
    MatchRunner(match, {0: bot, 1: make_player("greedy", "")}).choose()
    bot.close()
    asked = json.loads((tmp_path / "bot.py.told").read_text().splitlines()[1])
    assert 0 < asked["seconds"] <= 50
    assert asked["view"]["clock"] == asked["seconds"]
    fields = asked["view"]["observation"]["fields"]
    assert json.dumps(list(match.state.hands[1])) not in json.dumps(fields)


def test_limits_can_be_set_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUELS_BOT_SECONDS", "2.5")
    monkeypatch.setenv("DUELS_BOT_MEMORY", "4096")
    assert ProcessLimits.usual()[:3] == (2.5, 30.0, 4096)
    monkeypatch.setenv("DUELS_BOT_START", "60")
    assert ProcessLimits.usual().start == 60.0
    for wrong in ("-1", "nan", "many"):
        monkeypatch.setenv("DUELS_BOT_SECONDS", wrong)
        with pytest.raises(OptionError, match="DUELS_BOT_SECONDS: expected a number above 0"):
            ProcessLimits.usual()


# The check, and the page


@pytest.mark.slow
def test_the_check_finds_what_is_wrong_and_where(tmp_path: Path) -> None:
    """Planted: wrong in one seat of one variant; only without a history; only after other games."""
    broken = (
        'view = asked["view"]; '
        'bad = view["game"]["options"].get("hidden") == "yes" and view["player"] == 2',
        'bad = asked["view"]["moment"] > 3 and not asked["view"]["history"]',
        'seen = globals().setdefault("seen", asked["view"]["game"]["slug"]); '
        'bad = seen != asked["view"]["game"]["slug"]',
    )
    places = []
    for how in broken:
        text = TELLS.replace('"games": ["number-wars"], "history": False', '"more": 1').replace(
            '    if asked["type"] == "choose":\n',
            f'    if asked["type"] == "choose":\n        {how}\n        assert not bad\n',
        )
        bot = written(tmp_path, text)
        report = check(bot, [find("firewall-breach"), find("digit-duel")], PATIENT)
        bot.close()
        assert not report.fine
        places.append([game.failure and game.failure.where() for game in report.games])
        assert json.loads(json.dumps(report.to_json()))["fine"] is False
    assert places[0] == [None, "as Player 2, with hidden=yes, seed 1, moment 0"]
    assert "asked again without a history" in str(places[1][0])
    assert places[2][0] is None
    assert places[2][1] == "as Player 1, seed 1, moment 0"


def test_every_option_of_every_game_is_tried() -> None:
    for kind in GAMES:
        tried = [dict(game.settings()) for game in variants(kind)]
        usual = tried[0]
        changed = {key for settings in tried for key in settings if settings[key] != usual[key]}
        assert changed == set(kind.options()), kind.slug


def blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "reference" / "bots.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "program", "suffix"), [("python", sys.executable, ".py"), ("js", "node", ".js")]
)
def test_the_bots_of_the_page_play_every_game(
    language: str, program: str, suffix: str, tmp_path: Path
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    from duels.cli.bot import TEMPLATES

    (text,) = blocks(language)
    assert len(text.splitlines()) == 5
    (tmp_path / f"bot{suffix}").write_text(text)
    for place in (tmp_path, TEMPLATES):
        bot = External(f"{program} {place}/bot{suffix}", limits=PATIENT)
        report = check(bot, [*GAMES, Goofspiel], PATIENT)  # and a game of another package
        bot.close()
        assert report.fine, report.to_json()


def test_the_example_of_the_page_is_a_request() -> None:
    page = (ROOT / "docs" / "reference" / "bots.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r'^\{"type": "view".*?\}$', page, flags=re.MULTILINE | re.DOTALL)
    match = Match(load("firewall-breach"), seed=2024)
    match.submit(0, "attack")
    assert json.loads(shown) == json.loads(request(match.view(1), 10.0, ""))["view"]
