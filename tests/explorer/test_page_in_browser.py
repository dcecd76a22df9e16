"""The explorer page in Chromium: pointing, clicking, switches, search, keys, a narrow screen, dark and light."""

import shutil

import numpy as np
import pytest

import s2s
from s2s.explorer.data import describe
from s2s.explorer.page import page_of
from tests.explorer import programs

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    webdriver = None

NEEDED = {"Chromium": CHROMIUM, "chromedriver": DRIVER, "selenium": webdriver}
MISSING = [name for name, there in NEEDED.items() if not there]
pytestmark = [
    pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=f"there is no {', '.join(MISSING)}"),
]

WIDE, NARROW = (1400, 900), (390, 844)


@pytest.fixture(scope="module")
def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))  # nothing is downloaded
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    W, x = 0.3 * np.ones((5, 5)), np.linspace(0.1, 0.9, 5)
    return s2s.explore(programs.loss, W, x, 7).save(tmp_path_factory.mktemp("page") / "loss.html")


class Shown:
    """The page, with the words of these tests."""

    def __init__(self, driver):
        self.driver = driver

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def line(self, pane, text):
        """The first line of a pane with this text."""
        at = self.texts(f"#{pane} .line").index(text)
        return self.all(f"#{pane} .line")[at]

    def texts(self, css):
        return self.run(
            "const lines = [...document.querySelectorAll(arguments[0])];"
            "return lines.map((l) => l.querySelector('.t').textContent.trim())", css)

    def point(self, line):
        ActionChains(self.driver).move_to_element(line.find_element(By.CSS_SELECTOR, ".t")).perform()

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, name, value):
        Select(self.one(f"#{name}")).select_by_value(value)

    def value(self, name):
        return Select(self.one(f"#{name}")).first_selected_option.get_attribute("value")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)


def opened(chromium, file, size, theme="light", fragment=""):
    width, height = size
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    chromium.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
    chromium.get("about:blank")
    chromium.get(f"file://{file}{fragment}")
    return Shown(chromium)


@pytest.fixture
def page(chromium, file):
    chromium.get_log("browser")
    made = opened(chromium, file, WIDE)
    yield made
    assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_pointing_at_a_line_lights_up_what_it_became_and_back(page):
    page.point(page.line("left", "return np.tanh(W @ h)"))
    lit = page.texts("#right .line.lit")
    assert "h = np.tanh(W @ h)" in lit and any("h_bar = W.T @" in text for text in lit)
    assert not any("np.floor" in text for text in lit)
    assert len(page.all("#right .ruler i")) >= len(lit)
    page.point(page.line("right", "h = np.tanh(W @ h)"))
    assert page.texts("#left .line.lit") == ["return np.tanh(W @ h)"]
    assert any("h_bar = W.T @" in text for text in page.texts("#right .line.kin"))
    page.point(page.line("left", "h = layer(h, W)"))  # the call: what it calls, and what that became
    assert "return np.tanh(W @ h)" in page.texts("#left .line.kin")
    assert "h = np.tanh(W @ h)" in page.texts("#right .line.kin")


def test_a_click_holds_a_line_and_says_what_is_known_of_it(page):
    page.line("left", "r = h - np.floor(h)").find_element(By.CSS_SELECTOR, ".t").click()
    page.point(page.line("left", "growth = rate(h[0], 2.0)"))
    assert page.texts(".line.held") == ["r = h - np.floor(h)"]
    told = page.one("#details").text
    assert "a derivative flows through it" in told and "a remainder: np.floor contributes no derivative" in told
    assert "takes" in told and "in the function" in told
    page.press(Keys.ESCAPE)
    assert page.texts(".line.held") == []
    page.line("right", "saved_h = []").find_element(By.CSS_SELECTOR, ".t").click()
    assert "is kept for the reverse sweep: 7 arrays f8[5], 240 bytes" in page.one("#details").text


