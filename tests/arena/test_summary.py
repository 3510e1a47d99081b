"""What a tournament's results say, and how it is told."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from math import isfinite
from random import Random

import pytest

from duels.arena import report
from duels.arena.model import Encounter, GameResult, Setting, Tournament
from duels.arena.page import page
from duels.arena.summary import Summary, saved, scaled, summary

PLAYERS = ("strong", "./bot --of <b>mine</b> & 'yours' --with a long, long name", "weak")
STRENGTH = (1.0, 0.0, -1.0)
GAMES = (Setting("firewall-breach"), Setting("cipher-siege", (("integrity", "12"),)))


def make_tournament(pairs: int = 100, **other: object) -> Tournament:
    return Tournament(PLAYERS, GAMES, pairs, 1)._replace(**other)  # type: ignore[arg-type]


def encounters(
    tournament: Tournament, *, noise: float | None = 0.05, forfeits: float = 0.05
) -> list[Encounter]:
    """Games whose adjusted scores are the truth and a little noise."""
    chance, found = Random(3), []
    for game in range(len(tournament.games)):
        for pairing, (one, two) in enumerate(tournament.pairings):
            truth = 1 / (1 + 2.718 ** (STRENGTH[two] - STRENGTH[one]))
            played = []
            for pair in range(tournament.pairs):
                for seat in (0, 1):
                    first = float(chance.random() < truth)
                    near = None if noise is None else truth + chance.gauss(0, noise)
                    by, loser = "rules", None
                    if one == 1 and chance.random() < forfeits:  # the first player fails
                        by, loser, first = "forfeit", seat, 0.0
                    turn = (lambda x: 1 - x) if seat else float
                    played.append(GameResult(
                        game, pairing, pair, seat, turn(first), by, 9,
                        None if near is None else turn(near), (0.02, 0.04), (2, 4), loser,
                    ))  # fmt: skip
            found.append(Encounter(game, pairing, played))
    return found


@pytest.fixture(scope="module")
def told() -> Summary:
    tournament = make_tournament()
    return summary(tournament, iter(encounters(tournament)))


def test_every_player_is_placed_in_every_game_and_over_all(told: Summary) -> None:
    for part in (*told.games, told.overall):
        assert [standing.player for standing in part.standings] == list(PLAYERS)
        assert [(m.one, m.two) for m in part.meetings] == [
            (PLAYERS[0], PLAYERS[1]), (PLAYERS[0], PLAYERS[2]), (PLAYERS[1], PLAYERS[2]),
        ]  # fmt: skip
    assert told.played == 2 * 3 * 100 * 2
    assert [part.meetings[0].score.pairs for part in told.games] == [100, 100]
    assert told.overall.meetings[0].score.pairs == 200


def test_the_order_of_encounters_does_not_matter(told: Summary) -> None:
    tournament = make_tournament()
    again = summary(tournament, reversed(encounters(tournament)))
    assert page(again) == page(told)
    assert report.to_json(again) == report.to_json(told)


def test_luck_taken_out_makes_intervals_narrower(told: Summary) -> None:
    for part in (*told.games, told.overall):
        for meeting in part.meetings:
            assert meeting.adjusted is not None
            wide = meeting.score.high - meeting.score.low
            assert meeting.adjusted.high - meeting.adjusted.low < wide / 2
        for standing in part.standings:
            assert standing.adjusted_rating is not None
            assert standing.adjusted_rating.error < standing.rating.error / 2


def test_forfeits_are_counted_with_their_records(told: Summary) -> None:
    assert {(failed.player, failed.by) for failed in told.forfeits} == {(PLAYERS[1], "forfeit")}
    tournament = told.tournament
    for failed in told.forfeits:
        for number in failed.records:
            place = tournament.game_index(number)
            assert tournament.games[place.game].slug == failed.game
            assert tournament.pairings[place.pairing] == (1, 2)
    assert told.overall.standings[1].forfeits == sum(len(f.records) for f in told.forfeits)


def test_regret_is_per_choice_and_goes_with_the_player_not_the_seat() -> None:
    tournament = make_tournament(1, players=("a", "b"), games=GAMES[:1])
    games = [
        GameResult(0, 0, 0, 0, 1.0, "rules", 6, None, (0.0, 0.6), (3, 3)),
        GameResult(0, 0, 0, 1, 0.0, "rules", 6, None, (0.9, 0.0), (3, 3)),
    ]
    found = {s.player: s for s in summary(tournament, [Encounter(0, 0, games)]).overall.standings}
    assert found["a"].regret is not None
    assert found["b"].regret is not None
    assert found["a"].regret.mean == 0.0
    assert found["b"].regret.mean == pytest.approx(1.5 / 6)
    assert found["a"].score.mean == 1.0


def test_luck_that_a_bad_guess_sees_is_left_alone() -> None:
    """Cross-fitted: noise is not taken off, and nothing is lost by it; the mean stays."""
    chance = Random(1)
    truth = [float(chance.random() < 0.7) for _ in range(4000)]
    noisy = [(score, score + chance.gauss(0, 1)) for score in truth]
    found = saved(truth, scaled(noisy))
    assert found is not None
    assert 0.98 < found.times < 1.02
    good = [(score, 0.7 + chance.gauss(0, 0.05)) for score in truth]
    better = saved(truth, scaled(good))
    assert better is not None
    assert better.low < 0.21 / 0.05**2 < better.high * 1.2
    assert sum(scaled(good)) / 4000 == pytest.approx(0.7, abs=0.01)


def alone(games: list[GameResult], pairs: int) -> Summary:
    """What games of one pairing say."""
    tournament = make_tournament(pairs, players=("a", "b"), games=GAMES[:1])
    return summary(tournament, [Encounter(0, 0, games)])


def pair(number: int, score: float, adjusted: float | None = None) -> list[GameResult]:
    """Two games in which the first player has the same score, raw and adjusted."""
    turned = None if adjusted is None else 1 - adjusted
    return [
        GameResult(0, 0, number, 0, score, "rules", 9, adjusted),
        GameResult(0, 0, number, 1, 1 - score, "rules", 9, turned),
    ]


def test_the_interval_is_shown_as_it_was_found() -> None:
    """Ten won pairs: the score cannot be above 1, so half of a width would say something else."""
    found = alone([game for n in range(10) for game in pair(n, 1.0)], 10)
    score = found.overall.meetings[0].score
    assert (score.mean, score.high) == (1.0, 1.0)
    assert score.low == pytest.approx(0.025 ** (1 / 10), abs=0.005)  # Clopper and Pearson
    text = "\n".join(report.text(found))
    assert f"1.000 {score.low:.3f}-1.00".replace(" 0.", " .") in text
    assert f"1.000 ({score.low:.3f}-1.000)" in page(found)
    for told in (text, page(found)):
        assert "1.000 ±" not in told
        assert "1.000 &plusmn;" not in told
    data = report.to_json(found)["overall"]["meetings"][0]["score"]
    assert (data["low"], data["high"]) == (score.low, score.high)


def test_adjusted_scores_outside_of_the_scale_are_shown_within_it() -> None:
    chance = Random(4)
    games = [
        game for n in range(60) for game in pair(n, float(n % 3 > 0), 1.01 + chance.gauss(0, 0.02))
    ]
    found = alone(games, 60)
    adjusted = found.overall.meetings[0].adjusted
    assert adjusted is not None
    assert adjusted.low > 1.0, "the numbers themselves are as computed"
    assert "1.000 1.00-1.00" in "\n".join(report.text(found))
    for standing in found.overall.standings:  # b won pairs: nothing is open
        assert standing.adjusted_rating is not None
        assert isfinite(standing.adjusted_rating.low)
        assert isfinite(standing.adjusted_rating.high)


def test_pairs_of_known_and_of_unknown_luck_count_together() -> None:
    """Each by how much it says: the interval is narrower than that of either alone."""
    chance, games = Random(5), []
    for n in range(600):
        luck = chance.choice((-0.25, 0.25))
        score = 0.5 + luck + chance.choice((-0.25, 0.25))
        games += pair(n, score, score - luck if n < 200 else None)
    whole, known, rest = alone(games, 600), alone(games[:400], 200), alone(games[400:], 400)
    meeting = whole.overall.meetings[0]
    assert meeting.adjusted is not None
    assert meeting.adjusted.pairs == 200
    part = known.overall.meetings[0].adjusted
    assert part is not None
    other = rest.overall.meetings[0].score
    # Variances of 1/16 in 200 pairs and of 1/8 in 400 say the same, so both count alike.
    assert meeting.adjusted.mean == pytest.approx((part.mean + other.mean) / 2, abs=0.004)
    width = [score.high - score.low for score in (meeting.adjusted, part, other)]
    assert width[0] == pytest.approx(width[1] / 2**0.5, rel=0.05)
    assert width[0] == pytest.approx(width[2] / 2**0.5, rel=0.05)


def test_raw_scores_among_adjusted_ones_are_marked() -> None:
    """Of too few pairs with known luck, of one game of two, of one meeting of several."""
    few = alone([game for n in range(10) for game in pair(n, 1.0, 0.7)], 10)
    assert few.overall.meetings[0].adjusted is None
    tournament = make_tournament(60)
    some = [
        found._replace(results=[game._replace(adjusted=None) for game in found.results])
        if (found.game, found.pairing) == (1, 0)
        else found
        for found in encounters(tournament)
    ]
    found = summary(tournament, some)
    assert [meeting.adjusted is None for meeting in found.games[1].meetings] == [True, False, False]
    assert [meeting.partly for meeting in found.overall.meetings] == [True, False, False]
    assert [s.partly for s in found.games[1].standings] == [True, True, False]
    text = "\n".join(report.text(found))
    for told in (text, page(found)):
        assert "raw only" in told
        assert report.PARTLY.replace("'", "&#x27;" if told != text else "'") in told
        assert len(re.findall(r"\d\)?\*", told)) >= 5


def test_the_share_of_luck_does_not_move_the_mean() -> None:
    """Over many small tournaments: a share found from the same pairs would be biased."""
    chance, off = Random(2), 0.0
    runs = 3000
    for _ in range(runs):
        luck = [chance.choice((-0.3, -0.3, 0.6)) for _ in range(20)]
        scores = [0.5 + x + x * x * chance.choice((0.5, 1.5)) for x in luck]
        known = [(score, score - x) for score, x in zip(scores, luck, strict=True)]
        mean = 0.5 + sum(x * x for x in (-0.3, -0.3, 0.6)) / 3
        off += sum(scaled(known)) / 20 - mean
    assert abs(off / runs) < 0.004


@pytest.mark.parametrize("sprt", [None, (0.0, 10.0)])
def test_the_table_fits_a_terminal(sprt: tuple[float, float] | None) -> None:
    tournament = make_tournament(sprt=sprt)
    found = summary(tournament, encounters(tournament))
    for ascii_only in (False, True):
        lines = report.text(found, ascii_only=ascii_only)
        assert max(map(len, lines)) <= 80
        assert not ascii_only or "\n".join(lines).isascii()
    assert ("SPRT" in "\n".join(lines)) == (sprt is not None)


def test_without_adjusted_scores_nothing_is_said_of_them() -> None:
    tournament = make_tournament(20)
    found = summary(tournament, encounters(tournament, noise=None))
    assert found.overall.meetings[0].adjusted is None
    assert "no luck" not in "\n".join(report.text(found))
    assert "'fewer'" not in "\n".join(report.text(found))
    json.dumps(report.to_json(found), allow_nan=False)
    assert "<h2" in page(found)


def test_json_has_no_numbers_that_json_does_not_know(told: Summary) -> None:
    tournament = make_tournament(5, players=("a", "b"), games=GAMES[:1])
    won = [GameResult(0, 0, n // 2, n % 2, 1.0 - n % 2, "rules", 3) for n in range(10)]
    for found in (told, summary(tournament, [Encounter(0, 0, won)])):
        data = json.loads(json.dumps(report.to_json(found), allow_nan=False))
        assert len(data["games"]) == len(found.games)
    assert data["overall"]["standings"][0]["rating"]["high"] is None  # won everything
    assert data["overall"]["meetings"][0]["score"]["mean"] == 1.0
    assert Tournament.from_json(data["tournament"]) == tournament


def test_csv_has_a_line_for_every_meeting(told: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(report.csv(told))))
    assert len(rows) == 3 * (2 + 1)
    assert rows[0]["two"] == PLAYERS[1]
    assert float(rows[0]["low"]) <= float(rows[0]["score"]) <= float(rows[0]["high"])
    assert rows[3]["options"] == "integrity=12"


def test_csv_names_are_no_formulas() -> None:
    tournament = make_tournament(1, players=("=1+1", "b"), games=GAMES[:1])
    played = [GameResult(0, 0, 0, seat, 0.5, "rules", 3) for seat in (0, 1)]
    told = report.csv(summary(tournament, [Encounter(0, 0, played)]))
    row = next(csv.DictReader(io.StringIO(told)))
    assert row["one"] == "'=1+1"


class Page(HTMLParser):
    """Checks that tags are closed, and collects them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.shown: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


def test_the_page_is_whole_and_needs_nothing_from_outside(told: Summary) -> None:
    text, seen = page(told), Page()
    seen.feed(text)
    assert not seen.open
    assert not seen.tags & {"script", "img", "link", "iframe", "b"}
    assert all(link.startswith("#") for link in seen.links)
    assert not re.search(r"https?:|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text
    assert PLAYERS[1] in "".join(seen.shown)
    for link in seen.links:
        assert f'id="{link[1:]}"' in text


def test_no_games_no_results() -> None:
    tournament = make_tournament()
    found = summary(tournament, [])
    assert report.text(found) == ["No pair of games is finished."]
    assert "No pair of games is finished" in page(found)
    json.dumps(report.to_json(found), allow_nan=False)
    assert len(report.csv(found).splitlines()) == 1
