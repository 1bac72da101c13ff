#include "runtime/averaging/sum_auditor.hpp"

#include <algorithm>
#include <utility>

#include "runtime/contract_members.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

bool is_in(const std::vector<std::uint8_t>& ascending, std::size_t member) {
  return std::binary_search(ascending.begin(), ascending.end(), member);
}

projection own_part(std::uint64_t seed, const part_source::part& x,
                    std::size_t length) {
  const auto& [head, body] = x;
  std::vector<float> values(length); // As whoever sums it unpacks it.
  unpack(head.packing, body.data, body.size, values.data(), length);
  return project(seed, head.chunk, values.data(), length);
}

} // namespace

sum_auditor::sum_auditor(const group_contract& contract, const chunk_map& map,
                         std::size_t self, averaging_rule rule,
                         std::shared_ptr<denials> denials)
    : group_{contract.group}, map_{map}, self_{self},
      part_norm_{rule.part_norm}, linear_{rule.how == aggregator::mean},
      ids_{ids_of(contract)}, samples_{samples_by_member(contract)},
      trainers_{trainers_of(contract)}, denials_{std::move(denials)},
      defence_{contract, self} {
}

// ---- a check ----------------------------------------------------------------

void sum_auditor::draw(random_stream& chance, std::uint64_t nonce) {
  // Of two, either could have made up the other's part.
  if (linear_ && trains() && samples_.size() >= 3
      && chance.below(trainers_) == 0)
    drawn_ = nonce;
}

round_orders sum_auditor::committed(const evidence_source& evidence) {
  round_orders out;
  committed_ = true;
  if (drawn_)
    checks_[self_].seed = drawn_;
  for (auto& [drawn_by, x] : checks_)
    answer(drawn_by, evidence, out);
  return out;
}

round_orders sum_auditor::receive(std::size_t by, const message& content,
                                  const evidence_source& evidence) {
  round_orders out;
  if (!linear_)
    return out;
  if (auto said = std::get_if<part_projections>(&content))
    hear(by, *said, evidence, out);
  else if (auto dispute = std::get_if<sum_dispute>(&content);
           dispute && by < trainers_ && ++disputes_[by] <= max_projections)
    defend(dispute->chunk, dispute->seed, evidence, out);
  else if (auto account = std::get_if<sum_account>(&content))
    hear(by, *account, out);
  return out;
}

void sum_auditor::hear(std::size_t by, const part_projections& x,
                       const evidence_source& evidence, round_orders& out) {
  if (by >= trainers_ || x.drawn_by >= trainers_)
    return;
  auto& check = checks_[x.drawn_by];
  check.words.emplace(by, x);
  if (by == x.drawn_by && !check.seed) {
    check.seed = x.seed;
    if (committed_ || !trains())
      answer(x.drawn_by, evidence, out);
  }
  judge(check, evidence, out);
}

void sum_auditor::answer(std::size_t drawn_by, const evidence_source& evidence,
                         round_orders& out) {
  auto& x = checks_.at(drawn_by);
  if (!x.seed || !x.sums.empty())
    return;
  part_projections mine{
      group_, static_cast<std::uint8_t>(drawn_by), *x.seed, {}};
  for (auto chunk : chunks_drawn(*x.seed, map_)) {
    const auto mean = evidence(chunk);
    x.sums.push_back(look(*x.seed, chunk, mean));
    mine.parts.push_back(mean && mean->own
                             ? own_part(*x.seed, *mean->own, mean->length)
                             : projection{});
  }
  if (trains()) {
    x.words[self_] = mine;
    tell_others(mine, out);
  }
  judge(x, evidence, out);
}

sum_auditor::disputable
sum_auditor::look(std::uint64_t seed, std::uint32_t chunk,
                  const std::optional<mean_evidence>& mean) const {
  disputable result;
  result.chunk = chunk;
  if (!mean || !mean->values)
    return result;
  auto samples = samples_;
  for (auto i : mean->left_out)
    samples.at(i) = 0;
  result.mean.emplace(seed, chunk, std::move(samples), part_norm_, mean->values,
                      mean->length, mean->how);
  return result;
}

