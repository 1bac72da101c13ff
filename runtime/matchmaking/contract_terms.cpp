#include "runtime/matchmaking/contract_terms.hpp"

#include <algorithm>

#include "runtime/direct_lines.hpp"
#include "runtime/numbers.hpp"

namespace potluck {

std::string contract_terms::too_many(std::uint64_t samples,
                                     std::uint64_t slack) const {
  if (!believable_samples || samples / slack <= believable_samples())
    return {};
  return std::to_string(samples)
         + " samples are more than any machine here computes in that time";
}

void contract_terms::count(group_contract& x) const {
  const auto seen = past ? past() : nullptr;
  if (!seen)
    return;
  const auto most = seen->among(x, computing());
  for (auto& m : x.members)
    if (m.role == role::trainer)
      count_samples(m, most.of(m.who.id));
}

std::string contract_terms::miscounted(const group_contract& x,
                                       const group_answer& answered) const {
  for (const auto& m : x.members)
    if (auto lie = too_many(m.samples, slack_of_members); !lie.empty())
      return "of peer " + short_name(m.who.id) + " " + lie;
  const auto bringing
      = std::count_if(x.members.begin(), x.members.end(), [](const auto& m) {
          return m.role == role::trainer && m.samples > 0;
        });
  const auto seen = past ? past() : nullptr;
  if (!seen || x.members.empty() || !seen->judges(x.members.front().who.id)
      || static_cast<std::size_t>(bringing) < past_steps::least_trainers)
    return {};
  const auto most = seen->among(x, computing());
  const auto leaders = seen->leaders_among(x, computing());
  for (const auto& m : x.members) {
    if (m.role != role::trainer)
      continue;
    if (m.samples / slack_of_members
        > std::max(most.of(m.who.id), leaders.of(m.who.id)))
      return "of peer " + short_name(m.who.id) + " it counts "
             + std::to_string(m.samples)
             + " samples, far more than that has shown before";
    // What all of the last step know of this peer: not what it brought before
    // one that it rested in.
    const auto shown = std::min(static_cast<double>(answered.samples),
                                seen->brought_last(self.id));
    if (m.who.id == self.id
        && static_cast<double>(m.samples * slack_of_members) < shown)
      return "of this peer it counts " + std::to_string(m.samples)
             + " samples, far fewer than it has shown before";
  }
  return {};
}

std::string contract_terms::misquoted(const group_member& mine,
                                      const group_contract& in,
                                      const group_answer& answered) const {
  if (mine.role != role)
    return "its role is " + to_string(role) + " here and "
           + to_string(mine.role) + " there";
  auto counted = mine;
  counted.samples = answered.samples;
  counted.loss_sum = answered.loss_sum;
  count_samples(counted, std::max<std::uint64_t>(1, mine.samples));
  if (mine.samples != counted.samples)
    return "its samples are " + std::to_string(answered.samples) + " here and "
           + std::to_string(mine.samples) + " there";
  auto differ = [](const char* what, double here, double there) {
    return what + readable(here, 17) + " here and " + readable(there, 17)
           + " there";
  };
  if (mine.loss_sum != counted.loss_sum)
    return differ("its loss is ", counted.loss_sum, mine.loss_sum);
  const direct_lines lines{in};
  const auto we = static_cast<std::size_t>(&mine - in.members.data());
  for (std::size_t i = 0; i < in.members.size(); ++i)
    if (i != we && lines.between(we, i)
        && std::find(answered.relayed.begin(), answered.relayed.end(),
                     in.members[i].who.id)
               != answered.relayed.end())
      return "it has no line to " + short_name(in.members[i].who.id)
             + " here, and one there";
  // Nobody's lines are believed: then all plan equal shares.
  if (!quotes_lines(in))
    return {};
  // A leader counts on less of an auxiliary's line until it has seen more.
  auto fits = [this](double here, double there) {
    return here == there
           || (role == potluck::role::auxiliary && (here == 0 || there < here));
  };
  if (!fits(answered.upload_bytes_per_second, mine.upload_bytes_per_second))
    return differ("its upload in bytes/s is ", answered.upload_bytes_per_second,
                  mine.upload_bytes_per_second);
  if (!fits(answered.download_bytes_per_second, mine.download_bytes_per_second))
    return differ("its download in bytes/s is ",
                  answered.download_bytes_per_second,
                  mine.download_bytes_per_second);
  if (!(mine.slow_pairs == answered.slow_pairs))
    return "its slow pairs are others here and there";
  return {};
}

std::string contract_terms::disorder_of(const group_contract& x,
                                        const peer_id& leader) const {
  if (x.members.empty() || x.members.front().who.id != leader
      || x.members.front().role != role::trainer)
    return "the contract does not begin with its leader";
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < x.members.size(); ++i) {
    const auto& m = x.members[i];
    if (m.role != role::trainer && m.role != role::auxiliary)
      return "the contract lists a peer that does not average";
    // Sorted as a leader writes them, which also excludes repeated ids.
    if (i >= 1 && m.who.id == leader)
      return "the contract lists a member twice";
    if (i >= 2) {
      const auto& before = x.members[i - 1];
      if (m.role < before.role
          || (m.role == before.role && !(before.who.id < m.who.id)))
        return "the contract's members are out of order";
    }
    if (m.samples > UINT64_MAX - samples)
      return "the contract's samples overflow";
    samples += m.samples;
  }
  const direct_lines lines{x};
  for (std::size_t i = 0; i < x.members.size(); ++i)
    if (lines.serves_all(i))
      return {};
  return "nobody that the contract lists has a line to all of its trainers";
}

