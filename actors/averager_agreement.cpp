/// The averager's side of the agreement: deadlines, what it wants done, and
/// members that send what cannot be used.
#include "actors/averager.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

// ---- faults
// ------------------------------------------------------------------------------

void averager_state::on(const part_refused& x) {
  if (!round_ || x.member >= round_->contract().members.size())
    return;
  // The reducer does without it: the member itself can stay for now.
  blame(round_->contract().members[x.member].who.id,
        "a part that cannot be summed: " + x.why);
  note_refusal(x.member, round_->self);
}

void averager_state::note_refusal(std::size_t member, std::size_t reducer) {
  auto& r = *round_;
  auto& members = r.contract().members;
  auto& by = r.refused_by[member];
  if (member >= members.size() || !by.insert(reducer).second)
    return;
  if (member == r.self) {
    self_->send(wired_.observer,
                event{"fault",
                      {{"peer", short_name(members[reducer].who.id)},
                       {"what", std::string{"refused our part"}},
                       {"detail", "what this peer computed was left out of a "
                                  "mean; check its memory and its settings"}}});
    return;
  }
  std::size_t reducers = 0;
  for (std::size_t i = 0; i < members.size(); ++i)
    reducers += i != member && r.map.chunks_of(i).count != 0;
  // One reducer's word is no proof, and most of them could spoil the mean as
  // well.
  if (by.size() >= 2 && 2 * by.size() > reducers)
    self_->send(
        wired_.roster,
        offence_seen{members[member].who.id, misconduct::witness::majority,
                     "round " + short_name(r.contract().group),
                     "its part was refused by " + std::to_string(by.size())
                         + " of " + std::to_string(reducers) + " reducers"});
}

void averager_state::name_silent(round_over& news) const {
  auto& r = *round_;
  // The leader loses patience first, and may end the round.
  auto patience = std::chrono::milliseconds{r.contract().patience_ms};
  auto waited = r.lost_patience || self_->clock().now() - r.began >= patience;
  // Others need not have heard of everybody.
  news.watched = waited && (r.self == 0 || r.map.chunks_of(r.self).count != 0);
  if (!news.watched)
    return;
  auto& members = r.contract().members;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (i != r.self && members[i].role == role::trainer
        && members[i].samples != 0 && !r.heard.count(i)
        && connected_.count(members[i].who.id))
      news.silent.push_back(members[i].who.id);
}

void averager_state::blame(const peer_id& member, const std::string& why) {
  self_->send(wired_.observer, event{"fault",
                                     {{"peer", short_name(member)},
                                      {"what", std::string{"bad data"}},
                                      {"detail", why}}});
  if (member != config_.self)
    self_->send(wired_.roster,
                offence_seen{member, misconduct::witness::alone,
                             "round " + short_name(round_->contract().group),
                             why});
}

void averager_state::refuse_mean(const peer_id& from, const std::string& why) {
  blame(from, why);
  self_->send(wired_.gateway, drop_peer{from, why});
}

void averager_state::on_down(const caf::down_msg& x) {
  if (x.reason == caf::exit_reason::normal || !round_)
    return;
  // A reducer of the current round crashed: the parts that it held are gone.
  for (auto& [chunk, reducer] : round_->reducers)
    if (reducer.address() == x.source) {
      abandon("a reducer failed: " + to_string(x.reason));
      return;
    }
}

void averager_state::abandon(const std::string& why) {
  judge_means();
  auto order = round_->order;
  auto over = round_->over;
  end_reducers();
  config_.intake->end();
  round_.reset();
  self_->send(wired_.observer, event{"fault",
                                     {{"what", std::string{"left the round"}},
                                      {"detail", why}}});
  std::vector<peer_id> members;
  for (auto& member : order.contract.members)
    members.push_back(member.who.id);
  tell_out_of(order.contract.group, members);
  if (over)
    return;
  round_over news;
  news.contract = order.contract;
  self_->send(wired_.conductor, news);
  self_->send(wired_.matchmaking, news);
}

void averager_state::tell_out_of(const group_id& group,
                                 const std::vector<peer_id>& members) {
  stay_out(group);
  group_answer no;
  no.group = group;
  no.reason = "left this round";
  for (auto& member : members)
    if (member != config_.self && left_.back().second.insert(member).second)
      self_->send(wired_.gateway, parcel{member, no, {}});
}

void averager_state::arm() {
  auto& r = *round_;
  auto patience = std::chrono::milliseconds{r.contract().patience_ms};
  // The leader's verdict should come before a follower loses patience.
  if (r.self != 0)
    patience += std::max<std::chrono::milliseconds>(
        limits::follower_grace, patience / limits::follower_share);
  self_->delayed_send(self_, patience, deadline_passed{++deadline_});
}

