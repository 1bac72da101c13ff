/// Networks with experts elsewhere, as trainers.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/models/fixture.hpp"
#include "tests/support/memory_experts.hpp"

using namespace potluck;
using namespace potluck::test;
using support::memory_experts;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t hidden = 12;

run_settings small_network(const std::string& model) {
  std::vector<setting> own{{"hidden-size", std::to_string(hidden)},
                           {"layers", "2"},
                           {"expert-grid", "2x3"},
                           {"experts-per-sample", "2"}};
  if (model == "albert-dmoe")
    for (const auto& x :
         {setting{"vocabulary", "32"}, setting{"sequence-length", "10"},
          setting{"embedding-size", "4"}, setting{"heads", "2"},
          setting{"mask-probability", "0.25"}})
      own.push_back(x);
  return settings_of(model, own);
}

std::set<std::string> all_experts() {
  std::set<std::string> result;
  for (auto layer : {"0", "1"})
    for (auto i : {"0", "1"})
      for (auto j : {"0", "1", "2"})
        result.insert(std::string{"ffn."} + layer + "." + i + "." + j);
  return result;
}

std::shared_ptr<memory_experts> make_experts(memory_experts::settings how
                                             = {}) {
  how.inputs = how.outputs = hidden;
  return std::make_shared<memory_experts>(how, all_experts());
}

struct scene {
  scratch_folder folder;
  std::shared_ptr<memory_experts> experts;
  std::mutex mutex;
  std::condition_variable noticed;
  std::vector<std::string> notices;
  std::unique_ptr<trainer> model;

  scene(const std::string& name, std::shared_ptr<memory_experts> network,
        std::uint32_t micro_batch = 16, std::uint32_t in_flight = 4)
      : experts(std::move(network)) {
    const auto path = name == "albert-dmoe"
                          ? folder.write("text", toy_text(1, 300))
                          : std::string{"digits"};
    auto agreed = propose_charter(small_network(name), path);
    if (!agreed)
      throw std::runtime_error(agreed.error());
    trainer_options options;
    options.data_path = path;
    options.device = "cpu";
    options.threads = 1;
    options.micro_batch = micro_batch;
    options.in_flight = in_flight;
    options.experts = experts;
    options.notice = [this](const std::string& x) {
      std::lock_guard<std::mutex> guard{mutex};
      notices.push_back(x);
      noticed.notify_all();
    };
    model = make_trainer_factory(options)(*agreed);
  }

  batch_result accumulate(const std::vector<float>& parameters,
                          std::vector<float>& gradient, std::uint32_t samples,
                          std::uint64_t first = 0) {
    const std::atomic<bool> never{false};
    gradient.assign(parameters.size(), 0);
    return model->accumulate({5, first, samples, 1}, parameters.data(),
                             gradient.data(), never);
  }
};

} // namespace

TEST_CASE("gates are parameters of the run, experts are not") {
  auto layout = layout_of(small_network("mnist-dmoe"));
  REQUIRE_MESSAGE(layout, layout.error());
  std::vector<std::string> names;
  for (const auto& entry : layout->entries())
    names.push_back(entry.name);
  CHECK(names
        == std::vector<std::string>{
            "input.weight", "input.bias", "mixtures.0.gates.0.weight",
            "mixtures.0.gates.0.bias", "mixtures.0.gates.1.weight",
            "mixtures.0.gates.1.bias", "mixtures.1.gates.0.weight",
            "mixtures.1.gates.0.bias", "mixtures.1.gates.1.weight",
            "mixtures.1.gates.1.bias", "norm.weight", "norm.bias",
            "output.weight", "output.bias"});
}

TEST_CASE("settings that make no mixture are refused in a sentence") {
  auto refused = [](auto name, auto value) {
    auto layout
        = layout_of(with(small_network("mnist-dmoe"), "experts", name, value));
    return layout ? std::string{} : layout.error();
  };
  CHECK(refused("expert-grid", "2x3") == "");
  CHECK(refused("expert-grid", "2x").find("expert-grid") == 0);
  CHECK(refused("expert-grid", "2x2x2x2").find("expert") == 0);
  CHECK(refused("experts", "F F N").find("experts") == 0);
  CHECK(refused("experts-per-sample", "7").find("experts-per-sample") == 0);
  CHECK(refused("call-packing", "int7").find("call-packing") == 0);
  // A model without experts has no such setting.
  CHECK_THROWS(settings_of("mnist-ffn", {{"expert-grid", "2x3"}}));
}

