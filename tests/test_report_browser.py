"""The report in a browser: nothing complains, the player moves, every cursor follows, keys work, nothing is too wide."""

from __future__ import annotations

import base64
import shutil
import time

import mechanisms as mech
import numpy as np
import pytest

import planar as pl
from planar.report.page import render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip(
        "needs Chromium and its driver (Debian: apt-get install chromium chromium-driver)", allow_module_level=True
    )
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install 'planar-mechanisms[test]'")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

T = np.linspace(0.0, 1.0, 61)
EVIL = "</script><script>document.title = 'broken'</script><img src=x onerror=document.title='broken'>"


def evil() -> pl.Model:
    m = mech.four_bar()
    for item, name in zip(
        (m["crank"], m["B"], m["motor"], m), (EVIL, "<svg onload=x>", "';</style>", EVIL), strict=True
    ):
        item.name = name
    return m


PAGES = {
    "inverse": lambda: pl.inverse_dynamics(mech.four_bar(), T),
    "redundant": lambda: pl.inverse_dynamics(mech.parallelogram(3, speed=2.0), T),
    "kinematics": lambda: pl.kinematics(mech.quick_return(), T),
    "statics": lambda: pl.statics(mech.slider_crank()),
    "poses": lambda: pl.statics(mech.four_bar(), pl.kinematics(mech.four_bar(), T).q),
    "evil": lambda: pl.inverse_dynamics(evil(), T),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-sync",
                     "--disable-background-networking", "--disable-component-update", "--window-size=1440,900",
                     f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Address of a page by name, written when it is first asked for."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def address(name):
        if name not in known:
            known[name] = folder / f"{name}.html"
            known[name].write_text(render(PAGES[name]()), encoding="utf-8")
        return known[name].as_uri()

    return address


@pytest.fixture
def show(browser, pages):
    def open_page(name, width=1440, height=900):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(pages(name))
        return browser

    yield open_page
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def frame(browser) -> int:
    return int(browser.find_element(By.CSS_SELECTOR, ".controls input").get_property("value"))


def scrub(browser, k) -> None:
    script = "const s = document.querySelector('.controls input'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));"
    browser.execute_script(script, k)


def cursors(browser) -> list[float]:
    return browser.execute_script(
        "return [...document.querySelectorAll('figure.time .cursor')].map(c => +c.getAttribute('x1'))"
    )


def pixels(browser) -> bytes:
    return browser.find_element(By.CSS_SELECTOR, "canvas").screenshot_as_png


def texts(browser, selector) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector
    )


# --- it works ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_no_error_and_no_sideways_scrolling(show, name):
    for width in (390, 1440):
        browser = show(name, width)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        if browser.find_elements(By.CSS_SELECTOR, ".controls:not([hidden])"):
            browser.find_element(By.CSS_SELECTOR, ".controls button").click()
        time.sleep(0.1)
        assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []


def test_names_that_look_like_code_are_text(show):
    browser = show("evil")
    assert browser.title == f"{EVIL}: inverse dynamics"
    assert browser.find_element(By.TAG_NAME, "h1").text == EVIL
    assert EVIL in texts(browser, "article.body h3")


def test_the_player_moves(show):
    browser = show("inverse")
    scrub(browser, 0)
    first = pixels(browser)
    button = browser.find_element(By.CSS_SELECTOR, ".controls button")
    button.click()
    time.sleep(0.6)
    assert button.text == "Pause" and frame(browser) > 0
    button.click()
    stopped = frame(browser)
    assert pixels(browser) != first
    time.sleep(0.2)
    assert frame(browser) == stopped and button.text == "Play"


def test_scrubbing_moves_every_cursor(show):
    browser = show("inverse")
    scrub(browser, 0)
    before, shown = cursors(browser), texts(browser, ".key output")
    assert len(before) > 10 and np.ptp(before) == 0
    scrub(browser, 30)
    after = cursors(browser)
    assert np.ptp(after) == 0 and after[0] == pytest.approx(58 + 450 * 0.5, abs=0.1)  # t = 0.5 s of 1 s
    assert sum(a != b for a, b in zip(shown, texts(browser, ".key output"), strict=True)) > 0.7 * len(shown)
    polar = """return [...document.querySelectorAll('figure.polar')].map(figure => {
        const dot = figure.querySelector('.dot'), line = figure.querySelector('polyline');
        return [dot.getAttribute('cx') + ',' + dot.getAttribute('cy'), line.getAttribute('points').split(' ')[30]];
    })"""
    for dot, vertex in browser.execute_script(polar):
        assert [float(x) for x in dot.split(",")] == [float(x) for x in vertex.split(",")]


