"""potluck.torch over the real library, one peer or two in this machine: what
training gives, bad input, forks, exits and signals.

Not a `_test.py`: tests/tools/python_runs_test.sh runs it where the library is
built.
"""
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "tools" / "python"
sys.path.insert(0, str(PACKAGE))

import potluck  # noqa: E402
import potluck.torch  # noqa: E402
import potluck.numpy  # noqa: E402

ALONE = dict(listen="127.0.0.1:0", port_mapping=False, identity="none",
             progress=False, warmup_steps=0, schedule="constant",
             clip_norm=0.0)


def network():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.LayerNorm(8),
                         nn.Linear(8, 1))


def losses(model, optimizer, steps, ours=True):
    """Trains on numbers that are always the same."""
    chance = torch.Generator().manual_seed(5)
    found = []
    for _ in range(steps):
        x = torch.randn(16, 4, generator=chance)
        loss = ((model(x) - x.prod(1, keepdim=True))**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step(**({"loss": loss, "samples": 16} if ours else {}))
        found.append(loss.item())
    return found


def address_of(optimizer):
    """Where the peer listens, once it does."""
    while not optimizer.run.get("address"):
        time.sleep(0.01)
    return optimizer.run.get("address")


class TrainingTest(unittest.TestCase):
    names = iter(range(1000))

    def make(self, model, **settings):
        for name, value in dict(ALONE, run=f"test-{next(self.names)}",
                                target_batch=16).items():
            settings.setdefault(name, value)
        optimizer = potluck.torch.Optimizer(model, **settings)
        self.addCleanup(optimizer.leave)
        return optimizer

    def compare(self, theirs, **settings):
        """Loss by loss with PyTorch's optimizer, over a hundred steps."""
        expected = losses(*theirs, 100, ours=False)
        model = network()
        with self.make(model, **settings) as optimizer:
            found = losses(model, optimizer, 100)
        for step, (mine, other) in enumerate(zip(found, expected)):
            self.assertLess(abs(mine - other), 1e-4 * abs(other) + 1e-7, step)
        parameters = zip(model.parameters(), theirs[0].parameters())
        for mine, other in parameters:
            gap = (mine - other).norm() / (other.norm() + 1e-3)
            self.assertLess(gap.item(), 1e-4)

    def test_sgd_learns_as_pytorchs(self):
        model = network()
        self.compare((model, torch.optim.SGD(model.parameters(), lr=0.05,
                                             momentum=0.9)),
                     optimizer="sgd", momentum=0.9, lr=0.05, weight_decay=0.0)

    def test_adam_learns_as_pytorchs(self):
        model = network()
        self.compare((model, torch.optim.Adam(model.parameters(), lr=0.01,
                                              eps=1e-8)),
                     optimizer="adam", lr=0.01, eps=1e-8, weight_decay=0.0)

    def test_adamw_learns_as_pytorchs_with_groups_without_decay(self):
        model = network()
        decayed = [each for each in model.parameters() if each.dim() > 1]
        rest = [each for each in model.parameters() if each.dim() < 2]
        self.compare((model, torch.optim.AdamW(
            [{"params": decayed, "weight_decay": 0.1},
             {"params": rest, "weight_decay": 0.0}], lr=0.01, eps=1e-8)),
            optimizer="adamw", lr=0.01, eps=1e-8, weight_decay=0.1)

    def test_groups_with_rates_of_their_own_learn_as_pytorchs(self):
        def groups(model):
            return [{"params": model[0].parameters(), "lr": 0.05},
                    {"params": [*model[2].parameters(),
                                *model[3].parameters()]}]
        model = network()
        expected = losses(model, torch.optim.SGD(groups(model), lr=0.01,
                                                 momentum=0.9), 100, ours=False)
        model = network()
        optimizer = self.make(groups(model), module=model, optimizer="sgd",
                              momentum=0.9, lr=0.01, weight_decay=0.0)
        self.assertEqual(optimizer.run.get("rates"), "0.*:5")
        for mine, other in zip(losses(model, optimizer, 100), expected):
            self.assertLess(abs(mine - other), 1e-4 * abs(other) + 1e-7)

    def test_the_state_goes_on_after_a_restart(self):
        model = network()
        with self.make(model, lr=0.01) as optimizer:
            losses(model, optimizer, 5)
            state, values = optimizer.state_dict(), model.state_dict()
            digest = optimizer.digest
        again = network()
        again.load_state_dict(values)
        other = self.make(again, lr=0.01)
        other.load_state_dict(state)
        self.assertEqual(other.step_number, 5)
        self.assertEqual(other.digest, digest)

    def test_a_checkpoint_goes_on_after_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kept.checkpoint")
            model = network()
            with self.make(model, lr=0.01, run="kept",
                           checkpoint=path) as optimizer:
                losses(model, optimizer, 5)
                digest = optimizer.digest
            self.assertTrue(os.path.exists(path))
            again = network()
            with self.make(again, lr=0.01, run="kept",
                           checkpoint=path) as other:
                self.assertEqual(other.digest, digest)
                self.assertTrue(torch.equal(again[0].weight, model[0].weight))

    def test_buffers_are_averaged_by_a_run_of_their_own(self):
        model = nn.BatchNorm1d(2, momentum=1.0)
        optimizer = self.make(model, buffers="average", target_batch=4,
                              lr=0.01)
        for value in (2.0, 6.0):
            model(torch.full((2, 2), value)).sum().backward()
            optimizer.step(loss=1.0, samples=2)
        self.assertEqual(model.running_mean.tolist(), [4.0, 4.0])
        self.assertEqual(optimizer.step_number, 1)

    def test_bad_batches_are_refused_and_training_goes_on(self):
        model = network()
        optimizer = self.make(model, lr=0.01)
        model(torch.ones(16, 4)).sum().backward()
        model[3].weight.grad[0, 0] = float("inf")
        with self.assertRaisesRegex(potluck.NotFinite, "3.weight"):
            optimizer.step(loss=1.0, samples=16)
        with self.assertRaisesRegex(potluck.NotFinite, "loss is nan"):
            optimizer.step(loss=float("nan"), samples=16)
        losses(model, optimizer, 1)
        self.assertEqual(optimizer.step_number, 1)

    def test_mistakes_are_sentences(self):
        for settings, words in ((dict(taget_batch=3), "taget-batch"),
                                (dict(target_batch="many"), "target-batch"),
                                (dict(optimizer="adma"), "optimizer must be"),
                                (dict(peers=["nowhere"]), "nowhere")):
            with self.assertRaisesRegex(potluck.Error, words):
                self.make(network(), **settings)

    def test_one_process_is_not_twice_in_a_run(self):
        self.make(network(), run="twice")
        with self.assertRaisesRegex(potluck.Mistake, "twice"):
            self.make(network(), run="twice")

    def test_another_model_in_one_run_is_refused_by_name(self):
        where = address_of(self.make(network(), run="same"))
        child = python(f"""
            import torch
            model = torch.nn.Sequential(torch.nn.Linear(4, 9))
            potluck.torch.Optimizer(model, run="same", target_batch=16,
                                    peers=["{where}"], **ALONE)
            """)
        self.assertNotEqual(child.returncode, 0)
        self.assertRegex(child.stderr, "0.weight")

    def test_a_second_peer_gets_the_firsts_values(self):
        first = self.make(network(), run="values", lr=0.01)
        where = address_of(first)
        child = python(f"""
            import torch
            model = torch.nn.Sequential(
                torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.LayerNorm(8),
                torch.nn.Linear(8, 1))
            optimizer = potluck.torch.Optimizer(
                model, run="values", target_batch=16, lr=0.01,
                peers=["{where}"], **ALONE)
            print(optimizer.digest, model[0].weight.sum().item())
            """)
        self.assertEqual(child.returncode, 0, child.stderr)
        digest, total = child.stdout.split()
        self.assertEqual(digest, first.digest)
        self.assertEqual(float(total), network()[0].weight.sum().item())

    def test_a_forked_child_may_live_but_not_train(self):
        model = network()
        optimizer = self.make(model, lr=0.01)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                # No backward: newer PyTorch refuses that itself after a fork.
                for x in model.parameters():
                    x.grad = torch.zeros_like(x)
                optimizer.step(loss=torch.zeros(()), samples=16)
            except potluck.Mistake as mistake:
                code = 0 if "forked" in str(mistake) else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        losses(model, optimizer, 1)

    def test_workers_of_a_loader_leave_the_run_alone(self):
        model = network()
        optimizer = self.make(model, lr=0.01)
        data = torch.utils.data.TensorDataset(torch.randn(32, 4))
        loader = torch.utils.data.DataLoader(
            data, batch_size=16, num_workers=2,
            sampler=potluck.torch.Sampler(data))
        for (x,) in loader:
            model(x).mean().backward()
            optimizer.step(loss=0.0, samples=len(x))
        self.assertEqual(optimizer.step_number, 2)


class ProcessTest(unittest.TestCase):
    def test_a_program_that_exits_without_leaving_has_no_trouble(self):
        for end in ("pass", "raise ValueError('mine')", "sys.exit(3)"):
            child = python(f"""
                model = torch.nn.Linear(2, 2)
                optimizer = potluck.torch.Optimizer(model, run="exits",
                                                    target_batch=4, **ALONE)
                model(torch.ones(4, 2)).sum().backward()
                optimizer.step(loss=1.0, samples=4)
                print(optimizer.step_number, flush=True)
                {end}
                """)
            self.assertEqual(child.stdout, "1\n", child.stderr)
            self.assertEqual(child.returncode, {"p": 0, "r": 1, "s": 3}[end[0]],
                             child.stderr)

    def test_ctrl_c_is_heard_while_a_peer_waits(self):
        child = subprocess.Popen(
            [sys.executable, "-c", program("""
                print("waits", flush=True)
                potluck.torch.Optimizer(torch.nn.Linear(2, 2), run="waits",
                                        peers=["127.0.0.1:9"], **ALONE)
                """)], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), "waits\n")
        # Heard at once or after a while: it ends soon after either.
        time.sleep(0.5)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
        self.assertIn("KeyboardInterrupt", said)
        self.assertLess(time.monotonic() - start, 5)

    def test_two_peers_with_steps_of_a_millisecond_train_together(self):
        with tempfile.TemporaryDirectory() as folder:
            first = Unpaced(folder, "first", [])
            self.addCleanup(first.end)
            second = Unpaced(folder, "second", [first.address])
            self.addCleanup(second.end)
            peers = first, second
            for peer in peers:
                self.assertTrue(peer.await_file("together"), peer.said())
            (pathlib.Path(folder) / "enough").touch()
            for peer in peers:
                self.assertEqual(peer.process.wait(60), 0, peer.said())
            ours, theirs = (peer.digests() for peer in peers)
        common = ours.keys() & theirs.keys()
        self.assertGreaterEqual(len(common), 20)
        for step in common:
            self.assertEqual(ours[step], theirs[step], step)

    def test_libraries_are_loaded_in_any_order(self):
        for order in ("ssl, numpy, torch, potluck",
                      "potluck, torch, numpy, ssl",
                      "numpy, potluck, ssl, torch"):
            child = subprocess.run(
                [sys.executable, "-c",
                 f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
                 f"import {order}\npotluck.version()\n"
                 "ssl.create_default_context()\n"
                 "print(torch.ones(3, 3).matmul(torch.ones(3, 3)).sum())"],
                capture_output=True, text=True)
            self.assertEqual(child.stdout, "tensor(27.)\n", child.stderr)

    def test_a_program_may_spawn_others_that_open_runs(self):
        child = python("""
            import multiprocessing
            model = torch.nn.Linear(2, 2)
            with potluck.torch.Optimizer(model, run="parent", target_batch=4,
                                         **ALONE):
                context = multiprocessing.get_context("spawn")
                process = context.Process(target=print, args=("child",))
                process.start()
                process.join()
                print(process.exitcode)
            """)
        self.assertEqual(child.stdout, "child\n0\n", child.stderr)