bool sum_auditor::complete(const check& x) const {
  if (x.sums.empty())
    return false;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (samples_[i] == 0)
      continue;
    const auto at = x.words.find(i);
    if (at == x.words.end() || at->second.seed != *x.seed
        || at->second.parts.size() != x.sums.size())
      return false;
  }
  return true;
}

std::vector<projection> sum_auditor::parts_of(const check& x,
                                              std::size_t sum) const {
  std::vector<projection> result(samples_.size());
  for (auto& [member, word] : x.words)
    if (samples_[member] != 0)
      result[member] = word.parts.at(sum);
  return result;
}

void sum_auditor::judge(check& x, const evidence_source& evidence,
                        round_orders& out) {
  if (x.judged || !complete(x))
    return;
  x.judged = true;
  bool checked = false;
  std::set<std::size_t> disputed; // Reducers, each for its first such chunk.
  for (std::size_t i = 0; i < x.sums.size(); ++i) {
    auto& sum = x.sums[i];
    checked = checked || sum.mean;
    sum.wrong = sum.mean && !sum.mean->fits(parts_of(x, i));
    if (!sum.wrong) {
      settle(x, i, out);
      continue;
    }
    const auto reducer = map_.owner(sum.chunk);
    out.emplace_back(mean_checked{reducer, sum.chunk, false, "wrong sum"});
    sum.disputed = disputed.insert(reducer).second;
    if (sum.disputed && reducer == self_) {
      defend(sum.chunk, *x.seed, evidence, out);
    } else if (sum.disputed) {
      x.due = now_ + limits::account_patience;
      out.emplace_back(
          round_mail{reducer, sum_dispute{group_, sum.chunk, *x.seed}});
      out.emplace_back(audit_reminder{limits::account_patience, sum.chunk});
    }
    settle(x, i, out);
  }
  if (checked && disputed.empty())
    out.emplace_back(mean_checked{map_.owner(x.sums[0].chunk), x.sums[0].chunk,
                                  false, "sums fit"});
}

// ---- a reducer's answer -----------------------------------------------------

void sum_auditor::defend(std::uint32_t chunk, std::uint64_t seed,
                         const evidence_source& evidence, round_orders& out) {
  if (chunk >= map_.chunk_count() || map_.owner(chunk) != self_)
    return;
  const auto mean = evidence(chunk);
  if (!mean || !mean->values)
    return;
  // All that are asked about it get their answer by the same parts.
  std::set<std::uint64_t> seeds{seed};
  for (auto& [drawn_by, x] : checks_)
    if (x.seed)
      seeds.insert(*x.seed);
  defence_.dispute(chunk, std::move(seeds), *mean, out);
  tell_accounts(chunk, out);
}

round_orders sum_auditor::shown(std::size_t by, const chunk_part& head,
                                const shared_bytes& body) {
  round_orders out;
  defence_.shown(by, head, body);
  tell_accounts(head.chunk, out);
  return out;
}

void sum_auditor::tell_accounts(std::uint32_t chunk, round_orders& out) {
  for (auto& x : defence_.take_accounts(chunk)) {
    tell_others(x, out);
    hear(self_, x, out);
  }
}

void sum_auditor::hear(std::size_t by, const sum_account& x,
                       round_orders& out) {
  // It may come before this member knows of the check; who floods drowns its
  // own answers.
  auto& kept = accounts_[by];
  if (x.chunk >= map_.chunk_count() || map_.owner(x.chunk) != by
      || x.parts.size() != samples_.size()
      || kept.size() >= max_projections * trainers_)
    return;
  kept.emplace(std::pair{x.chunk, x.seed}, x);
  for (auto& [drawn_by, check] : checks_)
    if (check.judged && check.seed == x.seed)
      for (std::size_t i = 0; i < check.sums.size(); ++i)
        settle(check, i, out);
}

