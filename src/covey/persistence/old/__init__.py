"""Readers of the formats that earlier versions of covey wrote.

There is a module for each old format. Its function `upgrade` turns the JSON part of a file into that of the next
format, so that the rest of `persistence` knows only the present one. Whoever changes the format raises `FORMAT`, adds
here the module that upgrades files of the format so far, and lists it in `loading.UPGRADES`. Files of every old format
are kept with the tests (`tests/files`).
"""
