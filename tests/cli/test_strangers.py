"""Files from strangers: what unpacks to far too much is stopped by a limit that the user can set, and what would steer
the terminal is shown escaped."""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from covey import __main__ as cli
from covey.cli.options import size_in
from covey.runtime.wording import visible
from covey.storage.compression import PACKED, open_packed
from covey.storage.limits import FREE, MOST_RATIO, allowed, justified, unpacking_at_most
from tests.attack.tables import HOSTILE
from tests.cli.commands import COVEY, on_a_terminal, one_line

LITTLE, MUCH = "100kB", "50MB"
ROWS = "x,y,id\n" + "".join(f"{at % 7},{at % 5},r{at}\n" for at in range(40))
PADDING = "\n" * 300_000
"""What makes each file below unpack to more than `LITTLE`, and to less than `MUCH`."""


def packed(name, text):
    with open_packed(Path(name), "wb") as file:
        file.write(text.encode())
    return name


def npz(name):
    np.savez_compressed(name, X=np.tile(np.arange(40.0)[:, None] % 7, 500))
    return name


def xlsx(name):
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(ROWS)).to_excel(buffer, index=False)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/media/image1.png", PADDING)
    Path(name).write_bytes(buffer.getvalue())
    return name


def parquet(name, column, **options):
    table = pa.table({"x": np.arange(40.0) % 7, "y": np.arange(40.0) % 5, "more": column})
    pq.write_table(table, name, **options)
    return name


LONG = "long text " * 1000
PARQUETS = {
    "a page that packs well": ([f"{at}{LONG}" for at in range(40)], {"use_dictionary": False, "compression": "zstd"}),
    "a text that all rows refer to": (pa.array([LONG] * 40).dictionary_encode(), {}),
    "lists of texts that all refer to one": ([[LONG, LONG]] * 40, {}),
    "a number that is repeated": ([np.zeros(2000)] * 40, {}),
    "texts of a fixed length": (pa.array([LONG.encode()] * 40, pa.binary(len(LONG))), {}),
    "texts that repeat the one before": (
        [f"{LONG}{at}" for at in range(40)],
        {"use_dictionary": False, "column_encoding": {"more": "DELTA_BYTE_ARRAY"}},
    ),
}
BOMBS = {
    **{suffix: lambda suffix=suffix: packed(f"t.csv{suffix}", ROWS + PADDING) for suffix in PACKED},
    "json lines": lambda: packed("t.jsonl.gz", '{"x": 1, "y": 2}\n' * 40 + PADDING),
    "json": lambda: packed("t.json.gz", f"{PADDING}{[[1, 2]] * 40}"),
    "svmlight": lambda: packed("t.svmlight.xz", "1 1:1 2:2\n" * 40 + PADDING),
    "npz": lambda: npz("t.npz"),
    "xlsx": lambda: xlsx("t.xlsx"),
    **{what: lambda what=what: parquet("t.parquet", PARQUETS[what][0], **PARQUETS[what][1]) for what in PARQUETS},
}


@pytest.mark.parametrize("what", BOMBS)
def test_what_unpacks_to_more_than_the_limit_is_stopped_and_a_larger_limit_lets_it_pass(run, what):
    name = BOMBS[what]()
    assert Path(name).stat().st_size < 60_000
    words = ("select", name, "-k", 2, "-o", "out.npz" if name.endswith(("npz", "light.xz")) else "out.csv")
    words += () if name.endswith((".npz", ".svmlight.xz")) else ("--features", "x0,x1" if ".json." in name else "x,y")
    code, _, err = run(*words, "--max-unpacked", LITTLE)
    assert code == 1
    for part in (name, "more than 97.66 KiB (--max-unpacked)", "pass a larger --max-unpacked"):
        assert part in one_line(err)
    assert not list(Path().glob("*out*"))
    code, _, err = run(*words, "--max-unpacked", MUCH, "-q")
    assert (code, err) == (0, "")


FLOWS = "time,src,dst\n" + "".join(f"{at},h{at % 5},web\n" for at in range(40))
PAIRS = "a,b,s\n" + "".join(f"n{at % 6},n{at % 5},0.5\n" for at in range(40))


