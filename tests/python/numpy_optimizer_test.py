"""potluck.numpy.Optimizer over a library that is fake."""
import unittest

from fixture import WithFakeLibrary, numpy_or_skip

numpy = numpy_or_skip()

import potluck  # noqa: E402
import potluck.numpy  # noqa: E402


class NumpyTest(WithFakeLibrary):
    def make(self, parameters, **settings):
        for name, value in (("run", "poems"), ("progress", False),
                            ("target_batch", 4), ("lr", 0.5)):
            settings.setdefault(name, value)
        return potluck.numpy.Optimizer(parameters, **settings)

    def setUp(self):
        super().setUp()
        self.tree = {"0": {"weight": numpy.ones((2, 3)),
                           "bias": numpy.zeros(2)}, "rest": [numpy.ones(1)]}

    def test_names_are_paths_and_biases_do_not_decay(self):
        run = self.make(self.tree)
        self.assertEqual(self.run_inside["names"],
                         ["0.weight", "0.bias", "rest.0"])
        self.assertEqual(self.run_inside["decays"], [True, False, False])
        run.leave()

    def test_a_step_changes_the_parameters_when_the_batch_is_complete(self):
        run = self.make(self.tree)
        gradients = {"0": {"weight": numpy.full((2, 3), 2.0),
                           "bias": None}, "rest": [numpy.ones(1)]}
        run.step(gradients, samples=2, loss=1)
        self.assertEqual(run.parameters["0"]["weight"][0, 0], 1)
        run.step(gradients, samples=2, loss=1)
        self.assertEqual(run.parameters["0"]["weight"][0, 0], 0)
        self.assertEqual(run.parameters["0"]["bias"][0], 0)
        self.assertEqual(run.parameters["rest"][0].dtype, numpy.float32)

    def test_gradients_of_wrong_names_and_shapes_are_refused_by_name(self):
        run = self.make(self.tree)
        with self.assertRaisesRegex(potluck.Mistake, "of 0.wight, which"):
            run.step({"0": {"wight": numpy.ones(1)}}, samples=1, loss=1)
        with self.assertRaisesRegex(potluck.Mistake,
                                    "of 0.weight has the shape"):
            run.step({"0": {"weight": numpy.ones((3, 2))}}, samples=1, loss=1)

    def test_no_parameters_are_refused(self):
        with self.assertRaisesRegex(potluck.Mistake, "no parameter"):
            self.make({})


if __name__ == "__main__":
    unittest.main()
