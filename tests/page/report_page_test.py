"""The page of a run in a real browser: its drawings, its controls, and no request beyond the file."""

import json
import re
import socket
import threading
import urllib.parse

import pytest
from conftest import MIB
from report_pages import REFERENCE, Keys, browser, lines, names_at, needs_browser, page, points, quiet, ticks  # noqa: F401
from zerotax_plots.page.points import contrasting
from zerotax_plots.looks import KNOWN

pytestmark = needs_browser


def test_every_figure_is_drawn_and_nothing_is_asked_of_the_network(browser, page):
    browser.open(page)
    every = sorted(names_at(100 * MIB))
    for figure in ("time", "faults", "bytes", "receiving"):
        assert sorted(lines(browser, figure)) == every, figure
        assert browser.run("return document.querySelectorAll(`#${arguments[0]} .mark`).length", figure) > 50
    assert len(browser.all("#heat .cell")) == 48 * len(every)
    lanes = json.loads((REFERENCE / "thresholds.json").read_text())
    assert len(browser.all("#map .tick")) == len(lanes["thresholds"])
    assert len(lines(browser, "forked")) == 2 and len(lines(browser, "snapped")) == 3
    if browser.all("#copied"):
        assert "copies, its children" in lines(browser, "copied") or "copies, the parent" in lines(browser, "copied")
    assert browser.requested() == [f"file://{page}"]


