"""The colors of pages: readable on light and on dark paper, and those that the reader prefers."""

import re

import numpy as np
import pytest

from covey.displays import colors
from covey.displays.report import Report
from tests.browser import page


def contrast(one, other):
    """The contrast of two colors, as WCAG 2 defines it."""
    darker, brighter = sorted(luminance(color) for color in (one, other))
    return (brighter + 0.05) / (darker + 0.05)


def luminance(color):
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_text_is_readable_on_light_and_on_dark_paper(mode):
    """WCAG 2 asks for a contrast of 4.5 of text, on the paper and on the background of what stands out."""
    for name in ("ink", "pale", "accent"):
        for ground in ("paper", "wash"):
            shown = colors.REPORT_PAGE[name][mode], colors.REPORT_PAGE[ground][mode]
            assert contrast(*shown) >= 4.5, (name, ground)
    paper, ink = (luminance(colors.PAGE[name][mode]) for name in ("paper", "ink"))
    assert (paper > ink) == (mode == 0)


def test_a_page_follows_the_mode_that_the_reader_prefers(tmp_path):
    Report("A report", [], []).write_page(tmp_path / "report.html")
    with page(tmp_path / "report.html") as browser:
        for mode, name in enumerate(("light", "dark")):
            features = [{"name": "prefers-color-scheme", "value": name}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            shown = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            expected = [int(colors.PAGE["paper"][mode][at : at + 2], 16) for at in (1, 3, 5)]
            assert [int(part) for part in re.findall(r"\d+", shown)[:3]] == expected
