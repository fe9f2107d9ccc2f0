"""Displays: how coverage grows with each representative, clusters as a map, and pages of reports.

A display is computed first and drawn later: it is made from a fitted estimator and holds plain values. `plot` only
draws them with matplotlib, and the map's `to_html` makes a page of them that opens offline.

colors.py       every color, of drawings and of pages
coverage.py     CoverageDisplay: how coverage grows
map.py          PrototypeMapDisplay: clusters as a map; its page is map.html, with map.css and the scripts map*.js
layout.py       where objects lie on a map
cards.py        what a card says of an object
images.py       rows of numbers as small images
report.py       Report: sections of tables, pictures and galleries; its page is report.html, with report.css
table.py        tables of a report
picture.py      pictures of a report, drawn with matplotlib
chart.py        charts of a report, drawn by the page itself
confusion.py    confusion matrices of a report
page.py         makes pages of these templates; page.css is what all pages share
drawing.py      what every drawing with matplotlib needs
estimators.py   what every display takes from a fitted estimator
"""

from covey.displays.coverage import CoverageDisplay
from covey.displays.map import PrototypeMapDisplay

__all__ = ["CoverageDisplay", "PrototypeMapDisplay"]
