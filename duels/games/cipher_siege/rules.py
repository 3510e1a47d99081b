"""Cipher Siege: draw, then attack with cards, defend with one or swap one, until a code is cracked.

>>> game = CipherSiege()
>>> attack_value((2, 3, 4)), attack_value((2, 3, 5)), attack_value((4, 4, 4))
((9, 3), (10, 0), (12, 0))
>>> dict(game.turn(game.start()).odds)["5"]
Fraction(1, 5)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import inf
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from duels.core.errors import OptionError
from duels.core.game import (
    HIDDEN,
    Chance,
    Decide,
    Event,
    Game,
    History,
    Outcome,
    Over,
    Pick,
    Seat,
)
from duels.core.options import Choice, Number, Pair
from duels.core.pieces import Cards, counts, draw_one, joined, replace_one, without
from duels.core.presentation import (
    Caption,
    Hand,
    Item,
    Lines,
    Meter,
    Names,
    Part,
    Pile,
    Step,
    acts,
    does,
    fortune,
    heading,
    label,
    listed,
    on_table,
    player_name,
    question,
    signed,
    whose,
)

ATTACK, DEFEND, SWAP = range(3)
KINDS = {"attack": ATTACK, "defend": DEFEND, "swap": SWAP}
P = TypeVar("P")  # a pile of cards: a tuple, or a number that encodes one
SIDES = ("other", "own")  # whose hand or action is recalled
TAKEN = {"random": "at random from the opponent's hand", "chosen": "that the opponent chooses"}
# Examples for the text of the rules; the first one that is possible in a variant is used.
EXAMPLES = ((2, 3, 4), (1, 2, 3), (1, 2), (2, 3, 5), (4, 4, 4), (2, 3, 3), (1, 1))

RULES = """\
Each player guards a Code Integrity (CI): {integrity}. Bring the opponent's CI to zero or below.

The deck has {copies} cards of each value from 1 to {values}. Each player is dealt {hand}. A turn:
  1. Draw one card. If the deck is empty, the discard pile becomes the new deck first.
  2. Choose one action:
     attack   Play one or more cards. The opponent's CI falls by their sum. If they form a
              sequence (two or more consecutive values), add a bonus of one per card{sequence}.
     defend   Discard one card. Your CI rises by its value, to where it started at the most.
     swap     Give the opponent one card and take a card {taken}.
  3. Used cards go to the discard pile and the turn passes.
You may hold {held} at the end of a turn. Hands are secret; the discard pile is open.

Rulings
  C1. The deck has {cards} cards{pack}.
  C2. You draw whenever a card exists, so you may hold {most} until your action. Holding {most} you
      must attack or defend; there is no other way to discard.
  C3. In a swap you choose the card you give. With swap=random the card you get is equally likely
      to be any card of the opponent's hand; with swap=chosen the opponent chooses it, without
      seeing yours. Only the two of you know the card given and the card got. You cannot
      swap with an opponent who holds no card. Now: swap={swap}.
  C4. The bonus needs all the played cards to be different and consecutive, in any order and
      without wrap: {none} earn none.
  C5. You may defend at your starting CI and gain nothing. CI below zero is shown as it is.
  C6. Open to all: both CIs, how many cards each hand and the deck hold, the discard pile.
      Secret: hands and draws.
  C7. No card in deck or discard pile: no draw, play on. With no card at all you pass. As cards
      never leave the game, the players cannot both be out of cards.
  C8. Both at zero in one turn cannot happen: an attack hurts only the opponent.
  C9. The player who starts draws on the first turn too.
"""


class State(NamedTuple):
    """A state of the game, with all hidden cards."""

    ci: tuple[int, int]
    hands: tuple[Cards, Cards]
    deck: Cards
    discard: Cards
    mover: Seat
    phase: str  # deal, draw, act, or swap while an exchange is under way
    offered: int = 0  # the card the mover gives in a swap


class Seen(NamedTuple):
    """A state as one viewer may know it; `hand` is the viewer's own."""

    viewer: Seat | None
    ci: tuple[int, int]
    hand: Cards
    sizes: tuple[int, int]
    deck_size: int
    discard: Cards
    mover: Seat
    phase: str
    offered: int


