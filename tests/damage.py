"""Arrays and model files with something wrong in them."""

import json
import zipfile

import numpy as np


def put(place, value):
    """A function that changes an array in one place."""

    def change(array):
        array[place] = value
        return array

    return change


def change_file(path, change):
    """Write a file again after `change` was made to its JSON part and to its arrays, by number."""
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("covey.json"))
        arrays = [np.lib.format.read_array(archive.open(f"{at}.npy")) for at in range(len(archive.namelist()) - 1)]
    change(content, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("covey.json", json.dumps(content))
        for number, array in enumerate(arrays):
            with archive.open(f"{number}.npy", "w") as file:
                np.lib.format.write_array(file, array)


def inflate(path, name, size, content):
    """Write a file again with a member of `size` bytes that repeats some content."""
    with zipfile.ZipFile(path) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, part in parts.items():
            with archive.open(entry, "w", force_zip64=True) as file:
                file.write(part if entry != name else b"")
                for _ in range(size // len(content) if entry == name else 0):
                    file.write(content)
