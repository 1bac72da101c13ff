/// Experts that answer nonsense, late or never, and callers that ask wrongly.

#include "runtime/experts/expert_memory.hpp"
#include "tests/models/moe/fixture.hpp"

using namespace potluck;
using namespace potluck::test;
using namespace std::chrono_literals;

namespace {

/// The sentence of the exception that `f` throws; empty if there is none.
template <class Exception>
std::string sentence_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Exception& x) {
    return x.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("answers that are not finite or of another length are left out like "
          "failures") {
  torch::NoGradGuard none;
  lab l{2};
  auto x = torch::randn({5, 3});
  std::set<std::string> bad{"x.0.0", "x.1.1", "x.2.2", "x.0.2"};
  l.fail(bad, expert_pass::forward);
  auto wanted = l.mix(x).values;
  l.fail({}, expert_pass::forward);
  CHECK(!near(l.mix(x).values, wanted));
  for (auto kind : {fault::kind::not_finite, fault::kind::too_short}) {
    l.fail(bad, expert_pass::forward, {kind, {}});
    CHECK(near(l.mix(x).values, wanted));
  }
}

TEST_CASE("nonsense in the backward pass is left out of the gradient") {
  lab l{2};
  auto x = torch::randn({5, 3}).set_requires_grad(true);
  std::vector<at::Tensor> gradients;
  for (auto kind : {fault::kind::fails, fault::kind::not_finite,
                    fault::kind::too_short, fault::kind::none}) {
    l.fail({"x.0.0", "x.1.1", "x.2.2", "x.0.2"}, expert_pass::backward,
           {kind, {}});
    x.mutable_grad() = at::Tensor{};
    l.mix(x).values.sum().backward();
    gradients.push_back(x.grad());
  }
  CHECK(near(gradients[1], gradients[0]));
  CHECK(near(gradients[2], gradients[0]));
  CHECK(!near(gradients[3], gradients[0]));
}

TEST_CASE("who is late after k_min is not waited for, forward and backward") {
  lab l{4};
  l.options.k = 9;
  l.options.timeout_after_k_min = 50ms;
  auto x = torch::randn({5, 3}).set_requires_grad(true);
  l.fail({"x.1.1"}, expert_pass::forward);
  auto wanted = l.mix(x).values.detach();
  auto start = std::chrono::steady_clock::now();
  l.fail({"x.1.1"}, expert_pass::forward, {fault::kind::none, 1h});
  auto y = l.mix(x).values;
  CHECK(near(y, wanted));
  l.fail({"x.2.0"}, expert_pass::backward, {fault::kind::none, 1h});
  y.sum().backward();
  CHECK(std::chrono::steady_clock::now() - start < 15s);
  CHECK(x.grad().abs().sum().item<double>() > 0);
}

TEST_CASE("nobody is waited for longer than the patience") {
  lab l{4};
  l.options.patience = 100ms;
  l.network->set_faults([](const expert_call&) {
    return fault{fault::kind::none, 1h};
  });
  auto text = sentence_of<too_few_experts>([&] { l.mix(torch::ones({2, 3})); });
  CAPTURE(text);
  CHECK(contains(text, "2 of 2 samples"));
  CHECK(contains(text, "took too long"));
}

TEST_CASE("without enough answers for any sample there is an exception that "
          "says why, even where zeros are wanted") {
  lab l{6};
  auto x = torch::randn({3, 3}).set_requires_grad(true);
  auto refused = [&](const std::string& part) {
    for (auto zero : {false, true}) {
      l.options.zero_when_too_few = zero;
      auto text = sentence_of<too_few_experts>([&] { l.mix(x); });
      CAPTURE(text);
      CHECK(contains(text, "Layer x: 3 of 3 samples"));
      CHECK(contains(text, part));
    }
  };
  l.fail(uids_of({3, 3}), expert_pass::forward);
  refused("fails by chance");
  l.fail({}, expert_pass::forward);
  l.network->set_alive({"x.1.0"});
  l.options.k_min = 2;
  refused("Too few are announced");
  l.network->set_alive({});
  refused("Nobody announces one");
  // One alone suffices when one is asked for.
  l.network->set_alive({"x.1.0"});
  l.options.k_min = 1;
  l.options.zero_when_too_few = false;
  CHECK(near(l.mix(x).values.detach(), l.ask("x.1.0", x)));
}

TEST_CASE("one sample may be lost and the others not: it is zero and has no "
          "gradients, or there is an exception") {
  lab l{6};
  l.options.k = 1;
  l.options.zero_when_too_few = true;
  {
    torch::NoGradGuard none;
    for (auto& p : l.gating)
      p.zero_();
    l.gating[0].copy_(torch::eye(3) * 30);
    l.gating[2].copy_(torch::eye(3) * 30);
  }
  l.fail({"x.1.1"}, expert_pass::forward);
  auto x = torch::eye(3).set_requires_grad(true);
  auto y = l.mix(x).values;
  CHECK(y[1].abs().sum().item<double>() == 0);
  CHECK(near(y[0].detach(), l.ask("x.0.0", torch::eye(3))[0]));
  y.sum().backward();
  CHECK(x.grad()[1].abs().sum().item<double>() == 0);
  CHECK(x.grad()[0].abs().sum().item<double>() > 0);
  CHECK(l.network->asked().backward == 2);
  for (auto& p : l.gating)
    CHECK(at::isfinite(p.grad()).all().item<bool>());
  l.options.zero_when_too_few = false;
  auto text = sentence_of<too_few_experts>([&] { l.mix(torch::eye(3)); });
  CHECK(contains(text, "1 of 3 samples"));
}

TEST_CASE("an expert that fails again and again is passed over for the next "
          "best") {
  torch::NoGradGuard none;
  lab l{6};
  l.options.k = 1;
  l.remembers = true;
  auto x = torch::randn({1, 3});
  std::set<std::string> failing;
  l.network->set_faults([&](const expert_call& call) {
    failing.insert(call.uid);
    return fault{fault::kind::fails, {}};
  });
  for (unsigned i = 0; i < limits::expert_failures; ++i)
    CHECK_THROWS_AS(l.mix(x), too_few_experts);
  REQUIRE(failing.size() == 1);
  l.fail(failing, expert_pass::forward);
  auto living = uids_of({3, 3});
  living.erase(*failing.begin());
  auto y = l.mix(x).values;
  l.network->set_alive(living);
  l.remembers = false;
  CHECK(near(l.mix(x).values, y));
}

TEST_CASE("one expert alone throws when it fails, in both passes") {
  lab l{1};
  remote_expert expert{remote_expert_options{"x.0.1", 3, 2, 200ms}, l.network};
  auto x = torch::ones({2, 3});
  auto y = expert(x).sum();
  for (auto kind : {fault::kind::fails, fault::kind::not_finite}) {
    l.fail({"x.0.1"}, expert_pass::backward, {kind, {}});
    CHECK(!sentence_of<std::runtime_error>([&] {
             expert(x).sum().backward();
           }).empty());
    l.fail({"x.0.1"}, expert_pass::forward, {kind, {}});
    CHECK(!sentence_of<std::runtime_error>([&] { expert(x); }).empty());
  }
  l.fail({"x.0.1"}, expert_pass::backward, {fault::kind::none, 1h});
  CHECK(contains(sentence_of<std::runtime_error>([&] { y.backward(); }),
                 "took too long"));
}

TEST_CASE("wrong input is refused in one sentence before anybody is called") {
  lab l{1};
  auto refused = [&](const at::Tensor& x, const std::string& part) {
    auto text = sentence_of<std::invalid_argument>([&] { l.mix(x); });
    CAPTURE(text);
    CHECK(contains(text, part));
  };
  auto inf = std::numeric_limits<float>::infinity();
  refused({}, "samples of 3 values");
  refused(torch::ones({2, 4}), "not of 4");
  refused(torch::tensor(1.f), "samples of 3 values");
  refused(torch::ones({2, 3}, at::kDouble), ".to(torch::kFloat32)");
  refused(torch::ones({0, 3}), "at least one sample");
  refused(torch::full({1, 3}, inf), "not finite");
  l.gating.pop_back();
  refused(torch::ones({2, 3}), "gating of layer x");
  CHECK(l.network->asked().look_ups == 0);
  CHECK(l.network->asked().forward == 0);
}

TEST_CASE("wrong options are refused in one sentence") {
  auto refused = [](const std::function<void(moe_options&)>& spoil,
                    const std::string& part) {
    lab l{1};
    spoil(l.options);
    auto text = sentence_of<std::invalid_argument>(
        [&] { decentralized_moe(l.options, l.network); });
    CAPTURE(text);
    CHECK(contains(text, part));
  };
  refused([](auto& x) { x.k = 0; }, "k_min <= k");
  refused([](auto& x) { x.k_min = 5; }, "k_min <= k");
  refused([](auto& x) { x.k = 10; }, "lower k");
  refused([](auto& x) { x.grid = {}; }, "1 to 4 dimensions");
  refused([](auto& x) { x.grid = {3, 257}; }, "1 to 256");
  refused([](auto& x) { x.layer = "A b"; }, "");
  refused([](auto& x) { x.inputs = 0; }, "at least one value");
  refused([](auto& x) { x.outputs = 1 << 22; }, "16 MiB");
  refused([](auto& x) { x.patience = 0ms; }, "patience");
  refused([](auto& x) { x.timeout_after_k_min = -1ms; }, "negative");
  refused([](auto& x) { x.known = nullptr; }, "memory");
}

TEST_CASE("gradients that are not finite are not sent") {
  lab l{1};
  auto x = torch::ones({2, 3}).set_requires_grad(true);
  auto loss = l.mix(x).values.sum() * std::numeric_limits<float>::infinity();
  CHECK(contains(sentence_of<std::runtime_error>([&] { loss.backward(); }),
                 "not finite"));
  CHECK(l.network->asked().backward == 0);
}

TEST_CASE("second derivatives are refused") {
  lab l{1};
  auto x = torch::ones({2, 3}).set_requires_grad(true);
  auto y = l.mix(x).values.sum();
  CHECK(contains(sentence_of<std::runtime_error>(
                     [&] { torch::autograd::grad({y}, {x}, {}, true, true); }),
                 "once only"));
}
