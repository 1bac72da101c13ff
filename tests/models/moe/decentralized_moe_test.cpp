/// The layer as a module: as torch::nn::Linear would be used, and by many
/// threads.

#include "tests/models/moe/fixture.hpp"

using namespace potluck;
using namespace potluck::test;
using namespace std::chrono_literals;

TEST_CASE("it stands in a Sequential, and a network learns through it although "
          "experts are late and fail") {
  const std::uint64_t seed = 11;
  CAPTURE(seed);
  memory_experts::settings how;
  how.mean_delay = 1ms;
  how.failing = 0.1;
  how.learning_rate = 0.05f;
  lab l{seed, how};
  l.options.outputs = 2;
  l.options.timeout_after_k_min = 2s;
  l.options.zero_when_too_few = true;
  torch::nn::Sequential model(torch::nn::Linear(4, 3),
                              decentralized_moe(l.options, l.network),
                              torch::nn::Linear(2, 1));
  CHECK(model->parameters().size() == 2 + 4 + 2);
  torch::optim::Adam optimizer(model->parameters(), 0.02);
  auto x = torch::randn({32, 4});
  auto wanted = (x.select(1, 0) - x.select(1, 1)).tanh().unsqueeze(1);
  const int steps = 150;
  const int end = 30; // Failures make single losses jump.
  double first = 0;
  double last = 0;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model->forward(x), wanted);
    loss.backward();
    optimizer.step();
    if (step < end)
      first += loss.item<double>();
    if (step >= steps - end)
      last += loss.item<double>();
  }
  CAPTURE(first);
  CAPTURE(last);
  CHECK(last < first / 2);
  std::uint64_t updates = 0;
  for (const auto& uid : uids_of({3, 3}))
    updates += l.network->updates(uid);
  CHECK(updates > steps);
}

TEST_CASE("leading dimensions are kept") {
  lab l{1};
  decentralized_moe layer{l.options, l.network};
  auto x = torch::randn({2, 5, 3});
  auto y = layer(x);
  CHECK(y.sizes() == std::vector<std::int64_t>{2, 5, 2});
  CHECK(near(y.view({10, 2}), layer(x.view({10, 3}))));
  CHECK(layer(torch::randn(3)).sizes() == std::vector<std::int64_t>{2});
  auto both = layer->mix(x);
  CHECK(near(both.values, y));
  CHECK(both.balance_loss.dim() == 0);
}

TEST_CASE("calls travel as the options say, of both passes") {
  lab l{1};
  std::mutex mutex;
  std::map<std::pair<expert_pass, packing>, int> calls;
  l.network->set_faults([&](const expert_call& x) {
    std::lock_guard<std::mutex> guard{mutex};
    ++calls[{x.pass, x.packing}];
    return fault{};
  });
  auto x = torch::randn({4, 3}).set_requires_grad(true);
  l.options.call_packing = packing::float16;
  l.mix(x).values.sum().backward();
  remote_expert_options how{"x.1.0", 3, 2};
  how.call_packing = packing::int8;
  remote_expert{how, l.network}(x).sum().backward();
  CHECK(calls.size() == 4);
  CHECK(calls.at({expert_pass::forward, packing::float16}) > 1);
  CHECK(calls.at({expert_pass::backward, packing::float16}) > 1);
  CHECK(calls.at({expert_pass::forward, packing::int8}) == 1);
  CHECK(calls.at({expert_pass::backward, packing::int8}) == 1);
}

TEST_CASE("a layer's name may have coordinates of its own") {
  torch::NoGradGuard none;
  lab l{1};
  l.options.layer = "x.1";
  l.options.grid = {3};
  l.options.k = 1;
  decentralized_moe layer{l.options, l.network};
  layer->named_parameters()["weight0"].zero_();
  layer->named_parameters()["bias0"].copy_(torch::tensor({0.f, 9.f, 0.f}));
  auto x = torch::randn({4, 3});
  CHECK(near(layer(x), l.ask("x.1.1", x)));
}

