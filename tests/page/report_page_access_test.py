"""The page of a run is accessible to everyone: light and dark, on paper, on a phone and by keyboard. Pages with hostile
names, failed points and many points are also accessible.
"""

import json
import re

import pytest
from conftest import MIB, SOURCE
from report_pages import ActionChains, Keys, browser, lines, needs_browser, page, page_of, quiet, ticks  # noqa: F401

pytestmark = needs_browser
HOSTILE = "<!--<script x</script><script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\">"
ACCESSIBLE = (SOURCE / "tests" / "page" / "accessibility.js").read_text() + "return faults();"


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
    assert ground(browser) == light  # paper is white


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
    assert not browser.find("nav").is_displayed() and not browser.find("#time .tools button").is_displayed()
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
        "  if (box.width && box.right > arguments[0] + 1) out.push(each.outerHTML.slice(0, 80)); } return out;",
        width,
    )
    assert wide == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert len(lines(browser, "time")) == 7


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
    for _ in range(120):
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        reached.append(
            browser.run(
                "const e = document.activeElement; return [e.id || e.className || e.tagName,"
                " getComputedStyle(e).outlineStyle, e.closest('figure') ? e.closest('figure').id : '']"
            )
        )
    assert reached[0][0] == "skip"
    assert all(outline in ("solid", "auto") for _, outline, _ in reached), reached
    figures = [figure for _, _, figure in reached if figure]
    assert list(dict.fromkeys(figures))[:3] == ["time", "map", "faults"]
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
    for place in ("#names", "#summary", "#failures", "#time [data-name]", "#every"):
        assert HOSTILE in browser.text(place), place


def test_what_did_not_end_well_is_marked_and_told_with_its_reason(browser, tmp_path):
    import zerotax_sample as sample

    measured = [sample.point(name, size) for name in ("glibc", "scudo") for size in (MIB, 2 * MIB)]
    measured += [
        sample.failed("glibc", 4 * MIB, 0.0, "crashed", "signal 11 in free"),
        sample.point("scudo", 4 * MIB),
        sample.point("glibc", 8 * MIB, redundant_zeroed_bytes=sample.na("no pagemap here")),
        sample.point("scudo", 8 * MIB),
    ]
    folder = sample.write(tmp_path / "run", measured)
    browser.open(page_of(folder, tmp_path / "report.html"), "#bytes.f=redundant")
    assert len(browser.all("#time .ended")) == 1
    browser.press("#time .plot", Keys.END, Keys.ARROW_LEFT)
    assert "glibc crashed: signal 11 in free" in browser.find("#time .plot").get_attribute("aria-valuetext")
    browser.press("#bytes .plot", Keys.END)
    assert "glibc n/a: no pagemap here" in browser.find("#bytes .plot").get_attribute("aria-valuetext")
    assert "×" in ticks(browser, "heat") and "n/a" in ticks(browser, "heat")
    assert "signal 11 in free" in browser.text("#failures table")


def nothing(sample):
    return []


def only_failures(sample):
    return [sample.failed("glibc", MIB, 0.0, "timeout", "60 s were not enough")]


def only_receiving(sample):
    return [sample.receiving("glibc", 10**8)]


@pytest.mark.parametrize("measured", [nothing, only_failures, only_receiving])
def test_a_run_with_little_in_it_has_a_page_that_works(browser, tmp_path, measured):
    import zerotax_sample as sample

    folder = sample.write(tmp_path / "run", measured(sample))
    browser.open(page_of(folder, tmp_path / "report.html"))
    if measured is only_failures:
        assert len(browser.all("#time .ended")) == 1 and len(browser.all("#heat .cell")) == 1
    if measured is only_receiving:
        assert lines(browser, "receiving") == ["glibc"] and lines(browser, "time") == ["glibc"]


def test_worker_threads_have_their_own_view(browser, tmp_path):
    import zerotax_sample as sample

    measured = [sample.point("glibc", MIB, zeroed_bytes=7), sample.point("glibc", MIB, thread="worker", zeroed_bytes=9)]
    folder = sample.write(tmp_path / "run", measured)
    for thread, value in (("main", "7 B"), ("worker", "9 B")):
        browser.open(page_of(folder, tmp_path / "report.html"), f"#thread={thread}")
        browser.press("#bytes .plot", Keys.HOME)
        assert browser.find("#bytes .plot").get_attribute("aria-valuetext").endswith(f"glibc {value}")


def test_a_hundred_thousand_points_are_all_there(browser, tmp_path):
    import zerotax_sample as sample

    names, sizes = list(sample.VERSIONS)[:5], [65536 + 4096 * n for n in range(4000)]
    kept = ("case", "thread", "env", "version", "status", "reason", "calloc_ns", "zeroed_bytes", "redundant_zeroed_bytes")
    one = {}
    for name in names:
        whole = sample.point(name, MIB)
        one[name] = json.dumps({"allocator": name, "size_bytes": 0, "touch": -1.0, **{key: whole[key] for key in kept}})
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
    assert browser.find("#time .plot").get_attribute("aria-valuetext").startswith(f"15.7 MiB ({sizes[-1]:,} B)")