const sum_account* sum_auditor::account_of(std::uint32_t chunk,
                                           std::uint64_t seed) const {
  const auto by = accounts_.find(map_.owner(chunk));
  if (by == accounts_.end())
    return nullptr;
  const auto at = by->second.find({chunk, seed});
  return at == by->second.end() ? nullptr : &at->second;
}

void sum_auditor::settle(check& x, std::size_t i, round_orders& out) {
  auto& sum = x.sums[i];
  const auto* account = account_of(sum.chunk, *x.seed);
  if (sum.settled || !account || !sum.mean)
    return;
  const auto reducer = map_.owner(sum.chunk);
  const auto& said = *account;
  const auto told = parts_of(x, i);
  std::set<std::size_t> denied;
  std::size_t others = 0;
  for (std::size_t k = 0; k < samples_.size(); ++k)
    if (sum.mean->has(k)) {
      others += k != reducer;
      if (is_in(said.unshown, k) || !same_part(told[k], said.parts[k]))
        denied.insert(k);
    }
  if (!sum.wrong && denied.count(self_) == 0)
    return; // It is about what others were told.
  sum.settled = true;
  if (reducer == self_)
    return doubt(denied, sum.chunk, "it told something else than its part",
                 out);
  const bool most = denied.size() >= 2 && 2 * denied.size() > others;
  if (most || (said.unshown.empty() && !sum.mean->fits(said.parts))) {
    if (!doubted_.insert(reducer).second)
      return;
    const auto why = "the mean of chunk " + std::to_string(sum.chunk)
                     + " is not that of the members' parts";
    out.emplace_back(members_in_doubt{{reducer}, why});
    out.emplace_back(round_fault{reducer, "lied", why});
    out.emplace_back(member_accused{reducer, why, true});
    return;
  }
  if (denied.count(self_) != 0)
    return doubt({reducer}, sum.chunk, "it denies what this peer has sent",
                 out);
  // One word against another.
  if (denied.size() == 1
      && !denials_->again(ids_[reducer], ids_[*denied.begin()], now_))
    return doubt(denied, sum.chunk, "its reducer denies what it tells", out);
  denied.insert(reducer);
  doubt(denied, sum.chunk, "its reducer denies what several tell", out);
}

round_orders sum_auditor::waited_for(std::uint32_t chunk) {
  round_orders out;
  defence_.waited_for(chunk);
  tell_accounts(chunk, out);
  for (auto& [drawn_by, x] : checks_)
    for (auto& sum : x.sums)
      if (sum.chunk == chunk && x.due <= now_ && unanswered(sum))
        doubt({map_.owner(chunk)}, chunk, "it does not answer for it", out);
  return out;
}

round_orders sum_auditor::give_up() {
  round_orders out;
  std::set<std::size_t> silent;
  for (auto& [drawn_by, x] : checks_)
    for (auto& sum : x.sums) {
      const auto reducer = map_.owner(sum.chunk);
      // It may not have had the time; but not for ever.
      if (unanswered(sum) && silent.insert(reducer).second
          && denials_->again(ids_[reducer], {}, now_))
        doubt({reducer}, sum.chunk, "it does not answer for its sums", out);
    }
  return out;
}

bool sum_auditor::unanswered(disputable& x) const {
  if (!x.disputed || map_.owner(x.chunk) == self_)
    return false;
  // It gathers a chunk's parts once, and answers by them for all checks.
  for (auto& [drawn_by, check] : checks_)
    if (check.seed && account_of(x.chunk, *check.seed))
      return false;
  return !std::exchange(x.settled, true);
}

// ---- what follows -----------------------------------------------------------

void sum_auditor::doubt(const std::set<std::size_t>& who, std::uint32_t chunk,
                        const char* why, round_orders& out) {
  members_in_doubt news{
      {}, "the sum of chunk " + std::to_string(chunk) + ": " + why};
  for (auto i : who)
    if (doubted_.insert(i).second)
      news.members.push_back(i);
  if (!news.members.empty())
    out.emplace_back(std::move(news));
}

void sum_auditor::tell_others(const message& what, round_orders& out) const {
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (i != self_)
      out.emplace_back(round_mail{i, what});
}

} // namespace potluck
