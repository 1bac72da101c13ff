"""potluck.torch.Optimizer over a library that is fake: what it declares, what
it adds, what it refuses, and that PyTorch takes it for one of its own."""
import copy
import fnmatch
import unittest
from unittest import mock

from fixture import WithFakeLibrary, torch_or_skip

torch = torch_or_skip()
from torch import nn  # noqa: E402

import potluck  # noqa: E402
import potluck.torch  # noqa: E402


def two_layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4),
                         nn.Linear(4, 1))


class TorchTest(WithFakeLibrary):
    def make(self, model, **settings):
        for name, value in (("run", "poems"), ("progress", False),
                            ("target_batch", 4), ("lr", 0.1)):
            settings.setdefault(name, value)
        self.optimizer = potluck.torch.Optimizer(model, **settings)
        return self.optimizer

    def names(self):
        return self.run_inside["names"]


class DeclarationTest(TorchTest):
    def test_tensors_have_the_modules_names_and_shapes(self):
        self.make(two_layers())
        self.assertEqual(self.names(), ["0.weight", "0.bias", "2.weight",
                                        "2.bias", "3.weight", "3.bias"])
        self.assertEqual(self.run_inside["shapes"][0], [4, 3])

    def test_biases_and_norms_do_not_decay(self):
        self.make(two_layers())
        self.assertEqual(self.run_inside["decays"],
                         [True, False, False, False, True, False])

    def test_a_norm_of_two_dimensions_does_not_decay_either(self):
        model = nn.Module()
        model.norm = nn.LayerNorm((2, 2))
        model.body = nn.Linear(2, 2)
        self.make(model)
        self.assertEqual(self.run_inside["decays"],
                         [False, False, True, False])

    def test_a_group_without_decay_is_honoured(self):
        model = nn.Linear(3, 2)
        self.make([{"params": [model.bias], "weight_decay": 0.1},
                   {"params": [model.weight], "weight_decay": 0}],
                  module=model)
        self.assertEqual(self.names(), ["bias", "weight"])
        self.assertEqual(self.run_inside["decays"], [True, False])
        self.assertEqual(self.run_inside["settings"]["weight-decay"], "0.1")

    def test_frozen_tensors_are_left_out_and_shared_ones_counted_once(self):
        model = two_layers()
        model[0].weight.requires_grad_(False)
        model.other = nn.Linear(4, 1)
        model.other.weight = model[3].weight
        self.make(model)
        self.assertNotIn("0.weight", self.names())
        self.assertEqual(self.names().count("3.weight"), 1)
        self.assertNotIn("other.weight", self.names())

    def test_a_tensor_without_dimensions_can_be_trained(self):
        model = nn.Module()
        model.scale = nn.Parameter(torch.tensor(2.0))
        optimizer = self.make(model)
        self.assertEqual(self.run_inside["shapes"], [[]])
        (model.scale * 3).backward()
        optimizer.step(loss=1, samples=4)
        self.assertAlmostEqual(model.scale.item(), 2 - 0.3, places=6)

    def test_parameters_without_a_module_are_called_by_their_place(self):
        self.make(two_layers().parameters())
        self.assertEqual(self.names()[:2], ["parameter.0", "parameter.1"])

    def test_named_parameters_keep_their_names(self):
        self.make(two_layers().named_parameters())
        self.assertEqual(self.names()[0], "0.weight")

    def test_names_with_spaces_and_foreign_letters_are_written_in_ascii(self):
        self.make(nn.ModuleDict({"größe 1": nn.Linear(1, 1, bias=False)}))
        self.assertEqual(self.names(), ["gr%C3%B6%C3%9Fe%201.weight"])

    def test_what_cannot_be_trained_is_refused_by_name(self):
        complex_one = nn.Module()
        complex_one.phase = nn.Parameter(torch.zeros(2, dtype=torch.cfloat))
        empty = nn.Module()
        empty.table = nn.Parameter(torch.zeros(0, 3))
        nowhere = nn.Module()
        nowhere.ghost = nn.Parameter(torch.zeros(2, device="meta"))
        frozen = nn.Linear(2, 2).requires_grad_(False)
        for model, sentence in (
                (complex_one, "phase is complex"),
                (empty, "table has the shape"),
                (nowhere, "ghost is on the device meta"),
                (frozen, "has only frozen parameters"),
                (nn.ReLU(), "has no parameter"),
                (nn.LazyLinear(3), "weight has no shape yet"),
                ([torch.zeros(3, dtype=torch.long)], "parameter.0 holds"),
                ([3], "parameter.0 is int"),
                ([torch.ones(2, requires_grad=True) * 2], "is the result"),
                (torch.zeros(3), "are a single tensor"),
        ):
            with self.assertRaisesRegex((ValueError, TypeError), sentence):
                self.make(model)

    def test_groups_that_differ_in_more_than_decay_are_refused(self):
        model = nn.Linear(3, 2)
        with self.assertRaisesRegex(ValueError, "Group 1 has its own betas"):
            self.make([{"params": [model.weight]},
                       {"params": [model.bias], "betas": (0.9, 0.9)}])
        with self.assertRaisesRegex(ValueError, "weight decays of 0.1, 0.2"):
            self.make([{"params": [model.weight], "weight_decay": 0.1},
                       {"params": [model.bias], "weight_decay": 0.2}])

    def test_an_unknown_rule_for_buffers_is_refused(self):
        with self.assertRaisesRegex(potluck.Mistake, 'buffers="mean"'):
            self.make(two_layers(), buffers="mean")


