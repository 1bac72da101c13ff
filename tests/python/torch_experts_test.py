"""potluck.torch.MixtureOfExperts over a library that is fake: whom it calls,
what it mixes, what gradients it gives, what it refuses."""
import copy
import unittest

from fixture import WithFakeLibrary, torch_or_skip

torch = torch_or_skip()
from torch import nn  # noqa: E402

import potluck  # noqa: E402
import potluck.torch  # noqa: E402


class ExpertsTest(WithFakeLibrary):
    def make(self, **how):
        torch.manual_seed(0)
        settings = dict(grid=(3, 2), k=2, wait=0.0)
        settings.update(how)
        return potluck.torch.MixtureOfExperts(4, **settings)

    def connected(self, **how):
        layer = self.make(**how)
        run = potluck.torch.call_experts(layer, run="poems", peers=["seed:1"])
        self.addCleanup(run.leave)
        return layer

    def expected(self, layer, x):
        """The same by arithmetic, over all experts that are alive."""
        scores = [gate(x) for gate in layer.gates]
        living = self.run_inside["alive"] or [
            (i, j) for i in range(3) for j in range(2)]
        score = torch.stack([scores[0][:, i] + scores[1][:, j]
                             for i, j in living], 1)
        best, chosen = score.topk(min(layer.k, len(living)), 1)
        factors = torch.tensor([1 + i / 2 + j / 4 for i, j in living])[chosen]
        return x * (best.softmax(1) * factors).sum(1, keepdim=True)

    def test_the_best_experts_are_mixed_by_the_softmax_of_their_scores(self):
        layer = self.connected()
        x = torch.randn(5, 4)
        self.assertTrue(torch.allclose(layer(x), self.expected(layer, x)))
        self.assertEqual(self.run_inside["settings"]["expert-grid"], "3x2")
        self.assertEqual(self.run_inside["names"], [])

    def test_gradients_are_those_of_the_same_arithmetic(self):
        layer = self.connected()
        gradients = []
        for compute in (layer, lambda x: self.expected(layer, x)):
            x = torch.linspace(-1, 1, 12).view(3, 4).requires_grad_()
            layer.zero_grad()
            (compute(x)**2).sum().backward()
            gradients.append([x.grad] + [each.grad.clone()
                                         for each in layer.parameters()])
        for mine, theirs in zip(*gradients):
            self.assertTrue(torch.allclose(mine, theirs, atol=1e-5))
        self.assertEqual(len(self.run_inside["taught"]), 6)

    def test_experts_learn_where_the_inputs_need_no_gradient(self):
        layer = self.connected()
        layer.requires_grad_(False)
        layer(torch.ones(2, 4)).sum().backward()
        self.assertEqual(len(self.run_inside["taught"]), 4)
        with torch.no_grad():
            self.assertFalse(layer(torch.ones(2, 4)).requires_grad)

    def test_fewer_living_experts_than_wanted_are_enough(self):
        layer = self.connected()
        self.run_inside["alive"] = [(2, 1)]
        x = torch.randn(3, 4)
        self.assertTrue(torch.allclose(layer(x), 2.25 * x))
        self.assertEqual(layer.balance_loss.item(), 1.0)

    def test_an_even_use_has_the_least_balance_loss(self):
        layer = self.connected(k=6)
        for gate in layer.gates:
            nn.init.zeros_(gate.weight)
            nn.init.zeros_(gate.bias)
        layer(torch.randn(3, 4))
        self.assertAlmostEqual(layer.balance_loss.item(), 1.0, places=5)

    def test_one_expert_for_all_has_the_most_balance_loss(self):
        layer = self.connected(k=1)
        with torch.no_grad():
            layer.gates[0].bias[0] = layer.gates[1].bias[0] = 50
        layer(torch.randn(3, 4))
        self.assertAlmostEqual(layer.balance_loss.item(), 2.5, places=4)

    def test_half_precision_and_more_dimensions_come_back_as_they_were(self):
        layer = self.connected().to(torch.bfloat16)
        x = torch.randn(2, 3, 4).to(torch.bfloat16).requires_grad_()
        y = layer(x)
        self.assertEqual((y.dtype, y.shape), (torch.bfloat16, x.shape))
        y.sum().backward()
        self.assertEqual(x.grad.dtype, torch.bfloat16)

    @unittest.skipUnless(torch.cuda.is_available(), "there is no GPU")
    def test_a_layer_on_a_gpu_gives_the_same(self):
        layer = self.connected()
        found = []
        for device in ("cpu", "cuda"):
            layer.to(device).zero_grad()
            x = torch.linspace(-1, 1, 12, device=device).view(3, 4)
            x.requires_grad_()
            y = layer(x)
            ((y**2).sum() + layer.balance_loss).backward()
            found.append([y, x.grad] + [each.grad.clone() for each
                                        in layer.parameters()])
        for mine, theirs in zip(*found):
            self.assertTrue(torch.allclose(mine, theirs.cpu(), atol=1e-5))

    def test_it_waits_for_experts_and_then_says_why_there_are_none(self):
        layer = self.connected(wait=5.0)
        self.run_inside["failing"] = 2
        with self.assertLogs("potluck", "WARNING") as told:
            layer(torch.ones(1, 4))
        self.assertEqual(len(told.output), 1)
        layer.wait = 0.0
        self.run_inside["alive"] = []
        with self.assertRaisesRegex(potluck.TooFewExperts, "Nobody announces"):
            layer(torch.ones(1, 4))

    def test_the_optimizer_connects_the_layers_of_its_module(self):
        model = nn.Sequential(nn.Linear(4, 4), self.make(), self.make())
        optimizer = potluck.torch.Optimizer(model, run="poems", target_batch=2,
                                            progress=False, lr=0.1)
        self.assertEqual(
            {name: value for name, value in self.run_inside["settings"].items()
             if "expert" in name or name == "call-packing"},
            {"experts": "ffn", "expert-grid": "3x2", "experts-per-sample": "2",
             "expert-values": "4", "call-packing": "float32"})
        self.assertIn("1.gates.0.weight", self.run_inside["names"])
        before = model[1].gates[0].weight.detach().clone()
        loss = model(torch.randn(2, 4)).square().mean()
        self.assertEqual(self.run_inside["layer"], 1)  # The last that called.
        loss.backward()
        optimizer.step(loss=loss, samples=2)
        self.assertEqual(optimizer.step_number, 1)
        self.assertFalse(torch.equal(model[1].gates[0].weight, before))

    def test_a_copy_is_in_no_run(self):
        layer = self.connected()
        layer(torch.ones(1, 4))
        with self.assertRaisesRegex(potluck.Mistake, "is in no run"):
            copy.deepcopy(layer)(torch.ones(1, 4))

    def test_mistakes_are_sentences(self):
        with self.assertRaisesRegex(potluck.Mistake, r"\(2, 3\)"):
            self.connected()(torch.ones(2, 3))
        with self.assertRaisesRegex(potluck.Mistake, "at least 1"):
            self.make(k=0)
        with self.assertRaisesRegex(potluck.Mistake, "experts_per_sample"):
            potluck.torch.call_experts(
                nn.Sequential(self.make(), self.make(k=1)), run="poems")
        with self.assertRaisesRegex(potluck.Mistake, "no MixtureOfExperts"):
            potluck.torch.call_experts(nn.Linear(1, 1), run="poems")


if __name__ == "__main__":
    unittest.main()
