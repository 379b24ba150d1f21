"""The page in a browser: three widths, light, dark and print; trees by click and by key; no error, no network."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from chromium import CHROMIUM, Tab, chromium
from sublearn import SLMBoostClassifier, SLMClassifier, report

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: apt-get install chromium)")
WIDTHS = (360, 800, 1400)
FIRST = "[role=tree] [role=treeitem]"  # the root of the tree that is shown
FOCUSED = "document.activeElement.id"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A default boosting, and a wide table with long names and 26 classes."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    boost = SLMBoostClassifier(random_state=0, n_jobs=1).fit(X[::2], y[::2])
    rng = np.random.default_rng(0)
    long = pd.DataFrame(rng.normal(size=(260, 300)), columns=[f"{'a_long_name_' * 5}_{i:03}"[-60:] for i in range(300)])
    letters = np.array([chr(65 + i) for i in range(26)])[np.arange(260) % 26]
    long["category"] = np.char.add(letters, " with a level that has a rather long name, too")
    tree = SLMClassifier(random_state=0, max_depth=7).fit(long, letters)
    made = {"boost": report(boost, X[1::2], y[1::2]), "wide": report(tree, long, letters)}
    folder = tmp_path_factory.mktemp("pages")
    for name, one in made.items():
        one.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as one:
        yield one


def expanded(tab: Tab, item: str) -> Any:
    return tab.ask(f"document.querySelector({item!r}).getAttribute('aria-expanded')")


@pytest.mark.parametrize("name", ["boost", "wide"])
def test_page_fits_every_width_in_light_dark_and_print(name: str, pages: dict[str, Path], tab: Tab) -> None:
    backgrounds = set()
    for width in WIDTHS:
        for dark, media in ((False, "screen"), (True, "screen"), (True, "print")):
            tab.open(pages[name], width, dark=dark, media=media)
            if media == "screen":
                assert tab.ask("document.documentElement.scrollWidth") <= width
            backgrounds.add((dark, media, tab.ask("getComputedStyle(document.body).backgroundColor")))
            beyond = (
                "[...document.querySelectorAll('h1,h2,h3,p,figure,.node,.controls,select')]"
                ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"
            )
            assert tab.ask(beyond) == 0
    assert len(backgrounds) == 3  # one each, at all widths
    assert {colour for dark, media, colour in backgrounds if media == "print" or not dark} == {"rgb(255, 255, 255)"}
    assert tab.problems == []


def test_words_of_charts_do_not_overlap_or_leave_them(pages: dict[str, Path], tab: Tab) -> None:
    tab.open(pages["boost"], 800)
    code = """[...document.querySelectorAll('svg.plot')].filter((svg) => {
        const box = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
        const apart = (a, b) => a.right <= b.left || b.right <= a.left
            || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
        return texts.some((a, i) => a.left < box.left - 1 || a.right > box.right + 1
            || texts.slice(i + 1).some((b) => !apart(a, b)));
    }).map((svg) => svg.getAttribute('aria-label'))"""
    assert tab.ask(code) == []
    assert tab.ask("document.querySelectorAll('svg.plot').length") == 8


def test_tree_opens_and_closes_by_click(pages: dict[str, Path], tab: Tab) -> None:
    tab.open(pages["boost"])
    shown = f"document.querySelector({FIRST + ' > [role=group]'!r}).checkVisibility()"
    assert (expanded(tab, FIRST), tab.ask(shown)) == ("true", True)
    tab.click(f"{FIRST} > .node")
    assert (expanded(tab, FIRST), tab.ask(shown)) == ("false", False)
    tab.click(f"{FIRST} > .node")
    assert (expanded(tab, FIRST), tab.ask(shown)) == ("true", True)
    tab.click("#close-all")
    assert tab.ask("document.querySelectorAll('#panel-0 [aria-expanded=true]').length") == 0
    tab.call("Emulation.setEmulatedMedia", media="print")  # a small tree is printed with all branches
    assert tab.ask(shown) is True
    tab.call("Emulation.setEmulatedMedia", media="screen")
    tab.click("#open-all")
    assert tab.ask("document.querySelectorAll('#panel-0 [aria-expanded=false]').length") == 0
    assert tab.problems == []


def test_tree_is_walked_by_keys(pages: dict[str, Path], tab: Tab) -> None:
    tab.open(pages["wide"])
    tab.ask("document.getElementById('close-all').focus()")
    tab.press("Tab")
    root = tab.ask(f"document.querySelector({FIRST!r}).id")
    assert tab.ask(FOCUSED) == root  # one stop for the whole tree
    for key in ("Enter", " "):
        before = expanded(tab, FIRST)
        tab.press(key)
        assert expanded(tab, FIRST) != before
    tab.press("ArrowLeft")
    assert expanded(tab, FIRST) == "false"
    tab.press("ArrowDown")
    assert tab.ask(FOCUSED) == root  # what is closed is not walked through
    tab.press("ArrowRight")
    assert expanded(tab, FIRST) == "true"
    tab.press("ArrowRight")
    first = tab.ask(FOCUSED)
    assert tab.ask(f"document.getElementById({first!r}).getAttribute('aria-level')") == "2"
    tab.press("ArrowDown")
    assert tab.ask(FOCUSED) not in (root, first)
    tab.press("ArrowUp")
    assert tab.ask(FOCUSED) == first
    tab.press("End")
    assert tab.ask(FOCUSED) != first
    tab.press("Home")
    assert tab.ask(FOCUSED) == root
    ring = "getComputedStyle(document.activeElement.querySelector('.node')).outlineStyle"
    assert tab.ask(ring) == "solid"
    assert tab.problems == []


def test_path_of_a_row_is_lit_up(pages: dict[str, Path], tab: Tab) -> None:
    tab.open(pages["boost"])
    tab.click("#close-all")
    lit = "[...document.querySelectorAll('#panel-0 .lit')].map((item) => item.id)"
    assert tab.ask(lit) == []
    tab.click("button[data-row]")
    row = tab.ask("document.getElementById('which-row').value")
    ways = tab.ask(f"JSON.parse(document.getElementById('ways').textContent)[{row!r}]")
    assert tab.ask(lit) == [f"t0-{node}" for node in ways["ways"][0]]
    assert all(tab.ask(f"document.getElementById('t0-{node}').checkVisibility()") for node in ways["ways"][0])
    assert tab.ask("document.querySelector('.way-words').textContent") == ways["words"]
    tab.ask("document.getElementById('which-row').value = ''")
    tab.ask("document.getElementById('which-row').dispatchEvent(new Event('change'))")
    assert tab.ask(lit) == []
    assert tab.problems == []


def test_other_trees_are_chosen(pages: dict[str, Path], tab: Tab) -> None:
    tab.open(pages["boost"])
    shown = "[...document.querySelectorAll('.panel')].map((panel) => panel.checkVisibility())"
    assert tab.ask(shown) == [True, False, False, False]
    tab.ask("document.getElementById('which-tree').focus()")
    tab.press("ArrowDown")
    assert tab.ask(shown) == [False, True, False, False]


def test_other_scripts_and_styles_do_not_run(pages: dict[str, Path], tab: Tab, tmp_path: Path) -> None:
    html = pages["boost"].read_text("utf-8")
    bad = tmp_path / "bad.html"
    bad.write_text(html.replace("<main>", "<main><script>document.title = 'taken'</script>"), "utf-8")
    tab.open(bad)
    assert tab.ask("document.title") != "taken"
    assert any("Content Security Policy" in one for one in tab.problems)
    tab.problems.clear()


def test_contrast_of_text_is_at_least_that_of_level_aa(pages: dict[str, Path], tab: Tab) -> None:
    code = """(() => {
        const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const light = (c) => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
        const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
        const behind = (element) => {
            const layers = [];
            for (let e = element; e; e = e.parentElement) layers.unshift(numbers(getComputedStyle(e).backgroundColor));
            return layers.reduce((under, [r, g, b, a = 1]) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a)),
                [255, 255, 255]);
        };
        const texts = [...document.querySelectorAll('p,li,th,td,span,a,h1,h2,h3,summary,figcaption,button,svg text')];
        return texts.filter((e) => e.textContent.trim() && e.checkVisibility() && !e.closest('.skip')).map((e) => {
            const style = getComputedStyle(e);
            const a = luminance(numbers(e instanceof SVGElement ? style.fill : style.color)), b = luminance(behind(e));
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.className + e.tagName + e.textContent];
        }).sort((a, b) => a[0] - b[0])[0];
    })()"""
    for dark in (False, True):
        tab.open(pages["boost"], dark=dark)
        tab.click("button[data-row]")
        worst, where = tab.ask(code)
        assert worst >= 4.5, where
