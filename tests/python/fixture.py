"""What the tests share: the package on the path, and a library that is fake."""
import gc
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from fake_library import FakeLibrary  # noqa: E402
from potluck import _library  # noqa: E402


class WithFakeLibrary(unittest.TestCase):
    """Each test has a library of its own, as `self.library`."""

    def setUp(self):
        self.library = FakeLibrary()
        self._kept = _library._loaded
        _library._loaded = self.library

    def tearDown(self):
        gc.collect()  # What a test left behind has left its run.
        _library._loaded = self._kept

    @property
    def run_inside(self):
        """The newest run, as the library has it."""
        return self.library.runs[self.library.handles]


def torch_or_skip():
    """PyTorch, or the reason why there is none."""
    try:
        import torch
        return torch
    except ImportError:
        raise unittest.SkipTest("python3-torch is not installed") from None


def numpy_or_skip():
    try:
        import numpy
        return numpy
    except ImportError:
        raise unittest.SkipTest("python3-numpy is not installed") from None