def test_every_command_and_every_other_file_has_the_limit(run):
    packed("flows.log.gz", FLOWS + PADDING)
    packed("pairs.csv.gz", PAIRS + PADDING)
    packed("t.csv.gz", ROWS + PADDING)
    packed("labels.csv.gz", "id,label\nn1,u\nn2,v\n" + PADDING)
    packed("list.txt.gz", "1\n2\n" + PADDING)
    Path("small.csv").write_text(ROWS)
    Path("pairs.csv").write_text(PAIRS)
    assert run("select", "small.csv", "--features", "x,y", "-k", 2, "-m", "model", "-o", "few.csv")[0] == 0
    commands = {
        "flows.log.gz": ("select", "flows.log.gz", "--hosts"),
        "pairs.csv.gz": ("select", "pairs.csv.gz", "--pairs", "a,b,s"),
        "labels.csv.gz": ("select", "pairs.csv", "--pairs", "a,b,s", "--labels", "labels.csv.gz"),
        "list.txt.gz": ("select", "small.csv", "--features", "x,y", "--include", "list.txt.gz"),
        "t.csv.gz": ("classify", "t.csv.gz", "-m", "model"),
    }
    for name, words in commands.items():
        code, _, err = run(*words, "--max-unpacked", LITTLE, "-q", "-o", "out.csv")
        assert code == 1, words
        assert f"{name} cannot be read: it unpacks to more than 97.66 KiB (--max-unpacked)" in one_line(err)
        assert run(*words, "--max-unpacked", MUCH, "-q", "-o", "out.csv", "-f")[0] == 0, words
        Path("out.csv").unlink()
    code, _, err = run("compare", "t.csv.gz", "--features", "x,y", "--max-unpacked", LITTLE)
    assert (code, "it unpacks to more than" in one_line(err)) == (1, True)


def test_the_limit_is_stated_in_the_help(run):
    for command in ("select", "classify", "compare"):
        shown = " ".join(run(command, "--help")[1].replace("│", " ").split())
        assert "--max-unpacked" in shown
        assert "By default 64MiB or 100 times its size" in shown
    assert (FREE, MOST_RATIO) == (64 * 2**20, 100)


def test_a_limit_holds_only_inside_with_and_is_no_limit_for_what_is_written():
    assert allowed(10**7) == justified(10**7) == 10**9
    with unpacking_at_most(5):
        assert (allowed(10**7), justified(10**7)) == (5, 10**9)
    assert allowed(1) == FREE


@pytest.mark.parametrize("text", ["", "many", "-5MB", "0", "0.0001", "5PB", "nan", "1e9", "٣MB"])
def test_what_is_no_size_is_refused(run, text):
    with pytest.raises(ValueError, match="must be a size such as 500MB, 20GB or 64MiB"):
        size_in(text)
    Path("t.csv").write_text(ROWS)
    assert run("select", "t.csv", f"--max-unpacked={text}")[0] == 2


def test_columns_of_large_numbers_are_allowed_by_a_larger_limit(run):
    Path("t.svmlight").write_text("".join(f"{at % 2} {at + 1}:1 20000000:1\n" for at in range(10)))
    code, _, err = run("select", "t.svmlight", "-k", 2, "-o", "few.svmlight")
    assert code == 1
    assert "numbers its columns or rows up to 20000001, but a file of" in one_line(err)
    assert run("select", "t.svmlight", "-k", 2, "-o", "few.svmlight", "--max-unpacked", "1GB")[0] == 0


ENTITIES = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 10))


