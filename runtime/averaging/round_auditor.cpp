#include "runtime/averaging/round_auditor.hpp"

#include <algorithm>
#include <utility>

#include "runtime/contract_members.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// The share of a round's traffic that checking means may cost on average. One
/// check moves one chunk of every member to one of them: of a gradient in M
/// chunks, 1 / (2 M) of what a round moves.
constexpr double audit_share = 0.02;
/// A member that checks a chunk holds it once for each member under a robust
/// rule; larger ones are not checked.
constexpr std::uint64_t audit_bytes = 256u << 20;
/// For all members' parts: a chunk of 1 MB from each of 16 needs 5 s at
/// 27 Mbit/s.
constexpr auto audit_patience = 10s;
/// Chunks that one member may ask our part of in a round, its own not counted:
/// one that it checks, others because somebody challenged a mean.
constexpr std::size_t audited_chunks = 4;

const char* name_of(chunk_audit::outcome x) {
  static const char* names[] = {"right", "wrong", "denied", "silent", "open"};
  return names[static_cast<std::size_t>(x)];
}

members_in_doubt doubt(const std::set<std::size_t>& who, std::string why) {
  return {{who.begin(), who.end()}, std::move(why)};
}

} // namespace

round_auditor::round_auditor(const group_contract& contract,
                             const chunk_map& map, std::size_t self,
                             averaging_rule rule)
    : group_{contract.group}, samples_{samples_by_member(contract)},
      trainers_{trainers_of(contract)}, map_{map}, self_{self}, rule_{rule} {
}

// ---- checks -----------------------------------------------------------------

void round_auditor::draw(random_stream& chance) {
  const auto chunks = map_.chunk_count();
  // Of two, either could have made up the other's part. Trainers come first.
  if (self_ >= trainers_ || samples_.size() < 3)
    return;
  const auto checks = std::min(1.0, 2 * audit_share * chunks);
  if (chance.uniform01() >= checks / static_cast<double>(trainers_))
    return;
  const auto chunk = static_cast<std::uint32_t>(chance.below(chunks));
  const auto bytes = map_.range(chunk).count * sizeof(float) * samples_.size();
  if (map_.owner(chunk) != self_ && bytes <= audit_bytes)
    drawn_ = chunk;
}

std::optional<std::uint32_t> round_auditor::take_drawn() {
  return std::exchange(drawn_, std::nullopt);
}

round_orders round_auditor::check(std::uint32_t chunk,
                                  std::optional<std::size_t> challenger,
                                  const mean_evidence& mean) {
  if (checks_.size() >= audited_chunks || checks_.count(chunk) != 0)
    return {};
  const auto reducer = map_.owner(chunk);
  auto& x = checks_
                .emplace(chunk,
                         check_under_way{
                             chunk_audit{samples_, rule_, reducer,
                                         mean.left_out, mean.seal, mean.values,
                                         map_.range(chunk).count, mean.how},
                             {}})
                .first->second;
  if (challenger)
    x.challengers.insert(*challenger);
  if (mean.own)
    show(x.audit, self_, mean.own->first, mean.own->second);
  auto asked = x.audit.missing();
  // It tells which parts it summed, whether it has one or not.
  if (std::find(asked.begin(), asked.end(), reducer) == asked.end())
    asked.push_back(reducer);
  round_orders out;
  for (auto i : asked)
    out.emplace_back(round_mail{i, part_request{group_, chunk}});
  out.emplace_back(audit_reminder{audit_patience, chunk});
  return out;
}

bool round_auditor::challenged(std::size_t by, std::uint32_t chunk,
                               round_orders& out) {
  if (chunk >= map_.chunk_count() || map_.owner(chunk) == by
      || !challenged_by_.insert(by).second)
    return false;
  if (map_.owner(chunk) == self_)
    return false; // We know; the others will see.
  const auto at = checks_.find(chunk);
  if (at == checks_.end())
    return true;
  at->second.challengers.insert(by);
  if (at->second.found == chunk_audit::outcome::right)
    answer_for(at->second, chunk, out);
  return false;
}

bool round_auditor::may_show(std::size_t to, std::uint32_t chunk) {
  if (chunk >= map_.chunk_count())
    return false;
  auto& shown = shown_[to];
  // A reducer that has ended asks anew, and another time when it is disputed.
  if (map_.owner(chunk) == to)
    return ++shown[chunk] <= 2;
  return shown.size() < audited_chunks && ++shown[chunk] <= 1;
}

round_orders round_auditor::receive(std::size_t by, const message& content,
                                    const evidence_source& evidence) {
  round_orders out;
  if (auto digests = std::get_if<part_digests>(&content)) {
    told(by, *digests, out);
  } else if (auto challenge = std::get_if<mean_challenge>(&content)) {
    if (challenged(by, challenge->chunk, out))
      if (auto mean = evidence(challenge->chunk))
        return check(challenge->chunk, by, *mean);
  } else if (auto found = std::get_if<round_findings>(&content);
             found && by < trainers_) {
    open_inquiry(out);
    inquiry_->heard(by, found->owners);
  }
  return out;
}

