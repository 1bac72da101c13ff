#include "runtime/experts/replica_guard.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/dialable.hpp"
#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/experts/tenure.hpp"

namespace potluck {

replica_guard::answer replica_guard::reply(const peer_id& to,
                                           const replica_offer& about,
                                           replica_standing standing) {
  return {to, {about.uid, about.term, about.version, standing, 0, 0}};
}

replica_guard::actions replica_guard::serves(const std::string& uid,
                                             std::uint32_t term,
                                             std::uint64_t version,
                                             bool adopted, time_point now) {
  actions out;
  served_[uid] = {term, adopted};
  unloaded_.erase(uid);
  if (adopting_.count(uid) != 0)
    out.push_back(taken_over{uid, term, version});
  this->adopted(uid, replica_standing::serving, now, out);
  return out;
}

replica_guard::actions replica_guard::dropped(const std::string& uid,
                                              time_point now) {
  actions out;
  served_.erase(uid);
  adopted(uid, replica_standing::refused, now, out);
  return out;
}

std::string replica_guard::home(const peer_id& host) const {
  const auto known = homes_.find(host);
  return known == homes_.end() ? to_string(host) : known->second;
}

bool replica_guard::may_hand_over(const std::string& home) const {
  std::size_t count = 0;
  for (const auto& [uid, x] : adopting_)
    count += x.from && x.home == home;
  for (const auto& [uid, its] : unloaded_)
    count += its == home;
  return count < (spare_ + 1) / 2;
}

void replica_guard::lost(const peer_id& host) {
  homes_.erase(host);
  for (auto i = incoming_.begin(); i != incoming_.end();)
    i = i->second.bytes.from() == host ? incoming_.erase(i) : std::next(i);
}

// ---- replicas arrive

replica_guard::actions replica_guard::offered(const peer_id& from,
                                              const replica_offer& x,
                                              time_point now) {
  const actions no{reply(from, x, replica_standing::refused)};
  auto s = served_.find(x.uid);
  auto ours = s != served_.end()
              && tenure{x.term, from} < tenure{s->second.term, self_.id};
  // It would be served here under the next term.
  if (leaving_ || ours || x.term >= max_term || x.owner.id != from
      || !dialable(x.owner) || !parse_expert_uid(x.uid)
      || adopting_.count(x.uid) != 0)
    return no;
  const auto its_home = home(from);
  if (x.hand_over && !may_hand_over(its_home))
    return no;
  switch (book_.offered(x, its_home, now)) {
    case replica_book::verdict::refused:
      return no;
    case replica_book::verdict::held:
      return kept(x, from, now);
    case replica_book::verdict::wanted:
      break;
  }
  auto deadline = now + duration{limits::replica_patience};
  auto under_way = incoming_.find(x.uid);
  if (under_way != incoming_.end()) {
    if (under_way->second.bytes.from() != from)
      return no;
    // It begins anew; to say so again and again gives it no more time.
    deadline = under_way->second.deadline;
    incoming_.erase(under_way);
  }
  std::uint64_t on_their_way = x.bytes, of_its_home = x.bytes;
  std::size_t at_once = 0;
  for (const auto& [uid, y] : incoming_) {
    on_their_way += y.bytes.what().bytes;
    if (y.home != its_home)
      continue;
    of_its_home += y.bytes.what().bytes;
    ++at_once;
  }
  if (incoming_.size() >= limits::replicas_received_at_once
      || at_once >= limits::replicas_of_a_home_at_once
      || of_its_home > limits::replicas_on_their_way * most_bytes_ / 2
      || on_their_way > limits::replicas_on_their_way * most_bytes_)
    return no;
  incoming fresh{{x, from}, its_home, deadline};
  auto& intake = incoming_.emplace(x.uid, std::move(fresh)).first->second;
  return {answer{from, intake.bytes.wanted()}};
}

replica_guard::actions replica_guard::chunk(const peer_id& from,
                                            const replica_chunk& x,
                                            const shared_bytes& body,
                                            time_point now) {
  auto i = incoming_.find(x.uid);
  if (i == incoming_.end() || i->second.bytes.from() != from)
    return {};
  auto& intake = i->second.bytes;
  switch (intake.add(x, body.data, body.size)) {
    case replica_intake::verdict::more:
    case replica_intake::verdict::wrong: // Of an earlier offer, perhaps.
      return {};
    case replica_intake::verdict::window:
      i->second.deadline = now + duration{limits::replica_patience};
      return {answer{from, intake.wanted()}};
    case replica_intake::verdict::whole:
      break;
  }
  store whole{intake.what(), from,
              std::make_shared<std::vector<std::uint8_t>>(intake.take())};
  writing_[{x.uid, from}] = i->second.home;
  incoming_.erase(i);
  return {std::move(whole)};
}

replica_guard::actions replica_guard::written(const replica_offer& x,
                                              const peer_id& from, bool good,
                                              time_point now) {
  // It may have left meanwhile.
  const auto its = writing_.extract({x.uid, from});
  const auto its_home = its ? its.mapped() : home(from);
  if (!good)
    return {reply(from, x, replica_standing::refused)};
  actions out;
  const auto gone = book_.keep(x, its_home, now);
  for (const auto& uid : gone) {
    records_.erase(uid);
    out.push_back(forget_replica{uid});
  }
  if (std::find(gone.begin(), gone.end(), x.uid) != gone.end()) {
    out.push_back(reply(from, x, replica_standing::refused));
    return out;
  }
  for (auto& action : kept(x, from, now))
    out.push_back(std::move(action));
  return out;
}

replica_guard::actions replica_guard::kept(const replica_offer& x,
                                           const peer_id& from,
                                           time_point now) {
  if (!x.hand_over) {
    keep_record(x.uid, x.term, x.version, now);
    return {reply(from, x, replica_standing::held)};
  }
  actions out;
  if (auto what = book_.take_offered(x.uid))
    adopt(x.uid, *what, from, now, out);
  else
    out.push_back(reply(from, x, replica_standing::refused));
  return out;
}

// ---- records

void replica_guard::keep_record(const std::string& uid, std::uint32_t term,
                                std::uint64_t version, time_point now) {
  auto& r = records_[uid];
  r.what.term = term;
  r.what.version = version;
  // A sample's values are the expert's business; one stands for all.
  r.what.inputs = r.what.outputs = 1;
  r.next = now;
}

void replica_guard::publish_record(const std::string& uid, record& x,
                                   time_point now, actions& out) {
  if (self_.where.host.empty() || self_.where.port == 0)
    return;
  x.next = now + duration{limits::announcement_renewal};
  x.what.host = self_;
  out.push_back(publish{uid, x.what});
}

// ---- replicas become experts

void replica_guard::adopt(const std::string& uid,
                          const replica_book::replica& what,
                          std::optional<peer_id> from, time_point now,
                          actions& out) {
  auto& a = adopting_[uid];
  a.from = from;
  a.home = what.home;
  a.what.uid = uid;
  a.what.term = what.term;
  a.what.version = what.version;
  if (from) {
    records_.erase(uid);
  } else {
    keep_record(uid, what.term + 1, what.version, now); // The claim.
    publish_record(uid, records_[uid], now, out);
  }
  count_adopted();
  out.push_back(move_replica{uid, what.term + 1});
}

replica_guard::actions replica_guard::moved(const std::string& uid, bool good,
                                            time_point now) {
  if (!good)
    return dropped(uid, now);
  if (auto a = adopting_.find(uid); a != adopting_.end())
    a->second.on_shelf = true;
  return {serve{uid}};
}

void replica_guard::adopted(const std::string& uid, replica_standing standing,
                            time_point now, actions& out) {
  if (auto a = adopting_.find(uid); a != adopting_.end()) {
    const auto& x = a->second;
    if (x.from) {
      out.push_back(reply(*x.from, x.what, standing));
    } else if (auto r = records_.find(uid); r != records_.end()) {
      if (standing != replica_standing::serving) {
        // Others need not wait any longer, and nothing is left of it here.
        r->second.what.term = x.what.term;
        r->second.what.version = 0;
        publish_record(uid, r->second, now, out);
      }
      records_.erase(r);
    }
    if (x.on_shelf && standing != replica_standing::serving)
      unloaded_[uid] = x.home;
    adopting_.erase(a);
  }
  count_adopted();
}

void replica_guard::count_adopted() {
  auto count = adopting_.size() + unloaded_.size();
  for (auto& [uid, s] : served_)
    count += s.adopted && adopting_.count(uid) == 0;
  book_.adopted(count);
}

replica_guard::actions
replica_guard::found(const replica_book::question& x,
                     const std::vector<expert_announcement>& hosts,
                     const std::vector<expert_announcement>& guards,
                     time_point now) {
  actions out;
  book_.answered(x, hosts, guards, now);
  take_over(now, out);
  return out;
}

void replica_guard::take_over(time_point now, actions& out) {
  while (auto x = leaving_ ? std::nullopt : book_.take(now))
    if (served_.count(x->first) == 0 && adopting_.count(x->first) == 0)
      adopt(x->first, x->second, std::nullopt, now, out);
}

replica_guard::actions replica_guard::due(time_point now) {
  actions out;
  auto left = limits::announcements_at_once;
  for (auto& [uid, r] : records_) {
    if (left == 0)
      break;
    if (now < r.next)
      continue;
    publish_record(uid, r, now, out);
    --left;
  }
  take_over(now, out);
  for (auto& uid : book_.forget_old(now)) {
    records_.erase(uid);
    out.push_back(forget_replica{uid});
  }
  for (auto i = incoming_.begin(); i != incoming_.end();)
    i = i->second.deadline <= now ? incoming_.erase(i) : std::next(i);
  return out;
}

} // namespace potluck