void averager_state::on(const deadline_passed& x) {
  if (!round_ || !round_->agreement.waiting() || x.number != deadline_)
    return;
  catch_up();
  if (!round_ || !round_->agreement.waiting())
    return;
  auto& r = *round_;
  auto quiet = self_->clock().now() - r.last_news;
  if (!r.last_in_touch
      && quiet >= std::chrono::milliseconds{r.contract().patience_ms}) {
    r.last_news = self_->clock().now();
    r.lost_patience = true;
    close_intake();
    carry_out(r.agreement.expired());
  }
  if (round_->agreement.waiting())
    arm();
}

// ---- what the agreement wants
// ---------------------------------------------------------------

void averager_state::carry_out(const round_agreement::actions& actions) {
  adopt_own_means();
  for (auto& action : actions)
    std::visit([&](const auto& y) { carry_out(y); }, action);
  auto& r = *round_;
  if (!r.agreement.digest_wanted())
    return;
  carry_out(r.agreement.whole_vector_here(digest_of_means()));
  // Not before: on a slow line, a chunk of every member is a tenth of the
  // round.
  if (!round_ || !round_->drawn)
    return;
  begin_check(*round_->drawn, std::nullopt);
  round_->drawn.reset();
}

void averager_state::carry_out(const send_to_member& x) {
  std::visit(
      [&](const auto& y) {
        self_->send(wired_.gateway,
                    parcel{round_->contract().members[x.to].who.id, y, {}});
      },
      x.what);
}

void averager_state::carry_out(const send_part& x) {
  auto& r = *round_;
  if (!r.order.gradient)
    return;
  auto& own = r.contract().members[r.self];
  auto [values, how] = outgoing_part(x.chunk);
  r.bytes_sent += values.size;
  self_->send(wired_.gateway,
              parcel{r.contract().members[x.to].who.id,
                     chunk_part{r.contract().group, x.chunk, own.samples, how},
                     std::move(values)});
}

void averager_state::carry_out(const send_mean& x) {
  auto& r = *round_;
  auto bytes = mean_bytes(x.chunk);
  if (bytes.size == 0)
    return;
  auto head = r.agreement.ledger().describe(x.chunk);
  head.group = r.contract().group;
  auto seal = r.seals.find(x.chunk);
  if (head.version == 1 && r.map.owner(x.chunk) == r.self
      && seal != r.seals.end())
    head.seal = seal->second;
  auto packed = r.packed_means.find(x.chunk);
  if (head.version == 1 && packed != r.packed_means.end()) {
    bytes = packed->second;
    head.packing = packing_of(r.self);
  }
  r.bytes_sent += bytes.size;
  self_->send(wired_.gateway, parcel{r.contract().members[x.to].who.id, head,
                                     std::move(bytes)});
}

void averager_state::carry_out(const ask_mean& x) {
  auto& r = *round_;
  self_->send(wired_.gateway,
              parcel{r.contract().members[x.from].who.id,
                     mean_request{r.contract().group, x.chunk, x.version},
                     {}});
}

void averager_state::carry_out(const average_chunk& x) {
  offer_own_part(x.chunk);
  round_->checks.erase(x.chunk); // Its parts are for the mean now.
  if (auto reducer = reducer_of(x.chunk))
    self_->send(reducer, part_given_up{x.leave_out});
}

void averager_state::carry_out(const round_decision& x) {
  auto& r = *round_;
  r.over = true;
  config_.intake->end();
  plan_windows();
  round_over news;
  news.contract = r.contract();
  news.committed = x.commit;
  news.samples = x.samples;
  if (x.commit) {
    news.left_out = r.agreement.ledger().left_out();
    news.healed = r.agreement.ledger().healed();
  }
  news.seconds
      = std::chrono::duration<double>(self_->clock().now() - r.began).count();
  news.bytes_sent = r.bytes_sent;
  news.bytes_received = r.bytes_received;
  name_silent(news);
  if (x.commit)
    news.mean = r.mean;
  end_reducers();
  r.committed = x.commit;
  if (!x.commit && r.trains && r.agreement.ledger().complete()
      && r.contract().members.size() > 1) {
    inquire(std::move(news));
    return;
  }
  self_->send(wired_.conductor, news);
  self_->send(wired_.matchmaking, news);
}

void averager_state::end_reducers() {
  if (!round_)
    return;
  for (auto& [chunk, reducer] : round_->reducers) {
    self_->demonitor(reducer.address());
    self_->send_exit(reducer, caf::exit_reason::user_shutdown);
  }
  round_->reducers.clear();
}

} // namespace potluck
