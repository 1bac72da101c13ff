/// The averager's side of finding out who lies about means: checks of means
/// drawn by chance, challenges, and the inquiry after a round whose means
/// differed. runtime/averaging/README.md, "Who lied", states the protocol.
#include <algorithm>

#include "actors/averager.hpp"
#include "runtime/config.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

// ---- checks of means
// ----------------------------------------------------------------------

void averager_state::draw_a_check() {
  auto& r = *round_;
  auto& members = r.contract().members;
  auto trainers = static_cast<double>(
      std::count_if(members.begin(), members.end(),
                    [](auto& x) { return x.role == role::trainer; }));
  auto chunks = r.map.chunk_count();
  // Of two, either could have made up the other's part.
  if (!r.trains || members.size() < 3 || !guarded(safeguard::audit))
    return;
  auto checks = std::min(1.0, 2 * limits::audit_share * chunks);
  if (chance_.uniform01() >= checks / trainers)
    return;
  auto chunk = static_cast<std::uint32_t>(chance_.below(chunks));
  auto bytes = r.map.range(chunk).count * sizeof(float) * members.size();
  if (r.map.owner(chunk) != r.self && bytes <= limits::audit_bytes)
    r.drawn = chunk;
}

void averager_state::begin_check(std::uint32_t chunk,
                                 std::optional<std::size_t> challenger) {
  auto& r = *round_;
  auto& c = r.contract();
  auto& ledger = r.agreement.ledger();
  auto seal = r.seals.find(chunk);
  if (!r.mean || seal == r.seals.end() || ledger.version(chunk) != 1
      || r.checks.size() >= limits::audited_chunks)
    return;
  std::vector<std::uint64_t> samples;
  for (auto& member : c.members)
    samples.push_back(member.samples);
  auto range = r.map.range(chunk);
  auto& x
      = r.checks
            .emplace(
                chunk,
                check{chunk_audit{samples, config_.rule, r.map.owner(chunk),
                                  ledger.describe(chunk).left_out, seal->second,
                                  r.mean->data() + range.offset, range.count,
                                  packing_of(r.map.owner(chunk))},
                      {}})
            .first->second;
  if (challenger)
    x.challengers.insert(*challenger);
  if (r.order.gradient && samples[r.self] != 0) {
    auto [body, how] = outgoing_part(chunk);
    show(x.audit, r.self, samples[r.self], body, how);
  }
  auto asked = x.audit.missing();
  // It tells which parts it summed, whether it has one or not.
  if (std::find(asked.begin(), asked.end(), x.audit.reducer()) == asked.end())
    asked.push_back(x.audit.reducer());
  for (auto i : asked)
    self_->send(wired_.gateway,
                parcel{c.members[i].who.id, part_request{c.group, chunk}, {}});
  self_->delayed_send(self_, limits::audit_patience,
                      inquiry_due{c.group, chunk});
}

void averager_state::read(const letter& x, const part_request& request) {
  auto& r = *round_;
  auto by = r.agreement.members().index_of(x.from);
  if (request.chunk >= r.map.chunk_count())
    return;
  auto& shown = r.shown[by];
  // Once each, and few: nobody is to use up our line with questions.
  if (shown.size() >= limits::audited_chunks
      || !shown.insert(request.chunk).second)
    return;
  if (auto parts = r.parts.find(request.chunk);
      parts != r.parts.end() && r.map.owner(request.chunk) == r.self)
    self_->send(
        wired_.gateway,
        parcel{x.from,
               part_digests{r.contract().group, request.chunk, parts->second},
               {}});
  if (r.order.gradient && r.contract().members[r.self].samples != 0)
    carry_out(send_part{request.chunk, by});
}

void averager_state::read(const letter& x, const part_digests& told) {
  auto& r = *round_;
  auto at = r.checks.find(told.chunk);
  if (at == r.checks.end()
      || at->second.audit.reducer() != r.agreement.members().index_of(x.from))
    return;
  if (at->second.audit.tell(told.parts) && at->second.audit.complete())
    judge_check(told.chunk);
}

bool averager_state::show(chunk_audit& audit, std::size_t member,
                          std::uint64_t samples, const shared_bytes& body,
                          packing how) const {
  // Whatever length it is read as, it is the mean's or no part.
  auto count = audit.length();
  std::vector<float> values(count);
  if (!unpack(how, body.data, body.size, values.data(), count))
    count = 0;
  return audit.show(member, samples, values.data(), count, digest_of(body));
}

bool averager_state::shown(const letter& x, const chunk_part& part) {
  auto& r = *round_;
  auto at = r.checks.find(part.chunk);
  if (at == r.checks.end())
    return false;
  auto waited_for
      = show(at->second.audit, r.agreement.members().index_of(x.from),
             part.samples, x.body, part.packing);
  if (waited_for && at->second.audit.complete())
    judge_check(part.chunk);
  return true;
}

void averager_state::judge_check(std::uint32_t chunk) {
  auto& x = round_->checks.at(chunk);
  auto found = x.audit.judge();
  if (x.found || found == chunk_audit::outcome::open)
    return;
  x.found = found;
  static const char* names[] = {"right", "wrong", "denied", "silent"};
  auto& members = round_->contract().members;
  self_->send(wired_.observer,
              event{"check",
                    {{"peer", short_name(members[x.audit.reducer()].who.id)},
                     {"chunk", std::uint64_t{chunk}},
                     {"challenged", !x.challengers.empty()},
                     {"outcome",
                      std::string{names[static_cast<std::size_t>(found)]}}}});
  if (found != chunk_audit::outcome::right && x.challengers.empty())
    tell_others(mean_challenge{round_->contract().group, chunk});
  answer_for(x, chunk);
}

