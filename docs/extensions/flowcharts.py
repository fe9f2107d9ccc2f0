"""Draws flowcharts that are written in mermaid's language as pictures (SVG) inside the page.

A code host draws ```` ```mermaid ```` blocks itself, by a script. The site loads no script for that: this extension
reads the part of the language that covey's pages use, and draws it from top to bottom, because a page is taller than
wide. Steps:

1. `read` finds the nodes, the arrows between them, and which node lies in which subgraph.
2. `layers` puts each node below all nodes that lead to it. A long arrow gets a stop in each layer that it passes.
3. `ordered` sorts each layer by the mean place of the neighbors above and below, a few times, so that few arrows cross.
4. `drawn` writes the picture. Colors are those of the theme, so that it follows the dark mode.
"""

import re
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from docutils import nodes

NODE = r"(\w+)(?:(\(\[|\[\(|\[)\"(.*?)\"(?:\]\)|\)\]|\]))?"
ARROW = r"\s*(?:(==|--|-\.)\s*\"(.*?)\"\s*(?:==>|-->|\.->)|(-->|==>|-\.->))\s*"
CHARACTER, LINE, PADDING, ACROSS, DOWN = 6.9, 16, 10, 26, 46
"""Sizes in pixels: of a letter, of a line of text, and of the space in and between boxes."""


@dataclass
class Chart:
    """What a flowchart says."""

    labels: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    arrows: list[tuple[str, str, str, str]] = field(default_factory=list)  # from, to, style, text


def read(text):
    chart, group = Chart(), None
    for line in map(str.strip, text.splitlines()):
        if match := re.fullmatch(r"subgraph \w+\[\"(.*)\"\]", line):
            group = match[1]
        elif line == "end":
            group = None
        elif line and not line.startswith("flowchart"):
            _read_chain(line, group, chart)
    return chart


def _read_chain(line, group, chart):
    """Read one line: a node, or nodes with arrows between them."""
    place, before, arrow = 0, None, None
    while match := re.compile(NODE).match(line, place):
        name, _, label = match.groups()
        if label is not None:
            chart.labels[name] = label.split("<br>")
            if group:
                chart.groups[name] = group
        if before:
            kind, words, plain = arrow.groups()
            style = {"=": "thick", ".": "dotted"}.get((kind or plain)[1], "")
            chart.arrows.append((before, name, style, words or ""))
        before, arrow = name, re.compile(ARROW).match(line, match.end())
        if not arrow:
            return
        place = arrow.end()
    raise ValueError(f"a flowchart has a line that cannot be read: {line}")


def layers(chart):
    """The nodes of each layer, and the way of each arrow through them."""
    level = dict.fromkeys(chart.labels, 0)
    for _ in chart.labels:  # the longest way to a node has fewer arrows than there are nodes
        for start, end, *_ in chart.arrows:
            level[end] = max(level[end], level[start] + 1)
    for name in chart.labels:  # a node that nothing leads to stands right above the first one that it leads to
        below = [level[end] for start, end, *_ in chart.arrows if start == name]
        if below and all(end != name for _, end, *_ in chart.arrows):
            level[name] = min(below) - 1
    rows = [[name for name in chart.labels if level[name] == row] for row in range(max(level.values()) + 1)]
    ways = []
    for number, (start, end, *_) in enumerate(chart.arrows):
        stops = [(number, row) for row in range(level[start] + 1, level[end])]
        for stop in stops:
            rows[stop[1]].append(stop)
        ways.append([start, *stops, end])
    return rows, ways


def ordered(rows, ways):
    """The layers, sorted so that few arrows cross."""
    steps = [step for way in ways for step in pairwise(way)]
    for turn in range(24):
        place = {name: (number + 0.5) / len(row) for row in rows for number, name in enumerate(row)}
        for row in rows if turn % 2 == 0 else rows[::-1]:

            def mean(name, place=place):
                near = [place[a if b == name else b] for a, b in steps if name in (a, b)]
                return sum(near) / len(near) if near else place[name]

            row.sort(key=mean)
            place |= {name: (number + 0.5) / len(row) for number, name in enumerate(row)}
    return rows