class BuffersTest(TorchTest):
    def make(self, model, **settings):
        return super().make(model, buffers="average", **settings)

    def test_buffers_are_the_tensors_of_a_second_run(self):
        self.make(nn.BatchNorm1d(2))
        settings = self.run_inside["settings"]
        self.assertEqual(settings["run"], "poems-buffers")
        self.assertEqual(settings["learning-rate"], "1.0")
        self.assertEqual(settings["target-batch"], "4")
        self.assertEqual(self.names(), ["running_mean", "running_var"])

    def test_they_become_the_mean_of_what_was_contributed(self):
        model = nn.BatchNorm1d(2, momentum=1.0)
        optimizer = self.make(model, target_batch=4)
        for value in (2.0, 6.0):
            model(torch.full((2, 2), value)).sum().backward()
            optimizer.step(loss=1, samples=2)
        self.assertEqual(model.running_mean.tolist(), [4.0, 4.0])
        self.assertEqual(model.num_batches_tracked, 2)

    def test_a_module_without_buffers_is_refused(self):
        with self.assertRaisesRegex(potluck.Mistake, "has no buffer"):
            self.make(nn.Linear(2, 2))
        self.assertEqual(self.library.runs, {})

    def test_both_runs_are_left(self):
        self.make(nn.BatchNorm1d(2)).leave()
        self.assertEqual(set(self.library.left), {1, 2})


