"""Hosts from logs: a profile {server: number of time windows in which the host contacted it} for each host.

A log is read line by line. For each host, server and day there is one integer with a bit for each window of that day,
so a contact counts once a window, in whatever order lines come, and memory grows with the contacts, not with the log.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from covey.runtime.progress import progress
from covey.storage.delimiter import delimiter_of
from covey.storage.errors import FileFormatError, naming
from covey.storage.packed import open_text

DAY = 86_400
ZEEK = ("ts", "id.orig_h", "id.resp_h", "id.resp_p")
COLUMNS = {
    "time": ("ts", "time", "timestamp", "start", "start_time", "starttime", "first_seen", "te", "stime"),
    "source": ("id.orig_h", "source", "src", "src_ip", "source_ip", "srcaddr", "saddr", "sa", "src_addr"),
    "destination": (
        "id.resp_h",
        "destination",
        "dst",
        "dst_ip",
        "destination_ip",
        "dstaddr",
        "daddr",
        "da",
        "dst_addr",
    ),
    "port": ("id.resp_p", "port", "dst_port", "destination_port", "dstport", "dport", "dp"),
}


def read_hosts(path: Any, *, window: float = 300, with_port: bool = True, verbose: int = 0) -> Any:
    """Profiles of the hosts in a log of connections.

    Parameters
    ----------
    path : path
        A Zeek conn.log (its own format, or JSON lines), or a CSV of flows with a header that names the source, the
        destination, optionally its port, and the time (seconds since 1970, or ISO 8601). A destination may
        hold its port, as in ``10.0.0.1:443``. .gz, .xz, .bz2 and .zst are unpacked.
    window : float, default=300
        The length of a time window in seconds; a day is split into windows from midnight UTC on.
    with_port : bool, default=True
        Whether servers that differ in the port are different.

    verbose : int, default=0
        1 shows a bar on a terminal.

    Returns
    -------
    Bunch
        With `data` (for each host {server: number of windows}) and `ids` (the hosts' addresses), in the order of
        their first lines, and `n_skipped`, the number of lines that hold no contact.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from covey.datasets import read_hosts
    >>> log = pathlib.Path(tempfile.mkdtemp(), "flows.csv")
    >>> _ = log.write_text("time,src,dst,dport\\n0,a,web,443\\n10,a,web,443\\n400,a,web,443\\n20,b,dns,53\\n")
    >>> dict(zip(*(read_hosts(log)[key] for key in ("ids", "data"))))
    {'a': {'web:443': 2}, 'b': {'dns:53': 1}}
    """
    from sklearn.utils import Bunch

    if not 0 < window <= DAY:
        raise ValueError(f"window must be in (0, {DAY}] seconds, got {window!r}.")
    seen: dict[str, dict[str, dict[int, int]]] = {}
    n_skipped = 0
    bar = progress("reading", None, "MB", shown=verbose > 0)
    with naming(str(path)), bar, open_text(Path(path), bar, errors="replace") as (lines, _):
        for contact in _contacts(lines, str(path)):
            if contact is None:
                n_skipped += 1
                continue
            time, source, destination, port = contact
            server = f"{destination}:{port}" if with_port and port else destination
            day, second = divmod(time, DAY)
            days = seen.setdefault(source, {}).setdefault(server, {})
            days[int(day)] = days.get(int(day), 0) | 1 << int(second // window)
    profiles = [
        {server: sum(mask.bit_count() for mask in days.values()) for server, days in servers.items()}
        for servers in seen.values()
    ]
    return Bunch(data=profiles, ids=np.array(list(seen), dtype=object), n_skipped=n_skipped)


Contact = tuple[float, str, str, str]


def _contacts(lines: Iterable[str], name: str) -> Iterator[Contact | None]:
    """(time, source, destination, port) of each line, None where it holds none."""
    stream = iter(lines)
    first = next((line for line in stream if line.strip()), None)
    if first is None:
        return
    if first.startswith("#"):
        yield from _zeek_contacts(first, stream, name)
    elif first.startswith("{"):
        yield from map(_json_contact, _all(first, stream))
    else:
        yield from _csv_contacts(first, stream, name)


def _csv_contacts(first: str, stream: Iterator[str], name: str) -> Iterator[Contact | None]:
    reader = csv.reader(chain([first], stream), delimiter=delimiter_of(first))
    try:
        pick = _picker(next(reader), name)
        yield from map(pick, reader)
    except csv.Error as error:
        raise FileFormatError(f"{name}, row {reader.line_num}: {error}.") from error


def _json_contact(line: str) -> Contact | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # also of numbers with thousands of digits
        return None
    return _contact(*(entry.get(key) for key in ZEEK)) if isinstance(entry, dict) else None


def _zeek_contacts(first: str, stream: Iterator[str], name: str) -> Iterator[Contact | None]:
    """Lines that start with # describe the columns; a log may be several, one after the other."""
    separator, pick = "\t", None
    for line in _all(first, stream):
        text = line.rstrip("\r\n")
        if text.startswith("#separator"):
            separator = _separator(text, name)
        elif text.startswith("#fields"):
            pick = _picker(text.split(separator)[1:], name)
        elif not text.startswith("#"):
            if pick is None:
                raise FileFormatError(f"{name} must name its columns in a line #fields before the first connection.")
            yield pick(text.split(separator))


def _separator(line: str, name: str) -> str:
    """What separates columns: a line like ``#separator \\x09`` says it."""
    try:
        found = line.removeprefix("#separator").strip(" ").encode("ascii").decode("unicode_escape")
    except UnicodeError:
        found = ""
    if not found:
        raise FileFormatError(f"{name}: the line #separator must name a sign such as \\x09, got {line!r}.")
    return found


def _all(first: str, stream: Iterator[str]) -> Iterator[str]:
    yield first
    yield from (line for line in stream if line.strip())


def _picker(header: list[str], name: str) -> Any:
    """A function that picks the contact out of a row."""
    names = [column.strip().strip('"').lower() for column in header]
    places = {
        role: next((names.index(known) for known in spellings if known in names), None)
        for role, spellings in COLUMNS.items()
    }
    for role in ("time", "source", "destination"):
        if places[role] is None:
            raise FileFormatError(
                f"{name} must have a column for the {role} (one of {', '.join(COLUMNS[role])}), got {', '.join(names)}."
            )

    def pick(row: list[str]) -> Contact | None:
        return _contact(*(row[at] if at is not None and at < len(row) else None for at in places.values()))

    return pick


def _contact(time: Any, source: Any, destination: Any, port: Any) -> Contact | None:
    seconds = _seconds(time)
    if seconds is None or not all(isinstance(host, str) and host not in ("", "-") for host in (source, destination)):
        return None
    return seconds, source, destination, "" if port in (None, "-") else str(port)


def _seconds(time: Any) -> float | None:
    """Since 1970; times without a zone are taken for UTC."""
    try:
        seconds = float(time)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        pass
    else:
        return seconds if math.isfinite(seconds) else None
    try:
        moment = datetime.fromisoformat(str(time))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
