"""What works for a game in one file: the table of docs/guides/add-a-game.md.

    python -m tests.plugins.components [COMPONENT ...]

tries every game in every component, or in some, and writes the table; `test_components.py` does the
same, a test for each cell, and compares.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.core.conformance import play_randomly
from duels.core.game import AnyGame, Pick
from duels.core.payoffs import unit_of
from duels.core.spec import located, rules_of
from tests.plugins import install
from tests.terminal_helpers import COMMAND, ROOT, Finished, environment

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.server.server import Process

PAGE = ROOT / "docs" / "guides" / "add-a-game.md"
BEGIN, END = "<!-- components: begin -->", "<!-- components: end -->"
RANDOM = ("--p2", "random", "--seed", "1")
LINES = 60  # typed times every move: a move that is not possible is asked for again


class Plugin(NamedTuple):
    """A game under tests/plugins, and options with which it is small."""

    place: str
    options: dict[str, str]

    @property
    def kind(self) -> type[AnyGame]:
        return rules_of(located(self.place))

    @property
    def slug(self) -> str:
        return self.kind.slug

    @property
    def game(self) -> AnyGame:
        return self.kind(**self.options)

    @property
    def words(self) -> str:
        """The game and its options, as arguments of a command."""
        return " ".join([self.slug, *(f"--set {n}={value}" for n, value in self.options.items())])


PLUGINS = {
    found.slug: found
    for found in (
        Plugin("tests.plugins.goofspiel:Goofspiel", {"cards": "3"}),
        Plugin("tests.plugins.goofspiel:BareGoofspiel", {"cards": "3"}),
        Plugin("tests.plugins.liars_dice:LiarsDice", {"faces": "3"}),
        Plugin("tests.plugins.kuhn_poker:KuhnPoker", {}),
        Plugin("tests.plugins.leduc_poker:LeducPoker", {}),
        Plugin("tests.plugins.coin_wars:SPEC", {"lp": "9/9", "numbers": "3"}),
    )
}


class Refused(Exception):
    """A component says in a line why it does not serve a game."""


class World(ExitStack):
    """A user with the games installed, a server, and a browser, each started on first use."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home
        installed = home / "installed"
        installed.mkdir()
        install(installed, {slug: found.place for slug, found in PLUGINS.items()})
        self.installed = str(installed)
        self.path = f"{ROOT}{os.pathsep}{installed}"

    def run(self, command: str, *last: str, typed: list[str] | None = None) -> Finished:
        """Run the command to its end, which must be a good one."""
        return self.program([*COMMAND, *command.split(), *last], typed)

    def program(self, words: list[str], typed: list[str] | None = None) -> Finished:
        done = subprocess.run(
            words, input="".join(f"{line}\n" for line in typed or ()), capture_output=True,
            text=True, cwd=self.home, env=environment(self.home, PYTHONPATH=self.path),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return Finished(done.stdout, done.stderr, done.returncode)

    def script(self, text: str) -> str:
        """What a program of a researcher prints; a refusal is its last line."""
        words = [sys.executable, "-c", text]
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=self.home,
            env=environment(self.home, PYTHONPATH=self.path),
        )  # fmt: skip
        last = (done.stderr.splitlines() or [""])[-1]
        if done.returncode and (told := re.search(r"\b(NotEncoded|NoKernel): (.*)", last)):
            raise Refused(told[2].partition(";")[0].partition(" ")[2])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, command: str) -> Any:
        return json.loads(self.run(command).out)

    @cached_property
    def server(self) -> Process:
        from tests.server.server import Process

        found = Process(str(self.home / "server.db"), path=self.installed)
        self.callback(found.kill)
        return found

    @cached_property
    def browser(self) -> Browser:
        from playwright.sync_api import sync_playwright

        from tests.server.browser.conftest import executable

        playwright = self.enter_context(sync_playwright())
        found = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        self.callback(found.close)
        return found


def typed(plugin: Plugin, options: bool = True) -> list[str]:
    """Lines that play a game to its end, whatever happens: all its moves, again and again."""
    game = plugin.game if options else plugin.kind()
    moves: set[str] = set()
    for seed in range(30):
        events = play_randomly(game, seed, random.Random(seed)).events
        moves |= {move for pick in events if isinstance(pick, Pick) for _, move in pick.moves}
    return sorted(moves) * LINES