def test_pressing_on_a_chart_moves_the_player(show):
    browser = show("inverse")
    chart = browser.find_element(By.CSS_SELECTOR, "#motion figure.time > svg")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chart)
    ActionChains(browser).move_to_element_with_offset(chart, 0, 0).click().perform()
    middle = (260 - 58) / 450  # the middle of the drawing, in times
    assert frame(browser) == round(middle * 60)


def test_keys_work(show):
    browser = show("inverse")
    scrub(browser, 10)
    body = browser.find_element(By.TAG_NAME, "body")

    def press(*keys):
        ActionChains(browser).send_keys(*keys).perform()
        return frame(browser)

    browser.execute_script("document.activeElement.blur()")
    assert press(Keys.ARROW_RIGHT) == 11
    assert press(Keys.ARROW_LEFT, Keys.ARROW_LEFT) == 9
    button = browser.find_element(By.CSS_SELECTOR, ".controls button")
    press(Keys.SPACE)
    assert button.text == "Pause"
    press(Keys.SPACE)
    assert button.text == "Play" and body.is_displayed()
    slider = browser.find_element(By.CSS_SELECTOR, ".controls input")
    browser.execute_script("arguments[0].focus()", slider)
    assert press(Keys.HOME) == 0 and press(Keys.ARROW_RIGHT) == 1 and press(Keys.END) == 60
    forces = browser.find_element(By.ID, "forces")
    browser.execute_script("arguments[0].focus()", forces)
    with_arrows = pixels(browser)
    press(Keys.SPACE)
    assert not forces.is_selected() and button.text == "Play" and pixels(browser) != with_arrows


def test_the_speed_can_be_chosen(show):
    browser = show("inverse")
    choices = texts(browser, "#speed option")
    assert choices[3] == "0.2× real time" and len(choices) == 6  # one second is shown in five

    def frames_in(seconds, choice):
        browser.execute_script(
            "const s = document.getElementById('speed'); s.selectedIndex = arguments[0]; s.dispatchEvent(new Event('change'))",
            choice,
        )
        scrub(browser, 0)
        button = browser.find_element(By.CSS_SELECTOR, ".controls button")
        button.click()
        time.sleep(seconds)
        button.click()
        return frame(browser)

    assert frames_in(0.5, 0) < frames_in(0.5, 3)  # about 1 and 6 of 61


def test_free_bodies_follow_and_come_back(show):
    browser = show("inverse")
    cells = "article.body:first-of-type td"
    chosen, clock = texts(browser, cells), texts(browser, "#instant")
    start = frame(browser)
    scrub(browser, 3)
    assert texts(browser, "#instant") == ["t = 0.050 s"] != clock
    moved = texts(browser, cells)
    assert moved != chosen
    scrub(browser, start)
    assert texts(browser, "#instant") == clock
    back = texts(browser, cells)
    for now, then in zip(back[:-7], chosen[:-7], strict=True):  # the sum is rounding and so are its digits
        assert now == then or float(now) == pytest.approx(float(then), rel=2e-4)
    arrows = browser.execute_script(
        "return [...document.querySelectorAll('.diagram .arrow')].filter(a => a.getAttribute('d')).length"
    )
    assert arrows >= 12


def test_it_prints(show):
    browser = show("redundant")
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    assert pdf.startswith(b"%PDF") and 3 <= pdf.count(b"/Type /Page\n") <= 14
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 688, "height": 1010, "deviceScaleFactor": 1, "mobile": False}
    )  # A4 between its margins
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 688
    assert not browser.find_element(By.CSS_SELECTOR, ".player").is_displayed()
    assert not browser.find_element(By.CSS_SELECTOR, "nav").is_displayed()
    tables = "return [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
    assert browser.execute_script(tables) == 0  # nothing is cut off