def test_entities_of_a_workbook_that_stand_for_a_billion_signs_are_refused(run):
    xlsx("t.xlsx")
    with zipfile.ZipFile("t.xlsx") as book:
        members = {name: book.read(name) for name in book.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    text = members[sheet].decode().replace("<t>id</t>", "<t>&e9;</t>")
    text = f'<!DOCTYPE worksheet [<!ENTITY e0 "ha">{ENTITIES}]>{text[text.index("<worksheet") :]}'
    assert "&e9;</t>" in text
    with zipfile.ZipFile("t.xlsx", "w") as book:
        for name, content in (members | {sheet: text.encode()}).items():
            book.writestr(name, content)
    code, _, err = run("select", "t.xlsx", "--features", "x,y", "-o", "few.csv")
    assert code == 1
    assert "t.xlsx is not a workbook of Excel, or damaged" in one_line(err)


def no_sign_for_terminals(*texts):
    for text in texts:
        assert not [sign for sign in text if not sign.isprintable() and sign != "\n"], text


def hostile_table():
    """Names of columns, labels and names of rows that steer terminals."""
    names = [text.replace("\r", "").replace("\x00", "") for text in HOSTILE]  # a CSV cannot hold these two
    rows = [(at % 7, at % 5, names[at % len(names)] + "!", f"{names[at % len(names)]}{at}") for at in range(80)]
    return pd.DataFrame(rows, columns=["x", "y\x1b[31m\u202e", "kind\x9b[red]", "id[/]\x07"])


def test_names_from_files_are_shown_escaped_by_every_command(run):
    name = "bad\x1b[31m\u202e[red].csv"
    table = hostile_table()
    table.to_csv(name, index=False)
    columns = ("--label", "kind\x9b[red]", "--id", "id[/]\x07", "-j", 1)
    commands = [
        ("select", name, *columns, "-k", 2, "-o", "few.csv", "-m", "model\x1b", "--members", "all\u202e.csv"),
        ("select", name, *columns, "-k", 2, "-o", "few.csv", "-f", "--show", "no", "--picture", "p.html"),
        ("select", name, "--features", "y\x1b[31m\u202e,no", "-o", "two.csv"),
        ("select", name, *columns, "-k", 2, "--include", "kind\x9b[red]", "-o", "two.csv"),
        ("classify", name, "-m", "model\x1b", "-o", "answers.csv"),
        ("classify", "few.csv", "-m", "model\x1b", "-o", "a.csv", "--unknown", HOSTILE[0]),
        ("inspect", "model\x1b"),
        ("inspect", name),
        (
            "compare",
            name,
            *columns,
            "--methods",
            "crs,all",
            "-k",
            2,
            "-s",
            "cosine",
            "--folds",
            2,
            "--html",
            "r\x1b.html",
        ),
    ]
    codes = []
    for words in commands:
        code, out, err = run(*words)
        codes.append(code)
        no_sign_for_terminals(out, err)
        assert "Traceback" not in err
    assert codes == [0, 1, 1, 1, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "words", [("{}",), ("select", "--{}"), ("inspect", "a", "{}"), ("select", "a", "--format", "{}")]
)
def test_what_is_typed_wrongly_is_shown_escaped(run, monkeypatch, words, text):
    code, out, err = run(*(word.format(text) for word in words))
    assert code == 2
    no_sign_for_terminals(out, err)


def test_rows_are_unchanged_for_programs_and_escaped_on_a_terminal(run, monkeypatch, capsys):
    table = hostile_table()
    table.to_csv("t.csv", index=False)
    words = ("select", "t.csv", "--label", "kind\x9b[red]", "-k", 2, "-q", "-m", "model")
    piped = run(*words)[1]
    few = pd.read_csv(io.StringIO(piped))
    pd.testing.assert_series_equal(few["id[/]\x07"], table["id[/]\x07"][few["covey_row"]].reset_index(drop=True))
    for more in (("--out-format", "csv"), ("--out-format", "jsonl")):
        shown = on_standard_output(monkeypatch, capsys, *words, "-f", *more)
        no_sign_for_terminals(shown.replace("\t", ""))
        assert len(shown.splitlines()) >= len(few)
    for more in (("--json",), ("--representatives", "--json"), ("--representatives",)):
        no_sign_for_terminals(on_standard_output(monkeypatch, capsys, "inspect", "model", *more))


def on_standard_output(monkeypatch, capsys, *words):
    """What a command writes to standard output if that is a terminal, without the colors of its own."""
    monkeypatch.setattr(sys, "argv", ["covey", *map(str, words)])
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(type(sys.stdout), "isatty", lambda self: True)
        patched.setenv("NO_COLOR", "1")
        patched.setenv("TERM", "dumb")
        with pytest.raises(SystemExit) as stop:
            cli.main()
    assert not stop.value.code
    return capsys.readouterr().out


def test_a_real_terminal_gets_no_command_from_a_file(folder):
    hostile_table().to_csv("t.csv", index=False)
    shown = on_a_terminal([*COVEY, "select", "t.csv", "--label", "kind\x9b[red]", "-k", "2"], 0)
    no_sign_for_terminals(shown.replace("\r\n", "\n").replace("\r", "").replace("\t", ""))
    assert visible(HOSTILE[0]) in shown


def test_an_error_quotes_only_the_beginning_of_a_long_name(run):
    Path("t.csv").write_text(f"{'a' * 10**6},{'a' * 10**6}\n1,2\n")
    code, _, err = run("select", "t.csv", "-o", "few.csv")
    assert code == 1
    assert len(one_line(err)) < 2100
    assert "t.csv, line 1: two columns are called 'aaa" in err


def test_a_list_of_rows_is_refused_with_its_line(run):
    Path("t.csv").write_text(ROWS)
    words = ("select", "t.csv", "--features", "x,y", "-o", "few.csv", "--include", "list.txt")
    Path("list.txt").write_text(f"1\n\n{'9' * 5000}\n")
    assert "covey: list.txt, line 3: '9999" in one_line(run(*words)[2])
    Path("list.txt").write_bytes(b"\xff\xfe1\x00\n\x00\x00\xd8")
    assert "covey: list.txt, line 2: " in one_line(run(*words)[2])


def test_what_the_library_refuses_is_named_with_the_file(run):
    Path("t.csv").write_text("a,b\n0,-1\n-1,0\n")
    code, _, err = run("select", "t.csv", "--distances", "-o", "few.csv")
    assert code == 1
    assert "covey: t.csv: X must not hold negative numbers" in one_line(err)


@pytest.mark.parametrize("suffix", PACKED)
def test_damage_within_a_packed_file_is_named_with_its_place(run, suffix):
    packed(f"t.csv{suffix}", ROWS)
    content = bytearray(Path(f"t.csv{suffix}").read_bytes())
    Path(f"t.csv{suffix}").write_bytes(content[:-15])
    code, _, err = run("select", f"t.csv{suffix}", "-o", "few.csv")
    assert code == 1
    assert f"t.csv{suffix} cannot be read: what follows after the first " in one_line(err)