void round_auditor::told(std::size_t by, const part_digests& x,
                         round_orders& out) {
  const auto at = checks_.find(x.chunk);
  if (at != checks_.end() && at->second.audit.reducer() == by
      && at->second.audit.tell(x.parts) && at->second.audit.complete())
    judge_check(x.chunk, out);
}

void round_auditor::show(chunk_audit& audit, std::size_t member,
                         const chunk_part& head, const shared_bytes& body) {
  // Whatever length it is read as, it is the mean's or no part.
  auto count = audit.length();
  std::vector<float> values(count);
  if (!unpack(head.packing, body.data, body.size, values.data(), count))
    count = 0;
  audit.show(member, head.samples, values.data(), count, digest_of(body));
}

round_orders round_auditor::shown(std::size_t by, const chunk_part& head,
                                  const shared_bytes& body) {
  round_orders out;
  auto& x = checks_.at(head.chunk);
  show(x.audit, by, head, body);
  if (x.audit.complete())
    judge_check(head.chunk, out);
  return out;
}

round_orders round_auditor::waited_for(std::uint32_t chunk) {
  round_orders out;
  if (checks(chunk))
    judge_check(chunk, out);
  return out;
}

void round_auditor::judge_check(std::uint32_t chunk, round_orders& out) {
  auto& x = checks_.at(chunk);
  const auto found = x.audit.judge();
  if (x.found || found == chunk_audit::outcome::open)
    return;
  x.found = found;
  const bool drawn = x.challengers.empty();
  out.emplace_back(
      mean_checked{x.audit.reducer(), chunk, !drawn, name_of(found)});
  if (found != chunk_audit::outcome::right && drawn)
    tell_others(mean_challenge{group_, chunk}, out);
  answer_for(x, chunk, out);
}

void round_auditor::answer_for(const check_under_way& x, std::uint32_t chunk,
                               round_orders& out) const {
  const auto reducer = x.audit.reducer();
  const auto mean = "the mean of chunk " + std::to_string(chunk);
  std::set<std::size_t> both{reducer};
  switch (*x.found) {
    case chunk_audit::outcome::right:
      both.insert(x.challengers.begin(), x.challengers.end());
      if (both.size() > 1)
        out.emplace_back(
            doubt(both, mean + " was called wrong, but is right here"));
      break;
    case chunk_audit::outcome::wrong:
      expose(reducer, mean + " is not that of the members' parts", out);
      break;
    case chunk_audit::outcome::denied:
      both.insert(x.audit.denied().begin(), x.audit.denied().end());
      out.emplace_back(
          doubt(both, mean + " is said to hold another part than was sent"));
      break;
    case chunk_audit::outcome::silent:
      out.emplace_back(doubt(both, "the reducer of " + mean
                                       + " does not show its own part"));
      break;
    case chunk_audit::outcome::open:
      break;
  }
}

// ---- after a round whose means differed -------------------------------------

round_orders round_auditor::inquire(std::vector<digest> found,
                                    round_outcome outcome) {
  round_orders out;
  withheld_ = std::move(outcome);
  tell_others(round_findings{group_, found}, out);
  open_inquiry(out);
  inquiry_->heard(self_, std::move(found));
  return out;
}

void round_auditor::open_inquiry(round_orders& out) {
  if (inquiry_)
    return;
  inquiry_.emplace(samples_.size());
  out.emplace_back(audit_reminder{limits::findings_patience, std::nullopt});
}

bool round_auditor::all_spoke(
    const std::function<bool(std::size_t)>& present) const {
  for (std::size_t i = 0; i < trainers_; ++i)
    if (!inquiry_ || (!inquiry_->has_heard(i) && (i == self_ || present(i))))
      return false;
  return true;
}

round_orders round_auditor::judge() {
  round_orders out;
  if (!inquiry_ || std::exchange(judged_, true))
    return out;
  const auto judged = inquiry_->judge();
  for (auto i : judged.named)
    expose(i, "it told members different means, or made up what it got", out);
  std::set<std::size_t> doubted;
  for (auto& [a, b] : judged.apart)
    doubted.insert({a, b});
  if (!doubted.empty())
    out.emplace_back(
        doubt(doubted, "two members contradict each other about a mean"));
  if (auto news = std::exchange(withheld_, std::nullopt))
    out.emplace_back(std::move(*news));
  return out;
}

// ---- what follows -----------------------------------------------------------

void round_auditor::expose(std::size_t member, const std::string& why,
                           round_orders& out) const {
  out.emplace_back(doubt({member}, why));
  out.emplace_back(round_fault{member, "lied", why});
  if (member != self_)
    out.emplace_back(member_accused{member, why, true});
}

void round_auditor::tell_others(const message& what, round_orders& out) const {
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (i != self_)
      out.emplace_back(round_mail{i, what});
}

} // namespace potluck
