"""Checkpoints with intact checksums that hold what cannot be true, and the limits of reading them.

`tests/attack/checkpoints.py` changes checkpoints at random. Here stands each fault that it, or reading the code, found.
"""

import json
import zlib

import numpy as np
import pytest

import covey
from covey.exceptions import FailedPairsWarning, FileFormatError
from covey.similarity.checkpoint import ABOUT, PAIR, PAIRS, RESULT, RUN
from covey.similarity.similarity import LARGEST
from covey.storage import journal
from covey.storage.journal import MARK, SIGNATURE, Journal
from covey.storage.serialization import deserialize, serialize
from tests.attack.checkpoints import block, split

X = np.random.default_rng(0).random((20, 3))
Y = np.repeat(["a", "b"], 10)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint"


def select(path):
    return covey.CRS(2, random_state=0, checkpoint=path).fit(X, Y)


def graph(path):
    return covey.neighbor_graph(X, 4, checkpoint=path, random_state=0)


def rewrite(path, kind, change):
    """Change the content of all blocks of a kind, and give them new checksums."""
    blocks = split(path.read_bytes())
    assert kind in dict(blocks)
    path.write_bytes(SIGNATURE + b"".join(block(k, change(part) if k == kind else part) for k, part in blocks))


def with_json(**values):
    return lambda part: json.dumps({**json.loads(part), **values}).encode()


def with_result(change):
    """Change the record of a finished part."""

    def changed(part):
        end = 4 + int.from_bytes(part[:4], "little")
        record = deserialize(part[end:])
        change(record)
        return part[:end] + serialize(record)

    return changed


@pytest.mark.parametrize("values", [{"n_neighbors": 2.0}, {"refine": 0}, {"unknown": None}, {"x" * 5000: "y" * 5000}])
def test_a_run_with_other_parameters_is_refused_in_a_short_sentence(path, values):
    select(path)
    rewrite(path, RUN, with_json(**values))
    with pytest.raises(ValueError, match=r"checkpoint must be of the same (run|version)") as refused:
        select(path)
    assert len(str(refused.value)) < 500


def test_a_run_of_deeply_nested_lists_is_refused(path):
    select(path)
    rewrite(path, RUN, lambda part: b'{"a": ' + b"[" * 900 + b"]" * 900 + b"}")
    with pytest.raises(ValueError, match=r"cannot be read as a checkpoint|of the same run"):
        select(path)


def test_the_message_about_another_similarity_holds_no_control_characters(path):
    select(path)
    rewrite(path, ABOUT, with_json(similarity="x", in_words="\x1b[2J\n" + "z" * 5000))
    with pytest.raises(ValueError, match="checkpoint must be of the same similarity") as refused:
        select(path)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1000


def test_the_label_of_a_finished_cluster_is_that_of_the_run(path):
    select(path)
    rewrite(path, RESULT, with_result(lambda record: record["prototype"].update(label="z")))
    assert [*select(path).prototypes_] == ["a", "b"]


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["prototype"].update(homogeneity=10**400),
        lambda record: record.update(n_pairs=10**9),
        lambda record: record.update(details=json.loads("[" * 300 + "]" * 300)),
        lambda record: record["prototype"].pop("coverage"),
        lambda record: record["prototype"].update(indices=record["prototype"]["indices"] + 15),
    ],
)
def test_a_finished_cluster_that_cannot_be_true_is_refused(path, change):
    select(path)
    rewrite(path, RESULT, with_result(change))
    with pytest.raises(FileFormatError, match="a finished cluster cannot be true"):
        select(path)


def details_with_others(record):
    """Members that were not selected have covered the others first."""
    indices = record["prototype"]["indices"]
    members = np.arange(10) if indices[0] < 10 else np.arange(10, 20)
    record["details"][0][:] = np.setdiff1d(members, indices)[0]


def covered_by_the_last(record):
    """The last representative covers all others, too."""
    record["prototype"]["covered_by"][:] = record["prototype"]["indices"][-1]


def without_similarities(record):
    """The similarities by which a prototype is cut are no array."""
    record["details"][1] = "none"


def with_a_similarity_that_is_no_number(record):
    record["details"][1][-1] = np.nan


def with_too_few_details(record):
    record["details"] = record["details"][:1]


DAMAGED_RANKINGS = [
    details_with_others,
    covered_by_the_last,
    without_similarities,
    with_a_similarity_that_is_no_number,
    with_too_few_details,
]


@pytest.mark.parametrize("change", DAMAGED_RANKINGS)
def test_a_limited_size_cannot_make_members_be_covered_by_those_that_are_left_out(path, change):
    selector = covey.CRS(2, size=4, random_state=0, checkpoint=path)
    selector.fit(X, Y)
    rewrite(path, RESULT, with_result(change))
    with pytest.raises(FileFormatError, match="a finished cluster cannot be true"):
        selector.fit(X, Y)