class StepTest(TorchTest):
    def loss_of(self, model):
        torch.manual_seed(1)
        return (model(torch.randn(2, 3))**2).mean()

    def expect(self, model, steps=1, rate=0.1):
        """Parameters after steps of plain gradient descent."""
        twin = copy.deepcopy(model)
        plain = torch.optim.SGD(twin.parameters(), lr=rate)
        for _ in range(steps):
            plain.zero_grad()
            self.loss_of(twin.float()).backward()
            plain.step()
        return [each.detach() for each in twin.parameters()]

    def check(self, model, expected, tolerance=1e-6):
        for (name, mine), theirs in zip(model.named_parameters(), expected):
            self.assertTrue(torch.allclose(mine.detach().float(),
                                           theirs.float(), atol=tolerance),
                            name)

    def train(self, model, optimizer, batches):
        for _ in range(batches):
            optimizer.zero_grad()
            loss = self.loss_of(model)
            loss.backward()
            optimizer.step(loss=loss, samples=2)

    def test_steps_are_those_of_plain_gradient_descent(self):
        model = two_layers()
        expected = self.expect(model, steps=3)
        self.train(model, self.make(model, target_batch=2), 3)
        self.check(model, expected)

    def test_nothing_changes_before_the_batch_is_complete(self):
        model = two_layers()
        before = [each.detach().clone() for each in model.parameters()]
        expected = self.expect(model)
        optimizer = self.make(model, target_batch=4)
        self.train(model, optimizer, 1)
        self.check(model, before, tolerance=0)
        self.train(model, optimizer, 1)
        self.check(model, expected)

    def test_half_precision_has_float32_masters(self):
        model = two_layers().to(torch.bfloat16)
        start = [each.detach().float() for each in model.parameters()]
        optimizer = self.make(model, target_batch=2, lr=1e-4)
        for _ in range(50):
            for parameter in model.parameters():
                parameter.grad = torch.ones_like(parameter)
            optimizer.step(loss=1, samples=2)
        # One such step alone would be lost in bfloat16.
        self.check(model, [each - 50e-4 for each in start], tolerance=4e-3)
        self.assertTrue(any((mine.detach().float() != theirs).any()
                            for mine, theirs in zip(model.parameters(),
                                                    start)))

    def test_tensors_that_are_not_in_c_order_are_trained(self):
        model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
        before = model.weight.detach().clone()
        optimizer = self.make(model, target_batch=1)
        gradient = torch.randn(4, 3, 3, 3)
        model.weight.grad = gradient.to(memory_format=torch.channels_last)
        optimizer.step(loss=1, samples=1)
        self.check(model, [before - 0.1 * gradient, model.bias.detach()])

    def test_autograd_notices_that_parameters_have_changed(self):
        model = two_layers()
        optimizer = self.make(model, target_batch=2)
        old = self.loss_of(model)
        self.train(model, optimizer, 1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace"):
            old.backward()

    def test_a_closure_is_called_and_its_loss_returned(self):
        model = two_layers()
        optimizer = self.make(model, samples_per_step=2)

        def closure():
            optimizer.zero_grad()
            loss = self.loss_of(model)
            loss.backward()
            return loss
        self.assertGreater(optimizer.step(closure).item(), 0)
        self.assertEqual(self.run_inside["own"], 2)

    def test_no_sync_hands_in_several_batches_at_once(self):
        model = two_layers()
        expected = self.expect(model)
        optimizer = self.make(model, target_batch=4)
        with optimizer.no_sync():
            (self.loss_of(model) / 2).backward()
            optimizer.step(loss=1, samples=2)
            optimizer.zero_grad()
        self.assertEqual(self.run_inside["own"], 0)
        (self.loss_of(model) / 2).backward()
        optimizer.step(loss=3, samples=2)
        self.check(model, expected)
        self.assertEqual(self.run_inside["own"], 4)

    def test_gradients_are_gathered_as_their_mean_over_samples(self):
        from potluck.torch.gathering import Gathering
        gathering = Gathering()
        gathering.add([torch.tensor([1.0]), None], 1, 2.0)
        gathering.add([torch.tensor([5.0]), torch.tensor([4.0])], 3, 6.0)
        self.assertEqual(gathering.loss, 5)
        self.assertEqual([each.tolist() for each in gathering.mean()],
                         [[4.0], [3.0]])

    def test_the_rate_can_be_read_and_not_changed(self):
        model = two_layers()
        optimizer = self.make(model)
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.1)
        schedule = potluck.torch.Schedule(optimizer)
        self.train(model, optimizer, 1)
        schedule.step()
        self.assertEqual(schedule.get_last_lr(), [0.1])
        theirs = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        self.train(model, optimizer, 1)
        theirs.step()
        with self.assertRaisesRegex(potluck.Mistake, "Schedule"):
            self.train(model, optimizer, 1)

    def test_clipping_before_the_step_is_honoured(self):
        model = two_layers()
        optimizer = self.make(model, target_batch=2)
        before = [each.detach().clone() for each in model.parameters()]
        self.loss_of(model).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        optimizer.step(loss=1, samples=2)
        moved = sum(((mine.detach() - theirs)**2).sum() for mine, theirs
                    in zip(model.parameters(), before))
        self.assertAlmostEqual(moved.sqrt().item(), 1e-4, places=6)

    def test_a_scaler_of_gradients_passes_loss_and_samples_on(self):
        model = two_layers()
        optimizer = self.make(model)
        scaler = torch.cuda.amp.GradScaler(enabled=False)
        scaler.scale(self.loss_of(model)).backward()
        scaler.step(optimizer, loss=1, samples=2)
        scaler.update()
        self.assertEqual(self.run_inside["own"], 2)

    def test_the_end_makes_steps_without_effect(self):
        model = two_layers()
        ends = []
        optimizer = self.make(model, target_batch=2, steps=2,
                              on_end=ends.append)
        self.train(model, optimizer, 5)
        self.assertTrue(optimizer.finished)
        self.assertEqual(len(ends), 1)
        self.assertEqual(self.run_inside["step"], 2)

    def test_evaluations_come_at_their_steps(self):
        model = two_layers()
        heard = []
        optimizer = self.make(model, target_batch=2, steps=5,
                              evaluate=lambda: {"accuracy": 0.5},
                              evaluate_every=2, on_evaluation=heard.append)
        self.train(model, optimizer, 5)
        self.assertEqual([each["step"] for each in heard], [2, 4, 5])
        self.assertEqual(heard[0]["accuracy"], 0.5)