def test_the_policy_keeps_whatever_might_try_from_reaching_the_network(browser, page):
    reached = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            try:
                while True:
                    server.accept()
                    reached.append(1)
            except OSError:
                pass

        threading.Thread(target=accept, daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        browser.open(page)
        refused = browser.driver.execute_async_script(
            "const [url, done] = arguments; const image = new Image(), script = document.createElement('script');"
            "image.src = url; script.src = url; document.body.append(image, script);"
            "fetch(url).then(() => done('reached'), () => done('refused'));",
            address,
        )
        server.shutdown(socket.SHUT_RDWR)
    assert refused == "refused" and not reached
    told = browser.logged()  # log messages are expected here
    assert told and all("Content Security Policy" in message for message in told), told


def test_pointing_at_a_line_shows_what_was_measured(browser, page):
    browser.open(page)
    browser.point("#bytes .plot", 0.9, 0.5)
    tip = browser.run(
        "return [...document.querySelectorAll('#bytes .tip tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    size = int(re.search(r"\(([\d,]+) B\)", browser.text("#bytes .tip b"))[1].replace(",", ""))
    known = {name: f"{point['zeroed_bytes']:,} B" for name, point in names_at(size).items()}
    assert {row[1]: row[2] for row in tip} == known
    assert browser.run("return document.querySelector('#bytes .tip').checkVisibility()")


def test_the_keyboard_moves_the_cursor_and_says_the_values(browser, page):
    browser.open(page)
    browser.press("#bytes .plot", Keys.HOME)
    first = browser.find("#bytes .plot").get_attribute("aria-valuetext")
    known = {name: f"{name} {point['zeroed_bytes']:,} B" for name, point in names_at(65536).items()}
    assert first.startswith("64 KiB (65,536 B); ") and set(first.split("; ")[1:]) == set(known.values())
    browser.press("#bytes .plot", Keys.ARROW_RIGHT)
    assert browser.find("#bytes .plot").get_attribute("aria-valuetext").startswith("80 KiB")
    browser.press("#bytes .plot", Keys.END)
    assert browser.find("#bytes .plot").get_attribute("aria-valuetext").startswith("1 GiB")
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_table_behind_a_figure_has_its_values(browser, page):
    browser.open(page)
    browser.click("#bytes details summary")
    head, *body = browser.run(
        "return [...document.querySelectorAll('#bytes table tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    row = next(row for row in body if row[0].startswith("100 MiB"))
    known = names_at(100 * MIB)
    assert {name: cell for name, cell in zip(head[1:], row[1:])} == {
        n: f"{p['zeroed_bytes']:,} B" for n, p in known.items()
    }
    browser.click("#map details summary")
    assert len(browser.all("#map tbody tr")) == len(
        json.loads((REFERENCE / "thresholds.json").read_text())["thresholds"]
    )


def table(browser, figure):
    """Opens the table behind a figure, and returns its rows, headings first."""
    browser.click(f"#{figure} details summary")
    return browser.run(
        "return [...document.querySelectorAll(`#${arguments[0]} table tr`)]"
        ".map(row => [...row.cells].map(cell => cell.textContent))",
        figure,
    )


def test_the_heat_map_shows_shares_of_the_block(browser, page):
    browser.open(page)
    head, *body = table(browser, "heat")
    sizes = [row[0] for row in body]
    for number, size in enumerate(sorted({p["size_bytes"] for p in points() if p["case"] == "calloc_loop"})):
        known = names_at(size)
        shares = [f"{min(1, known[name]['redundant_zeroed_bytes'] / size) * 100:.0f} %" for name in head[1:]]
        assert body[number][1:] == shares, sizes[number]
    browser.press("#heat .plot", Keys.HOME, Keys.ARROW_UP, Keys.ARROW_DOWN)
    assert browser.find("#heat .plot").get_attribute("aria-valuetext").startswith("64 KiB (65,536 B); jemalloc 0 % of")


def test_the_map_has_its_marks_at_the_thresholds(browser, page):
    browser.open(page)
    marks = browser.run("return [...document.querySelectorAll('#map .tick')].map(m => m.getAttribute('d'))")
    at = {text.text: float(text.get_attribute("x")) for text in browser.all("#map .plot > svg text[text-anchor=middle]")}
    octave = (at["64 MiB"] - at["64 KiB"]) / 10
    found = sorted(65536 * 2 ** ((float(re.match(r"M([\d.]+) ", mark)[1]) - at["64 KiB"]) / octave) for mark in marks)
    known = sorted(each["at_bytes"] for each in json.loads((REFERENCE / "thresholds.json").read_text())["thresholds"])
    assert found == pytest.approx(known, rel=1e-3)


@pytest.mark.parametrize("theme, column", [("light", 0), ("dark", 1)])
def test_a_line_has_the_colour_of_its_allocator(browser, page, theme, column):
    browser.open(page, f"#theme={theme}")
    drawn = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('#time [data-line]')]"
        ".map(g => [g.dataset.line, getComputedStyle(g.querySelector('.line')).stroke]))"
    )
    looks = {name: (style.colour, contrasting(style.colour))[column] for name, style in KNOWN.items()}
    assert drawn == {name: "rgb({}, {}, {})".format(*bytes.fromhex(colour[1:])) for name, colour in looks.items()}


def test_allocators_are_switched_by_mouse_and_keyboard_and_the_address_keeps_it(browser, page):
    browser.open(page)
    every = set(lines(browser, "time"))
    browser.click("#names input[value='glibc']")
    browser.press("#names input[value='scudo']", Keys.SPACE)
    left = every - {"glibc", "scudo"}
    for figure in ("time", "faults", "bytes", "receiving"):
        assert set(lines(browser, figure)) == left, figure
    assert not set(ticks(browser, "heat")) & {"glibc", "scudo"}
    browser.open(page, browser.fragment())
    assert set(lines(browser, "time")) == left
    browser.click("#all-off")
    assert lines(browser, "time") == [] and "Nothing is chosen" in browser.text("#time .plot")
    browser.press("#all-on", Keys.ENTER)
    assert set(lines(browser, "time")) == every and "off=" not in browser.fragment()


def test_the_axis_is_switched_between_logarithmic_and_linear(browser, page):
    browser.open(page)
    assert "10 ms" in ticks(browser, "time") and "1 µs" in ticks(browser, "time")
    browser.click("#time .log")
    assert {"100 ms", "200 ms", "300 ms"} <= set(ticks(browser, "time")) and "1 µs" not in ticks(browser, "time")
    assert browser.find("#time .log").text == "y: linear"
    browser.open(page, browser.fragment())
    assert "200 ms" in ticks(browser, "time")
    browser.press("#time .log", Keys.ENTER)
    assert "1 µs" in ticks(browser, "time") and "time.y=log" in browser.fragment()


def zoomed(browser):
    value = urllib.parse.parse_qs(browser.fragment().lstrip("#")).get("time.x")
    return tuple(map(float, value[0].split("~"))) if value else None


def test_figures_zoom_by_button_key_and_double_click_and_reset(browser, page):
    browser.open(page)
    assert zoomed(browser) is None and not browser.find("#time .reset").is_enabled()
    before = ticks(browser, "time")
    browser.click("#time button[aria-label='zoom in']")
    low, high = zoomed(browser)
    assert 65536 < low < high < 2**30 and ticks(browser, "time") != before
    browser.press("#time .plot", "+")
    inner_low, inner_high = zoomed(browser)
    assert low < inner_low < inner_high < high
    browser.click("#time button[aria-label='to greater values']")
    assert zoomed(browser)[0] > inner_low
    shared = browser.fragment()
    browser.open(page, shared)
    assert browser.fragment() == shared and browser.find("#time .reset").is_enabled()
    browser.press("#time .plot", Keys.HOME)
    # a size outside of the visible range
    assert not browser.find("#time .plot").get_attribute("aria-valuetext").startswith("64 KiB")
    browser.press("#time .plot", "0")
    assert zoomed(browser) is None and ticks(browser, "time") == before
    browser.click("#time button[aria-label='zoom in']")
    browser.click("#time .reset")
    assert zoomed(browser) is None
    browser.run(
        "const r = document.querySelector('#time .plot rect[fill=transparent]'), b = r.getBoundingClientRect();"
        "r.dispatchEvent(new MouseEvent('dblclick', {bubbles: true, view: window,"
        " clientX: b.x + b.width / 2, clientY: b.y + 9}))"
    )
    browser.until(lambda: zoomed(browser) is not None)  # d3 handles the event with a delay


def test_the_wheel_scrolls_the_page_and_does_not_zoom(browser, page):
    browser.open(page)
    browser.run(
        "const r = document.querySelector('#time .plot rect[fill=transparent]');"
        "const turn = more => r.dispatchEvent(new WheelEvent('wheel',"
        " {bubbles: true, cancelable: true, view: window, ...more}));"
        "window.plain = turn({deltaY: 99});"
        "window.ctrl = turn({deltaY: -99, ctrlKey: true});"
    )
    # false: the figure handled the event, so the page did not scroll
    assert browser.run("return [window.plain, window.ctrl]") == [True, False]
    browser.until(lambda: zoomed(browser) is not None)  # d3 acts in the next turn of the event loop


def test_case_touch_and_figure_are_chosen(browser, page):
    browser.open(page, "#touch=1&time.f=whole_ns")
    assert browser.find("#touch").get_attribute("value") == "1"
    assert "calloc + touch + free" in browser.find("#time .plot svg").get_attribute("aria-label")
    browser.run(
        "const s = document.getElementById('case'); s.value = 'recv_buffer';"
        "s.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    assert "recv_buffer" in browser.find("#time .plot svg").get_attribute("aria-label")
    assert "case=recv_buffer" in browser.fragment()
    browser.open(page, "#case=nonsense&touch=7&thread=x&time.f=y&time.x=9~1&heat.f=z&go=nowhere&off=nobody")
    assert len(lines(browser, "time")) == 7  # an invalid address shows the default view


def test_links_to_evidence_put_the_cursor_there(browser, page):
    browser.open(page, "#theme=dark&off=glibc")
    browser.click("#findings details summary")
    browser.click("#findings .finding a.go")
    assert browser.run("return document.activeElement.closest('figure').id") == "heat"
    assert browser.find("#touch").get_attribute("value") == "1"
    assert browser.text("#heat .tip b") == "64 MiB (67,108,864 B)"
    assert "theme=dark" in browser.fragment() and "off=glibc" in browser.fragment()
    browser.click("#allocators [data-name=mimalloc] [data-label='Worst case'] a")
    assert browser.text("#time .tip b").startswith("1000 MiB")
