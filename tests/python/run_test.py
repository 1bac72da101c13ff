"""potluck.Run: settings, events, hooks, mistakes, the end."""
import ctypes
import gc
import os
import pathlib
import pickle
import re
import sys
import unittest
from unittest import mock

from fixture import ROOT, WithFakeLibrary

import potluck
from potluck import _library
from potluck.run import addresses


class RunTest(WithFakeLibrary):
    def setUp(self):
        super().setUp()
        self.values = (ctypes.c_float * 2)(1, 2)
        self.gradient = (ctypes.c_float * 2)(1, 1)
        self.there = addresses([ctypes.addressof(self.values)])

    def make(self, **settings):
        settings.setdefault("run", "poems")
        return potluck.Run([potluck.Tensor("w", (2,), True,
                                           ctypes.addressof(self.values))],
                           progress=False, **settings)

    def add(self, run, samples=4, loss=1.0):
        run.add(addresses([ctypes.addressof(self.gradient)]), samples, loss)

    def test_settings_reach_the_library_by_their_own_names(self):
        run = self.make(peers=["a:1", "b:2"], lr=3e-4, target_batch=64)
        self.assertEqual(self.run_inside["peers"], ["a:1", "b:2"])
        self.assertEqual(self.run_inside["settings"]["learning-rate"],
                         "0.0003")
        self.assertEqual(run.name, "poems")
        self.assertEqual(self.run_inside["settings"]["target-batch"], "64")

    def test_artifacts_reach_the_library_by_name_and_file(self):
        run = self.make(artifacts={"words": pathlib.Path("words.txt")})
        self.assertEqual(run.name, "poems")
        self.assertEqual(self.run_inside["settings"]["artifact"],
                         "words=words.txt")

    def test_the_environment_names_peers_where_the_program_does_not(self):
        with mock.patch.dict(os.environ, {"POTLUCK_PEERS": "a:1, b:2"}):
            run = self.make()
            self.assertEqual(self.run_inside["peers"], ["a:1", "b:2"])
            run = self.make(peers="c:3")
            self.assertEqual(run.name, "poems")
            self.assertEqual(self.run_inside["peers"], ["c:3"])

    def test_further_runs_of_a_process_listen_at_further_ports(self):
        with mock.patch.dict(os.environ, {"POTLUCK_LISTEN": "0.0.0.0:7000"}):
            first = self.make().open()
            self.assertEqual(self.run_inside["settings"]["listen"],
                             "0.0.0.0:7000")
            second = self.make(run="other")
            self.assertEqual(self.run_inside["settings"]["listen"],
                             "0.0.0.0:7001")
            second.leave()
            first.leave()

    def test_an_unknown_setting_is_a_mistake_and_the_handle_is_given_back(self):
        with self.assertRaisesRegex(potluck.Mistake, "'taget-batch' is not"):
            self.make(taget_batch=3)
        self.assertEqual(self.library.runs, {})

    def test_a_run_without_a_name_is_refused(self):
        with self.assertRaisesRegex(potluck.Mistake, "Say which run"):
            self.make(run=None)

    def test_parameters_change_when_the_batch_is_complete_and_not_before(self):
        run = self.make(target_batch=8, lr=0.5).open()
        self.assertTrue(run.follow(self.there))
        self.add(run)
        self.assertFalse(run.follow(self.there))
        self.assertEqual(list(self.values), [1, 2])
        self.add(run)
        self.assertTrue(run.follow(self.there))
        self.assertEqual(list(self.values), [0.5, 1.5])

    def test_follow_waits_until_the_run_goes_on(self):
        run = self.make().open()
        self.run_inside["stuck"] = 3
        self.assertTrue(run.follow(self.there))
        self.assertEqual(self.run_inside["stuck"], 0)

    def test_hooks_hear_of_steps_and_of_the_end_once(self):
        steps, ends = [], []
        run = self.make(target_batch=4, steps=2, on_step=steps.append,
                        on_end=ends.append).open()
        run.follow(self.there)
        for _ in range(2):
            self.add(run)
            run.follow(self.there)
        run.leave()
        self.assertEqual([each["step"] for each in steps], [1, 2])
        self.assertEqual([each["event"] for each in ends], ["finished"])
        self.assertTrue(run.over)

    def test_an_event_longer_than_the_buffer_is_heard_whole(self):
        heard = []
        run = self.make(on_event=heard.append).open()
        self.run_inside["events"].append({"event": "mapping",
                                          "message": "x" * 100000})
        run.follow(self.there)
        self.assertEqual(len(heard[0]["message"]), 100000)

    def test_what_is_wrong_again_and_again_is_a_warning_once(self):
        run = self.make().open()
        for _ in range(3):
            self.run_inside["events"].append(
                {"event": "fault", "what": "alone", "detail": "nobody came"})
        with self.assertLogs("potluck", "WARNING") as told:
            run.follow(self.there)
        self.assertEqual(told.output,
                         ["WARNING:potluck:poems: alone: nobody came"])

    def test_a_loss_that_is_not_a_number_is_left_out(self):
        run = self.make().open()
        with self.assertRaisesRegex(potluck.NotFinite, "The loss is nan"):
            self.add(run, loss=float("nan"))
        self.assertEqual(self.run_inside["own"], 0)

    def test_a_gradient_that_is_not_finite_names_its_tensor(self):
        run = self.make().open()
        self.gradient[1] = float("inf")
        with self.assertRaisesRegex(potluck.NotFinite, "^w has a gradient"):
            self.add(run)

    def test_no_samples_are_a_mistake(self):
        with self.assertRaisesRegex(potluck.Mistake, "A batch of 0 samples"):
            self.add(self.make().open(), samples=0)

    def test_a_process_cannot_be_in_one_run_twice(self):
        first = self.make().open()
        with self.assertRaisesRegex(potluck.Mistake, "in the run poems"):
            self.make().open()
        first.leave()
        self.assertTrue(self.make().open().open)

    def test_a_cell_that_runs_again_leaves_the_run_before(self):
        first = self.make().open()
        with mock.patch.dict(sys.modules, ipykernel=mock.Mock()):
            self.make().open()
        self.assertTrue(first.left)

    def test_the_with_statement_leaves(self):
        with self.make().open() as run:
            pass
        self.assertTrue(run.left)
        self.assertIn(1, self.library.left)
        with self.assertRaisesRegex(potluck.Mistake, "was left"):
            self.add(run)

    def test_a_run_that_nobody_holds_has_left(self):
        run = self.make().open()
        del run
        gc.collect()
        self.assertIn(1, self.library.left)
        self.assertEqual(self.library.runs, {})

    def test_a_forked_child_leaves_its_parents_run_alone(self):
        run = self.make().open()
        child = os.fork()
        if child == 0:
            run.leave()
            os._exit(len(self.library.left))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_a_run_cannot_be_sent_elsewhere(self):
        with self.assertRaisesRegex(TypeError, "open one there"):
            pickle.dumps(self.make())


