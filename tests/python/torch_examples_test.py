"""Every example of tools/python/examples, over a library that is fake: it runs
to its end."""
import runpy
import sys
import unittest
from unittest import mock

from fixture import ROOT, WithFakeLibrary, torch_or_skip
from runs import missing

torch_or_skip()
import torch  # noqa: E402

EXAMPLES = sorted((ROOT / "tools" / "python" / "examples").glob("*.py"))


class ExamplesTest(WithFakeLibrary):
    pass


def add_test(path):
    def test(self):
        absent = missing(path.stem)
        if absent:
            self.skipTest(f"{absent} is not installed")
        losses = []
        inner = type(self.library)._make_step

        def heard(library, run, loss):
            losses.append(loss)
            run["settings"]["learning-rate"] = "0.05"
            inner(library, run, loss)
        words = [str(path), "--tiny", "--steps", "8"]
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        with mock.patch.object(sys, "argv", words), \
                mock.patch.object(type(self.library), "_make_step", heard), \
                mock.patch("builtins.print"):
            runpy.run_path(str(path), run_name="__main__")
        torch.set_num_threads(threads)
        self.assertGreaterEqual(len(losses), 8)
        self.assertTrue(all(abs(loss) < 1e3 for loss in losses), losses)
    setattr(ExamplesTest, f"test_{path.stem}_runs_to_its_end", test)


for example in EXAMPLES:
    add_test(example)


if __name__ == "__main__":
    unittest.main()
