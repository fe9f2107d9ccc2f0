"""The encoding of a text, the line of a byte that is not text, and the delimiter of the columns of a table."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.storage.text import delimiter_of, encoding_of, undecodable, with_marks

PROSE = {
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy, řekl šípek v České Třebové.\n",
    "cp1252": "L'été à Orléans, François achète des gâteaux à la crème; où est le garçon?\n",
    "cp1251": "Съешь же ещё этих мягких французских булок, да выпей чаю.\n",
    "cp1253": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία, είπε ο Γιώργος στην Αθήνα.\n",
    "shift_jis": "いろはにほへと ちりぬるを わかよたれそ つねならむ 東京と大阪\n",
    "gb18030": "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。北京和上海\n",
}


@pytest.mark.parametrize("encoding", PROSE)
def test_prose_in_old_encodings_is_decoded_as_it_was_written(encoding):
    content = (PROSE[encoding] * 5).encode(encoding)
    found, is_judgement = encoding_of(content)
    assert is_judgement
    assert content.decode(found) == PROSE[encoding] * 5


@given(text=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=200))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_recognised_for_certain(encoding, text):
    content = text.encode(encoding)
    found, is_judgement = encoding_of(content)
    assert not is_judgement
    assert content.decode(found) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_recognised_by_its_zeros(encoding):
    text = "name,value\nRůžena,1\nJosé,2\n"
    assert encoding_of(text.encode(encoding)) == (encoding, False)


def test_a_character_that_the_prefix_cuts_in_two_is_no_reason_to_doubt_utf_8():
    content = "žluť".encode()
    assert all(encoding_of(content[:n]) == ("utf-8", False) for n in range(len(content) + 1))


def test_bytes_that_no_encoding_of_words_has_are_latin_1():
    content = bytes(range(128, 160)) * 3
    found, is_judgement = encoding_of(content)
    assert is_judgement
    assert content.decode(found)


@pytest.mark.parametrize("named", ["utf-8", "UTF8", "utf-16", "utf-16-le", "cp1250"])
def test_marks_are_left_out_whatever_name_the_user_has_for_the_encoding(named):
    codec = codecs.lookup(named).name
    text = "abc"
    content = text.encode(codec)
    assert content.decode(with_marks(named, content)) == text
    marked = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE}.get(codec, b"") + content
    assert marked.decode(with_marks(named, marked)) == text


@given(lines=st.lists(st.text("abcž \t", max_size=5), max_size=20), newline=st.sampled_from(["\n", "\r\n"]))
def test_the_line_of_a_byte_that_is_no_text_is_counted(lines, newline):
    content = "".join(line + newline for line in lines).encode() + b"x\xe9y" + newline.encode()
    with pytest.raises(UnicodeDecodeError) as caught:
        content.decode("utf-8")
    message = str(undecodable("f", caught.value, 7))
    assert message.startswith(f"f, line {7 + len(lines) + 1}: the byte 0xe9 is not text in the encoding utf-8; pass")


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
def test_the_most_frequent_character_of_the_header_separates_columns(header, delimiter):
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


def test_a_character_within_numbers_separates_nothing():
    assert delimiter_of("1,5;2,5;3,5", ["1,5;2,5;3,5"], without=",") == ";"
    assert delimiter_of("one", without=",") != ","
