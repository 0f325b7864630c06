"""The report page in a real browser: what is drawn, what the switches do, and that nothing leaves the file."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse

import pytest
from conftest import MIB, SOURCE

try:
    from browser import Browser
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys
    HAVE_ALL = bool(shutil.which("chromium") and shutil.which("chromedriver"))
except ImportError:
    HAVE_ALL = False

pytestmark = pytest.mark.skipif(not HAVE_ALL, reason="install chromium chromium-driver python3-selenium python3-jinja2")
REFERENCE = SOURCE / "results" / "reference"
HOSTILE = "</script><script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\">"
sys.path.append(str(SOURCE / "tests" / "unit" / "sample_results"))


def page_of(results, out):
    done = subprocess.run([sys.executable, SOURCE / "plots" / "report_page.py", results, "--out", out], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of the reference, with a finding and with what cow writes beside it."""
    folder = tmp_path_factory.mktemp("page") / "run"
    folder.mkdir()
    for name in ("run.json", "points.jsonl", "thresholds.json", "fork.json", "snapshot.json", "recv_buffer.json",
                 "fork_after_calloc.json"):
        shutil.copy(REFERENCE / name, folder)
    (folder / "findings.json").write_text(json.dumps({"schema": "zerotax.findings/1", "run": "r", "findings": [{
        "id": "f-1", "rule": "redundant_reuse", "allocator": "mimalloc", "version": "2.0.9", "env": {}, "severity": "high",
        "title": "zeroes needlessly", "sentence": "It does.", "knobs": [], "evidence": [{
            "case": "calloc_loop", "size_bytes": 64 * MIB, "touch": 1, "thread": "main", "figures": {"zeroed_bytes": 1}}]}]}))
    return page_of(folder, folder.parent / "report.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def quiet(browser):
    """Wide, light, on screen; and after each test nothing may have been logged."""
    browser.window(1000)
    browser.devtools("Emulation.setEmulatedMedia", media="", features=[])
    yield
    assert browser.logged() == []


def points():
    return [json.loads(line) for line in (REFERENCE / "points.jsonl").read_text().splitlines()]


def names_at(size):
    """Every allocator of the reference with its point of this size, untouched."""
    return {p["allocator"]: p for p in points() if (p["case"], p["size_bytes"], p["touch"]) == ("calloc_loop", size, 0.0)}


def lines(browser, figure):
    """The names of the lines that are drawn, those without a path left out."""
    return browser.run("return [...document.querySelectorAll(`#${arguments[0]} [data-line]`)]"
                       ".filter(g => g.querySelector('.line').getAttribute('d')).map(g => g.dataset.line)", figure)


def ticks(browser, figure):
    """What is written at the axes."""
    return browser.run("return [...document.querySelectorAll(`#${arguments[0]} .plot > svg text`)].map(t => t.textContent)", figure)


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
            "fetch(url).then(() => done('reached'), () => done('refused'));", address)
        server.shutdown(socket.SHUT_RDWR)
    assert refused == "refused" and not reached
    told = browser.logged()   # these are wanted here
    assert told and all("Content Security Policy" in message for message in told), told