def box(chart, name):
    """The lines of a node, and its width and height."""
    if name not in chart.labels:
        return [], 8, 0
    lines = [*([chart.groups[name]] if name in chart.groups else []), *chart.labels[name]]
    return lines, max(map(len, lines)) * CHARACTER + 2 * PADDING, len(lines) * LINE + PADDING


def drawn(chart, description):
    """The picture."""
    rows, ways = layers(chart)
    labelled = [(arrow, way) for arrow, way in zip(chart.arrows, ways, strict=True) if arrow[3]]
    boxes = {name: box(chart, name) for row in ordered(rows, ways) for name in row}
    widths = [sum(boxes[name][1] for name in row) + ACROSS * (len(row) - 1) for row in rows]
    width, top, centers = max(widths) + 8, 4, {}
    for row, taken in zip(rows, widths, strict=True):
        tallest = max(boxes[name][2] for name in row)
        gap = ACROSS + (width - 8 - taken) / (len(row) + 1)
        left = (width - taken - (gap - ACROSS) * (len(row) - 1)) / 2
        for name in row:
            centers[name] = (left + boxes[name][1] / 2, top + tallest / 2)
            left += boxes[name][1] + gap
        top += tallest + DOWN
    height = top - DOWN + 4
    width = max([width, *(centers[way[len(way) // 2]][0] + len(arrow[3]) * CHARACTER + 20 for arrow, way in labelled)])
    parts = [_arrow(arrow, way, centers, boxes) for arrow, way in zip(chart.arrows, ways, strict=True)]
    parts += [_node(chart, name, boxes[name], centers[name]) for name in chart.labels]
    return (
        f'<svg class="flowchart" role="img" aria-label="{escape(description)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" xmlns="http://www.w3.org/2000/svg"><defs><marker id="arrowhead" viewBox="0 0 8 8" '
        'refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )


def _arrow(arrow, way, centers, boxes):
    """A curve through the stops of an arrow, and its text."""
    _, _, style, words = arrow
    (x, y), (_, _, tall) = centers[way[0]], boxes[way[0]]
    path, points = f"M{x:.1f} {y + tall / 2:.1f}", [(x, y + tall / 2)]
    for name in way[1:]:
        before_x, before_y = points[-1]
        x, y = centers[name]
        y -= boxes[name][2] / 2
        middle = (before_y + y) / 2
        path += f"C{before_x:.1f} {middle:.1f} {x:.1f} {middle:.1f} {x:.1f} {y:.1f}"
        points.append((x, y))
    text = ""
    if words:
        (x0, y0), (x1, y1) = points[len(points) // 2 - 1 : len(points) // 2 + 1]
        text = f'<text class="on-arrow" x="{(x0 + x1) / 2 + 12:.1f}" y="{(y0 + y1) / 2 + 4:.1f}">{escape(words)}</text>'
    return f'<path class="arrow {style}" d="{path}" marker-end="url(#arrowhead)"/>{text}'


def _node(chart, name, size, center):
    lines, wide, tall = size
    x, y = center
    texts = ""
    for number, line in enumerate(lines):
        kind = ' class="group"' if number == 0 and name in chart.groups else ""
        place = y - tall / 2 + PADDING / 2 + LINE * (number + 0.75)
        texts += f'<text{kind} x="{x:.1f}" y="{place:.1f}">{escape(line)}</text>'
    return f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="5"/>{texts}'


def draw_all(app, doctree):
    """Replace each block in mermaid's language by its picture."""
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            chart = read(block.astext())
            described = "; ".join(f"{start} leads to {end}" for start, end, *_ in chart.arrows)
            picture = nodes.raw("", f'<div class="flowchart">{drawn(chart, described)}</div>', format="html")
            block.replace_self(picture)


def setup(app):
    app.connect("doctree-read", draw_all)
    return {"parallel_read_safe": True}