def ended(game: AnyGame, text: str) -> None:
    """The end of a match is told, and what a win pays where wins pay differently."""
    won = re.search(r"Player [12] wins( \d+)?( the game)?!", text)
    assert won or "There is no winner" in text or "draw" in text, text
    assert won is None or bool(won[1]) == unit_of(game).pays, text


# The components. Each raises AssertionError if it does not work, and Refused if it says why.


def terminal(world: World, plugin: Plugin) -> None:
    done = world.run(f"play {plugin.words} --p2 random --seed 1", typed=typed(plugin))
    ended(plugin.game, done.out)


def menu(world: World, plugin: Plugin) -> None:
    answers = [plugin.slug, "random", ""]
    done = world.run("", typed=[*answers, *typed(plugin, options=False)])
    assert plugin.kind.summary in " ".join(done.out.split())
    ended(plugin.game, done.out)


def rules(world: World, plugin: Plugin) -> None:
    done = world.run(f"rules {plugin.words}")
    assert plugin.kind.title in done.out
    text = " ".join(done.out.split())
    assert " ".join(plugin.game.rules_text().split()[:12]) in text


def bots(world: World, plugin: Plugin) -> None:
    """A program in a language of its own, over the protocol."""
    bot = world.home / f"bot_{plugin.slug}.py"
    world.run("bot new", str(bot))
    world.run("bot check", f"{sys.executable} {bot}", "--games", plugin.slug)
    done = world.program(
        [*COMMAND, "play", *plugin.words.split(), "--p1", f"{sys.executable} {bot}", *RANDOM]
    )
    ended(plugin.game, done.out)


def arena(world: World, plugin: Plugin) -> None:
    options = " ".join(plugin.words.split()[1:])
    found = world.json(
        f"arena random greedy --games {plugin.slug} {options} -n 2 --json "
        f"--out {world.home / ('arena-' + plugin.slug)}"
    )
    assert plugin.slug in json.dumps(found)


def pettingzoo(world: World, plugin: Plugin) -> None:
    said = world.script(
        "import duels.envs.pettingzoo as zoo\n"
        f"env = zoo.env({plugin.slug!r}, **{plugin.options!r})\n"
        "env.reset(seed=1)\n"
        "paid = 0\n"
        "for agent in env.agent_iter():\n"
        "    seen, reward, over, cut, info = env.last()\n"
        "    done = over or cut\n"
        "    env.step(None if done else env.action_space(agent).sample(seen['action_mask']))\n"
        "    paid = max(paid, abs(reward))\n"
        "print(info['by'], paid)\n"
    )
    by, paid = said.split()
    assert by == "rules"
    assert float(paid) <= float(unit_of(plugin.game).highest)


def gymnasium(world: World, plugin: Plugin) -> None:
    said = world.script(
        "import gymnasium, duels.envs.gymnasium\n"
        f"env = gymnasium.make({environment_id(plugin)!r}, opponent='perfect', "
        f"**{plugin.options!r})\n"
        "_, info = env.reset(seed=1)\n"
        "over = 'by' in info\n"
        "while not over:\n"
        "    action = env.action_space.sample(info['action_mask'])\n"
        "    _, _, over, _, info = env.step(action)\n"
        "print(info['by'])\n"
    )
    assert said == "rules\n"


def vector(world: World, plugin: Plugin) -> None:
    said = world.script(
        "import gymnasium, duels.envs.gymnasium\n"
        f"env = gymnasium.make_vec({environment_id(plugin)!r}, num_envs=4, opponent='random', "
        f"**{plugin.options!r})\n"
        "_, info = env.reset(seed=1)\n"
        "over = False\n"
        "while not over:\n"
        "    actions = [row.nonzero()[0][0] for row in info['action_mask']]\n"
        "    _, _, ended, _, info = env.step(actions)\n"
        "    over = over or ended.any()\n"
        "print('ended')\n"
    )
    assert said == "ended\n"


def environment_id(plugin: Plugin) -> str:
    return f"duels/{plugin.slug.title().replace('-', '')}-v0"