class RatesTest(TorchTest):
    """Groups with learning rates of their own."""

    def rates(self):
        return self.run_inside["settings"].get("rates")

    def test_rates_of_groups_are_factors_of_the_runs(self):
        model = two_layers()
        optimizer = self.make(
            [{"params": model[0].parameters(), "lr": 0.05},
             {"params": [model[2].weight, *model[3].parameters()]},
             {"params": [model[2].bias], "lr": 0.1}], module=model, lr=0.1)
        self.assertEqual(self.rates(), "0.*:0.5")
        self.assertEqual(self.run_inside["settings"]["learning-rate"], "0.1")
        self.assertEqual([each["lr"] for each in optimizer.param_groups],
                         [0.05, 0.1, 0.1])
        self.assertEqual(
            potluck.torch.Schedule(optimizer).get_last_lr()[0], 0.05)
        for group in optimizer.param_groups:
            group["lr"] *= 0.5
        model(torch.ones(2, 3)).sum().backward()
        with self.assertRaisesRegex(potluck.Mistake, "group 0 was set to"):
            optimizer.step(loss=1, samples=2)

    def test_the_first_groups_rate_is_the_runs_where_there_is_no_other(self):
        model = two_layers()
        self.make([{"params": model[0].parameters(), "lr": 0.2},
                   {"params": model[2].parameters(), "lr": 0.2},
                   {"params": model[3].parameters(), "lr": 0.3}],
                  module=model, lr=None)
        self.assertEqual(self.run_inside["settings"]["learning-rate"], "0.2")
        self.assertEqual(self.rates(), f"3.*:{0.3 / 0.2!r}")

    def test_patterns_fit_no_other_groups_names(self):
        model = nn.ModuleDict({"head": two_layers(), "body": two_layers()})
        norms = [each for name, each in model.named_parameters()
                 if ".2." in name]
        biases = [each for name, each in model.named_parameters()
                  if name.endswith("bias") and ".2." not in name]
        rest = [model["body"][0].weight, model["body"][3].weight]
        with self.assertRaisesRegex(potluck.Mistake, "has no lr"):
            self.make([{"params": biases, "lr": 0.2},
                       {"params": rest}], module=model, lr=None)
        self.make([{"params": norms, "lr": 0.05}, {"params": biases, "lr": 0.2},
                   {"params": rest, "lr": 0.1}], module=model)
        found = dict(each.rsplit(":", 1) for each in self.rates().split(","))
        for name, parameter in model.named_parameters():
            rate = next((float(factor) for pattern, factor in found.items()
                         if fnmatch.fnmatchcase(name, pattern)), 1.0)
            expected = (0.5 if any(parameter is each for each in norms) else
                        2.0 if any(parameter is each for each in biases)
                        else 1.0)
            if name in self.names():
                self.assertEqual(rate, expected, name)

    def test_what_a_run_has_no_room_for_is_refused(self):
        model = nn.ParameterList(nn.Parameter(torch.zeros(1))
                                 for _ in range(200))
        with self.assertRaisesRegex(potluck.Mistake, "room for 255"):
            self.make([{"params": list(model)[::2], "lr": 0.5},
                       {"params": list(model)[1::2]}], module=model)
        with self.assertRaisesRegex(potluck.Mistake, "must be above 0"):
            self.make([{"params": list(model), "lr": 0.5}], lr=0.0)


