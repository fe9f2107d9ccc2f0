"""A real browser without a window; tests that need it are skipped where none is installed."""

import json
import shutil
from contextlib import ExitStack, contextmanager
from functools import cache

import pytest

_running = ExitStack()
"""The browsers that tests share, one of each size; `stop` ends them with the tests."""


def shared(width=1200, height=900, *, phone=False):
    """Chromium of a size, which all tests of this process share. It has logged nothing yet and follows no mode."""
    browser = _started_once(width, height, phone=phone)
    browser.get("about:blank")  # what the page before it still loads is logged until it is gone
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get_log("browser")
    requested(browser)
    return browser


@cache
def _started_once(width, height, *, phone):
    return _running.enter_context(started(width, height, phone=phone))


def stop():
    _running.close()
    _started_once.cache_clear()


@contextmanager
def page(path, width=1200, height=900, *, phone=False):
    """The page at a local path, in a shared browser."""
    browser = shared(width, height, phone=phone)
    browser.get(path.as_uri())
    try:
        yield browser
    finally:
        browser.get("about:blank")


@contextmanager
def started(width=1200, height=900, *, phone=False):
    """Chromium with a new and empty profile, before any page is opened. It logs the console and all requests."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("needs a browser: Debian's packages chromium and chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},{height}"):
        options.add_argument(flag)
    if phone:
        metrics = {"width": width, "height": height, "pixelRatio": 2.0}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def requested(browser):
    """The addresses that the browser was asked to load since the last call, those that it has refused included."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


def assert_renders(path, *, phone):
    """No console message, every image drawn, and nothing wider than the window but what scrolls by itself.

    What is folded is looked at, too. A phone makes its window wider if a page is, so that the screen is what counts.
    """
    screen = 390 if phone else 1200
    with page(path, screen, 844, phone=phone) as browser:
        shown = browser.execute_script("return document.body.innerText")
        browser.execute_script("document.querySelectorAll('details').forEach(own => { own.open = true; })")
        assert browser.get_log("browser") == []
        assert browser.execute_script("return [...document.images].every(i => i.complete && i.naturalWidth > 0)")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= screen
        return shown