def test_marks_and_costs(page):
    line = page.line("left", "return np.tanh(W @ h)")
    assert "active" in line.get_attribute("class") and "kept 280 bytes" in line.text
    assert [v.text for v in line.find_elements(By.CSS_SELECTOR, ".act")] == ["W", "h"]
    assert "remainder" in page.line("left", "r = h - np.floor(h)").text
    assert "branch" in page.line("left", "if y > 1.0:").text
    assert "own" in page.line("right", "return W_bar").get_attribute("class")
    heat = "return getComputedStyle(arguments[0]).backgroundColor"
    hot, cold = page.line("left", "h = layer(h, W)"), page.line("left", "h = x")
    assert page.run(heat, hot) != page.run(heat, cold)
    assert " %" in hot.text
    page.one("#cost").click()
    assert page.run(heat, hot) == page.run(heat, cold) and " %" not in hot.text


def test_the_switches_change_the_right_pane(page):
    assert (page.value("mode"), page.value("backend"), page.value("stage")) == ("grad", "numpy", "final")
    page.choose("mode", "jvp")
    assert "def loss_jvp(W, x, steps, W_dot):" in page.texts("#right .line")
    page.choose("mode", "grad")
    final = page.texts("#right .line")
    page.choose("stage", "naive")
    assert page.texts("#right .line") != final and "before any simplification" in page.one("#about-right").text
    page.one("#later").click()
    assert page.value("stage") not in ("naive", "final")
    page.one("#ir").click()
    assert page.texts("#right .line")[0].startswith("def loss") and any("%" in t for t in page.texts("#right .line"))
    page.one("#ir").click()
    page.choose("stage", "final")
    page.choose("backend", "numba")
    assert "hvp" not in [o.get_attribute("value") for o in Select(page.one("#backend")).options]
    assert page.texts("#right .line") and page.one("#cost").get_property("disabled")
    page.choose("backend", "numpy")
    assert page.texts("#right .line") == final
    assert "mode=grad" in page.driver.current_url and "stage=final" in page.driver.current_url


def test_comments_go_and_come(page):
    visible = (
        "const lines = [...document.querySelectorAll('#right .line')];"
        "return lines.filter((l) => l.offsetParent).map((l) => l.innerText)")
    before = page.run(visible)
    assert any("# reverse sweep" in text for text in before)
    page.one("#comments").click()
    after = page.run(visible)
    assert not any("#" in text for text in after) and 0 < len(after) < len(before)
    page.one("#comments").click()
    assert page.run(visible) == before


def test_search(page):
    page.press("/")
    page.press("tanh")
    count = len(page.all(".line.found"))
    assert count >= 3 and page.one("#matches").text == f"1 of {count}"
    page.press(Keys.ENTER)
    assert page.one("#matches").text == f"2 of {count}"
    page.press(Keys.ESCAPE)
    assert page.all(".line.found") == []
    page.press("c")  # is a key again
    assert not page.one("#comments").is_selected()


def test_keys(page):
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    first = page.texts("#left .line.held")
    page.press("j", "k")
    assert page.texts("#left .line.held") == first and first
    page.line("left", "return np.tanh(W @ h)").find_element(By.CSS_SELECTOR, ".t").click()
    page.press(Keys.ARROW_RIGHT)
    held = page.texts("#right .line.held")
    assert len(held) == 1
    page.press(Keys.ARROW_LEFT)
    assert page.texts("#left .line.held") == ["return np.tanh(W @ h)"]
    page.press("m")
    assert page.value("mode") == "value_and_grad" and page.texts("#left .line.held") == ["return np.tanh(W @ h)"]
    page.press("[")
    assert page.value("stage") != "final"
    page.press("]", "b")
    assert (page.value("stage"), page.value("backend")) == ("final", "numba")
    page.press("b", "?")
    assert page.run("return document.getElementById('keys').open")
    page.press(Keys.ESCAPE)
    assert not page.run("return document.getElementById('keys').open")


def test_the_tree_of_calls_leads_to_functions(page):
    buttons = page.all("#tree button")
    assert [b.text for b in buttons] == ["loss", "layer", "rate"]
    buttons[2].click()
    assert any("h_bar[0] +=" in text or "t" in text for text in page.texts("#right .line.kin"))
    assert buttons[2].get_attribute("aria-pressed") == "true"


def test_an_address_opens_what_it_says(chromium, file):
    page = opened(chromium, file, WIDE, fragment="#mode=vjp&stage=naive&at=left.0:25")
    assert (page.value("mode"), page.value("stage")) == ("vjp", "naive")
    assert page.run("return document.querySelector('#left .line.held').dataset.id") == "0:25"


