"""The sign between the columns of a text table."""

import pytest

from covey.storage.text import delimiter_of


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("a,b,c", ","),
        ("a;b;c", ";"),
        ("a\tb\tc", "\t"),
        ("price, net;price, gross;kind;name", ";"),
        ("a,b;c", ","),
        ("only one column", ","),
        ("", ","),
    ],
)
def test_the_most_frequent_sign_of_the_header_separates_columns(header, delimiter):
    assert delimiter_of(header) == delimiter


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a|b|c", "1|2|3"], "|"),
        (['"x, y";"z, w";n', '1;2;"a, b"'], ";"),
        (["name, first|age", "Smith, John|3", "Plato|80"], "|"),
        (["name, first;age", "Smith, John;3"], ";"),
        (["a,b,c", '1,"two', 'lines; and; more",3'], ","),
        (["a;b;c", "1,5;2,5;3,5"], ";"),
        (["a\tb, c", "1\t2", "3\t4, 5"], "\t"),
        (["one", "1;2"], ","),
    ],
)
def test_rows_below_the_header_help_to_find_the_sign(lines, delimiter):
    assert delimiter_of(lines[0], lines[1:]) == delimiter


def test_a_sign_within_numbers_separates_nothing():
    assert delimiter_of("1,5;2,5;3,5", ["1,5;2,5;3,5"], without=",") == ";"
    assert delimiter_of("one", without=",") != ","
