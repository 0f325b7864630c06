"""The first screen of the page: the answer in a sentence, the chart, a row for each allocator, and their interaction.
"""

import json
import re
import urllib.parse

import pytest
from conftest import MIB, options, planted, zerotax
from report_pages import REFERENCE, ActionChains, Keys, browser, lines, needs_browser, page, page_of, quiet  # noqa: F401

pytestmark = needs_browser
DESKTOP, PHONE = (1280, 900), (390, 844)
ROWS = (
    "return [...document.querySelectorAll('#allocators tbody tr')]"
    ".map(row => [row.dataset.name, ...[...row.cells].map(cell => cell.innerText.trim())])"
)


def thresholds():
    """Returns the thresholds of the reference by allocator, with nothing touched, on the main thread."""
    found = {}
    for each in json.loads((REFERENCE / "thresholds.json").read_text())["thresholds"]:
        if (each["touch"], each["thread"]) == (0, "main"):
            found.setdefault(each["allocator"], []).append(each["at_bytes"])
    return found


def bottom(browser, selector):
    return browser.run(
        "return document.querySelector(arguments[0]).getBoundingClientRect().bottom + scrollY", selector
    )


@pytest.mark.parametrize("screen, most", [(DESKTOP, 900), (PHONE, 1400)])
def test_the_answer_and_the_first_chart_are_in_sight(browser, page, screen, most):
    browser.window(*screen, mobile=screen is PHONE)
    browser.open(page)
    assert re.search(r"takes \d.* for a calloc of .*, [\d,]+ times as long as", browser.text("h1"))
    assert browser.run("return document.querySelector('figure').id") == "time" and len(lines(browser, "time")) == 7
    assert bottom(browser, "#time .plot") <= most
    assert browser.run("return document.documentElement.scrollWidth") <= screen[0]


def test_the_table_has_a_row_for_each_allocator_and_what_avoids_its_zeroing(browser, page):
    browser.window(*DESKTOP)
    browser.open(page)
    rows = {name: cells for name, *cells in browser.run(ROWS)}
    assert len(rows) == 7
    assert rows["jemalloc"][1] == "never" and rows["jemalloc"][3] == "—"
    assert "up to 33,550,312 B" in rows["glibc"][1] and "GLIBC_TUNABLES" in rows["glibc"][3]
    assert re.search(r"\d,\d{3},\d{3} times", rows["mimalloc"][2]) and "or later" in rows["mimalloc"][3]
    assert bottom(browser, "#allocators tbody tr") <= 900
    first = next(iter(rows))
    assert first == "mimalloc"


def test_rows_on_a_phone_say_what_each_number_is(browser, page):
    browser.window(*PHONE, mobile=True)
    browser.open(page)
    names = browser.run(
        "return [...document.querySelectorAll('#allocators tbody tr:first-child td')]"
        ".map(cell => getComputedStyle(cell, '::before').content)"
    )
    assert '"Worst case"' in names and "none" not in names
    browser.click("#time details summary")
    named = browser.run("return getComputedStyle(document.querySelector('#time td'), '::before').content")
    assert named == '"glibc"'


def test_no_line_joins_points_on_both_sides_of_a_threshold(browser, page):
    browser.window(*DESKTOP)
    browser.open(page)
    for figure in ("time", "faults", "bytes"):
        parts = browser.run(
            "const at = size => Number(size);"
            "return [...document.querySelectorAll(`#${arguments[0]} [data-line]`)].map(g => [g.dataset.line,"
            " g.querySelector('.line').getAttribute('d').split('M').filter(Boolean)"
            ".map(part => part.split('L').map(place => Number(place.split(' ')[0])))])",
            figure,
        )
        ticks = dict(
            browser.run(
                "return [...document.querySelectorAll(`#${arguments[0]} [data-line]`)].map(g => [g.dataset.line,"
                " [...g.querySelectorAll('.rug')].map(t => Number(/M([\\d.]+)/.exec(t.getAttribute('d'))[1]))])",
                figure,
            )
        )
        assert {name: len(at) for name, at in ticks.items()} == {n: len(thresholds().get(n, [])) for n in ticks}
        for name, pieces in parts:
            for piece in pieces:
                crossed = [at for at in ticks[name] if piece[0] < at < piece[-1]]
                assert crossed == [], (figure, name)
    assert sum(len(pieces) for _, pieces in parts) > len(parts)


