"""The demo: what it prints is worth showing, and the page that it writes takes no other file's place."""

import contextlib
import io
import re
import sys

import pytest

from covey import demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the demo prints, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as output:
        demo.main()
    return output.getvalue(), folder


def test_sharpened_images_classify_better_than_others_and_nearly_as_well_as_all(shown):
    rows = [
        [float(share) for share in re.findall(r"([\d.]+)%", line)[1:]]
        for line in re.findall(r"^  \d+ \(.*", shown[0], re.M)
    ]
    everything = float(re.search(r"With all 1257 images kept, ([\d.]+)% are right", shown[0])[1])
    assert len(rows) == 2
    for at_random, plain, sharpened in rows:
        assert at_random < plain < sharpened
    assert rows[-1][-1] >= everything - 1


def test_most_mistyped_names_are_understood(shown):
    assert float(re.search(r"right town for ([\d.]+)%", shown[0])[1]) >= 95


def test_what_is_foreign_is_unknown(shown):
    assert re.search(r"a 1 \(0\.\d\d\) .* unknown \(0\.\d\d\)\n", shown[0])
    assert re.search(r"Springfield +unknown", shown[0])


def test_the_page_is_where_the_demo_says(shown):
    text, folder = shown
    page = folder / "covey-demo.html"
    assert text.endswith(f"{page.as_uri()}\n")
    assert [path.name for path in folder.iterdir()] == [page.name]
    written = page.read_text(encoding="utf-8")
    assert "data:image/png" in written
    assert all(f"image {row}, a " in written for row in range(1797))


def test_a_page_takes_no_other_files_place(tmp_path):
    (tmp_path / "covey-demo.html").write_text("mine")
    (tmp_path / "covey-demo-2.html").symlink_to(tmp_path / "nothing")
    assert demo.write_beside("page", tmp_path) == tmp_path / "covey-demo-3.html"
    assert demo.write_beside("page", tmp_path) == tmp_path / "covey-demo-3.html"  # the same page is not written twice
    assert demo.write_beside("another", tmp_path) == tmp_path / "covey-demo-4.html"
    assert (tmp_path / "covey-demo.html").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()


def test_without_the_library_for_pages_the_demo_says_how_to_get_it(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    demo.draw_map()
    assert re.search(r"needs jinja2, which is not installed; run: .* 'jinja2>=.*\n$", capsys.readouterr().out)
    assert not list(folder.iterdir())
