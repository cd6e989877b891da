"""The page of `dalenius report` in a real browser: from disk, no network, at three widths, on paper, in the dark, read aloud."""

import os
import re
from fractions import Fraction
from itertools import pairwise

import pytest

import dalenius as dl
from browser import ADVICE, browser

pytestmark = pytest.mark.skipif(browser() is None, reason=f"needs playwright and a browser: {ADVICE}")
ATTACK = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
LUMINANCE = """(colour) => { const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((x) => { const c = x / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; }"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    pytest.importorskip("jinja2", reason="needs jinja2: pip install jinja2")
    from dalenius.report import write_report

    audit = dl.WorstCaseLeakage(
        records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1), adversary=dl.AnyPrior(), title=ATTACK
    )  # fmt: skip
    points = [(point.problem, point.result) for point in dl.entropy_curve(audit, [0, Fraction(1, 2), 1], gap=1e-2)]
    return write_report(points, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        rooted = ["--no-sandbox"] if os.geteuid() == 0 else []
        program = tools.chromium.launch(executable_path=browser(), args=[*rooted, "--disable-gpu"])
        yield program
        program.close()


@pytest.fixture
def opened(chromium, file):
    """The page, opened so wide and in these colours; at the end nothing was said on the console, and nothing was fetched."""
    contexts, wrong = [], []

    def open_page(width: int = 1280, colours: str = "light"):
        context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=colours)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: wrong.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
        )
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_it_fits_every_width(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    shown = [page.locator(f"figure .{name}").first.is_visible() for name in ("narrow", "wide")]
    assert shown == [width == 360, width != 360]
    sizes = page.evaluate(
        "[...document.querySelectorAll('p, li')].map((x) => parseFloat(getComputedStyle(x).fontSize))"
    )
    assert min(sizes) >= 12.0


def test_controls_work_and_values_show_where_one_points(opened):
    from playwright.sync_api import expect

    page = opened()
    bits, nats = (page.locator(f".cards .{unit}").first for unit in ("bits", "nats"))
    assert (bits.is_visible(), nats.is_visible()) == (True, False)
    page.get_by_label("nats", exact=True).check()
    assert (bits.is_visible(), nats.is_visible()) == (False, True)
    mark = page.locator("figure .wide .tell").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    assert re.search(r"of the largest entropy: 0\.\d+ \.\. 0\.\d+ bits", page.get_by_role("tooltip").inner_text())
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    page.locator("button.copy").first.click()
    expect(page.locator("#said")).not_to_be_empty()
    table = page.locator("details").first
    table.locator("summary").click()
    assert table.get_attribute("open") is None


def test_what_comes_from_files_is_text(opened):
    page = opened()
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == ATTACK
    assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_words_stand_out_from_their_paper(opened, colours):
    page = opened(colours=colours)
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    light = page.evaluate(LUMINANCE, paper)
    assert (light < 0.05) == (colours == "dark")
    for place in ("p.question", "figcaption", "summary", "svg text", ".checks .sums", "button.copy"):
        key = "fill" if place.startswith("svg") else "color"
        ink = page.evaluate(LUMINANCE, page.locator(place).first.evaluate(f"(x) => getComputedStyle(x).{key}"))
        low, high = sorted([ink, light])
        assert (high + 0.05) / (low + 0.05) >= 4.5, place


def test_on_paper_all_is_there_and_no_control(opened):
    page = opened()
    page.locator("details summary").first.click()
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert not page.locator(".units, button.copy").first.is_visible()
    assert page.locator("figure .wide").first.is_visible()


def test_it_reads_well_aloud(opened):
    page = opened()
    assert page.locator("html").get_attribute("lang") == "en"
    heads = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map((x) => Number(x.tagName[1]))")
    assert heads[0] == 1
    assert heads.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(heads))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((x) => x.id)")
    assert len(ids) == len(set(ids))
    told = page.locator("body").aria_snapshot()
    assert "- main:" in told
    assert re.search(r'img "Leakage against what the adversary does not know', told)
    assert re.search(r'- radio "bits" \[checked\]', told)
    assert re.search(r'- rowheader "1.5 of 3 bits unknown', told)
    assert not re.search(r"- (button|radio|img|region|link)\s*$", told, re.MULTILINE), "something has no name"
