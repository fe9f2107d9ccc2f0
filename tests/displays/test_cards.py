"""What cards say about objects."""

import numpy as np
import pandas as pd
import pytest

from covey.displays.cards import fields_of


@pytest.mark.parametrize(
    "values",
    [
        pd.DataFrame({"size": [1.0, 1 / 3, 2.5], "town": ["Brno", "Oulu", "Faro"]}, index=[2, 1, 0]),
        {"size": [1.0, 1 / 3, 2.5], "town": ["Brno", "Oulu", "Faro"]},
        [{"size": 1.0, "town": "Brno"}, {"size": 1 / 3, "town": "Oulu"}, {"size": 2.5, "town": "Faro"}],
    ],
    ids=["frame", "columns", "dicts"],
)
def test_cards_show_fields(values):
    assert fields_of(values, np.arange(3)) == [
        {"size": "1", "town": "Brno"},
        {"size": "0.333333", "town": "Oulu"},
        {"size": "2.5", "town": "Faro"},
    ]


def test_of_columns_with_one_name_the_last_is_shown():
    values = pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=["a", "a"])
    assert fields_of(values, np.arange(3))[1] == {"a": "4"}


def test_cards_say_how_many_columns_they_leave_out():
    values = pd.DataFrame(np.eye(3, 14))
    (*_, last), _, _ = (card.items() for card in fields_of(values, np.arange(3)))
    assert last == ("…", "2 more columns")


def test_records_keep_the_order_of_their_columns_and_profiles_begin_with_the_largest():
    records = [{"width": 1, "height": 2}, {"width": 4, "height": 3}]
    profiles = [{"web": 1, "dns": 2}, {"web": 4}]
    for objects, expected in [(records, [["width", "height"]] * 2), (profiles, [["dns", "web"], ["web"]])]:
        assert [list(card) for card in fields_of(objects, np.arange(2))] == expected
