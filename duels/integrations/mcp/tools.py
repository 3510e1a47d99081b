"""The MCP server: tools and resources over matches of this machine or of a server.

Tools take the handle of a match, which cannot be guessed, and its version, so that no session is
needed. Failures that a model can act on are `ToolError`s with what to do.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from duels import __version__
from duels.algorithms.solution import Unsolved
from duels.algorithms.solutions import ready
from duels.analysis.grade import grade
from duels.analysis.position import match_after, position_value, to_json
from duels.analysis.report import to_json as analysis_json
from duels.core.errors import DuelsError, IllegalMove
from duels.core.game import AnyGame
from duels.games import catalogue, find, load
from duels.integrations.mcp.matches import Matches, pair_seeds
from duels.integrations.mcp.results import (
    Catalogue,
    GameInfo,
    GameOption,
    Hint,
    Level,
    MatchState,
    Started,
    match_state,
)
from duels.players import BUILT_IN, DEFAULT

LONGEST_LINE = 500  # moves and outcomes that lead to a position
INSTRUCTIONS = """\
Two-player number games with exact solutions. start_match returns the rules, a handle and your view.
Choose one of legal_moves and call move with the handle and the version of the view; the opponent's
replies are in the result. When the match is over, analyse_match says what each move cost."""
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
STARTS = ToolAnnotations(destructive_hint=False, open_world_hint=False)
REPEATABLE = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)

GameName = Annotated[str, Field(description="a name that list_games returns")]
Options = Annotated[
    dict[str, str] | None, Field(description="rule options by name; without, the usual rules")
]
Opponent = Annotated[str, Field(description="a computer player that list_games returns")]
Handle = Annotated[str, Field(description="the handle of a match, from start_match")]
Version = Annotated[int, Field(ge=0, description="the version of the view to which you respond")]
Seed = Annotated[
    int | None,
    Field(ge=0, lt=2**127, description="the same seed gives the same dice; without, secret ones"),
]
Hints = Annotated[bool, Field(description="whether the tool hint may be used in this match")]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def tool_errors(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Turn what the program refuses into errors that the model reads."""

    @wraps(function)
    def guarded(*arguments: Given.args, **named: Given.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except DuelsError as error:
            raise ToolError(str(error)) from None

    return guarded


def make_server(matches: Matches) -> MCPServer[Any]:
    """An MCP server whose tools play these matches."""
    server: MCPServer[Any] = MCPServer(
        "duels", title="Duels", version=__version__, instructions=INSTRUCTIONS,
        log_level="WARNING",
    )  # fmt: skip

    def started(game: AnyGame, seated: list[MatchState]) -> Started:
        return Started(rules=game.rules_text(), matches=seated)

    @server.tool(annotations=READS)
    @tool_errors
    def list_games() -> Catalogue:
        """List the games with their rule options, and the computer players."""
        opponents = [Level(name=name, about=made.about) for name, made in BUILT_IN.items()]
        return Catalogue(games=[game_info(find(slug)) for slug in catalogue()], opponents=opponents)

    @server.tool(annotations=STARTS)
    @tool_errors
    def start_match(
        game: GameName, opponent: Opponent = DEFAULT, seat: Literal[1, 2] = 1,
        options: Options = None, seed: Seed = None, hints: Hints = False,
    ) -> Started:  # fmt: skip
        """Start a match against a computer player; returns the rules in force and your view."""
        match = matches.start(game, options or {}, opponent, seat - 1, seed, hints)
        return started(match.view.game, [match_state(match)])

    @server.tool(annotations=STARTS)
    @tool_errors
    def start_pair(
        game: GameName, opponent: Opponent = DEFAULT, options: Options = None, seed: Seed = None,
        hints: Hints = False,
    ) -> Started:  # fmt: skip
        """Start two matches against a computer player, in which you take one seat each.

        A pair is fairer than a match, as one seat of a game may be better. The dice of the two
        matches differ.
        """
        pair = [
            matches.start(game, options or {}, opponent, seat, own, hints)
            for seat, own in enumerate(pair_seeds(seed))
        ]
        return started(pair[0].view.game, [match_state(match) for match in pair])

    @server.tool(annotations=READS)
    @tool_errors
    def view_match(match: Handle) -> MatchState:
        """Look at a match from your seat."""
        return match_state(matches.find(match))

    @server.tool(annotations=REPEATABLE)
    @tool_errors
    def move(
        match: Handle,
        version: Version,
        move: Annotated[str, Field(max_length=200, description="one of legal_moves")],
    ) -> MatchState:
        """Make your move; the result includes the opponent's replies.

        Your last move, repeated with the same version, has no second effect and gets the same
        result. Any other move for an old version is refused.
        """
        return match_state(matches.move(match, version, move))

    @server.tool(annotations=REPEATABLE)
    @tool_errors
    def resign(match: Handle, version: Version) -> MatchState:
        """Resign a match: the opponent wins."""
        return match_state(matches.resign(match, version))

    @server.tool(annotations=READS)
    @tool_errors
    def hint(match: Handle, version: Version) -> Hint:
        """Ask for a good move, in a match that was started with hints."""
        text, move = matches.hint(match, version)
        return Hint(hint=text, move=move)

    @server.tool(annotations=READS)
    @tool_errors
    def value(
        game: GameName,
        options: Options = None,
        after: Annotated[
            list[str] | None,
            Field(
                max_length=LONGEST_LINE,
                description="moves and chance outcomes that lead to the position, in order; two "
                "sealed moves are written as 7/8",
            ),
        ] = None,
    ) -> dict[str, Any]:
        """Compute what a position and each move in it is worth to Player 1 with perfect play.

        Refused while you play a match of this game without hints.
        """
        made = load(game, **(options or {}))
        if matches.hides_values(made):
            raise IllegalMove(
                f"a match of {made.title} with these options is being played without hints; "
                "finish or resign it first"
            )
        position = match_after(made, after or [])
        if not ready(made):
            raise Unsolved(
                f"{made.title} with these options takes long to solve; in a terminal, "
                f"duels value {made.slug} solves it"
            )
        return to_json(position_value(position))

    @server.tool(annotations=READS)
    @tool_errors
    def analyse_match(match: Handle) -> dict[str, Any]:
        """Grade each move of a match that is over: its regret, and the best move."""
        found = matches.finished(match)
        if not ready(found.game):
            raise Unsolved(f"{found.game.title} with these options takes long to solve")
        return analysis_json(grade(found))

    for slug in catalogue():
        add_rules(server, find(slug))
    return server


def game_info(game: type[AnyGame]) -> GameInfo:
    """What a client needs to start a game."""
    return GameInfo(
        name=game.slug,
        title=game.title,
        summary=game.summary,
        hidden_information=game.private,
        rules=f"rules://{game.slug}",
        options=[
            GameOption(
                name=name, about=option.about, takes=option.expects,
                default=option.show(option.default),
            )
            for name, option in game.options().items()
        ],
    )  # fmt: skip


def add_rules(server: MCPServer[Any], game: type[AnyGame]) -> None:
    """Add a resource with the rules of a game."""

    @server.resource(
        f"rules://{game.slug}", name=f"rules-{game.slug}", title=f"Rules of {game.title}",
        description=game.summary, mime_type="text/plain",
    )  # fmt: skip
    def rules() -> str:
        return game().rules_text()


def serve_stdio(matches: Matches) -> None:
    """Serve one client over standard input and output."""
    make_server(matches).run("stdio")


def serve_http(matches: Matches, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve any number of clients over HTTP; `ready` gets the address once it is open."""
    import uvicorn

    app = make_server(matches).streamable_http_app(
        stateless_http=True, json_response=True, host=host
    )
    try:
        opened = socket.create_server((host, port))
    except OSError as error:
        raise DuelsError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    ready(f"http://{host}:{opened.getsockname()[1]}/mcp")
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[opened])
