// What of a scenario real processes can act out, and with which settings.

#include <algorithm>

#include "tools/potluck/chaos_run.hpp"

namespace potluck::tools {

namespace {

/// A model of few bytes, so that the run is about the peers. Its one layer is
/// applied several times, or a peer alone would take several steps within a
/// round trip of others, and outrun whoever downloads its state.
const std::vector<setting> tiny_model{
    {"vocabulary", "300"},
    {"sequence-length", "16"},
    {"embedding-size", "16"},
    {"hidden-size", "32"},
    {"intermediate-size", "64"},
    {"layers", "4"},
    {"heads", "2"},
    {"target-batch", "256"},
    {"steps", "200"},
    {"chunk-values", "1024"},
    {"run", "chaos"},
};

/// A proxy, which sees a connection's bytes, cannot do it.
bool befalls_packets(fault_kind x) {
  return x == fault_kind::duplicate || x == fault_kind::reorder
         || x == fault_kind::power_cut;
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
  for (std::size_t i = 0; i < x.groups.size(); ++i)
    if (auto& role = x.groups[i].role; role == "expert" || role == "caller")
      return "groups, entry " + std::to_string(i + 1) + ": the role " + role
             + " is for `potluck sim` alone.";
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
  for (const auto& own : x.run) {
    auto i = std::find_if(result.begin(), result.end(),
                          [&](const auto& y) { return y.name == own.name; });
    if (i == result.end())
      result.push_back(own);
    else
      i->value = own.value;
  }
  return result;
}

} // namespace potluck::tools
