#include "runtime/planning/contract_difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

std::string whole(std::uint64_t x) {
  return std::to_string(x);
}

/// Every input of a member, each as a text that is equal for equal bits.
std::vector<std::string> inputs_of(const group_member& x) {
  auto exact = [](double y) { return readable(y, 17); };
  std::vector<std::string> result{
      to_string(x.who.id), x.role == role::trainer ? "trainer" : "other",
      whole(x.samples), exact(x.upload_bytes_per_second),
      exact(x.download_bytes_per_second)};
  for (const auto& pair : x.slow_pairs)
    result.push_back(to_string(pair.to) + " " + exact(pair.bytes_per_second));
  for (const auto& id : x.relayed)
    result.push_back("relayed " + to_string(id));
  return result;
}

} // namespace

digest plan_input_digest(const group_contract& contract) {
  std::vector<std::string> all{
      whole(contract.gradient_values), whole(contract.chunk_values),
      whole(contract.computing_ms), whole(contract.members.size())};
  for (const auto& x : contract.members) {
    auto more = inputs_of(x);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::string bytes;
  for (const auto& x : all)
    bytes += x + '\n';
  return digest_of(bytes.data(), bytes.size());
}

std::string plan_change(const group_contract& before,
                        const group_contract& now) {
  constexpr double noteworthy = 0.2;
  constexpr std::size_t most_clauses = 4;
  std::vector<std::string> clauses;
  auto find = [](const group_contract& in, const peer_id& id) {
    auto i = std::find_if(in.members.begin(), in.members.end(),
                          [&](auto& x) { return x.who.id == id; });
    return i == in.members.end() ? nullptr : &*i;
  };
  auto names = [](const group_member& x, const peer_id& to) {
    return std::any_of(x.slow_pairs.begin(), x.slow_pairs.end(),
                       [&](const auto& pair) { return pair.to == to; });
  };
  auto name = [](const group_member& x) {
    return (x.role == role::auxiliary ? "auxiliary peer " : "peer ")
           + short_name(x.who.id);
  };
  auto compare = [&](const group_member& x, const char* what, double was,
                     double is) {
    auto kilobytes = [](double y) {
      return y > 0 ? std::to_string(std::llround(y / 1e3)) : std::string{"?"};
    };
    if (std::abs(is - was) > noteworthy * std::max(is, was))
      clauses.push_back(name(x) + what + kilobytes(is) + " kB/s, not "
                        + kilobytes(was));
  };
  for (const auto& x : before.members)
    if (find(now, x.who.id) == nullptr)
      clauses.push_back(name(x) + " left");
  for (const auto& x : now.members) {
    auto* was = find(before, x.who.id);
    if (was == nullptr) {
      clauses.push_back(name(x) + " joined");
      continue;
    }
    compare(x, " uploads ", was->upload_bytes_per_second,
            x.upload_bytes_per_second);
    compare(x, " downloads ", was->download_bytes_per_second,
            x.download_bytes_per_second);
    if (x.relayed.size() != was->relayed.size())
      clauses.push_back(name(x) + " misses other lines");
    // A pair that is not named carries what the line does.
    auto carried = [](const group_member& from, const peer_id& to) {
      for (const auto& pair : from.slow_pairs)
        if (pair.to == to)
          return pair.bytes_per_second;
      return from.upload_bytes_per_second;
    };
    for (const auto& y : now.members)
      if (find(before, y.who.id) != nullptr
          && (names(*was, y.who.id) || names(x, y.who.id)))
        compare(x, (" carries to " + short_name(y.who.id) + " ").c_str(),
                carried(*was, y.who.id), carried(x, y.who.id));
  }
  std::string result;
  for (std::size_t i = 0; i < std::min(clauses.size(), most_clauses); ++i)
    result += (i == 0 ? "" : "; ") + clauses[i];
  if (clauses.size() > most_clauses)
    result += "; and " + whole(clauses.size() - most_clauses) + " more";
  return result;
}

} // namespace potluck
