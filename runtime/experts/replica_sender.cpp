#include "runtime/experts/replica_sender.hpp"

#include <algorithm>

#include "messages/limits.hpp"

namespace potluck {

void replica_sender::saved(const std::string& uid, std::uint32_t term,
                           std::uint64_t version, bool adopted) {
  adopted_[uid] = adopted;
  plan_.saved(uid, term, version);
}

void replica_sender::dropped(const std::string& uid) {
  adopted_.erase(uid);
  plan_.drop(uid);
  forget_ended();
}

void replica_sender::forget_ended() {
  for (auto i = outgoing_.begin(); i != outgoing_.end();)
    i = plan_.under_way(i->first.first, i->first.second) ? std::next(i)
                                                         : outgoing_.erase(i);
}

replica_sender::actions replica_sender::hand_over(const std::string& uid,
                                                  time_point now) {
  plan_.hand_over(uid);
  return due(now);
}

void replica_sender::lost(const peer_id& host, time_point now) {
  plan_.lost(host, now);
  forget_ended();
}

replica_sender::actions replica_sender::due(time_point now) {
  actions result;
  plan_.expire(now);
  forget_ended();
  while (auto what = plan_.next(now)) {
    auto adopted = adopted_[what->uid];
    result.push_back(read_shelf{std::move(*what), adopted});
  }
  for (auto& uid : plan_.unwanted(now))
    result.push_back(let_go{uid, false});
  return result;
}

replica_sender::actions
replica_sender::read(const replication_plan::offer& asked,
                     std::shared_ptr<const shelved_expert> kept,
                     const digest& sum, time_point now) {
  auto what = plan_.under_way(asked.uid, asked.guard.id);
  if (!what || what->version != asked.version
      || what->hand_over != asked.hand_over)
    return {};
  if (kept->bytes.empty() || self_.where.host.empty()
      || self_.where.port == 0) {
    plan_.refused(asked.uid, asked.guard.id, now);
    return {};
  }
  replica_offer offer;
  offer.uid = what->uid;
  offer.term = what->term;
  offer.version = what->version;
  offer.bytes = kept->bytes.size();
  offer.sum = sum;
  offer.kind = kind_;
  offer.owner = self_;
  offer.hand_over = what->hand_over;
  outgoing_[{what->uid, what->guard.id}] = {offer, std::move(kept)};
  return {make_offer{what->guard, offer}};
}

replica_sender::actions replica_sender::window(const peer_id& to,
                                               const replica_reply& x,
                                               const outgoing& o) {
  actions result;
  const auto& bytes = o.kept->bytes;
  if (x.offset >= bytes.size())
    return result;
  auto end = std::min<std::size_t>(bytes.size(), x.offset + x.length);
  for (std::size_t at = x.offset; at < end; at += replica_chunk_bytes)
    result.push_back(
        send_chunk{to,
                   {x.uid, o.what.term, o.what.version, at},
                   {o.kept, bytes.data() + at,
                    std::min<std::size_t>(replica_chunk_bytes, end - at)}});
  return result;
}

replica_sender::actions replica_sender::answered(const peer_id& from,
                                                 const replica_reply& x,
                                                 time_point now) {
  auto o = outgoing_.find({x.uid, from});
  if (o == outgoing_.end() || !plan_.under_way(x.uid, from))
    return {};
  const auto& offer = o->second.what;
  // To an earlier offer of the same expert, or of its replica: that of the last
  // version may be under way when the expert is handed over.
  if (x.term != offer.term || x.version != offer.version
      || (x.standing == replica_standing::held && offer.hand_over)
      || (x.standing == replica_standing::serving && !offer.hand_over))
    return {};
  actions result;
  switch (x.standing) {
    case replica_standing::wanted:
      result = window(from, x, o->second);
      if (!result.empty())
        plan_.progress(x.uid, from, now);
      return result;
    case replica_standing::held:
      plan_.held(x.uid, from, now);
      break;
    case replica_standing::serving:
      plan_.drop(x.uid);
      result.push_back(let_go{x.uid, true});
      break;
    case replica_standing::refused:
      plan_.refused(x.uid, from, now);
      break;
  }
  outgoing_.erase(o);
  auto next = due(now);
  std::move(next.begin(), next.end(), std::back_inserter(result));
  return result;
}

} // namespace potluck