@lru_cache(maxsize=4096)
def attack_value(cards: Cards) -> tuple[int, int]:
    """The sum of the played cards, and the sequence bonus if they earn one."""
    low, count = min(cards), len(cards)
    sequence = count > 1 and sorted(cards) == list(range(low, low + count))
    return sum(cards), count if sequence else 0


def worth(kind: int, cards: Cards) -> int:
    """The damage of an attack; of other moves, the value of the card."""
    return sum(attack_value(cards)) if kind == ATTACK else cards[0]


# The next two are also compiled (`compiled_rules.py`), so they use arithmetic only.


def after_move(kind: int, worth: int, own: int, other: int, cap: int) -> tuple[int, int]:
    """The mover's and the opponent's CI after a move; a defence restores up to `cap`.

    >>> after_move(ATTACK, 9, 12, 10, 15), after_move(DEFEND, 5, 12, 10, 15)
    ((12, 1), (15, 10))
    """
    return min(cap, own + worth * (kind == DEFEND)), other - worth * (kind == ATTACK)


def refilled(deck: P, discard: P, empty: P) -> tuple[P, P]:
    """Deck and discard pile before a draw: an empty deck is replaced by the discards.

    A pile is anything that is false when it has no card.

    >>> refilled((), (3, 3), ()), refilled(7, 2, 0)
    (((3, 3), ()), (7, 2))
    """
    return (deck, discard) if deck else (discard, empty)


class SwapMemory:
    """The cards each player is known to hold because they changed hands in a swap.

    A card is known until it is played or taken back; with `swap=chosen` too.
    """

    def __init__(self, values: int) -> None:
        self.known: tuple[list[int], list[int]] = ([0] * values, [0] * values)
        self._giver, self._given = -1, ""  # of the swap under way

    def add(self, event: Event) -> None:
        """Update for an event that a player has observed."""
        if isinstance(event, Pick):
            ((mover, move),) = event.moves
        else:
            mover, move = self._giver, event.outcome
        word, _, rest = move.partition(" ")
        if word == "swap":
            self._giver, self._given = mover, rest
        elif self._giver >= 0:  # "3", or "3 for 2" to the player who could not see the offer
            self._exchange(self._giver, int(rest.removeprefix("for ") or self._given), int(word))
            self._giver = -1
        elif isinstance(event, Pick):  # an outcome without a swap is a deal or a draw
            self._remove(mover, cards_of(move))

    def _exchange(self, giver: int, given: int, taken: int) -> None:
        self._remove(giver, (given,))
        self._remove(1 - giver, (taken,))
        self.known[giver][taken - 1] += 1
        self.known[1 - giver][given - 1] += 1

    def _remove(self, holder: int, cards: Cards) -> None:
        for card in cards:
            self.known[holder][card - 1] = max(0, self.known[holder][card - 1] - 1)


@lru_cache(maxsize=4096)
def parts(move: str) -> tuple[str, Cards]:
    """A move as its word and its cards; a card alone, drawn or given, has no word."""
    word, *cards = ["", move] if move.isdigit() else move.split()
    return word, tuple(map(int, cards))


def cards_of(move: str) -> Cards:
    """The cards of a move."""
    return parts(move)[1]


@lru_cache(maxsize=4096)
def actions(hand: Cards, may_swap: bool, mover: int) -> Decide:
    """The decision between all actions that a hand allows."""
    subsets = (part for size in range(1, len(hand) + 1) for part in combinations(hand, size))
    moves = [f"attack {listed(part, ' ')}" for part in dict.fromkeys(subsets)]
    words = ("defend", "swap") if may_swap else ("defend",)
    moves += [f"{word} {card}" for word in words for card in dict.fromkeys(hand)]
    return Decide({mover: tuple(moves) or ("pass",)})