def test_a_click_the_slider_and_the_address_choose_the_size_of_the_numbers(browser, page):
    browser.window(*DESKTOP)
    browser.open(page)
    assert browser.text("#at-head") == "At 1000 MiB"
    browser.point("#time .plot", 0.4, 0.5)
    ActionChains(browser.driver).click().perform()
    size = int(urllib.parse.parse_qs(browser.fragment().lstrip("#"))["at"][0])
    assert f"({size:,} B)" in browser.text("#size-text") and len(browser.all("#time .pin")) == 1
    point = next(
        p
        for p in map(json.loads, (REFERENCE / "points.jsonl").read_text().splitlines())
        if (p["allocator"], p["case"], p["size_bytes"], p["touch"]) == ("mimalloc", "calloc_loop", size, 0)
    )
    cells = {name: cells for name, *cells in browser.run(ROWS)}["mimalloc"]
    assert cells[5].replace(",", "") == str(point["calloc_faults"])
    browser.press("#size", Keys.HOME)
    assert browser.text("#at-head") == "At 64 KiB"
    browser.until(lambda: "at=65536" in browser.fragment())
    browser.press("#time .plot", Keys.END, Keys.ENTER)
    assert browser.text("#at-head") == "At 1 GiB"
    browser.open(page, "#at=104857600")
    browser.click("#at-size summary")
    assert browser.text("#at-head") == "At 100 MiB" and "page faults inside calloc" in browser.text("#at-size tbody")


