"""Every game of tests/plugins in every component: the table of docs/guides/add-a-game.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="needs the extra: pip install 'duels[dev]'")

from tests.plugins import components
from tests.plugins.components import COMPONENTS, NEEDS, PLUGINS, World

IN_CI = ("goofspiel", "kuhn-poker")  # sealed choices; hidden cards and payoffs
CELLS = [
    pytest.param(
        component,
        slug,
        id=f"{component.strip('`')}-{slug}",
        marks=[
            pytest.mark.slow,
            *(pytest.mark.extra(NEEDS[c]) for c in [component] if c in NEEDS),
            *([] if slug in IN_CI else [pytest.mark.long]),
        ],
    )
    for component in COMPONENTS
    for slug in PLUGINS
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(tmp_path_factory.mktemp("world")) as made:
        yield made


@pytest.mark.cases(12)
@pytest.mark.parametrize(("component", "slug"), CELLS)
def test_the_table_says_what_works(component: str, slug: str, world: World) -> None:
    found = components.outcome(component, slug, world)
    said = components.read(components.stated()).get((component, slug), "the table has no such cell")
    assert found == said, "python -m tests.plugins.components writes the table anew"


def test_the_table_is_written_as_it_is_read() -> None:
    assert components.written(components.read(components.stated())) == components.stated()


def test_every_plug_in_is_in_the_table() -> None:
    """Except those that are wrong or too large on purpose."""
    files = {path.stem for path in Path(components.__file__).parent.glob("*.py")}
    modules = {plugin.place.partition(":")[0].rpartition(".")[2] for plugin in PLUGINS.values()}
    helpers = {"__init__", "components", "test_components", "test_tutorial"}
    assert files - helpers == modules