TEST_CASE("its parameters have names and shapes, and a clone has its own") {
  lab l{1};
  decentralized_moe layer{l.options, l.network};
  auto named = layer->named_parameters();
  CHECK(named.size() == 4);
  CHECK(named["weight0"].sizes() == std::vector<std::int64_t>{3, 3});
  CHECK(named["bias1"].sizes() == std::vector<std::int64_t>{3});
  auto copy = std::dynamic_pointer_cast<decentralized_moeImpl>(layer->clone());
  auto x = torch::randn({4, 3});
  CHECK(near(copy->forward(x), layer(x)));
  {
    torch::NoGradGuard none;
    copy->named_parameters()["weight0"].zero_();
    copy->named_parameters()["bias0"].copy_(torch::tensor({-9.f, 0.f, 9.f}));
  }
  CHECK(!near(copy->forward(x), layer(x)));
}

TEST_CASE("experts learn although no gradient of the input is wanted; without "
          "gradients nobody does") {
  memory_experts::settings how;
  how.learning_rate = 0.1f;
  lab l{1, how};
  auto x = torch::randn({4, 3});
  auto before = l.ask("x.0.0", x);
  remote_expert expert{remote_expert_options{"x.0.0", 3, 2}, l.network};
  expert(x).sum().backward();
  CHECK(l.network->updates("x.0.0") == 1);
  CHECK(l.ask("x.0.0", x).sum().item<float>() < before.sum().item<float>());
  torch::NoGradGuard none;
  CHECK(!l.mix(x).values.requires_grad());
  CHECK(!expert(x).requires_grad());
}

TEST_CASE("each expert is called once for all of its samples, and look-ups are "
          "remembered") {
  lab l{1};
  l.options.k = 9;
  auto x = torch::randn({50, 3});
  auto y = l.mix(x).values;
  CHECK(l.network->asked().forward == 9);
  CHECK(l.network->asked().look_ups == 4);
  y.sum().backward();
  CHECK(l.network->asked().backward == 9);
  auto copy = l.options; // Shares what is remembered.
  mix_experts(copy, *l.network, l.gating, x);
  CHECK(l.network->asked().look_ups == 4);
}

TEST_CASE("a call that is too large for a host is cut") {
  lab l{1};
  remote_expert expert{remote_expert_options{"x.1.1", 3, 2}, l.network};
  auto x = torch::randn({5000, 3});
  auto whole = expert(x);
  CHECK(l.network->asked().forward == 3);
  CHECK(near(whole.narrow(0, 4000, 1000), expert(x.narrow(0, 4000, 1000))));
}

TEST_CASE("calls of an input are all open at once") {
  memory_experts::settings how;
  how.mean_delay = 20ms;
  lab l{1, how};
  l.options.k = 9;
  l.mix(torch::randn({4, 3}));
  CHECK(l.network->asked().most_open == 9);
}

TEST_CASE("threads overlap, and each has the gradients of its own graph") {
  const std::uint64_t seed = 5;
  CAPTURE(seed);
  memory_experts::settings how;
  how.mean_delay = 5ms;
  lab l{seed, how};
  const int threads = 8;
  struct job {
    at::Tensor input;
    at::Tensor wanted;
    at::Tensor got;
  };
  std::vector<job> jobs(threads);
  auto run = [&](const at::Tensor& input) {
    auto x = input.detach().clone().set_requires_grad(true);
    auto loss = l.mix(x).values.square().sum();
    return torch::autograd::grad({loss}, {x})[0];
  };
  l.remembers = true;
  for (auto& x : jobs) {
    x.input = torch::randn({6, 3});
    x.wanted = run(x.input);
  }
  CHECK(l.network->asked().most_open <= 9);
  std::vector<std::thread> all;
  for (auto& x : jobs)
    all.emplace_back([&] {
      for (int i = 0; i < 5; ++i)
        x.got = run(x.input);
    });
  for (auto& x : all)
    x.join();
  for (auto& x : jobs)
    CHECK(near(x.got, x.wanted));
  CHECK(l.network->asked().most_open > 9);
}

TEST_CASE("a graph keeps the network that it needs, when the module is gone") {
  at::Tensor loss;
  std::weak_ptr<memory_experts> network;
  {
    lab l{1};
    network = l.network;
    loss = decentralized_moe {
      l.options, l.network
      } -> forward(torch::ones({2, 3})).sum();
  }
  CHECK(!network.expired()); // The graph needs it still.
  loss.backward();
  loss = at::Tensor{};
  CHECK(network.expired());
}