def openspiel(world: World, plugin: Plugin) -> None:
    name = f"python_duels_{plugin.slug.replace('-', '_')}"
    given = ",".join(f"{option}={value}" for option, value in plugin.options.items())
    said = world.script(
        "import pyspiel, duels.envs.openspiel\n"
        f"game = pyspiel.load_game('{name}({given})')\n"
        "pyspiel.random_sim_test(game, 2, False, False, True)\n"
        "print(game.max_utility())\n"
    )
    assert float(said.split()[-1]) == float(unit_of(plugin.game).highest)


def value(world: World, plugin: Plugin) -> None:
    found = world.json(f"value {plugin.words} --json")
    unit = unit_of(plugin.game)
    assert float(unit.lowest) <= found["value"] <= float(unit.highest)
    assert found.get("unit", "expected score") == unit.name
    labelled = f"Player 1's {unit.name}: {found['value']:.6f}"
    assert labelled in world.run(f"value {plugin.words}").out


def solve(world: World, plugin: Plugin) -> None:
    figures = dict(re.findall(r"(\w.*?)  +(.*)", world.run(f"solve {plugin.words}").out))
    assert any(name.startswith("value") for name in figures), figures
    if plugin.game.private:
        unit = unit_of(plugin.game)
        assert float(figures[f"exploitability ({unit.name})"]) < 1e-5 * float(unit.highest)


def exploit(world: World, plugin: Plugin) -> None:
    found = world.json(f"exploit {plugin.words} random --json")
    assert found["total"] > 0
    assert found["kind"].startswith("exact")
    assert found.get("unit", "expected score") == unit_of(plugin.game).name


def analyse(world: World, plugin: Plugin) -> None:
    file = f"{plugin.slug}.json"
    world.run(f"play {plugin.words} --p1 random --p2 random --seed 2 --save {file}")
    found = world.json(f"analyse {file} --json")
    assert found["moves"]
    assert not sum(found["ungraded"].values())
    text = world.run(f"analyse {file}").out
    assert ("expected payoffs" in text) == unit_of(plugin.game).pays
    assert ("best responses to it gain" in text) == plugin.game.private


def explain(world: World, plugin: Plugin) -> None:
    done = world.run(f"explain {plugin.words}")
    assert "what the first moves are worth" in done.out
    assert ("best responses to it gain" in done.out) == plugin.game.private


def perfect(world: World, plugin: Plugin) -> None:
    """It plays to the end, and no response gains much against it."""
    ended(plugin.game, world.run(f"play {plugin.words} --p1 perfect --p2 perfect --seed 3").out)
    found = world.json(f"exploit {plugin.words} perfect --json")
    assert found["total"] < 1e-4


def hints(world: World, plugin: Plugin) -> None:
    lines = ["hint", *typed(plugin)]
    done = world.run(f"play {plugin.words} --p2 random --seed 1", typed=lines)
    hint = re.search(r"Hint: perfect play chooses (.*)", done.out)
    assert hint, done.out
    assert ("best responses to it gain" in hint[1]) == plugin.game.private


def server(world: World, plugin: Plugin) -> None:
    """A match over HTTP and WebSocket, with a hint; its record and its analysis."""
    import httpx

    from duels.client.identity import new_key
    from tests.server.server import Person

    async def play() -> None:
        async with httpx.AsyncClient(base_url=world.server.url, timeout=60) as http:
            ada = Person(http, world.server.ws, new_key())
            made = await ada.create(plugin.slug, options=plugin.options, opponent="perfect", seat=1)
            seated = await ada.sit(made["id"])
            hinted = False
            while await seated.choosing():
                if not hinted:
                    hint = await seated.command("hint", at=seated.moment)
                    hinted = hint["move"] in seated.view["options"]
                    assert hinted, hint
                answer = await seated.move(seated.view["options"][0])
                assert answer["ok"], answer
            lines = [
                line["text"] if isinstance(line, dict) else line
                for message in seated.messages if message["type"] == "update"
                for passage in message["passages"] for line in passage["lines"]
            ]  # fmt: skip
            payoff = seated.view["result"].get("payoff", 1)
            if unit_of(plugin.game).pays and seated.view["result"]["winner"]:
                assert f"win {payoff}!" in " ".join(lines) or f"wins {payoff}!" in " ".join(lines)
            record = await ada.get(f"/api/matches/{made['id']}/record")
            assert record["result"].get("payoff", 1) == payoff
            graded = await ada.get(f"/api/matches/{made['id']}/analysis")
            assert len(graded["curve"]) > 1
            await seated.close()

    asyncio.run(play())