class Unpaced:
    """A peer that trains a tiny model as fast as it can, from its start until
    a file `enough` is there. Files of its folder say where it listens, its
    digests, and that it brought samples to 20 steps beside another."""

    def __init__(self, folder, name, known):
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir()
        text = program(f"""
            import pathlib, time
            torch.set_num_threads(1)
            folder = pathlib.Path({str(self.folder)!r})
            together, digests = [], []

            def hear(event):
                digests.append("%d %s" % (event["step"], event["digest"]))
                if event["peers"] == 2 and event["share"] > 0:
                    together.append(event["step"])
                    if len(together) == 20:
                        (folder / "together").touch()

            model = torch.nn.Linear(2, 2)
            with potluck.torch.Optimizer(
                    model, run="unpaced", target_batch=16, steps=10**6,
                    lr=0.001, peers={known!r}, on_step=hear,
                    **ALONE) as optimizer:
                while not optimizer.run.get("address"):
                    time.sleep(0.01)
                (folder / "new").write_text(optimizer.run.get("address"))
                (folder / "new").rename(folder / "address")
                while not (folder.parent / "enough").exists():
                    model(torch.randn(8, 2)).pow(2).mean().backward()
                    optimizer.step(loss=1.0, samples=8)
                    optimizer.zero_grad()
            (folder / "digests").write_text("\\n".join(digests))
            """)
        with open(self.folder / "out", "wb") as out:
            self.process = subprocess.Popen([sys.executable, "-c", text],
                                            stdout=out, stderr=out)
        self.address = (self.folder / "address").read_text() \
            if self.await_file("address") else ""

    def await_file(self, name):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            if (self.folder / name).exists():
                return True
            time.sleep(0.05)
        return (self.folder / name).exists()

    def digests(self):
        return dict(line.split() for line in
                    (self.folder / "digests").read_text().splitlines())

    def said(self):
        return (self.folder / "out").read_text(errors="replace")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def program(text):
    return (f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
            f"import torch, potluck.torch\nALONE = {ALONE!r}\n"
            "if __name__ == '__main__':\n"
            + textwrap.indent(textwrap.dedent(text), "    "))


def python(text):
    """The program in a process of its own, when it has ended."""
    return subprocess.run([sys.executable, "-c", program(text)],
                          capture_output=True, text=True, timeout=180)


if __name__ == "__main__":
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    os.environ["POTLUCK_LIBRARY"] = os.environ.get("POTLUCK_LIBRARY") or str(
        pathlib.Path(os.environ.get("POTLUCK_BUILD_DIR", ROOT / "build"))
        / "lib")
    unittest.main()
