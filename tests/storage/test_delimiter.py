"""The sign between the columns of a text table."""

import pytest

from covey.storage.delimiter import delimiter_of


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