@unittest.skipUnless(torch.cuda.is_available(), "there is no GPU")
class GpuTest(TorchTest):
    def test_steps_are_those_of_plain_gradient_descent(self):
        for kind, tolerance in ((torch.float32, 1e-5), (torch.float16, 1e-2),
                                (torch.bfloat16, 1e-1)):
            model = two_layers().cuda().to(kind)
            twin = copy.deepcopy(model).float()
            optimizer = self.make(model, target_batch=2)
            x = torch.ones(2, 3, device="cuda")
            for _ in range(3):
                optimizer.zero_grad()
                loss = (model(x.to(kind))**2).mean()
                loss.backward()
                optimizer.step(loss=loss, samples=2)
                twin.zero_grad()
                (twin(x)**2).mean().backward()
                with torch.no_grad():
                    for each in twin.parameters():
                        each.sub_(each.grad, alpha=0.1)
            for mine, theirs in zip(model.parameters(), twin.parameters()):
                self.assertTrue(torch.allclose(mine.float(), theirs,
                                               atol=tolerance))
            optimizer.leave()

    def test_small_batches_stay_on_the_gpu_until_enough_are_there(self):
        model = nn.Linear(1, 1, bias=False).cuda()
        before = model.weight.item()
        optimizer = self.make(model, target_batch=64)
        for gradient, own in ((1.0, 0), (2.0, 0), (6.0, 0), (3.0, 8)):
            model.weight.grad = torch.full((1, 1), gradient, device="cuda")
            optimizer.step(loss=1, samples=2)
            self.assertEqual(self.run_inside["own"], own)
        model.weight.grad = torch.full((1, 1), 3.0, device="cuda")
        optimizer.step(loss=1, samples=56)
        self.assertEqual(self.run_inside["step"], 1)
        mean = (2 * (1 + 2 + 6 + 3) + 56 * 3) / 64
        self.assertAlmostEqual(model.weight.item(), before - 0.1 * mean,
                               places=5)

    def test_a_scaler_of_gradients_unscales_them_first(self):
        model = nn.Linear(1, 1, bias=False).cuda()
        before = model.weight.item()
        optimizer = self.make(model, target_batch=2)
        scaler = torch.cuda.amp.GradScaler()
        scaler.scale(model(torch.ones(2, 1, device="cuda")).mean()).backward()
        scaler.step(optimizer, loss=1, samples=2)
        scaler.update()
        self.assertAlmostEqual(model.weight.item(), before - 0.1, places=5)

    def test_buffers_on_a_gpu_are_averaged(self):
        model = nn.BatchNorm1d(2, momentum=1.0).cuda()
        optimizer = self.make(model, target_batch=4, buffers="average")
        for value in (2.0, 6.0):
            model(torch.full((2, 2), value, device="cuda")).sum().backward()
            optimizer.step(loss=1, samples=2)
        self.assertEqual(model.running_mean.tolist(), [4.0, 4.0])


class RefusalTest(TorchTest):
    def setUp(self):
        super().setUp()
        self.model = two_layers()

    def backward(self):
        self.model(torch.ones(2, 3)).mean().backward()

    def test_samples_have_to_be_said(self):
        self.make(self.model)
        self.backward()
        with self.assertRaisesRegex(potluck.Mistake, r"step\(samples=...\)"):
            self.optimizer.step()

    def test_a_step_without_any_gradient_is_refused(self):
        self.make(self.model)
        with self.assertRaisesRegex(potluck.Mistake, "No parameter has"):
            self.optimizer.step(samples=1)

    def test_a_single_gradient_that_is_none_counts_as_zeros(self):
        before = self.model[0].weight.detach().clone()
        self.make(self.model, target_batch=1)
        self.backward()
        self.model[0].weight.grad = None
        self.optimizer.step(loss=1, samples=1)
        self.assertTrue(torch.equal(self.model[0].weight, before))
        self.assertEqual(self.run_inside["step"], 1)

    def test_a_sparse_gradient_is_refused_by_name(self):
        model = nn.Sequential(nn.Embedding(5, 2, sparse=True))
        self.make(model)
        model(torch.tensor([1])).sum().backward()
        with self.assertRaisesRegex(potluck.Mistake,
                                    "0.weight has a sparse gradient"):
            self.optimizer.step(loss=1, samples=1)

    def test_a_gradient_that_is_not_finite_is_refused_by_name(self):
        self.make(self.model)
        self.backward()
        self.model[3].bias.grad[0] = float("nan")
        with self.assertRaisesRegex(potluck.NotFinite, "3.bias"):
            self.optimizer.step(loss=1, samples=1)

    def test_a_loss_that_is_not_a_number_is_refused(self):
        self.make(self.model)
        self.backward()
        with self.assertRaisesRegex(potluck.NotFinite, "The loss is nan"):
            self.optimizer.step(loss=torch.tensor(float("nan")), samples=1)

    def test_a_parameter_added_later_is_refused_by_name(self):
        self.make(self.model)
        self.model.later = nn.Linear(1, 1, bias=False)
        self.backward()
        with self.assertRaisesRegex(potluck.Mistake, "later.weight was added"):
            self.optimizer.step(loss=1, samples=1)

    def test_a_group_added_later_is_refused(self):
        self.make(self.model)
        with self.assertRaisesRegex(potluck.Mistake, "after the run was"):
            self.optimizer.add_param_group({"params": [torch.zeros(1)]})

    def test_a_shape_that_changes_is_refused_by_name(self):
        self.make(self.model)
        self.backward()
        self.model[3].weight.data = torch.zeros(1, 5)
        self.model[3].weight.grad = torch.zeros(1, 5)
        with self.assertRaisesRegex(potluck.Mistake, "gradient of 3.weight"):
            self.optimizer.step(loss=1, samples=1)

    def test_values_changed_by_somebody_else_are_told_once(self):
        self.make(self.model)
        self.backward()
        with torch.no_grad():
            self.model[0].weight.mul_(2)
        with self.assertLogs("potluck", "WARNING") as told:
            self.optimizer.step(loss=1, samples=1)
            self.optimizer.step(loss=1, samples=1)
        self.assertEqual(len(told.output), 1)
        self.assertIn("0.weight was changed", told.output[0])

    def test_an_optimizer_cannot_be_copied(self):
        with self.assertRaisesRegex(TypeError, "state_dict"):
            copy.copy(self.make(self.model))