TEST_CASE("a trainer of a network with experts needs a run to find them in") {
  CHECK_THROWS_AS(scene("mnist-dmoe", nullptr), std::runtime_error);
}

TEST_CASE("the gradient of a network with experts is the slope of its loss") {
  for (std::string name : {"mnist-dmoe", "albert-dmoe"}) {
    CAPTURE(name);
    scene x(name, make_experts());
    auto parameters = draw_parameters(x.model->layout(), 3, 5);
    std::vector<float> gradient;
    std::vector<float> ignored;
    x.accumulate(parameters, gradient, 32);
    // Gates are taught by the balance loss too, which is not part of the loss
    // that is told; their own slopes are tested with the layer.
    const auto layout = x.model->layout();
    for (const auto& entry : layout.entries())
      if (entry.name.find("mixtures.") == 0)
        std::fill_n(gradient.begin()
                        + static_cast<std::ptrdiff_t>(entry.offset),
                    entry.values, 0.0f);
    double length = 0;
    for (auto g : gradient)
      length += double{g} * g;
    length = std::sqrt(length);
    auto loss_at = [&](double distance) {
      auto moved = parameters;
      for (std::size_t i = 0; i < moved.size(); ++i)
        moved[i] += static_cast<float>(distance * gradient[i] / length);
      return x.accumulate(moved, ignored, 32).loss_sum;
    };
    const auto h = 0.002;
    CHECK((loss_at(h) - loss_at(-h)) / (2 * h)
          == doctest::Approx(length).epsilon(0.05));
  }
}

TEST_CASE("micro-batches wait for experts at the same time") {
  memory_experts::settings slow;
  slow.mean_delay = 20ms;
  scene x("mnist-dmoe", make_experts(slow), 8, 8);
  CHECK(x.model->usual_request() == 64);
  auto parameters = draw_parameters(x.model->layout(), 3);
  std::vector<float> gradient;
  const auto before = x.experts->asked();
  CHECK(x.accumulate(parameters, gradient, 64).samples == 64);
  const auto after = x.experts->asked();
  CHECK(after.backward > before.backward);
  // One micro-batch has 6 calls open at most.
  CHECK(after.most_open > 12);
}

TEST_CASE("samples of failing experts cost nothing but themselves") {
  memory_experts::settings poor;
  poor.failing = 0.3;
  scene x("mnist-dmoe", make_experts(poor));
  auto parameters = draw_parameters(x.model->layout(), 3);
  std::vector<float> gradient;
  const auto result = x.accumulate(parameters, gradient, 64);
  CHECK(result.samples == 64);
  CHECK(std::isfinite(result.loss_sum));
  for (auto g : gradient)
    REQUIRE(std::isfinite(g));
}

TEST_CASE("without any expert a trainer says so and goes on when one is back") {
  auto experts = make_experts();
  experts->set_alive({});
  scene x("mnist-dmoe", experts, 8, 2);
  auto parameters = draw_parameters(x.model->layout(), 3);
  std::vector<float> gradient;
  batch_result result;
  std::thread trainer([&] { result = x.accumulate(parameters, gradient, 16); });
  {
    std::unique_lock<std::mutex> lock{x.mutex};
    x.noticed.wait(lock, [&] { return !x.notices.empty(); });
  }
  experts->set_alive(all_experts());
  trainer.join();
  CHECK(result.samples == 16);
  CHECK(x.notices.front().find("ffn.0") != std::string::npos);
}

TEST_CASE("a network learns together with its experts") {
  memory_experts::settings apt;
  apt.learning_rate = 0.002f;
  scene x("mnist-dmoe", make_experts(apt), 64, 1);
  auto parameters = draw_parameters(x.model->layout(), 3);
  const auto before = x.model->evaluate(parameters.data(), 1, 500);
  std::vector<float> gradient;
  for (std::uint64_t step = 0; step < 150; ++step) {
    x.accumulate(parameters, gradient, 64, step * 64);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] -= 0.2f * gradient[i] / 64;
  }
  const auto after = x.model->evaluate(parameters.data(), 1, 500);
  CHECK(before.accuracy < 0.3);
  CHECK(after.accuracy > 0.6);
  std::uint64_t updates = 0;
  for (const auto& uid : all_experts())
    updates += x.experts->updates(uid);
  CHECK(updates > 150);
}