LISTS = ("indices", "similarities")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update({name: record[name][:-1] for name in LISTS}),
        lambda record: record.update({name: record[name][:, :-1] for name in LISTS}),
        lambda record: record.update(similarities=record["similarities"][:, ::-1]),
        lambda record: record.update(indices=np.repeat(record["indices"][:, :1], 4, axis=1)),
        lambda record: record["indices"].__setitem__((3, 0), 3),
        lambda record: record["indices"].__setitem__((3, 0), -1),
        lambda record: record.update(method="nn-descent"),
        lambda record: record.update(n_evaluations=float("inf")),
        lambda record: record.update(n_evaluations=-1),
        lambda record: record.update(mean_similarity=10**400),
    ],
)
def test_a_finished_graph_that_cannot_be_true_is_refused(path, change):
    graph(path)
    rewrite(path, RESULT, with_result(change))
    with pytest.raises(FileFormatError, match="its neighbor graph cannot be true"):
        graph(path)


def test_a_text_that_would_take_much_memory_is_not_read(path):
    graph(path)
    text = b'{"value": {}, "arrays": [' + b"[]," * 500_000 + b"[]]}"
    rewrite(path, RESULT, lambda part: part[:18] + len(text).to_bytes(4, "little") + text)
    with pytest.raises(FileFormatError, match="its neighbor graph cannot be true") as refused:
        graph(path)
    assert "its text has" in str(refused.value.__cause__)


broken: set[int] = set()
asked: list[tuple[int, int]] = []


def nearness(a, b):
    """A similarity that fails for some numbers. A fingerprint does not show which, because they stand elsewhere."""
    asked.append((a, b))
    if {a, b} & broken:
        raise ArithmeticError("it is broken")
    return -abs(a - b)


def test_a_pair_that_failed_once_and_was_evaluated_later_is_not_evaluated_a_third_time(path):
    selector = covey.CRS(2, similarity=nearness, checkpoint=path, random_state=0)
    numbers = [1, 2, 3, 5, 8, 13]
    broken.add(3)
    with pytest.warns(FailedPairsWarning):
        selector.set_params(on_error="lowest").fit(numbers)
    broken.clear()
    evaluated = selector.set_params(on_error="raise").fit(numbers)
    assert evaluated.checkpoint_.n_saved < evaluated.n_evaluations_
    asked.clear()
    again = selector.fit(numbers)
    assert again.checkpoint_.n_saved == again.n_evaluations_
    assert len(asked) == again.checkpoint_.n_asked_again


@pytest.mark.parametrize("value", [np.inf, -np.inf, LARGEST, -1.5e308])
def test_a_similarity_that_no_function_may_return_is_refused(path, value):
    selector = covey.CRS(2, similarity=nearness, checkpoint=path, random_state=0).fit([1, 2, 3, 5, 8, 13])

    def change(part):
        pairs = np.frombuffer(part, PAIR).copy()
        pairs["similarity"] = value
        return pairs.tobytes()

    rewrite(path, PAIRS, change)
    with pytest.raises(FileFormatError, match="a similarity is not below"):
        selector.fit([1, 2, 3, 5, 8, 13])


def test_headers_that_lie_in_the_contents_of_others_are_not_read_for_ever(path, monkeypatch):
    n_headers = 2000
    lying = [block(1, b"", length=24 * (n_headers - at - 1)) for at in range(n_headers)]
    checked = [bytearray(header) for header in lying]
    for header in checked:  # the checksum of the content is wrong, and that of the header is right
        header[16:20] = b"\x01\x02\x03\x04"
        header[20:24] = zlib.crc32(header[:20]).to_bytes(4, "little")
    path.write_bytes(SIGNATURE + MARK + b"torn" + b"".join(checked))
    n_bytes = []

    def counted(content):
        n_bytes.append(len(content))
        return zlib.crc32(content)

    monkeypatch.setattr(journal, "zlib", type("counting", (), {"crc32": staticmethod(counted)}))
    with pytest.raises(FileFormatError, match="is damaged at byte 16"), Journal(path) as opened:
        list(opened.blocks())
    assert sum(n_bytes) < 4 * path.stat().st_size


def test_a_block_is_read_and_written_whole_if_the_system_takes_only_parts_of_it(path):
    class InParts:
        """A file that reads and writes at most 7 bytes at a time, as systems do with more than 2 GiB."""

        def __init__(self, file):
            self._file = file

        def __getattr__(self, name):
            return getattr(self._file, name)

        def read(self, n):
            return self._file.read(n if n == 24 else min(n, 7))

        def write(self, content):
            return self._file.write(content[:7])

    with Journal(path) as opened:
        list(opened.blocks())
        opened._file = InParts(opened._file)
        opened.append(3, b"0123456789" * 10)
        opened.append(4, b"end")
    with Journal(path) as opened:
        opened._file = InParts(opened._file)
        assert [*opened.blocks()] == [(3, b"0123456789" * 10), (4, b"end")]


def test_empty_blocks_of_pairs_are_passed_over(path):
    select(path)
    content = path.read_bytes()
    path.write_bytes(content + block(3, b"") * 1000)
    assert select(path).checkpoint_.n_kept == 0