def test_pointing_at_a_line_shows_what_was_measured(browser, page):
    browser.open(page)
    browser.point("#bytes .plot", 0.9, 0.5)
    tip = browser.run("return [...document.querySelectorAll('#bytes .tip tr')].map(row => [...row.cells].map(cell => cell.textContent))")
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
    head, *body = browser.run("return [...document.querySelectorAll('#bytes table tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    row = next(row for row in body if row[0].startswith("100 MiB"))
    known = names_at(100 * MIB)
    assert {name: cell for name, cell in zip(head[1:], row[1:])} == {n: f"{p['zeroed_bytes']:,} B" for n, p in known.items()}
    browser.click("#map details summary")
    assert len(browser.all("#map tbody tr")) == len(json.loads((REFERENCE / "thresholds.json").read_text())["thresholds"])


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
    assert not browser.find("#time .plot").get_attribute("aria-valuetext").startswith("64 KiB")   # what is out of sight
    browser.press("#time .plot", "0")
    assert zoomed(browser) is None and ticks(browser, "time") == before
    browser.click("#time button[aria-label='zoom in']")
    browser.click("#time .reset")
    assert zoomed(browser) is None
    browser.run("const r = document.querySelector('#time .plot rect[fill=transparent]'), b = r.getBoundingClientRect();"
                "r.dispatchEvent(new MouseEvent('dblclick', {bubbles: true, view: window, clientX: b.x + b.width / 2, clientY: b.y + 9}))")
    browser.driver.execute_async_script("setTimeout(arguments[0], 400)")   # d3 takes 250 ms for it
    assert zoomed(browser) is not None


def test_the_wheel_scrolls_the_page_and_does_not_zoom(browser, page):
    browser.open(page)
    browser.run("const r = document.querySelector('#time .plot rect[fill=transparent]');"
                "window.plain = r.dispatchEvent(new WheelEvent('wheel', {bubbles: true, cancelable: true, deltaY: 99, view: window}));"
                "window.ctrl = r.dispatchEvent(new WheelEvent('wheel', {bubbles: true, cancelable: true, deltaY: -99, ctrlKey: true, view: window}))")
    browser.driver.execute_async_script("setTimeout(arguments[0], 300)")   # d3 waits 150 ms for the next turn
    assert browser.run("return [window.plain, window.ctrl]") == [True, False]   # false: taken, not left to the page
    assert zoomed(browser) is not None


def test_case_touch_and_figure_are_chosen(browser, page):
    browser.open(page, "#touch=1&time.f=whole_ns")
    assert browser.find("#touch").get_attribute("value") == "1"
    assert "calloc + touch + free" in browser.find("#time .plot svg").get_attribute("aria-label")
    browser.run("const s = document.getElementById('case'); s.value = 'recv_buffer'; s.dispatchEvent(new Event('change', {bubbles: true}))")
    assert "recv_buffer" in browser.find("#time .plot svg").get_attribute("aria-label")
    assert "case=recv_buffer" in browser.fragment()
    browser.open(page, "#case=nonsense&touch=7&thread=x&time.f=y&time.x=9~1&heat.f=z&go=nowhere&off=nobody")
    assert len(lines(browser, "time")) == 7   # an address that asks for nonsense shows the default


def test_links_to_evidence_put_the_cursor_there(browser, page):
    browser.open(page, "#theme=dark&off=glibc")
    browser.click("#findings details summary")
    browser.click("#findings .finding a.go")
    assert browser.run("return document.activeElement.closest('figure').id") == "heat"
    assert browser.find("#touch").get_attribute("value") == "1"
    assert browser.text("#heat .tip b") == "64 MiB (67,108,864 B)"
    assert "theme=dark" in browser.fragment() and "off=glibc" in browser.fragment()   # the rest of the view stays
    browser.click("#summary .lead a.go")
    assert browser.text("#time .tip b").startswith("1000 MiB")


def ground(browser):
    return browser.run("return getComputedStyle(document.body).backgroundColor")


def test_light_and_dark_follow_the_system_and_the_switch(browser, page):
    browser.open(page)
    light = ground(browser)
    browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = ground(browser)
    assert light == "rgb(255, 255, 255)" and dark != light
    browser.click("[data-set-theme=light]")
    assert ground(browser) == light and browser.find("[data-set-theme=light]").get_attribute("aria-pressed") == "true"
    browser.devtools("Emulation.setEmulatedMedia", features=[])
    browser.press("[data-set-theme=dark]", Keys.ENTER)
    assert ground(browser) == dark and "theme=dark" in browser.fragment()
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    assert ground(browser) == light   # paper is white


def test_it_prints(browser, page):
    cell = "return getComputedStyle(document.querySelector('#heat .cell')).fill"
    browser.open(page)
    light = browser.run(cell)
    browser.open(page, "#theme=dark")
    assert browser.run(cell) != light
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF") and len(pdf) > 50_000
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 20
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    assert not browser.find("nav").is_displayed() and not browser.find("#time .tools").is_displayed()
    assert browser.find("#time .plot svg").is_displayed() and browser.find("#touch").is_displayed()
    assert browser.run(cell) == light


@pytest.mark.parametrize("width", [320, 375])
def test_a_phone_needs_no_scrolling_sideways(browser, page, width):
    browser.window(width, 640, mobile=True)
    browser.open(page)
    browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
    browser.frame()
    wide = browser.run(
        "const out = []; for (const each of document.body.querySelectorAll('*')) {"
        "  if (each.closest('.scroll, .plot > svg, .hidden, .skip, defs') && !each.matches('.scroll')) continue;"
        "  const box = each.getBoundingClientRect();"
        "  if (box.width && box.right > innerWidth + 1) out.push(each.outerHTML.slice(0, 80)); } return out;")
    assert wide == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert len(lines(browser, "time")) == 7


ACCESSIBLE = r"""
const found = [], say = (rule, element) => found.push(`${rule}: ${element.outerHTML.slice(0, 90)}`);
const all = selector => [...document.querySelectorAll(selector)];
const name = e => (e.getAttribute('aria-label') || (e.getAttribute('aria-labelledby') || '').split(' ').map(id => (document.getElementById(id) || {}).textContent || '').join('')
                   || [...(e.labels || [])].map(l => l.textContent).join('') || e.textContent).trim();
const ids = all('[id]').map(e => e.id);
ids.filter((id, n) => ids.indexOf(id) !== n).forEach(id => found.push(`id twice: ${id}`));
for (const e of all('[aria-labelledby], [aria-describedby]'))
  for (const id of (e.getAttribute('aria-labelledby') || e.getAttribute('aria-describedby')).split(' ')) if (!document.getElementById(id)) say('names nothing', e);
for (const e of all('button, a[href], input, select, summary, [tabindex], figure, section, nav, [role=img], [role=region], [role=slider], [role=group]'))
  if (!name(e)) say('has no name', e);
for (const tag of ['main', 'header', 'footer', 'h1', 'title']) if (all(tag).filter(e => !e.closest('svg')).length !== 1) found.push(`not one ${tag}`);
let before = 0;
for (const e of all('h1, h2, h3, h4')) { const level = Number(e.tagName[1]); if (level > before + 1) say('skips a level', e); before = level; }
for (const e of all('table')) if (e.closest('.tip') === null && (!e.querySelector('th[scope]') || !(e.caption || e.closest('[aria-label]')))) say('table without headings or name', e);
for (const e of all('svg')) if (e.getAttribute('aria-hidden') !== 'true' && e.getAttribute('role') !== 'img') say('svg without a role', e);
for (const e of all('[role=slider]')) for (const key of ['valuemin', 'valuemax', 'valuenow']) if (e.getAttribute(`aria-${key}`) === null) say('slider without value', e);
for (const e of all('.scroll')) if (e.tabIndex !== 0 || !e.getAttribute('aria-label')) say('scrolls by mouse alone', e);
if (!document.documentElement.lang) found.push('no language');
const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, n) => sum + v * [.2126, .7152, .0722][n], 0);
const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || seen.has(e) || !e.checkVisibility() || e.closest('script, style, .cell') || e.matches('.cell + text') || e.disabled || e.closest('[disabled]')) continue;
  seen.add(e);
  const style = getComputedStyle(e), a = light(rgb(e.closest('svg') ? style.fill : style.color)), b = light(ground(e));
  if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) say('contrast', e);
}
for (const e of all('.cell + text')) {
  const fill = getComputedStyle(e.previousSibling).fill;
  if (!fill.startsWith('rgb')) continue;
  const a = light(rgb(getComputedStyle(e).fill)), b = light(rgb(fill));
  if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) say('contrast in a cell', e);
}
for (const e of all('button[aria-label]')) if (/[a-z]/i.test(e.textContent) && !e.getAttribute('aria-label').startsWith(e.textContent)) say('is called otherwise than it reads', e);
const regions = all('section, [role=region], nav').map(name);
regions.filter((each, n) => regions.indexOf(each) !== n).forEach(each => found.push(`two regions: ${each}`));
if (seen.size < 100) found.push('little was looked at');
return found;
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("heat", ["redundant", "calloc_ns"])
def test_it_is_accessible(browser, page, theme, heat):
    browser.open(page, f"#theme={theme}&heat.f={heat}")
    browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
    browser.frame()
    assert browser.run(ACCESSIBLE) == []


def test_the_keyboard_reaches_everything_in_order(browser, page):
    browser.open(page)
    reached = []
    for _ in range(70):
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        reached.append(browser.run("const e = document.activeElement; return [e.id || e.className || e.tagName,"
                                   " getComputedStyle(e).outlineStyle, e.closest('figure') ? e.closest('figure').id : '']"))
    assert reached[0][0] == "skip"
    assert all(outline in ("solid", "auto") for _, outline, _ in reached), reached
    figures = [figure for _, _, figure in reached if figure]
    assert list(dict.fromkeys(figures))[:2] == ["time", "faults"]
    assert {"case", "touch", "all-on"} <= {name for name, _, _ in reached}


def test_names_that_are_markup_are_shown_as_they_are(browser, tmp_path):
    import zerotax_sample as sample
    points_of = [sample.point(HOSTILE, size, env={HOSTILE: HOSTILE}) for size in (MIB, 2 * MIB)]
    folder = sample.write(tmp_path / "run", [*points_of, sample.failed(HOSTILE, 4 * MIB, 0.0, "crashed", HOSTILE)])
    browser.open(page_of(folder, tmp_path / "report.html"))
    browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
    browser.press("#time .plot", Keys.END)
    assert browser.run("return document.title") != "caught"
    assert len(browser.all("script")) == 2 and len(browser.all("img")) == 0
    for place in ("#names", "#summary", "#failures", "#time .legend", "#every"):
        assert HOSTILE in browser.text(place), place


def test_what_did_not_end_well_is_marked_and_told_with_its_reason(browser, tmp_path):
    import zerotax_sample as sample
    measured = [sample.point(name, size) for name in ("glibc", "scudo") for size in (MIB, 2 * MIB)]
    measured += [sample.failed("glibc", 4 * MIB, 0.0, "crashed", "signal 11 in free"), sample.point("scudo", 4 * MIB),
                 sample.point("glibc", 8 * MIB, redundant_zeroed_bytes=sample.na("no pagemap here")), sample.point("scudo", 8 * MIB)]
    folder = sample.write(tmp_path / "run", measured)
    browser.open(page_of(folder, tmp_path / "report.html"), "#bytes.f=redundant")
    assert len(browser.all("#time .ended")) == 1
    browser.press("#time .plot", Keys.END, Keys.ARROW_LEFT)
    assert "glibc crashed: signal 11 in free" in browser.find("#time .plot").get_attribute("aria-valuetext")
    browser.press("#bytes .plot", Keys.END)
    assert "glibc n/a: no pagemap here" in browser.find("#bytes .plot").get_attribute("aria-valuetext")
    assert "×" in ticks(browser, "heat") and "n/a" in ticks(browser, "heat")
    assert "signal 11 in free" in browser.text("#failures table")


def test_a_hundred_thousand_points_are_all_there(browser, tmp_path):
    import zerotax_sample as sample
    names, sizes = list(sample.VERSIONS)[:5], [65536 + 4096 * n for n in range(4000)]
    one = {name: json.dumps({**sample.point(name, MIB), "first_ops": [], "size_bytes": 0, "touch": -1.0}) for name in names}
    folder = sample.write(tmp_path / "run", [], sample.run(100_000))
    with open(folder / "points.jsonl", "w", encoding="utf-8") as file:
        for name in names:
            for touch in (0.0, 0.01, 0.1, 0.5, 1.0):
                half = one[name].replace('"touch": -1.0', f'"touch": {touch}')
                for size in sizes:
                    file.write(half.replace('"size_bytes": 0', f'"size_bytes": {size}') + "\n")
    browser.open(page_of(folder, tmp_path / "report.html"))
    assert sorted(lines(browser, "time")) == sorted(names)
    browser.click("#every summary")
    assert "Points: 100,000 rows" in browser.text("#every caption")
    browser.press("#time .plot", Keys.END)
    assert browser.find("#time .plot").get_attribute("aria-valuetext").startswith(f"16060 KiB ({sizes[-1]:,} B)")
