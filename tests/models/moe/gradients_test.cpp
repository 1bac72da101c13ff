/// The mixture of experts against its definition: values and gradients.

#include "tests/models/moe/fixture.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

/// The mixture by the book: every living expert asked, the k best of each
/// sample mixed, without those of `failing`.
at::Tensor by_the_book(lab& l, const at::Tensor& x,
                       const std::set<std::string>& failing) {
  torch::NoGradGuard none;
  auto rows = at::linear(x, l.gating[0], l.gating[1]);
  auto columns = at::linear(x, l.gating[2], l.gating[3]);
  auto result = torch::zeros({x.size(0), 2});
  std::map<std::string, at::Tensor> answers;
  for (const auto& uid : uids_of({3, 3}))
    answers[uid] = l.ask(uid, x);
  for (std::int64_t s = 0; s < x.size(0); ++s) {
    std::vector<std::pair<float, std::string>> all;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        all.emplace_back((rows[s][i] + columns[s][j]).item<float>(),
                         "x." + std::to_string(i) + "." + std::to_string(j));
    std::sort(all.rbegin(), all.rend());
    all.resize(l.options.k);
    double sum = 0;
    for (auto& [score, uid] : all)
      if (failing.count(uid) == 0) {
        sum += std::exp(score);
        result[s] += answers[uid][s] * std::exp(score);
      }
    result[s] /= sum;
  }
  return result;
}

/// The slope of `f` along each value of `x`, by central differences.
at::Tensor slopes(const std::function<double()>& f, const at::Tensor& x) {
  torch::NoGradGuard none;
  auto result = torch::zeros_like(x);
  auto values = x.view(-1);
  auto out = result.view(-1);
  const float step = 2e-3f;
  for (std::int64_t i = 0; i < values.size(0); ++i) {
    auto was = values[i].item<float>();
    values[i] = was + step;
    auto up = f();
    values[i] = was - step;
    auto down = f();
    values[i] = was;
    out[i] = (up - down) / (2 * step);
  }
  return result;
}

} // namespace

TEST_CASE("the k best experts are mixed by the softmax over those that "
          "answered") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    lab l{seed};
    auto x = torch::randn({6, 3});
    CHECK(near(l.mix(x).values, by_the_book(l, x, {})));
    auto book = by_the_book(l, x, {"x.0.0", "x.1.2", "x.2.1"});
    l.fail({"x.0.0", "x.1.2", "x.2.1"}, expert_pass::forward);
    CHECK(near(l.mix(x).values, book));
  }
}

TEST_CASE("gradients of input and gating are the slopes, with experts that "
          "fail and without") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    lab l{seed};
    // All experts for some seeds; for the others few, chosen by the beam.
    l.options.k = seed % 2 == 0 ? 9 : 3;
    if (seed > 2)
      l.fail({"x.0.0", "x.1.2", "x.2.1", "x.0.1"}, expert_pass::forward);
    l.options.zero_when_too_few = true; // For samples that have failing ones.
    auto x = torch::randn({5, 3}).set_requires_grad(true);
    auto wanted = torch::randn({5, 2});
    auto loss = [&] {
      auto y = l.mix(x);
      return (y.values * wanted).sum() + 0.3 * y.balance_loss;
    };
    loss().backward();
    auto height = [&] { return loss().item<double>(); };
    CHECK(near(x.grad(), slopes(height, x), 1e-2));
    for (auto& p : l.gating)
      CHECK(near(p.grad(), slopes(height, p), 1e-2));
  }
}

TEST_CASE("an expert that fails in the backward pass contributes nothing to "
          "the input's gradient, and the gating's is as before") {
  lab l{3};
  l.options.k = 9;
  auto x = torch::randn({4, 3}).set_requires_grad(true);
  auto wanted = torch::randn({4, 2});
  auto run = [&] {
    x.mutable_grad() = at::Tensor{};
    for (auto& p : l.gating)
      p.mutable_grad() = at::Tensor{};
    (l.mix(x).values * wanted).sum().backward();
  };
  run();
  auto whole = x.grad();
  std::vector<at::Tensor> gating;
  for (auto& p : l.gating)
    gating.push_back(p.grad());
  l.fail({"x.1.1"}, expert_pass::backward);
  run();
  CHECK(!near(x.grad(), whole));
  for (std::size_t i = 0; i < gating.size(); ++i)
    CHECK(near(l.gating[i].grad(), gating[i]));
  // What is missing is that expert's part: its weight times its own gradient.
  l.fail({}, expert_pass::backward);
  auto rows = at::softmax(at::linear(x, l.gating[0], l.gating[1]), 1);
  auto columns = at::softmax(at::linear(x, l.gating[2], l.gating[3]), 1);
  auto weight = (rows.select(1, 1) * columns.select(1, 1)).detach();
  auto z = x.detach().clone().set_requires_grad(true);
  remote_expert expert{remote_expert_options{"x.1.1", 3, 2}, l.network};
  (expert(z) * wanted * weight.unsqueeze(1)).sum().backward();
  CHECK(near(whole - x.grad(), z.grad(), 1e-4));
}

TEST_CASE("parameters may be views of one flat vector") {
  lab l{5};
  std::vector<at::Tensor> parts;
  for (auto& p : l.gating)
    parts.push_back(p.detach().flatten());
  auto flat = at::cat(parts).set_requires_grad(true);
  auto x = torch::randn({4, 3});
  std::vector<at::Tensor> views;
  std::int64_t from = 0;
  for (auto& p : l.gating) {
    views.push_back(flat.narrow(0, from, p.numel()).view(p.sizes()));
    from += p.numel();
  }
  mix_experts(l.options, *l.network, views, x).values.sum().backward();
  l.mix(x).values.sum().backward();
  parts.clear();
  for (auto& p : l.gating)
    parts.push_back(p.grad().flatten());
  CHECK(near(flat.grad(), at::cat(parts)));
}

TEST_CASE("the balance loss is 1 when all are used alike, and as many as there "
          "are when one is used alone") {
  lab l{1};
  l.options.k = 1;
  torch::NoGradGuard none;
  for (auto& p : l.gating)
    p.zero_();
  // Three samples that prefer one row and one column each.
  l.gating[0].copy_(torch::eye(3) * 30);
  l.gating[2].copy_(torch::eye(3) * 30);
  CHECK(l.mix(torch::eye(3)).balance_loss.item<double>()
        == doctest::Approx(1).epsilon(1e-4));
  auto same = torch::tensor({1.f, 0.f, 0.f}).repeat({3, 1});
  CHECK(l.mix(same).balance_loss.item<double>()
        == doctest::Approx(3).epsilon(1e-4));
  // Of those that live: when row 0 is alone, it is used as it should be.
  l.network->set_alive({"x.0.0", "x.0.1", "x.0.2"});
  CHECK(l.mix(same).balance_loss.item<double>()
        == doctest::Approx(2).epsilon(1e-4));
}
