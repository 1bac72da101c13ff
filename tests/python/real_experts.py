"""potluck.torch.MixtureOfExperts over the real library and experts of `potluck
expert`: answers and gradients are those of the experts' own networks.

Not a `_test.py`: tests/tools/python_runs_test.sh runs it where the library and
the program are built.
"""
import logging
import os
import pathlib
import signal
import struct
import tempfile
import threading
import sys
import time
import unittest

import torch
from torch.nn import functional as F

from runs import BUILD, PATIENCE, ROOT, Scene

sys.path.insert(0, str(ROOT / "tools" / "python"))

import potluck  # noqa: E402
import potluck.torch  # noqa: E402

HIDDEN, INNER = 6, 10
CALLER = dict(listen="127.0.0.1:0", port_mapping=False, identity="none")


def kept_expert(folder, uid):
    """Its network, as its host has saved it: models/experts/README.md."""
    data = (folder / f"{uid}.expert").read_bytes()
    data = data[data.index(b"PLKEXPRT"):]
    (count,) = struct.unpack_from("<Q", data, 40)
    values = torch.tensor(struct.unpack_from(f"<{count}f", data, 48))
    shapes = [(INNER, HIDDEN), (INNER,), (HIDDEN, INNER), (HIDDEN,), (HIDDEN,),
              (HIDDEN,)]
    tensors, first = [], 0
    for shape in shapes:
        size = torch.Size(shape).numel()
        tensors.append(values[first:first + size].view(shape))
        first += size
    assert first == count
    first, first_bias, second, second_bias, scale, shift = tensors

    def compute(x):
        inner = F.gelu(F.linear(x, first, first_bias), approximate="tanh")
        return F.layer_norm(x + F.linear(inner, second, second_bias),
                            (HIDDEN,), scale, shift, 1e-12)
    return compute


class WithExperts(unittest.TestCase):
    """Tests that share a host of four experts."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scene = Scene(cls.folder.name)
        cls.state = pathlib.Path(cls.folder.name) / "experts"
        cls.seed = cls.scene.hosts(
            ["--run=real", "--grid=1x2x2", f"--hidden={HIDDEN}",
             f"--inner={INNER}", "--learning-rate=0", "--save-every=1",
             f"--state-dir={cls.state}"], ["ffn.*.*.*"])

    @classmethod
    def tearDownClass(cls):
        cls.scene.end()
        cls.folder.cleanup()

    def connected(self, layer, **how):
        run = potluck.torch.call_experts(layer, **dict(
            CALLER, run="real", peers=[self.seed], **how))
        self.addCleanup(run.leave)
        return run


class AnswersTest(WithExperts):
    def experts(self):
        """The networks of all four, which have learnt nothing at the rate 0,
        once their host has saved them."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                return {(i, j): kept_expert(self.state, f"ffn.0.{i}.{j}")
                        for i in range(2) for j in range(2)}
            except FileNotFoundError:
                time.sleep(0.05)
        self.fail("The host has not saved its experts.")

    def test_answers_and_gradients_are_those_of_the_experts_themselves(self):
        torch.manual_seed(2)
        layer = potluck.torch.MixtureOfExperts(HIDDEN, grid=(2, 2), k=3)
        run = self.connected(layer)
        x = torch.randn(9, HIDDEN, requires_grad=True)
        y = layer(x)
        (y**3).sum().backward()
        found = [y.detach(), x.grad] + [each.grad.clone()
                                        for each in layer.parameters()]
        run.leave()
        layer.k = 4  # Each expert is called, and then saved.
        self.connected(layer)
        layer(x).sum().backward()
        experts = self.experts()
        layer.zero_grad()
        x.grad = None
        scores = [gate(x) for gate in layer.gates]
        score = torch.stack([scores[0][:, i] + scores[1][:, j]
                             for i, j in experts], 1)
        best, chosen = score.topk(3, 1)
        outputs = torch.stack([each(x) for each in experts.values()], 1)
        rows = torch.arange(len(x))[:, None]
        y = (best.softmax(1)[..., None] * outputs[rows, chosen]).sum(1)
        (y**3).sum().backward()
        expected = [y.detach(), x.grad] + [each.grad
                                           for each in layer.parameters()]
        for mine, theirs in zip(found, expected):
            gap = (mine - theirs).abs().max() / theirs.abs().max()
            self.assertLess(gap.item(), 1e-5)

    def test_many_samples_go_in_several_calls(self):
        layer = potluck.torch.MixtureOfExperts(HIDDEN, grid=(2, 2), k=1)
        self.connected(layer)
        with torch.no_grad():
            x = torch.randn(5000, HIDDEN)
            y = layer(x)
            self.assertTrue(torch.allclose(y[:3], layer(x[:3]), atol=1e-5))
            self.assertTrue((y.abs().sum(1) > 0).all())

    def test_threads_may_call_at_once(self):
        layer = potluck.torch.MixtureOfExperts(HIDDEN, grid=(2, 2), k=2)
        self.connected(layer)
        x = torch.randn(7, HIDDEN)
        found = [None] * 8

        def call(place):
            with torch.no_grad():
                found[place] = layer(x)
        threads = [threading.Thread(target=call, args=(place,))
                   for place in range(len(found))]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for each in found:
            self.assertTrue(torch.allclose(each, found[0], atol=1e-5))

    def test_a_layer_that_nobody_hosts_is_said_to_be_missing(self):
        layer = potluck.torch.MixtureOfExperts(HIDDEN, experts="nobody",
                                               wait=0.5)
        run = self.connected(layer)
        with self.assertRaisesRegex(potluck.TooFewExperts, "layer nobody.0"):
            layer(torch.ones(1, HIDDEN))
        with self.assertRaisesRegex(potluck.Mistake, "trains nothing"):
            run.follow(potluck.run.addresses([]))

    def test_experts_of_another_width_are_told(self):
        layer = potluck.torch.MixtureOfExperts(HIDDEN + 1, grid=(2, 2), k=1,
                                               wait=0.0)
        self.connected(layer)
        deadline = time.monotonic() + PATIENCE
        said = ""
        while "takes other samples" not in said:
            self.assertLess(time.monotonic(), deadline, said)
            with self.assertRaises(potluck.TooFewExperts) as told:
                layer(torch.ones(1, HIDDEN + 1))
            said = str(told.exception)


class StuckHostTest(WithExperts):
    def test_ctrl_c_is_heard_while_experts_compute(self):
        layer = potluck.torch.MixtureOfExperts(HIDDEN, grid=(2, 2), k=1)
        self.connected(layer)
        layer(torch.ones(1, HIDDEN))
        self.scene.processes["host-0"].send_signal(signal.SIGSTOP)
        timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            layer(torch.ones(1, HIDDEN))
        self.assertLess(time.monotonic() - start, layer.patience / 2)


if __name__ == "__main__":
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    os.environ["POTLUCK_LIBRARY"] = (os.environ.get("POTLUCK_LIBRARY")
                                     or str(BUILD / "lib"))
    unittest.main()
