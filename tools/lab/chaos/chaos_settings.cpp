// What of a scenario real processes can act out, and with which settings.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tools/lab/chaos/chaos_run.hpp"

namespace potluck::tools {

namespace {

/// A model of few bytes, so that the run is about the peers.
const std::vector<setting> tiny_model{
    {"vocabulary", "300"},       {"sequence-length", "16"},
    {"embedding-size", "16"},    {"hidden-size", "32"},
    {"intermediate-size", "64"}, {"heads", "2"},
    {"target-batch", "256"},     {"steps", "200"},
    {"chunk-values", "1024"},    {"run", "chaos"},
};

/// One application of its layer to one sample, on a usual core.
constexpr double layer_seconds = 0.00013;
/// Of a mean of it on the wire, nearly.
constexpr double mean_bytes = 60'000;
/// Whoever downloads a state needs several answers, one after the other, and
/// the line of who serves it has other things to carry.
constexpr double round_trips_in_a_step = 3;
constexpr double means_in_a_step = 2;
/// More, and small machines would take for ever.
constexpr double most_layers = 10;

double typical(const quantity& x) {
  return x.kind == quantity::law::uniform ? (x.a + x.b) / 2 : x.a;
}

/// How often the model's only layer is applied, which costs no bytes: so often
/// that a step that a trainer takes alone is longer than several round trips,
/// and than it takes to tell it to all others. Else whoever is first would
/// outrun everybody who downloads its state.
std::string layers_for(const scenario& x, double target_batch) {
  double needed = 0;
  for (const auto& group : x.groups) {
    if (group.role != "trainer")
      continue;
    auto one_way = typical(group.line.delay) + typical(group.line.jitter);
    needed = std::max(needed, round_trips_in_a_step * 4 * one_way);
    if (auto upload = typical(group.line.upload); upload > 0)
      needed = std::max(needed, means_in_a_step * mean_bytes
                                    * static_cast<double>(x.peers()) / upload);
  }
  auto layers = std::ceil(needed / (layer_seconds * target_batch));
  return std::to_string(static_cast<int>(std::clamp(layers, 1.0, most_layers)));
}

/// A proxy, which sees a connection's bytes, cannot do it.
bool befalls_packets(fault_kind x) {
  return x == fault_kind::duplicate || x == fault_kind::reorder
         || x == fault_kind::power_cut || x == fault_kind::router_reboots
         || x == fault_kind::address_changes;
}

} // namespace

std::string unknown_to_chaos(const scenario& x, bool packets) {
  for (std::size_t i = 0; i < x.faults.size(); ++i) {
    const auto kind = x.faults[i].kind;
    const auto place
        = "faults, entry " + std::to_string(i + 1) + ": " + to_string(kind);
    if (!trait_of(kind).in_chaos)
      return place
             + " is for `potluck sim` alone; real processes cannot act it out.";
    if (!packets && befalls_packets(kind))
      return place
             + " cannot be acted out by proxies: run this as root, with "
               "--network=namespaces.";
  }
  if (!x.strangers.empty())
    return "strangers are for `potluck sim` alone.";
  for (std::size_t i = 0; i < x.groups.size(); ++i)
    if (auto& role = x.groups[i].role; role == "expert" || role == "caller")
      return "groups, entry " + std::to_string(i + 1) + ": the role " + role
             + " is for `potluck sim` alone.";
    else if (packets && x.groups[i].router == "ipv6-only")
      return "groups, entry " + std::to_string(i + 1)
             + ": the router ipv6-only is for `potluck sim` alone.";
  return "";
}

std::string left_to_simulation(const scenario& x, bool packets) {
  std::string result;
  auto name = [&](bool there, const char* what) {
    if (there)
      result += (result.empty() ? "" : ", ") + std::string{what};
  };
  auto any = [&](auto has) {
    return std::any_of(x.groups.begin(), x.groups.end(), has);
  };
  const peer_group plain;
  if (!packets) {
    name(any([](const auto& g) { return g.line.duplicate > 0; }), "duplicate");
    name(any([](const auto& g) { return g.line.reorder > 0; }), "reorder");
  }
  name(any([](const auto& g) { return g.homes > 0; }), "homes");
  name(
      any([&](const auto& g) { return !(g.clock_drift == plain.clock_drift); }),
      "clock_drift");
  name(any([&](const auto& g) {
         return !(g.samples_per_second == plain.samples_per_second);
       }),
       "samples_per_second");
  return result;
}

std::vector<setting> chaos_settings(const scenario& x) {
  auto result = tiny_model;
  auto find = [&](const char* name) {
    return std::find_if(result.begin(), result.end(),
                        [&](const auto& y) { return y.name == name; });
  };
  for (const auto& own : x.run) {
    auto i = find(own.name.c_str());
    if (i == result.end())
      result.push_back(own);
    else
      i->value = own.value;
  }
  if (find("layers") == result.end())
    result.push_back(
        {"layers",
         layers_for(
             x, std::strtod(find("target-batch")->value.c_str(), nullptr))});
  return result;
}

} // namespace potluck::tools
