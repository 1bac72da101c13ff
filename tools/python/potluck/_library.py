"""Finds libpotluck, loads it, and knows its functions as tools/library/potluck.h
declares them."""
from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from ctypes import (POINTER, c_char, c_char_p, c_double, c_int, c_long,
                    c_ulong, c_void_p)
from typing import Any, Optional

from potluck._errors import Failed

INTERFACE = 2

OK, SAME, TIMEOUT, OVER = 0, 1, 2, 3
MISTAKE, NO_RUN, NOT_FINITE, FAILED, FORKED, NO_EXPERTS = range(-1, -7, -1)

FILE = "libpotluck.so.1"


class StatusFields(ctypes.Structure):
    """`struct potluck_status`."""

    _fields_ = [("size", c_ulong), ("step", c_ulong), ("steps", c_ulong),
                ("peers", c_ulong), ("samples", c_ulong),
                ("target", c_ulong), ("own", c_ulong), ("stale", c_ulong),
                ("taken", c_ulong), ("loss", c_double), ("rate", c_double), ("share", c_double),
                ("learning_rate", c_double), ("progress", c_double),
                ("phase", c_char * 32), ("trouble", c_char * 256)]


_POINTERS = POINTER(c_void_p)

# Name, result and arguments of each function.
_FUNCTIONS = [
    ("potluck_version", c_char_p, []),
    ("potluck_interface", c_int, []),
    ("potluck_new", c_ulong, []),
    ("potluck_set", c_int, [c_ulong, c_char_p, c_char_p]),
    ("potluck_get", c_long, [c_ulong, c_char_p, c_char_p, c_ulong]),
    ("potluck_tensor", c_int,
     [c_ulong, c_char_p, POINTER(c_long), c_int, c_int, c_void_p]),
    ("potluck_create", c_int, [c_ulong, c_char_p, c_ulong]),
    ("potluck_load", c_int, [c_ulong, c_char_p]),
    ("potluck_open", c_int, [c_ulong]),
    ("potluck_add", c_int,
     [c_ulong, _POINTERS, c_ulong, c_double, c_double]),
    ("potluck_take", c_int, [c_ulong, _POINTERS, c_double]),
    ("potluck_status", c_int, [c_ulong, POINTER(StatusFields)]),
    ("potluck_event", c_long, [c_ulong, c_char_p, c_ulong, c_double]),
    ("potluck_digest", c_int, [c_ulong, c_char_p]),
    ("potluck_save", c_int, [c_ulong, c_char_p]),
    ("potluck_moments", c_int,
     [c_ulong, POINTER(c_ulong), _POINTERS, _POINTERS]),
    ("potluck_set_moments", c_int,
     [c_ulong, c_ulong, _POINTERS, _POINTERS]),
    ("potluck_find_experts", c_int,
     [c_ulong, c_ulong, c_ulong] + 3 * [c_void_p] + [c_double]),
    ("potluck_forward", c_int,
     [c_ulong, c_ulong, c_ulong] + 4 * [c_void_p] + [c_double]),
    ("potluck_backward", c_int,
     [c_ulong, c_ulong, c_ulong] + 5 * [c_void_p] + [c_double]),
    ("potluck_leave", c_int, [c_ulong, c_double]),
    ("potluck_free", c_int, [c_ulong]),
    ("potluck_error", c_char_p, [c_ulong]),
]

_lock = threading.Lock()
_loaded: Optional[Any] = None
_path = ""


def _places() -> "list[pathlib.Path]":
    named = os.environ.get("POTLUCK_LIBRARY")
    if named:
        path = pathlib.Path(named)
        return [path / FILE if path.is_dir() else path]
    package = pathlib.Path(__file__).resolve().parent
    return [package / FILE, package / "lib" / FILE,
            package.parent / FILE, package.parent / "lib" / FILE,
            package.parent.parent / "lib" / FILE,
            package.parent.parent.parent / "build" / "lib" / FILE]


def library() -> Any:
    """The library, loaded at the first call.

    It is looked for where POTLUCK_LIBRARY says (the file or its folder), and
    nowhere else when that is set; in and beside the package; in the build
    folder of the tree that the package is in; among the system's libraries.
    Raises Failed.
    """
    global _loaded, _path
    with _lock:
        if _loaded is not None:
            return _loaded
        places = _places()
        path = next((str(each) for each in places if each.is_file()), "")
        if not path and os.environ.get("POTLUCK_LIBRARY"):
            raise Failed(f"There is no {FILE} at {places[0]}, which "
                         "POTLUCK_LIBRARY names; name the file, or its "
                         "folder.")
        try:
            # By its name alone: one that is installed.
            loaded = ctypes.CDLL(path or FILE)
        except OSError as problem:
            if not path:
                raise Failed(f"There is no {FILE} in {places[0].parent} nor "
                             "where this system has libraries; name the file "
                             "in POTLUCK_LIBRARY.") from None
            raise Failed(f"{path} cannot be loaded ({problem}); build it on "
                         "this machine, or copy its whole folder.") from None
        try:
            theirs = loaded.potluck_interface()
        except AttributeError:
            theirs = 0
        if theirs != INTERFACE:
            raise Failed(f"{path or FILE} has interface {theirs}, and this "
                         f"package needs {INTERFACE}; use the two of one "
                         "version.")
        for name, result, arguments in _FUNCTIONS:
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
        _loaded, _path = loaded, path or FILE
        return loaded


def library_path() -> str:
    """The file that is loaded."""
    library()
    return _path


def version() -> str:
    """The version of the library, "0.1.0" for instance."""
    return library().potluck_version().decode()


def interface_version() -> int:
    """The number of the C interface that package and library have in common."""
    return library().potluck_interface()