@pytest.mark.long("a browser more")
def test_kinds_of_calls_stand_below_the_table_of_their_size(browser, tmp_path):
    asked = options("size", [MIB, 2 * MIB])
    done = zerotax("run", *planted("planted_one_in_seven", "planted_never"), *asked, "--ops", 33, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    browser.window(*DESKTOP)
    browser.open(page_of(tmp_path / "run", tmp_path / "report.html"), f"#at={MIB}")
    lines_of = "return [...document.querySelectorAll('#kinds li')].map(line => line.innerText)"
    shown = browser.run(lines_of)
    assert shown[:2] == [
        "24 of 28 calls: 0 zeroed, 0 of it redundant, 0 populated",
        "4 of 28 calls: 1 MiB zeroed, 1 MiB of it redundant, 1 MiB populated",
    ]
    assert [line.split(" page fault")[0] for line in shown[2:]] == ["24 of 28 calls: 1", "4 of 28 calls: 257"]
    assert browser.text("h1").startswith("planted_one_in_seven") and "for 4 of 28 callocs of" in browser.text("h1")
    marked = "return [...document.querySelectorAll('#allocators td.median')].map(cell => cell.parentNode.dataset.name)"
    assert set(browser.run(marked)) == {"planted_one_in_seven"}
    assert "planted_one_in_seven: the calls at this size are not alike" in browser.text("#kinds p")
    browser.run("document.getElementById('size').value = 1; document.getElementById('size').dispatchEvent(new Event('input'))")
    assert "4 of 28 calls: 2 MiB zeroed, 2 MiB of it redundant, 2 MiB populated" in browser.run(lines_of)


def test_commands_and_links_are_copied(browser, page):
    browser.window(*DESKTOP)
    browser.open(page)
    browser.run(
        "window.copied = []; navigator.clipboard.writeText = text => (window.copied.push(text), Promise.resolve())"
    )
    browser.click("#allocators td [data-copy]")
    browser.click("#allocators .bar [data-copy]")
    setting, link = browser.run("return window.copied")
    assert "=" in setting and setting in browser.text("#allocators table")
    assert link.startswith(f"file://{page}#") and "at=1048576000" in link
    assert browser.text("#said").startswith("Copied: ")


@pytest.mark.long("a browser more")
def test_files_are_made_without_a_request(browser, page):
    browser.window(*DESKTOP)
    browser.open(page)
    browser.run(
        "window.files = []; const make = URL.createObjectURL;"
        "URL.createObjectURL = blob => { blob.text().then(text => window.files.push(text)); return make(blob); };"
        "HTMLAnchorElement.prototype.click = function () {};"
    )
    for selector in ("#points-csv", "#points-json", "#time [aria-label^=CSV]", "#time [aria-label^=SVG]"):
        browser.click(selector)
    browser.click("#map [aria-label^=CSV]")
    browser.until(lambda: browser.run("return window.files.length") == 5)
    every, as_json, shown, drawn, edges = browser.run("return window.files")
    points = json.loads(as_json)["points"]
    assert len(every.splitlines()) == len(points) + 1 > 600
    mine = [p for p in points if (p["allocator"], p["case"], p["size_bytes"], p["touch"]) == ("glibc", "calloc_loop", MIB, 0)]
    assert mine[0]["zeroed"] >= MIB and mine[0]["calloc_ns"] > 0
    assert shown.startswith("size asked of calloc (bytes),glibc,") and edges.count("33550313") == 2
    assert drawn.startswith("<svg") and "light-dark" not in drawn and "var(" not in drawn
    assert all(url.startswith(("file:", "blob:")) for url in browser.requested())


def test_links_lead_to_a_finding_a_threshold_and_a_missing_part(browser, page):
    browser.window(*DESKTOP)
    browser.open(page, "#finding-mimalloc-redundant-reuse-64MiB")
    finding = browser.find("[id='finding-mimalloc-redundant-reuse-64MiB']")
    assert finding.is_displayed() and 0 <= browser.run("return arguments[0].getBoundingClientRect().top", finding) < 900
    browser.open(page)
    browser.click("#allocators [data-name=glibc] .exact")
    assert "33,550,313" in browser.find("#map .plot").get_attribute("aria-valuetext")
    shared = browser.fragment()
    assert "lane=glibc" in urllib.parse.unquote(shared) and "at=33550313" in shared
    browser.open(page, f"{shared}&go=map")
    assert browser.find("#map .plot").get_attribute("aria-valuetext").startswith("glibc 2.36, touch 0")
    browser.click("#map details summary")
    assert "go=map" in browser.find("#map tbody a").get_attribute("href")


def test_what_was_not_measured_is_a_line_with_its_command(browser, tmp_path):
    import zerotax_sample as sample

    folder = sample.write(tmp_path / "run", sample.points())
    browser.window(*DESKTOP)
    browser.open(page_of(folder, tmp_path / "report.html"))
    todo = browser.run(
        "return [...document.querySelectorAll('#unmeasured li')].map(e => [e.id, e.querySelector('code').innerText])"
    )
    assert dict(todo)["fork"] == "zerotax fork --json fork.json" and {"thresholds", "snapshot", "cow"} <= dict(todo).keys()
    assert not browser.all("section#fork, section#snapshot, section#cow")
    heights = browser.run("return [...document.querySelectorAll('#unmeasured li')].map(e => e.offsetHeight)")
    assert max(heights) < 45


def test_a_disturbed_run_says_so_first(browser, tmp_path):
    import zerotax_sample as sample

    head = sample.run(len(sample.points()))
    sentence = "Measured under load: PLANTED."
    head["load"] = {"cpus": 2, "start": 3.1, "end": 3.0, "others_cpus": 1.5, "busy": True, "sentence": sentence}
    folder = sample.write(tmp_path / "run", sample.points(), head)
    browser.open(page_of(folder, tmp_path / "report.html"))
    first = browser.run("return document.querySelector('main').firstElementChild.innerText")
    assert first == "Load. Measured under load: PLANTED. Times are unreliable; counts are right."


@pytest.mark.long("each by the keyboard")
def test_every_button_and_link_is_reached_by_tab(browser, page):
    browser.window(*DESKTOP)
    browser.open(page)
    wanted = browser.run(
        "window.reached = new Set(); document.addEventListener('focusin', e => window.reached.add(e.target));"
        "return [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex=\"0\"]')]"
        ".filter(e => e.checkVisibility() && !e.disabled).length"
    )
    for _ in range(wanted // 50 + 2):
        ActionChains(browser.driver).send_keys(Keys.TAB * 50).perform()
    missed = browser.run(
        "return [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex=\"0\"]')]"
        ".filter(e => e.checkVisibility() && !e.disabled && !window.reached.has(e)).map(e => e.outerHTML.slice(0, 90))"
    )
    assert wanted > 60 and missed == []


@pytest.mark.parametrize("screen", [DESKTOP, PHONE])
def test_the_accessibility_tree_names_everything_and_keeps_tables_tables(browser, page, screen):
    browser.window(*screen, mobile=screen is PHONE)
    browser.open(page)
    nodes = [n for n in browser.devtools("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
    roles = {}
    for node in nodes:
        roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ("button", "link", "slider", "combobox", "checkbox", "figure", "region", "navigation", "image"):
        assert roles.get(role) and all(name.strip() for name in roles[role]), role
    assert len(roles["heading"]) > 10 and len(roles["row"]) > 8 and len(roles["rowheader"]) >= 7
    assert {"main", "contentinfo", "banner"} <= roles.keys()
