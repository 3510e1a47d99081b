"""The text of a game's rules, with the values of its options, rulings and the list of options.

>>> from duels.games import load
>>> rules(load("firewall-breach", strength=5))[2][:49]
'Two players each guard a firewall of strength 5. '
"""

from __future__ import annotations

from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.core.options import Pair
from duels.core.presentation import Lines, heading, player_name

RULINGS = "Rulings"  # the line of a game's text above its own rulings

COMMON = """\
  A1. Two players, Player 1 and Player 2. {first} A rematch swaps seats.
  A2. Input that makes no sense or is not possible changes nothing: you are told why and asked
      again.
  A3. After {turn_limit} resolved choices the match ends without a winner. A sealed pair of choices
      counts once.
  A4. There is no clock unless the match sets one.
      {late}
  A5. Dice, deals and draws have exact odds and come from the match's own seed. If moves are taken
      back and played again, the same dice and cards come up; a different move gets new ones.
  A6. Through a pipe everything is plain text: the lines without the drawings. The move that was
      read is shown after its prompt, unless it is sealed. There is no hand-over of the keyboard
      there, and no rematch is offered.
  A7. The options below are checked: a value that is not allowed is refused, and you are told what
      is.{pair}"""

LOSES_TURN = """\
A player who overruns a limit for each choice loses the turn; one who has used up a budget for the
      whole game loses the game."""
LOSES_GAME = """\
A player who overruns a limit for each choice, or has used up a budget for the whole game, loses
      the game. Both late in a sealed choice: a draw."""


def rules(game: AnyGame, turn_limit: int = TURN_LIMIT) -> Lines:
    """The rules, the rulings, and the options with their values."""
    own = [heading(line) if line == RULINGS else line for line in game.rules_text().splitlines()]
    return [
        heading(game.title),
        "",
        *own,
        "",
        heading("All games"),
        *_common(game, turn_limit),
        "",
        heading("Options (name=value)"),
        *_options(game),
    ]


def _common(game: AnyGame, turn_limit: int) -> Lines:
    """The rulings that all games share, as they apply to this one."""
    late = LOSES_GAME if game.timeout_move is None else LOSES_TURN
    pair = ""
    for name, option in game.options().items():
        if isinstance(option, Pair):
            top = max(option.default)
            pair = " A starting value takes one number, or one for each player as a handicap,"
            pair += f"\n      such as {name}={top - 1}/{top}."
    first = (
        f"{player_name(game.first)} moves first{'' if game.first else ' unless told otherwise'}."
    )
    text = COMMON.format(first=first, turn_limit=turn_limit, late=late, pair=pair)
    return text.splitlines()


def _options(game: AnyGame) -> Lines:
    options, now = game.options(), game.settings()
    width = max(map(len, options))
    lines = []
    for name, option in options.items():
        default = option.show(option.default)
        value = "" if now[name] == default else f"now {now[name]}, "
        line = f"{option.about}: {option.expects} ({value}default: {default})"
        lines.append(f"  {name:<{width}}  {line}")
    return lines
