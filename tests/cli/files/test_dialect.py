"""Dialects: words for delimiters and decimal separators, and what cannot be one."""

import pytest

from covey.cli.files.dialect import decimal_in, delimiter_in, encoding_in


def test_words_stand_for_characters_that_are_hard_to_type():
    assert [delimiter_in(text) for text in ("tab", "\\t", "Comma", "space", "|", "~")] == [
        "\t",
        "\t",
        ",",
        " ",
        "|",
        "~",
    ]
    assert [decimal_in(text) for text in ("comma", ",", "point", ".")] == [",", ",", ".", "."]


@pytest.mark.parametrize("text", ["", "ab", '"', "\n", "a", "1"])
def test_what_cannot_separate_columns_is_refused(text):
    with pytest.raises(ValueError, match="must be one character, or one of comma, semicolon, tab, pipe, space, got"):
        delimiter_in(text)


def test_codecs_that_are_not_of_text_are_refused():
    assert encoding_in("cp1250") == "cp1250"
    for name in ("base64", "nothing"):
        with pytest.raises(ValueError, match="must be the name of an encoding"):
            encoding_in(name)