std::vector<peer_id>
contract_terms::trainers_without_us(const group_contract& x,
                                    const group_answer& answered) const {
  const auto& said = answered.relayed;
  std::vector<peer_id> result;
  bool missing = false;
  for (const auto& m : x.members) {
    if (m.who.id == self.id)
      return {};
    missing = missing
              || std::find(said.begin(), said.end(), m.who.id) != said.end();
    if (m.role == role::trainer)
      result.push_back(m.who.id);
  }
  return missing ? result : std::vector<peer_id>{};
}

std::string contract_terms::problem_with(const group_contract& x,
                                         const peer_id& leader,
                                         std::uint64_t step,
                                         const group_answer& answered) const {
  if (x.step != step)
    return "the contract is for another step";
  // Who holds no gradient believes its length, but no cut: each chunk costs
  // more than its values.
  if ((gradient_values != 0 && x.gradient_values != gradient_values)
      || x.chunk_values != chunk_values_of(x))
    return "the contract cuts another gradient";
  if (auto problem = disorder_of(x, leader); !problem.empty())
    return problem;
  auto mine = std::find_if(x.members.begin(), x.members.end(),
                           [&](auto& m) { return m.who.id == self.id; });
  if (mine == x.members.end())
    return "the contract does not list this peer";
  if (auto lie = misquoted(*mine, x, answered); !lie.empty())
    return "the contract does not say of this peer what it answered: " + lie;
  if (auto lie = miscounted(x, answered); !lie.empty())
    return lie;
  const auto samples = samples_of(x);
  const auto least = least_of(samples);
  if (samples < least)
    return "the contract counts fewer samples than the target batch";
  if (x.least_samples != least)
    return "the contract would count another batch than the target";
  if (plan(x) != x.plan)
    // Both planned from this very contract.
    return "the leader's share plan differs from this peer's; use the same "
           "version of Potluck everywhere";
  return hindrance ? hindrance(x) : std::string{};
}

void count_samples(group_member& x, std::uint64_t most) {
  if (x.samples <= most)
    return;
  x.loss_sum *= static_cast<double>(most) / static_cast<double>(x.samples);
  x.samples = most;
}

std::uint64_t samples_of(const group_contract& x) {
  std::uint64_t samples = 0;
  for (const auto& m : x.members)
    samples += std::min(m.samples, UINT64_MAX - samples);
  return samples;
}

bool quotes_lines(const group_contract& x) {
  return std::any_of(x.members.begin(), x.members.end(), [](auto& m) {
    return m.upload_bytes_per_second != 0 || m.download_bytes_per_second != 0;
  });
}

} // namespace potluck
