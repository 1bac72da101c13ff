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

std::string flag(bool x) {
  return x ? "yes" : "no";
}

/// Every input of a member, as a name and a text that is equal for equal bits.
template <class Visit>
void for_each_input(const group_member& x, Visit visit) {
  visit("role", x.role == role::trainer ? std::string{"trainer"}
                                        : std::string{"other"});
  visit("number of samples", whole(x.samples));
  visit("being reachable", flag(x.who.where.port != 0));
  visit("upload in bytes/s", readable(x.upload_bytes_per_second, 17));
  visit("download in bytes/s", readable(x.download_bytes_per_second, 17));
  std::string pairs;
  for (const auto& pair : x.slow_pairs)
    pairs += (pairs.empty() ? "" : ", ") + short_name(pair.to) + " at "
             + readable(pair.bytes_per_second, 17) + " bytes/s";
  visit("list of slow pairs", pairs.empty() ? "none" : pairs);
}

template <class Visit>
void for_each_input(const group_contract& x, Visit visit) {
  visit("length of the gradient", whole(x.gradient_values));
  visit("length of a chunk", whole(x.chunk_values));
  visit("time of computing in ms", whole(x.computing_ms));
  visit("number of members", whole(x.members.size()));
}

} // namespace

digest plan_input_digest(const group_contract& contract) {
  std::string bytes;
  auto add = [&](const char*, const std::string& value) {
    bytes += value;
    bytes += '\n';
  };
  for_each_input(contract, add);
  for (const auto& x : contract.members) {
    add("", to_string(x.who.id));
    for_each_input(x, add);
  }
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

std::string first_difference(const group_contract& here,
                             const group_contract& there) {
  std::string result;
  std::vector<std::string> others;
  std::size_t at = 0;
  auto collect
      = [&](const char*, const std::string& value) { others.push_back(value); };
  std::string subject;
  auto compare = [&](const char* name, const std::string& value) {
    const auto& other = others[at++];
    if (result.empty() && value != other)
      result
          = subject + name + " is " + value + " here and " + other + " there";
  };
  subject = "the ";
  for_each_input(there, collect);
  for_each_input(here, compare);
  for (std::size_t i = 0; i < here.members.size() && result.empty(); ++i) {
    const auto& mine = here.members[i];
    const auto& theirs = there.members[i];
    if (mine.who.id != theirs.who.id)
      return "member " + whole(i + 1) + " is peer " + short_name(mine.who.id)
             + " here and " + short_name(theirs.who.id) + " there";
    subject = "peer " + short_name(mine.who.id) + ": ";
    others.clear();
    at = 0;
    for_each_input(theirs, collect);
    for_each_input(mine, compare);
  }
  return result;
}

} // namespace potluck