class StateTest(TorchTest):
    def test_a_state_goes_on_where_it_was(self):
        model = two_layers()
        optimizer = self.make(model, target_batch=1)
        for _ in range(3):
            model(torch.ones(1, 3)).sum().backward()
            optimizer.step(loss=1, samples=1)
        state, values = optimizer.state_dict(), model.state_dict()
        optimizer.leave()
        again = two_layers()
        again.load_state_dict(values)
        optimizer = self.make(again)
        optimizer.load_state_dict(state)
        self.assertEqual(optimizer.step_number, 3)
        self.assertEqual(self.run_inside["first"], [1.0] * 12)
        self.assertEqual(self.run_inside["second"], [2.0] * 12)
        self.assertTrue(torch.equal(again[0].weight, values["0.weight"]))

    def test_a_run_that_is_further_stays(self):
        model = two_layers()
        optimizer = self.make(model, target_batch=1)
        state = optimizer.state_dict()
        before = optimizer.run
        optimizer.load_state_dict(state)
        self.assertIs(optimizer.run, before)

    def test_the_state_of_another_optimizer_is_refused(self):
        model = two_layers()
        other = torch.optim.Adam(model.parameters())
        with self.assertRaisesRegex(potluck.Mistake, "not the state"):
            self.make(model).load_state_dict(other.state_dict())

    def test_the_state_of_another_model_is_refused_by_name(self):
        optimizer = self.make(two_layers())
        state = optimizer.state_dict()
        state["potluck"]["step"] = 5
        state["state"][0]["exp_avg"] = torch.zeros(9)
        with self.assertRaisesRegex(potluck.Mistake, "fits 0.weight"):
            optimizer.load_state_dict(state)


class SamplerTest(unittest.TestCase):
    def test_every_sample_comes_once_an_epoch_in_an_own_order(self):
        data = list(range(100))
        one, other = (potluck.torch.Sampler(data) for _ in range(2))
        first, second = list(one), list(one)
        self.assertEqual(sorted(first), data)
        self.assertNotEqual(first, second)
        self.assertNotEqual(first, list(other))

    def test_a_seed_gives_the_same_order_again(self):
        self.assertEqual(list(potluck.torch.Sampler([0] * 50, seed=3)),
                         list(potluck.torch.Sampler([0] * 50, seed=3)))

    def test_pytorchs_loader_takes_it(self):
        data = torch.arange(10)
        loader = torch.utils.data.DataLoader(
            data, batch_size=4, sampler=potluck.torch.Sampler(data))
        self.assertEqual(sum(len(batch) for batch in loader), 10)


class ProgressTest(unittest.TestCase):
    def test_without_tqdm_there_is_a_line(self):
        import io
        import sys
        from potluck.progress import Progress
        with mock.patch.dict(sys.modules, {"tqdm.auto": None}), \
                mock.patch("sys.stderr", io.StringIO()) as shown:
            Progress("poems").show(3, 10, 0.5, 100.0, 2)
        self.assertEqual(shown.getvalue(), "poems: step 3 of 10  loss 0.5  "
                         "100 samples/s  2 peers\n")


if __name__ == "__main__":
    unittest.main()