def browser(world: World, plugin: Plugin) -> None:
    """A person plays the computer in Chromium."""
    from tests.server.browser.people import TIMEOUT, Person

    context = world.browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT)
    try:
        person = Person(context, world.server.url).against(plugin.kind.title, "random")
        chance = random.Random(1)
        while not person.over:
            if options := person.options:
                person.click_move(chance.choice(options))
            person.page.wait_for_timeout(10)
        heading = re.compile("You have won|You have lost|There is no winner")
        person.page.get_by_role("heading", name=heading).wait_for()
        told = person.log.inner_text()
        if unit_of(plugin.game).pays:
            assert re.search(r"wins? \d+|Draw", told), told
            person.page.get_by_role("link", name="Replay and analysis").click()
            person.page.get_by_role("heading", name="Your expected payoff").wait_for()
            person.page.get_by_text("best responses to it gain").wait_for()
            ticks = person.page.locator("svg.graph text").all_text_contents()
            highest = unit_of(plugin.game).highest
            assert ticks == [str(-highest), "0", str(highest)], ticks
        assert not person.troubles, person.troubles
    finally:
        context.close()


Component = Callable[[World, Plugin], None]
COMPONENTS: dict[str, Component] = {
    "terminal": terminal,
    "menu": menu,
    "rules": rules,
    "bots": bots,
    "arena": arena,
    "PettingZoo": pettingzoo,
    "Gymnasium": gymnasium,
    "vector": vector,
    "OpenSpiel": openspiel,
    "`value`": value,
    "`solve`": solve,
    "`exploit`": exploit,
    "`analyse`": analyse,
    "`explain`": explain,
    "`perfect`": perfect,
    "hints": hints,
    "server": server,
    "browser": browser,
}
NEEDS = {
    "PettingZoo": "rl", "Gymnasium": "rl", "vector": "rl", "OpenSpiel": "openspiel",
    "server": "web", "browser": "dev",
}  # fmt: skip


def outcome(component: str, slug: str, world: World) -> str:
    """Nothing if a game works in a component, else what the component says."""
    try:
        COMPONENTS[component](world, PLUGINS[slug])
    except Refused as refusal:
        return str(refusal)
    return ""


# The table

Outcomes = dict[tuple[str, str], str]  # by component and game


def written(outcomes: Outcomes) -> str:
    """The table in Markdown: "yes", or the number of a note."""
    notes = list(dict.fromkeys(filter(None, outcomes.values())))
    titles = [plugin.kind.title for plugin in PLUGINS.values()]
    lines = [f"| | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
    for component in COMPONENTS:
        told = (outcomes[component, slug] for slug in PLUGINS)
        cells = [f"no ({notes.index(text) + 1})" if text else "yes" for text in told]
        lines.append(f"| {component} | {' | '.join(cells)} |")
    lines += ["", *(f"{number}. {note}" for number, note in enumerate(notes, 1))]
    return "\n".join(lines).rstrip()


def read(text: str) -> Outcomes:
    """The outcomes that a table states."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    notes = dict(re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE))
    return {
        (row[0], slug): "" if cell == "yes" else notes[cell.strip("no ()")]
        for row in rows if row and row[0] in COMPONENTS
        for slug, cell in zip(PLUGINS, row[1:], strict=True)
    }  # fmt: skip


def stated() -> str:
    """The table of docs/guides/add-a-game.md."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()


def main(names: list[str]) -> None:
    """Try some components, or all, and write the table."""
    from tempfile import TemporaryDirectory

    outcomes = read(stated()) if names else {}
    with TemporaryDirectory() as home, World(Path(home)) as world:
        for component in names or COMPONENTS:
            for slug in PLUGINS:
                outcomes[component, slug] = outcome(component, slug, world)
                print(component, slug, outcomes[component, slug] or "yes", flush=True)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    table = f"{BEGIN}\n{written(outcomes)}\n{END}"
    PAGE.write_text(before + table + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
