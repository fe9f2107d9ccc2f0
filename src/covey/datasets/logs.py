"""Hosts from logs: a profile {server: number of time windows in which the host contacted it} for each host.

A log is read line by line. For each host, server and day there is one integer with a bit for each window of that day.
So a contact counts once in a window, in any order of the lines, and memory grows with the number of different
contacts, not with the length of the log.
"""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from covey.exceptions import FileFormatError
from covey.runtime.file_errors import format_errors_of
from covey.runtime.progress import progress
from covey.runtime.wording import some_of
from covey.storage.compression import open_text
from covey.storage.text import delimiter_of

DAY = 86_400
"""Seconds of a day."""
ZEEK = ("ts", "id.orig_h", "id.resp_h", "id.resp_p")
"""What Zeek calls the time, the source, the destination and its port."""
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
"""What Zeek, nfdump, Argus and other programs call the columns, in lower case; the first that is there is taken."""


def read_hosts(path: Any, *, window: float = 300, with_port: bool = True, verbose: int = 0) -> Any:
    """Read the profiles of the hosts in a log of connections: which servers they contact, and how often.

    Parameters
    ----------
    path : path
        A Zeek conn.log (its own format, or JSON lines), or a CSV of flows with a header that names the source, the
        destination, optionally its port, and the time (seconds since 1970, or ISO 8601). A destination may hold its
        port, as in ``10.0.0.1:443``. Columns are separated by the comma, semicolon or tab that occurs most often in the
        header. Files that end in .gz, .xz, .bz2 or .zst are unpacked.
    window : float, default=300
        The length of a time window in seconds, in (0, 86400]. A day is split into windows from midnight UTC on.
    with_port : bool, default=True
        Whether the same address with another port is another server.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    Bunch
        With `data` (for each host {server: number of windows}) and `ids` (the hosts' addresses), in the order of
        their first lines, and `n_skipped`, the number of lines that hold no contact.

    Raises
    ------
    FileFormatError
        If the file cannot be read, or lacks a column. The message lists the names that a column may have.

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
    bar = progress("reading", None, "MB", shown=verbose > 0)
    with format_errors_of(str(path)), bar, open_text(Path(path), bar, errors="replace") as (lines, _):
        seen, n_skipped = _windows(_contacts(lines, str(path)), window, with_port=with_port)
    profiles = [
        {server: sum(mask.bit_count() for mask in days.values()) for server, days in servers.items()}
        for servers in seen.values()
    ]
    return Bunch(data=profiles, ids=np.array(list(seen), dtype=object), n_skipped=n_skipped)


Contact = tuple[float, str, str, str]
"""The time in seconds since 1970, the source, the destination and its port, which may be empty."""
Windows = dict[str, dict[str, dict[int, int]]]
"""For each source, server and day an integer, whose bits tell in which windows of the day there was a contact."""


def _windows(contacts: Iterable[Contact | None], window: float, *, with_port: bool) -> tuple[Windows, int]:
    """Return the windows in which there were contacts, and the number of lines without a contact."""
    seen: Windows = {}
    n_skipped = 0
    for contact in contacts:
        if contact is None:
            n_skipped += 1
            continue
        time, source, destination, port = contact
        server = f"{destination}:{port}" if with_port and port else destination
        day, second = divmod(time, DAY)
        days = seen.setdefault(source, {}).setdefault(server, {})
        days[int(day)] = days.get(int(day), 0) | 1 << int(second // window)
    return seen, n_skipped


def _contacts(lines: Iterable[str], name: str) -> Iterator[Contact | None]:
    """Yield the contact of each line, or None if the line holds no contact."""
    stream = iter(lines)
    first = next((line for line in stream if line.strip()), None)
    if first is None:
        return
    if first.startswith("#"):
        yield from _zeek_contacts(first, stream, name)
    elif first.startswith("{"):
        yield from map(_json_contact, _filled(first, stream))
    else:
        yield from _csv_contacts(first, stream, name)


def _csv_contacts(first: str, stream: Iterator[str], name: str) -> Iterator[Contact | None]:
    """Yield the contacts of a table whose first line names the columns."""
    reader = csv.reader(chain([first], stream), delimiter=delimiter_of(first))
    try:
        contact_of = _contact_reader(next(reader), name)
        yield from map(contact_of, reader)
    except csv.Error as error:
        raise FileFormatError(f"{name}, row {reader.line_num}: {error}.") from error


def _json_contact(line: str) -> Contact | None:
    """Return the contact of a line of Zeek's JSON."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or deeply nested lists
        return None
    return _contact(*(entry.get(key) for key in ZEEK)) if isinstance(entry, dict) else None


def _zeek_contacts(first: str, stream: Iterator[str], name: str) -> Iterator[Contact | None]:
    """Yield the contacts of Zeek's own format.

    Lines that start with # describe the columns. They may come again, because several logs may be joined into one.
    """
    separator, contact_of = "\t", None
    for line in _filled(first, stream):
        text = line.rstrip("\r\n")
        if text.startswith("#separator"):
            separator = _separator(text, name)
        elif text.startswith("#fields"):
            contact_of = _contact_reader(text.split(separator)[1:], name)
        elif not text.startswith("#"):
            if contact_of is None:
                raise FileFormatError(f"{name} must name its columns in a line #fields before the first connection.")
            yield contact_of(text.split(separator))


def _separator(line: str, name: str) -> str:
    """Return the delimiter, which a line like ``#separator \\x09`` names."""
    try:
        found = line.removeprefix("#separator").strip(" ").encode("ascii").decode("unicode_escape")
    except UnicodeError:
        found = ""
    if not found:
        raise FileFormatError(f"{name}: the line #separator must name a character such as \\x09, got {line!r}.")
    return found


def _filled(first: str, stream: Iterator[str]) -> Iterator[str]:
    """Return the first line and all others that are not empty."""
    return chain([first], (line for line in stream if line.strip()))


def _contact_reader(header: list[str], name: str) -> Callable[[list[str]], Contact | None]:
    """Return a function that finds the contact in a row of values, by the names of their columns."""
    names = [column.strip().strip('"').lower() for column in header]
    places = {
        role: next((names.index(known) for known in spellings if known in names), None)
        for role, spellings in COLUMNS.items()
    }
    for role in ("time", "source", "destination"):
        if places[role] is None:
            raise FileFormatError(
                f"{name} must have a column for the {role} (one of {', '.join(COLUMNS[role])}), got {some_of(names)}."
            )

    def contact_of(row: list[str]) -> Contact | None:
        return _contact(*(row[at] if at is not None and at < len(row) else None for at in places.values()))

    return contact_of


def _contact(time: Any, source: Any, destination: Any, port: Any) -> Contact | None:
    """Return the contact that these values are, or None if the time or a host is missing; "-" is nothing."""
    seconds = _seconds(time)
    if seconds is None or not all(isinstance(host, str) and host not in ("", "-") for host in (source, destination)):
        return None
    return seconds, source, destination, "" if port in (None, "-") else str(port)


def _seconds(time: Any) -> float | None:
    """Return the seconds since 1970, or None if it is not a time. A time without a zone is taken for UTC."""
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