def test_dark_and_light(chromium, file):
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = opened(chromium, file, WIDE).run(paper)
    page = opened(chromium, file, WIDE, theme="dark")
    dark = page.run(paper)
    assert light != dark
    page.one("#theme").click()
    assert page.run(paper) == light
    page.press("t")
    assert page.run(paper) == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(chromium, file, theme):
    """The contrast of words, as WCAG has it: 4.5 at least, 3 of what is small beside the code."""
    page = opened(chromium, file, WIDE, theme=theme)
    page.run("document.getElementById('cost').click()")
    ratios = page.run("""
        const parts = (c) => c.match(/[\\d.]+/g).slice(0, 3).map((v) => v / (c.startsWith("color") ? 1 : 255));
        const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const light = (c) => parts(c).map(linear).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0.05);
        const behind = (n) => {
          const colour = getComputedStyle(n).backgroundColor;
          return /, 0\\)|transparent/.test(colour) ? behind(n.parentElement) : colour;
        };
        return [...document.querySelectorAll(".t span, .n, .pill, header label, h1, small, #legend li")].map((n) => {
          const two = [light(getComputedStyle(n).color), light(behind(n))];
          return [`${n.className} ${n.textContent}`, Math.max(...two) / Math.min(...two)];
        });
    """)
    assert min(ratio for _, ratio in ratios) > 4.5, sorted(ratios, key=lambda pair: pair[1])[:5]


def test_on_a_narrow_screen_the_panes_are_one_below_the_other(chromium, file):
    page = opened(chromium, file, NARROW)
    left, right = page.one("#left").rect, page.one("#right").rect
    assert left["y"] + left["height"] <= right["y"] and abs(left["width"] - right["width"]) < 2
    assert page.run("return document.documentElement.scrollWidth") <= NARROW[0]  # long lines scroll in their pane
    assert page.run("const c = document.querySelector('#right .code'); return c.scrollWidth > c.clientWidth")
    page.line("left", "r = h - np.floor(h)").find_element(By.CSS_SELECTOR, ".t").click()
    assert page.texts("#right .line.lit")
    small = [b for b in page.all("header button, header select") if b.rect["height"] < 32]
    assert small == []


def test_nothing_is_loaded(chromium, file):
    import json

    chromium.get_log("performance")
    opened(chromium, file, WIDE)
    sent = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    assert {url for url in asked if not url.startswith("about:")} <= {f"file://{file}"}


def test_a_refusal_is_shown_in_its_mode(chromium, tmp_path):
    file = s2s.explore(programs.running, np.ones(4)).save(tmp_path / "running.html")
    page = opened(chromium, file, WIDE)
    assert page.value("mode") == "vjp"  # the first that is not refused
    page.choose("mode", "grad")
    assert "S2S" in page.one("#right .refusal").text and "Refused" in page.one("#details").text
    page.choose("mode", "vjp")
    assert page.texts("#right .line")