void averager_state::answer_for(const check& x, std::uint32_t chunk) {
  auto reducer = x.audit.reducer();
  auto mean = "the mean of chunk " + std::to_string(chunk);
  std::set<std::size_t> both{reducer};
  switch (*x.found) {
    case chunk_audit::outcome::right:
      both.insert(x.challengers.begin(), x.challengers.end());
      if (both.size() > 1)
        doubt(both, mean + " was called wrong, but is right here");
      break;
    case chunk_audit::outcome::wrong:
      expose(reducer, mean + " is not that of the members' parts");
      break;
    case chunk_audit::outcome::denied:
      both.insert(x.audit.denied().begin(), x.audit.denied().end());
      doubt(both, mean + " is said to hold another part than was sent");
      break;
    case chunk_audit::outcome::silent:
      doubt(both, "the reducer of " + mean + " does not show its own part");
      break;
    case chunk_audit::outcome::open:
      break;
  }
}

void averager_state::read(const letter& x, const mean_challenge& challenge) {
  auto& r = *round_;
  auto by = r.agreement.members().index_of(x.from);
  if (challenge.chunk >= r.map.chunk_count()
      || r.map.owner(challenge.chunk) == by
      || !r.challenged_by.insert(by).second || !guarded(safeguard::audit))
    return;
  if (r.map.owner(challenge.chunk) == r.self)
    return; // We know; the others will see.
  auto at = r.checks.find(challenge.chunk);
  if (at == r.checks.end()) {
    begin_check(challenge.chunk, by);
    return;
  }
  at->second.challengers.insert(by);
  if (at->second.found == chunk_audit::outcome::right)
    answer_for(at->second, challenge.chunk);
}

// ---- after a round whose means differed
// ---------------------------------------------------

void averager_state::inquire(round_over news) {
  auto& r = *round_;
  r.withheld = std::move(news);
  auto found = findings_of(r.agreement.ledger(), r.map, *r.mean);
  tell_others(round_findings{r.contract().group, found});
  open_inquiry();
  r.inquiry->heard(r.self, std::move(found));
  judge_if_all_spoke();
}

void averager_state::open_inquiry() {
  auto& r = *round_;
  if (r.inquiry)
    return;
  r.inquiry.emplace(r.contract().members.size());
  self_->delayed_send(self_, limits::findings_patience,
                      inquiry_due{r.contract().group, std::nullopt});
}

void averager_state::read(const letter& x, const round_findings& found) {
  auto& r = *round_;
  auto by = r.agreement.members().index_of(x.from);
  if (r.contract().members[by].role != role::trainer || r.committed)
    return;
  open_inquiry();
  r.inquiry->heard(by, found.owners);
  judge_if_all_spoke();
}

void averager_state::judge_if_all_spoke() {
  auto& r = *round_;
  auto& members = r.contract().members;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].role == role::trainer && !r.inquiry->has_heard(i)
        && (i == r.self || connected_.count(members[i].who.id)))
      return;
  judge_means();
}

void averager_state::judge_means() {
  if (!round_ || !round_->inquiry || round_->judged || !round_->over)
    return;
  auto& r = *round_;
  r.judged = true;
  if (!r.committed && guarded(safeguard::naming)) {
    auto judged = r.inquiry->judge();
    for (auto i : judged.named)
      expose(i, "it told members different means, or made up what it got");
    std::set<std::size_t> doubted;
    for (auto& [a, b] : judged.apart)
      doubted.insert({a, b});
    if (!doubted.empty())
      doubt(doubted, "two members contradict each other about a mean");
  }
  if (!r.withheld)
    return;
  auto news = std::move(*r.withheld);
  r.withheld.reset();
  self_->send(wired_.conductor, news);
  self_->send(wired_.matchmaking, news);
}

void averager_state::on(const inquiry_due& x) {
  if (!round_ || round_->contract().group != x.group)
    return;
  auto& r = *round_;
  if (!x.chunk) {
    if (!r.over) // Others have heard of the end before us.
      self_->delayed_send(self_, limits::findings_patience, x);
    else
      judge_means();
  } else if (r.checks.count(*x.chunk)) {
    judge_check(*x.chunk);
  }
}

// ---- what follows
// -------------------------------------------------------------------------

void averager_state::tell_others(const message& what) {
  for (auto& member : round_->contract().members)
    if (member.who.id != config_.self)
      self_->send(wired_.gateway, parcel{member.who.id, what, {}});
}

void averager_state::doubt(const std::set<std::size_t>& who,
                           const std::string& why) {
  members_doubted news;
  news.why = why;
  for (auto i : who)
    news.who.push_back(round_->contract().members[i].who.id);
  self_->send(wired_.conductor, news);
}

void averager_state::expose(std::size_t member, const std::string& why) {
  auto& id = round_->contract().members[member].who.id;
  doubt({member}, why);
  self_->send(wired_.observer, event{"fault",
                                     {{"peer", short_name(id)},
                                      {"what", std::string{"lied"}},
                                      {"detail", why}}});
  if (id != config_.self)
    self_->send(wired_.roster,
                offence_seen{id, misconduct::witness::majority,
                             "round " + short_name(round_->contract().group),
                             why});
}

} // namespace potluck
