#include "tools/lab/bench/emulated_experts.hpp"

#include <cmath>
#include <set>
#include <utility>

namespace potluck::bench {

emulated_experts::emulated_experts(emulated_lines lines,
                                   const expert_factory& make,
                                   const expert_kind& kind,
                                   const std::vector<std::string>& uids)
    : lines_(lines), chance_(lines.seed) {
  for (const auto& uid : uids)
    experts_[uid] = make(kind, uid, lines.seed);
}

emulated_experts::~emulated_experts() {
  // What comes afterwards is answered at once, by whoever brings it.
  device_.stop();
  line_.stop();
}

std::chrono::microseconds emulated_experts::draw_half() {
  std::lock_guard<std::mutex> guard{mutex_};
  const auto mean = static_cast<double>(lines_.mean_delay.count()) / 2;
  return std::chrono::microseconds{
      static_cast<std::int64_t>(-mean * std::log(1 - chance_.uniform01()))};
}

void emulated_experts::look_up(
    const std::string& prefix,
    std::function<void(expected<std::vector<std::uint32_t>>)> done) {
  const auto start = prefix + '.';
  std::set<std::uint32_t> next;
  for (auto at = experts_.lower_bound(start);
       at != experts_.end() && at->first.compare(0, start.size(), start) == 0;
       ++at)
    next.insert(
        static_cast<std::uint32_t>(std::stoul(at->first.substr(start.size()))));
  done(std::vector<std::uint32_t>{next.begin(), next.end()});
}

expected<expert_reply> emulated_experts::compute(const expert_call& what) {
  const auto at = experts_.find(what.uid);
  if (at == experts_.end())
    return failure{"There is no expert " + what.uid + "."};
  auto& module = *at->second;
  const auto shape = module.shape();
  expert_reply reply;
  reply.version = module.updates();
  try {
    if (what.pass == expert_pass::forward) {
      reply.values.resize(std::size_t{what.samples} * shape.outputs);
      module.forward(what.samples, what.values->data(), reply.values.data());
    } else {
      reply.values.resize(std::size_t{what.samples} * shape.inputs);
      module.backward(what.samples, what.values->data(),
                      what.values->data()
                          + std::size_t{what.samples} * shape.inputs,
                      reply.values.data());
    }
  } catch (const std::exception& e) {
    return failure{e.what()};
  }
  return reply;
}

void emulated_experts::call(expert_call what, answer done) {
  bool lost = false;
  {
    std::lock_guard<std::mutex> guard{mutex_};
    lost = chance_.uniform01() < lines_.failing;
  }
  const auto there = draw_half();
  const auto back = draw_half();
  auto shared = std::make_shared<answer>(std::move(done));
  const failure over{"The experiment is over."};
  line_.at(clock::now() + there, [=, what = std::move(what)](bool ends) {
    if (ends || lost) {
      (*shared)(ends ? over : failure{"The call of " + what.uid + " is lost."});
      return;
    }
    device_.at(clock::now(), [=](bool ends) {
      auto reply = std::make_shared<expected<expert_reply>>(
          ends ? expected<expert_reply>{over} : compute(what));
      line_.at(clock::now() + back,
               [=](bool) { (*shared)(std::move(*reply)); });
    });
  });
}

} // namespace potluck::bench