@pytest.fixture(scope="module")
def of_calls(tmp_path_factory):
    names = [*map(np.str_, ("steep", "flat", "steep"))]  # the compiler knows those of Python by value
    page = s2s.explore(programs.chosen, np.array([0.3, 1.2, 2.7]), names, modes=("grad", "jvp"))
    return page.save(tmp_path_factory.mktemp("page") / "chosen.html")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_derivatives_that_are_called_stand_below_and_belong_to_their_functions(chromium, of_calls, size):
    chromium.get_log("browser")
    page = opened(chromium, of_calls, size)
    titles = "return [...document.querySelectorAll('#right h3')].map((h) => h.textContent)"
    shown = page.run(titles)
    assert [title.split()[0] for title in shown] == ["chosen_grad", "steep_vjp", "flat_vjp"]
    assert "called 2 times when it runs · keeps 24 bytes in the first call" in shown[1]
    assert "calls 2 derivatives" in page.one("#about-right").text
    line = page.line("left", "return np.sum(np.tanh(3.0 * x) ** 2) + np.sum(r)")
    assert "active" in line.get_attribute("class") and "kept 24 bytes" in line.text
    line.find_element(By.CSS_SELECTOR, ".t").click()
    assert "t0 = np.tanh(3.0 * x)" in page.texts("#right .line.lit")
    lit = page.all("#right .line.lit")[0]
    pane = page.one("#right .code").rect
    assert pane["y"] <= lit.rect["y"] < pane["y"] + pane["height"]  # it has come into view
    assert "in the derivative" in page.one("#details").text
    page.press(Keys.ESCAPE)
    page.run("arguments[0].scrollIntoView({block: 'center'})", page.line("right", "t0 = np.tanh(3.0 * x)"))
    page.point(page.line("right", "t0 = np.tanh(3.0 * x)"))  # the details, which are shown now, may move the line
    page.line("right", "t0 = np.tanh(3.0 * x)").find_element(By.CSS_SELECTOR, ".t").click()
    assert page.texts("#left .line.lit") == ["return np.sum(np.tanh(3.0 * x) ** 2) + np.sum(r)"]
    said = page.one("#details").text
    assert "of steep_vjp from steep, line" in said and "t0 is kept for the reverse sweep: f8[3], 24 bytes" in said
    assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_line_of_a_call_belongs_to_what_it_has_called(chromium, of_calls):
    page = opened(chromium, of_calls, WIDE)
    page.line("left", "total += TABLE[name](x)").find_element(By.CSS_SELECTOR, ".t").click()
    kin = page.texts("#left .line.kin")
    assert "r = x - np.floor(x)" in kin and "return 0.1 * np.sum(x * x)" in kin
    assert "t0 = np.tanh(3.0 * x)" in page.texts("#right .line.kin")
    assert any("rt.call(TABLE" in text for text in page.texts("#right .line.lit"))
    page.one("#tree button:nth-child(3)").click()
    assert any("0.1 * np.sum(x * x)" in text for text in page.texts("#right .line.kin"))


def test_derivatives_that_are_called_have_their_stages(chromium, of_calls):
    page = opened(chromium, of_calls, WIDE, fragment="#mode=grad&stage=naive")
    assert "t0_bar = out_bar * 1.0" in page.texts("#right .line")
    steep = "return [...document.querySelectorAll('#right h3')].map((h) => h.textContent)[1]"
    assert page.run(steep) == "steep_vjp called 2 times when it runs"
    seen = set()
    for _ in range(60):
        if page.one("#later").get_property("disabled"):
            break
        page.one("#later").click()
        seen.add(page.value("stage"))
        assert len(page.texts("#right .line")) > 20
    assert {"dead-code", "final"} <= seen and "t0_bar = out_bar * 1.0" not in page.texts("#right .line")
    page.one("#ir").click()
    assert sum(text.startswith("def ") for text in page.texts("#right .line")) == 3 + 2  # with their pullbacks
    page.one("#ir").click()
    page.choose("mode", "jvp")
    assert any("def steep_jvp" in text for text in page.texts("#right .line"))
    page.choose("backend", "numba")
    assert page.texts("#right .line") and page.one("#cost").get_property("disabled")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_mode_that_is_left_out_says_how_to_get_it(chromium, tmp_path, size):
    args = 0.1 * np.ones((4, 2)), np.ones(4), np.ones(2), 4, 2
    file = page_of(describe(programs.plan, args, backends=("numpy",), within=0.0)).save(tmp_path / "plan.html")
    page = opened(chromium, file, size)
    assert page.value("mode") == "grad" and page.texts("#right .line")
    page.choose("mode", "hessian")
    assert "--mode hessian" in page.one("#right .refusal").text
    assert page.one("#mode").text.count("(left out)") == 7
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    page.choose("mode", "grad")
    assert page.texts("#right .line")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_what_is_known_of_a_line_is_read_from_top_to_bottom(chromium, of_calls, size):
    page = opened(chromium, of_calls, size)
    page.line("left", "total += TABLE[name](x)").find_element(By.CSS_SELECTOR, ".t").click()
    assert page.run("const d = document.getElementById('details'); return d.scrollWidth <= d.clientWidth")
    assert "as t4_pullback a pullback, with what it has kept" in page.run(
        "return document.getElementById('details').textContent")