class CipherSiege(Game[State, Seen]):
    """The rules of Cipher Siege."""

    slug = "cipher-siege"
    title = "Cipher Siege"
    summary = "Secret hands: attack in sequences, defend or swap until a code is cracked."
    rules = RULES
    private = True

    integrity = Pair(15, 1, 999, "starting Code Integrity, and its cap")
    values = Number(5, 1, 9, "card values, from 1 up")
    copies = Number(4, 2, 20, "cards of each value")
    hand = Number(3, 1, 9, "cards dealt to each player")
    limit = Number(5, 1, 9, "most cards held at the end of a turn")
    swap = Choice("random", "chosen", about="who picks the card taken in a swap")

    about_fields = {
        "viewer": "your own player number; null for a spectator",
        "ci": "the Code Integrity of each player",
        "hand": "your cards, in ascending order",
        "sizes": "how many cards each player holds",
        "deck_size": "how many cards the deck holds",
        "discard": "the discard pile, in ascending order",
        "mover": "the player whose turn it is",
        "phase": "`act` when the mover chooses an action; `swap` when you choose the card that you "
        "give in a swap of the opponent (only with swap=chosen)",
        "offered": "the card that you give in a swap that is not complete yet; otherwise 0",
    }
    about_moves = {
        "attack CARD …": "play these cards, in ascending order, against the opponent's CI",
        "defend CARD": "discard a card; your CI rises by its value, at most to its starting value",
        "swap CARD": "exchange this card for one of the opponent's. In the history, `swap ?` is a "
        "swap whose card you may not see",
        "CARD": "give this card in a swap of the opponent (only with swap=chosen). In the history, "
        "`3 for 2` means that you gave a 3 and got a 2",
        "pass": "the only option of a player who has no card",
    }
    about_chance = (
        "the value of a card that `by` is dealt, draws or takes in a swap; `?` where you may not "
        "see it"
    )

    def check(self) -> None:
        if self.hand > self.limit:
            raise OptionError(f"hand={self.hand} is more than limit={self.limit} allows")
        if 2 * self.hand > self.values * self.copies:
            deck = self.values * self.copies
            raise OptionError(f"hand={self.hand} needs {2 * self.hand} cards; there are {deck}")

    def words(self) -> dict[str, str]:
        most, ordinary = self.limit + 1, self.copies == 4 and self.values > 1
        fit = [cards for cards in EXAMPLES if max(cards) <= self.values and len(cards) <= most]
        fit = [cards for cards in fit if max(map(cards.count, cards)) <= self.copies]
        value, bonus = attack_value(fit[0])
        sums = f": {listed(fit[0], ' + ')} = {value}, and {bonus} more make {value + bonus}"
        return {
            "cards": str(self.values * self.copies),
            "pack": f": the ace to {self.values} of an ordinary pack" if ordinary else "",
            "most": str(most),
            "held": f"{self.limit} card{'' if self.limit == 1 else 's'}",
            "taken": TAKEN[self.swap],
            "sequence": sums if bonus else "",
            "none": listed([listed(c) for c in fit if not attack_value(c)[1]][:3], " and "),
        }

    # Setup and turns

    def start(self) -> State:
        deck = tuple(card for card in range(1, self.values + 1) for _ in range(self.copies))
        return State(self.integrity, ((), ()), deck, (), self.first, "deal")

    def turn(self, state: State) -> Decide | Chance | Over:
        ci, hands, deck, discard, mover, phase, _ = state
        if ci[0] <= 0 or ci[1] <= 0:
            cracked = 0 if ci[0] <= 0 else 1
            return Over(1 - cracked, f"{player_name(cracked)}'s code has been cracked.")
        own, others = hands[mover], hands[1 - mover]
        if phase == "swap" and self.swap == "chosen":
            return Decide({1 - mover: tuple(draw_one(others, mover).odds)})
        if phase == "swap":
            return draw_one(others, mover)
        if phase != "act" and (deck or discard):
            return draw_one(deck or discard, mover)
        return actions(own, len(own) <= self.limit and bool(others), mover)

    # Rules

    def play(self, state: State, *picks: str) -> State:
        (pick,) = picks
        word, cards = parts(pick)
        if state.phase == "swap":
            return self._exchange(state, cards)
        if not word:
            return self._draw(state, cards)
        if word == "swap":
            return State(*state[:5], "swap", cards[0])
        if word == "pass":
            return state._replace(mover=1 - state.mover, phase="draw")
        return self._use(state, word, cards)

    def _draw(self, state: State, card: Cards) -> State:
        """The state after the mover gets a card; in the deal, players get cards in turn."""
        ci, hands, deck, discard, mover, phase, _ = state
        deck, discard = refilled(deck, discard, ())
        hands = replace_one(hands, mover, joined(hands[mover], card))
        deck = without(deck, card)
        if phase != "deal":
            return State(ci, hands, deck, discard, mover, "act")
        dealt = min(map(len, hands)) == self.hand
        return State(ci, hands, deck, discard, 1 - mover, "draw" if dealt else "deal")

    def _use(self, state: State, word: str, cards: Cards) -> State:
        ci, hands, deck, discard, mover, _, _ = state
        target, kind = 1 - mover, KINDS[word]
        cap = self.integrity[mover]
        own, other = after_move(kind, worth(kind, cards), ci[mover], ci[target], cap)
        ci = (own, other) if mover == 0 else (other, own)
        hands = replace_one(hands, mover, without(hands[mover], cards))
        return State(ci, hands, deck, joined(discard, cards), target, "draw")

    def _exchange(self, state: State, taken: Cards) -> State:
        ci, hands, deck, discard, mover, _, card = state
        offered, other = (card,), 1 - mover
        own = joined(without(hands[mover], offered), taken)
        theirs = joined(without(hands[other], taken), offered)
        hands = (own, theirs) if mover == 0 else (theirs, own)
        return State(ci, hands, deck, discard, other, "draw")

    # What is secret

    def observe(self, state: State, viewer: int | None) -> Seen:
        ci, hands, deck, discard, mover, phase, offered = state
        return Seen(
            viewer,
            ci,
            () if viewer is None else hands[viewer],
            (len(hands[0]), len(hands[1])),
            len(deck),
            discard,
            mover,
            phase,
            offered if viewer == mover else 0,
        )

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        """Hide draws except from the player who draws, and the cards of a swap from spectators."""
        swapping = state.phase == "swap"
        if isinstance(event, Outcome):
            known = viewer is not None if swapping else viewer == state.mover
            return event if known else event._replace(outcome=HIDDEN)
        ((player, move),) = event.moves
        if swapping and viewer == player:
            return Pick(((player, f"{move} for {state.offered}"),))
        if swapping and viewer is None:
            return Pick(((player, HIDDEN),))
        offer_shown = viewer == player or (viewer is not None and self.swap == "random")
        if move.startswith("swap") and not offer_shown:
            return Pick(((player, f"swap {HIDDEN}"),))
        return event

    def gain(self, seen: Seen, player: int, move: str) -> float:
        """Damage dealt or CI restored; what a swap brings is not known."""
        cards = cards_of(move)
        if move.startswith("attack"):
            damage = sum(attack_value(cards))
            return inf if damage >= seen.ci[1 - player] else damage
        if move.startswith("defend"):
            return min(cards[0], self.integrity[player] - seen.ci[player])
        return 0

    def moves(self) -> tuple[str, ...]:
        """Attacks by size, then the rest; passing only where all cards fit in one hand."""
        deck = self.start().deck
        largest = min(self.limit + 1, len(deck))
        sets = (
            s
            for size in range(1, largest + 1)
            for s in combinations_with_replacement(range(1, self.values + 1), size)
            if max(map(s.count, s)) <= self.copies
        )
        words = [f"attack {listed(cards, ' ')}" for cards in sets]
        singles = ("defend ", "swap ") if self.swap == "random" else ("defend ", "swap ", "")
        words += [f"{word}{card}" for word in singles for card in range(1, self.values + 1)]
        return (*words, "pass") if len(deck) <= self.limit else tuple(words)

    def features(self) -> tuple[str, ...]:
        values = range(1, self.values + 1)
        return (
            "own CI", "other CI", *(f"own {card}s" for card in values), "other hand", "deck",
            *(f"discarded {card}s" for card in values), "own turn", "card on offer", "swapping",
        )  # fmt: skip

    def encode(self, seen: Seen, player: int) -> tuple[int, ...]:
        _, ci, hand, sizes, deck, discard, mover, phase, offered = seen
        return (
            max(0, ci[player]), max(0, ci[1 - player]),
            *counts(hand, self.values), sizes[1 - player], deck, *counts(discard, self.values),
            int(mover == player), offered, int(phase == "swap"),
        )  # fmt: skip

    def bounds(self) -> tuple[int, ...]:
        ci, cards, n = max(self.integrity), self.values * self.copies, self.values
        held = min(self.limit + 1, cards)
        own, out = (min(self.copies, held),) * n, (self.copies,) * n
        return (ci, ci, *own, held, cards, *out, 1, n, 1)

    def recalled(self) -> dict[str, int]:
        held, values = min(self.copies, self.limit + 1), range(1, self.values + 1)
        most = sum(sorted(self.start().deck, reverse=True)[: self.limit + 1])
        known = {f"{side} {card}s known": held for side in SIDES for card in values}
        last = {f"{side} last {what}": most for side in SIDES for what in ("attack", "defence")}
        return known | last | {f"{side} swapped last": 1 for side in SIDES}

    def recall(self, history: History, player: int) -> tuple[int, ...]:
        """Cards that went into a hand in a swap and are still there, and the last actions."""
        memory = SwapMemory(self.values)
        last = [(0, 0, 0), (0, 0, 0)]  # an attack's sum, a defence's, whether it was a swap
        for event in history:
            memory.add(event)
            if not isinstance(event, Pick):
                continue
            ((mover, move),) = event.moves
            word = move.split()[0]
            total = sum(cards_of(move)) if word in ("attack", "defend") else 0
            if word in (*KINDS, "pass"):  # else a card is given in a swap
                attack, defence = total * (word == "attack"), total * (word == "defend")
                last[mover] = (attack, defence, int(word == "swap"))
        own, other, known = last[player], last[1 - player], memory.known
        return (*known[1 - player], *known[player], *other[:2], *own[:2], other[2], own[2])

    # Display

    def status(self, seen: Seen, viewer: int | None, history: History = ()) -> Lines:
        chooser = 1 - seen.mover if seen.phase == "swap" else seen.mover
        lines: Lines = []
        if seen.phase == "swap":
            head = heading(f"=== {does(chooser, viewer, 'gives')} a card ===")
            lines = ["", head, on_table(f"Hand: {self._hand(seen, chooser)}")]
        elif seen.phase == "draw":
            lines = self._heading(seen, viewer)
        if viewer != chooser:
            return lines
        other = 1 - chooser
        ci, hand = f"Opponent's CI: {seen.ci[other]}", f"Opponent's Hand: {self._hand(seen, other)}"
        return [*lines, on_table(ci), on_table(hand)]

    def _heading(self, seen: Seen, viewer: int | None) -> Lines:
        head = heading(f"=== {label(seen.mover, viewer)} Turn ===")
        hand = on_table(f"Hand: {self._hand(seen, seen.mover)}")
        return ["", head, on_table(f"CI: {seen.ci[seen.mover]}"), hand]

    def _hand(self, seen: Seen, player: int, drawn: str = "") -> str:
        """A hand in the open, or how many cards it has; a card just drawn stands last."""
        if seen.viewer == player:
            return f"[{listed([*seen.hand, drawn] if drawn else seen.hand)}]"
        size = seen.sizes[player] + bool(drawn)
        return f"{size} card{'' if size == 1 else 's'}"

    def ask(self, seen: Seen, player: int, so_far: str) -> Step | None:
        hand = tuple(map(str, seen.hand))
        if seen.phase == "swap":
            if so_far:
                return None
            return question("Select card to give", hand, kind="give", brief="Give a card")
        if not so_far:
            return self._ask_action(seen, player)
        word, *cards = so_far.split()
        if cards or word == "pass":
            return None
        if word == "attack":
            return question(
                "Select cards to play", hand, kind="attack", many=True,
                brief="Cards to attack with", effects=self._attacks(seen, player),
            )  # fmt: skip
        if word == "defend":
            short = self.integrity[player] - seen.ci[player]
            return question(
                "Select card to discard", hand, kind="defend", brief="Card to defend with",
                effects={card: signed(max(0, min(int(card), short))) for card in hand},
            )  # fmt: skip
        return question("Select card to swap", hand, kind="swap", brief="Card to give away")

    def _attacks(self, seen: Seen, player: int) -> dict[str, str]:
        """The sum and the bonus of each attack that the hand allows."""
        effects = {}
        for size in range(1, len(seen.hand) + 1):
            for cards in combinations(seen.hand, size):
                value, bonus = attack_value(cards)
                sums = f"{value} + {bonus} bonus = {value + bonus}" if bonus else str(value)
                wins = ", wins" if value + bonus >= seen.ci[1 - player] else ""
                effects[listed(cards, " ")] = sums + wins
        return effects

    def _ask_action(self, seen: Seen, player: int) -> Step:
        if not seen.hand:
            return question("Choose action", ("pass",), kind="action", brief="No card to play")
        if len(seen.hand) > self.limit:
            refused = f"With {len(seen.hand)} cards you must attack or defend."
        elif not seen.sizes[1 - player]:
            refused = "The opponent has no card to swap."
        else:
            return self._action("attack", "defend", "swap")
        return self._action("attack", "defend", refused={"swap": refused})

    @staticmethod
    def _action(*words: str, refused: Mapping[str, str] = MappingProxyType({})) -> Step:
        return question("Choose action", words, kind="action", refused=refused, brief="Your action")

    def tell(self, before: Seen, event: Event, after: Seen, viewer: int | None) -> Lines:
        if before.phase == "deal":
            return []
        if before.phase == "swap":
            return self._tell_exchange(before, event, after, viewer)
        if isinstance(event, Outcome):
            what = "a card" if event.outcome == HIDDEN else f"card: {event.outcome}"
            drawn = f"{acts(before.mover, viewer, 'Draws')} {what}"
            new = self._hand(before, before.mover, drawn=event.outcome)
            return [*self._heading(before, viewer), drawn, on_table(f"New Hand: {new}")]
        return self._tell_action(event, before, after, viewer)

    def _tell_action(self, event: Pick, before: Seen, after: Seen, viewer: int | None) -> Lines:
        ((mover, move),) = event.moves
        target, word = 1 - mover, move.split()[0]
        lines: Lines = [] if viewer == mover else [f"Chooses action: {word.capitalize()}"]
        if word == "swap":
            return lines or [f"{acts(mover, viewer, 'Gives')} card: {cards_of(move)[0]}"]
        if word == "pass":
            return [*lines, "End of turn."]
        cards = cards_of(move)
        if word == "attack":
            value, bonus = attack_value(cards)
            lines += [] if viewer == mover else [f"Plays cards: {listed(cards)}"]
            lines += [f"Attack Value: {value}"]
            if bonus:
                lines += [f"Sequence Bonus: +{bonus}", f"Total Attack: {value + bonus}"]
            change = f"{whose(target, viewer)} CI reduced to {after.ci[target]}"
        else:
            change = f"{whose(mover, viewer)} CI restored to {after.ci[mover]}"
        lines += [fortune(change, mover, viewer)]
        lines += [f"{acts(mover, viewer, 'Discards')} used cards: {listed(cards)}"]
        return [*lines, "End of turn."]

    def _tell_exchange(self, before: Seen, event: Event, after: Seen, viewer: int | None) -> Lines:
        if viewer is None:
            return ["End of turn."]
        taken = event.outcome if isinstance(event, Outcome) else event.moves[0][1].split()[0]
        if viewer == before.mover:
            return [f"{acts(viewer, viewer, 'Receives')} card: {taken}", "End of turn."]
        got = sum(after.hand) - sum(before.hand) + int(taken)
        return [f"You give card: {taken}", f"You receive card: {got}", "End of turn."]

    def caption(self, before: Seen, event: Event, after: Seen, names: Names) -> Caption:
        mover, target = before.mover, 1 - before.mover
        if before.phase == "swap":
            return self._caption_exchange(before, event, after, names)
        if isinstance(event, Outcome):
            what = "a card" if event.outcome == HIDDEN else event.outcome
            verb = "is dealt" if before.phase == "deal" else "draws"
            if verb == "is dealt" and mover == names.viewer:
                return Caption(f"You are dealt {what}", minor=True)
            return Caption(f"{names.does(mover, verb)} {what}", minor=True)
        word, *cards = event.moves[0][1].split()
        if word in ("pass", "swap"):
            offers = "passes" if word == "pass" else "offers a card to swap"
            return Caption(names.does(mover, offers))
        if word == "defend":
            text = f"{names.does(mover, 'defends')} with {cards[0]}: "
            change = after.ci[mover] - before.ci[mover]
            code = f"{names.whose(mover)} code: {after.ci[mover]}"
            return Caption(text + signed(change), code, mover)
        change = after.ci[target] - before.ci[target]
        bonus = attack_value(tuple(map(int, cards)))[1]
        code = f"{names.whose(target)} code: {after.ci[target]}"
        if bonus:
            code = f"{signed(bonus)} for the sequence. {code}"
        text = f"{names.does(mover, 'attacks')} {listed(cards, ' ')}: {signed(change)}"
        return Caption(text, code, mover)

    def _caption_exchange(self, before: Seen, event: Event, after: Seen, names: Names) -> Caption:
        mover, viewer = before.mover, before.viewer
        if viewer is None:
            return Caption(f"{names.does(mover, 'swaps')} a card with {names.of(1 - mover)}")
        taken = event.outcome if isinstance(event, Outcome) else event.moves[0][1].split()[0]
        if viewer == mover:
            given, got = before.offered, int(taken)
        else:
            given, got = int(taken), sum(after.hand) - sum(before.hand) + int(taken)
        return Caption(names.does(viewer, f"gives {given} for {got}"), names.does(mover, "swaps"))

    def table(self, seen: Seen, viewer: int | None, history: History = ()) -> list[Part]:
        used: list[int] = []  # the cards of the last attack or defence
        for event in reversed(history):
            if isinstance(event, Pick):
                word = event.moves[0][1].split()[0]
                used = list(cards_of(event.moves[0][1])) if word in ("attack", "defend") else []
                break
        parts: list[Part] = []
        for player in (0, 1):
            parts.append(Meter("Code Integrity", seen.ci[player], self.integrity[player], player))
            own = seen.hand if player == seen.viewer else ()
            cards = tuple(Item(str(card), str(card)) for card in own)
            parts.append(Hand("Hand", cards, seen.sizes[player] - len(cards), player))
        discards = []
        for card in seen.discard:
            if last := card in used:
                used.remove(card)
            discards.append(Item(str(card), last=last))
        pile = Pile("Discards", len(discards), tuple(discards))
        return [*parts, Pile("Deck", seen.deck_size), pile]