class LibraryTest(unittest.TestCase):
    def setUp(self):
        self._kept = _library._loaded
        _library._loaded = None

    def tearDown(self):
        _library._loaded = self._kept

    def test_a_library_that_is_not_there_is_named(self):
        with mock.patch.dict(os.environ, POTLUCK_LIBRARY="/nowhere/lib.so"):
            with self.assertRaisesRegex(potluck.Failed,
                                        "at /nowhere/lib.so, which"):
                _library.library()

    def test_another_file_is_no_library(self):
        with mock.patch.dict(os.environ, POTLUCK_LIBRARY=__file__):
            with self.assertRaisesRegex(potluck.Failed, "cannot be loaded"):
                _library.library()

    def test_functions_and_constants_are_those_of_the_header(self):
        header = ROOT / "tools" / "library" / "potluck.h"
        if not header.exists():
            self.skipTest("there is no header")
        text = header.read_text()
        for name, _, arguments in _library._FUNCTIONS:
            # Where it is declared, not where it is spoken of.
            start = re.search(rf"POTLUCK_API [^;(]*\b{name}\(", text).end()
            inside = text[start:text.index(")", start)]
            count = 0 if inside.strip() == "void" else inside.count(",") + 1
            self.assertEqual(count, len(arguments), name)
        self.assertIn(f"#define POTLUCK_INTERFACE {_library.INTERFACE}\n",
                      text)
        for name in ("OK", "SAME", "TIMEOUT", "OVER"):
            self.assertIn(f"#define POTLUCK_{name} {getattr(_library, name)}\n",
                          text)
        for name in ("MISTAKE", "NO_RUN", "NOT_FINITE", "FAILED", "FORKED"):
            self.assertIn(
                f"#define POTLUCK_{name} ({getattr(_library, name)})\n", text)


if __name__ == "__main__":
    unittest.main()
