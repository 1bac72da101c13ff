#include "tools/library/meeting.hpp"

#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace potluck;
using namespace potluck::library;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;

/// A worker that opens a window for each batch, until it is told to stop.
struct worker {
  explicit worker(meeting& with) : with_(with) {
    thread_ = std::thread{[this] {
      while (!stopped_) {
        batch_request x;
        x.step = 3;
        x.state.bytes[0] = 3;
        x.begins = true;
        const auto result
            = with_.await(x, parameters.data(), sum.data(), stopped_);
        if (result.samples > 0)
          came.set_value(result);
      }
    }};
  }
  ~worker() {
    stopped_ = true;
    thread_.join();
  }

  std::vector<float> parameters{1, 2};
  std::vector<float> sum{0, 0};
  std::promise<batch_result> came;

private:
  meeting& with_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

struct met {
  met() {
    it.begins(false);
  }
  meeting::outcome take() {
    return it.take(patience, [this](const float* x) { seen.assign(x, x + 2); });
  }
  meeting::outcome add(std::uint64_t samples) {
    return it.add(samples, 0.5, patience, [](float* sum, bool) {
      sum[0] = 7;
      sum[1] = 8;
    });
  }
  meeting it;
  std::vector<float> seen;
};

} // namespace

TEST_CASE("parameters are read, and a gradient is added, where they lie") {
  met x;
  worker w{x.it};
  REQUIRE(x.take() == meeting::outcome::done);
  CHECK(x.seen == w.parameters);
  REQUIRE(x.add(4) == meeting::outcome::done);
  const auto result = w.came.get_future().get();
  CHECK(result.samples == 4);
  CHECK(result.loss_sum == 0.5);
  CHECK(w.sum == std::vector<float>{7, 8});
  CHECK(x.it.look().samples == 4);
  CHECK(x.it.look().taken == 3);
}

TEST_CASE("parameters that the loop has are not copied again") {
  met x;
  worker w{x.it};
  REQUIRE(x.take() == meeting::outcome::done);
  x.seen.clear();
  CHECK(x.take() == meeting::outcome::same);
  CHECK(x.seen.empty());
}

TEST_CASE("a gradient of parameters that nobody took is dropped") {
  met x;
  worker w{x.it};
  CHECK(x.add(4) == meeting::outcome::stale);
  CHECK(x.it.look().stale == 4);
  CHECK(w.sum == std::vector<float>{0, 0});
}

TEST_CASE("a loop that fails while it adds has added nothing") {
  met x;
  worker w{x.it};
  REQUIRE(x.take() == meeting::outcome::done);
  CHECK_THROWS_AS(
      x.it.add(4, 0.5, patience,
               [](float*, bool) { throw std::runtime_error{"no memory"}; }),
      std::runtime_error);
  CHECK(x.it.look().samples == 0);
  CHECK(x.add(4) == meeting::outcome::done);
}

TEST_CASE("without a worker a loop is late, and over in the end") {
  met x;
  CHECK(x.it.take(0s, [](const float*) {}) == meeting::outcome::late);
  CHECK(x.it.add(4, 0, 0s, [](float*, bool) {}) == meeting::outcome::late);
  x.it.ends();
  CHECK(x.take() == meeting::outcome::over);
  CHECK(x.add(4) == meeting::outcome::over);
  CHECK_FALSE(x.it.look().has_parameters);
  x.it.took_last(9);
  CHECK(x.it.look().taken == 9);
  CHECK(x.it.look().has_parameters);
}

TEST_CASE("a worker that is cancelled, or paused, waits for no loop") {
  met x;
  float value = 0;
  std::atomic<bool> cancelled{true};
  CHECK(x.it.await({}, &value, &value, cancelled).samples == 0);
  cancelled = false;
  meeting::pause still{x.it};
  CHECK(x.it.await({}, &value, &value, cancelled).samples == 0);
}
