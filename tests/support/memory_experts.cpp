#include "tests/support/memory_experts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace potluck::support {

memory_experts::memory_experts(settings how, std::set<std::string> uids)
    : how_(how), chance_(how.seed), alive_(std::move(uids)) {
}

memory_experts::~memory_experts() {
  line_.stop();
}

void memory_experts::set_alive(std::set<std::string> uids) {
  std::lock_guard<std::mutex> guard{mutex_};
  alive_ = std::move(uids);
}

void memory_experts::set_faults(
    std::function<fault(const expert_call&)> faults) {
  std::lock_guard<std::mutex> guard{mutex_};
  faults_ = std::move(faults);
}

memory_experts::counts memory_experts::asked() const {
  std::lock_guard<std::mutex> guard{mutex_};
  return counts_;
}

std::uint64_t memory_experts::updates(const std::string& uid) const {
  std::lock_guard<std::mutex> guard{mutex_};
  auto at = experts_.find(uid);
  return at == experts_.end() ? 0 : at->second.updates;
}

std::chrono::microseconds memory_experts::draw_delay() {
  auto mean = static_cast<double>(how_.mean_delay.count());
  return std::chrono::microseconds{
      static_cast<std::int64_t>(-mean * std::log(1 - chance_.uniform01()))};
}

void memory_experts::later(std::chrono::microseconds delay,
                           std::function<void(bool)> run) {
  line_.at(std::chrono::steady_clock::now() + delay, std::move(run));
}

void memory_experts::look_up(
    const std::string& prefix,
    std::function<void(expected<std::vector<std::uint32_t>>)> done) {
  std::chrono::microseconds delay{0};
  {
    std::lock_guard<std::mutex> guard{mutex_};
    ++counts_.look_ups;
    delay = draw_delay();
  }
  later(delay, [this, prefix, done = std::move(done)](bool ends) {
    if (ends) {
      done(failure{"The network has ended."});
      return;
    }
    std::set<std::uint32_t> next;
    {
      std::lock_guard<std::mutex> guard{mutex_};
      for (const auto& uid : alive_)
        if (uid.compare(0, prefix.size() + 1, prefix + '.') == 0)
          next.insert(static_cast<std::uint32_t>(
              std::stoul(uid.substr(prefix.size() + 1))));
    }
    done(std::vector<std::uint32_t>{next.begin(), next.end()});
  });
}

void memory_experts::call(expert_call what,
                          std::function<void(expected<expert_reply>)> done) {
  std::function<fault(const expert_call&)> faults;
  {
    std::lock_guard<std::mutex> guard{mutex_};
    faults = faults_;
  }
  auto meets = faults ? faults(what) : fault{};
  std::chrono::microseconds delay{0};
  bool fails = false;
  {
    std::lock_guard<std::mutex> guard{mutex_};
    ++(what.pass == expert_pass::forward ? counts_.forward : counts_.backward);
    counts_.most_open = std::max(counts_.most_open, ++open_);
    delay = draw_delay() + meets.delay;
    fails = chance_.uniform01() < how_.failing
            || meets.what == fault::kind::fails;
  }
  later(delay, [this, what = std::move(what), done = std::move(done), fails,
                meets](bool ends) {
    expected<expert_reply> answer{failure{"The network has ended."}};
    {
      std::lock_guard<std::mutex> guard{mutex_};
      --open_;
      if (!ends)
        answer = fails ? failure{"Expert " + what.uid + " fails by chance."}
                       : compute(what);
    }
    if (answer && meets.what == fault::kind::not_finite)
      answer->values.back() = std::numeric_limits<float>::quiet_NaN();
    if (answer && meets.what == fault::kind::too_short)
      answer->values.pop_back();
    done(std::move(answer));
  });
}

memory_experts::expert& memory_experts::expert_of(const std::string& uid) {
  auto [at, fresh] = experts_.try_emplace(uid);
  if (fresh) {
    auto seed = how_.seed;
    for (unsigned char letter : uid)
      seed = mix(seed, letter);
    random_stream chance{seed};
    at->second.weights.resize(std::size_t{how_.inputs} * how_.outputs);
    for (auto& x : at->second.weights)
      x = static_cast<float>(2 * chance.uniform01() - 1);
  }
  return at->second;
}

expected<expert_reply> memory_experts::compute(const expert_call& what) {
  if (alive_.count(what.uid) == 0)
    return failure{"Nobody hosts expert " + what.uid + "."};
  auto& e = expert_of(what.uid);
  const auto in = how_.inputs;
  const auto out = how_.outputs;
  auto forward = what.pass == expert_pass::forward;
  auto rows = what.samples;
  if (what.values->size() != std::size_t{rows} * (forward ? in : in + out))
    return failure{"Expert " + what.uid + " was given a wrong shape."};
  const auto* x = what.values->data();
  float_array y(std::size_t{rows} * out);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t o = 0; o < out; ++o) {
      float sum = 0;
      for (std::size_t i = 0; i < in; ++i)
        sum += e.weights[o * in + i] * x[r * in + i];
      y[r * out + o] = std::tanh(sum);
    }
  expert_reply reply;
  reply.version = e.updates;
  if (forward) {
    reply.values = std::move(y);
    return reply;
  }
  const auto* grad = x + std::size_t{rows} * in;
  reply.values.assign(std::size_t{rows} * in, 0.0f);
  auto weights = e.weights;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t o = 0; o < out; ++o) {
      auto g = grad[r * out + o] * (1 - y[r * out + o] * y[r * out + o]);
      for (std::size_t i = 0; i < in; ++i) {
        reply.values[r * in + i] += g * weights[o * in + i];
        e.weights[o * in + i] -= how_.learning_rate * g * x[r * in + i];
      }
    }
  ++e.updates;
  return reply;
}

} // namespace potluck::support
