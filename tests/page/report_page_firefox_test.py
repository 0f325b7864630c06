"""The page in a real Firefox: desktop, phone, dark, print, keyboard and accessibility tree, without log messages or
requests.
"""

import subprocess
import sys

import pytest
from conftest import SOURCE
from firefox import FIREFOX, Firefox
from report_pages import REFERENCE, page_of

pytestmark = pytest.mark.skipif(not FIREFOX, reason="install firefox-esr")
TAB, END, ENTER = "\ue004", "\ue010", "\ue007"
DRAWN = "return [...document.querySelectorAll(`#${arguments[0]} [data-line] .line`)].filter(e => e.getAttribute('d')).length"
GROUND = "return getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Returns the unchanged page of the reference."""
    return page_of(REFERENCE, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    made = Firefox(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def quiet(firefox):
    firefox.window(1280)
    yield
    assert firefox.logged() == []
    assert firefox.run("return performance.getEntriesByType('resource').map(e => e.name)") == []


@pytest.mark.parametrize("width, most", [(1280, 900), (390, 1400)])
def test_the_first_chart_is_in_sight_and_nothing_is_too_wide(firefox, page, width, most):
    firefox.window(width)
    firefox.open(page)
    assert firefox.run("return innerWidth") == width and firefox.run(DRAWN, "time") == 7
    assert firefox.run("return document.querySelector('#time .plot').getBoundingClientRect().bottom") <= most
    assert firefox.run("return document.documentElement.scrollWidth") <= width
    for figure in ("faults", "bytes", "receiving"):
        assert firefox.run(DRAWN, figure) == 7
    assert firefox.run("return document.querySelectorAll('#heat .cell').length") == 48 * 7


def test_the_keyboard_chooses_a_size_and_moves_in_order(firefox, page):
    firefox.open(page)
    firefox.press("#time .plot", END, ENTER)
    assert firefox.run("return document.getElementById('at-head').textContent") == "At 1 GiB"
    assert "at=1073741824" in firefox.run("return location.hash")
    firefox.press(".skip")
    firefox.keys(*[TAB] * 12)
    assert firefox.run("return document.activeElement.closest('#time') !== null")
    assert firefox.run("return getComputedStyle(document.activeElement).outlineStyle") in ("solid", "auto")


def test_light_dark_and_print(firefox, page):
    firefox.dark(False)
    firefox.open(page)
    light = firefox.run(GROUND)
    firefox.dark(True)
    assert firefox.run(GROUND) != light == "rgb(255, 255, 255)"
    firefox.dark(False)
    firefox.run("document.querySelector('[data-set-theme=dark]').click()")
    assert firefox.run(GROUND) != light
    pdf = firefox.pdf()
    assert pdf.startswith(b"%PDF") and len(pdf) > 50_000


def test_buttons_links_and_figures_have_a_role_and_a_name(firefox, page):
    firefox.open(page)
    for selector, role in (
        ("#time .zoom button", "button"),
        ("#allocators button", "button"),
        ("#allocators a", "link"),
        ("#size", "slider"),
        (".plot", "slider"),
        ("#allocators tbody th", "rowheader"),
        ("main > section", "region"),
    ):
        found = [firefox.spoken(each) for each in firefox.all(selector)[:8]]
        assert found and all(its == role and name.strip() for its, name in found), (selector, found)


def test_an_error_would_be_seen(firefox, page):
    firefox.open(page)
    firefox.command("WebDriver:ExecuteAsyncScript", args=[], script="setTimeout(arguments[0], 50); setTimeout('planted()')")
    assert any("Content" in text or "planted" in text for text in firefox.logged())
    firefox.open(page)


def test_a_comparison_of_versions_is_drawn_too(firefox, tmp_path):
    script = SOURCE / "plots" / "write_comparison.py"
    document = REFERENCE / "history" / "history.json"
    out = tmp_path / "history.html"
    subprocess.run([sys.executable, script, document, "--out", out], check=True)
    firefox.open(out)
    assert firefox.run("return document.querySelectorAll('#map .frame').length") == 2
    assert firefox.run(DRAWN, "chart") > 2
