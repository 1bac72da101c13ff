#include "actors/round_messenger.hpp"

#include "actors/guest_list.hpp"

namespace potluck {

void round_messenger::post(const peer_id& to, message what, shared_bytes body) {
  potluck::post(self_, wired_.letters,
                parcel{to, std::move(what), std::move(body)});
}

void round_messenger::fault(const std::string& what,
                            const std::string& detail) {
  self_->send(wired_.observer, fault_news(what, detail));
}

void round_messenger::tell_over(const round_over& x) {
  self_->send(wired_.conductor, x);
  self_->send(wired_.matchmaking, x);
}

void round_messenger::carry_out(round_mail& x) {
  post(id_of(x.to), std::move(x.content), std::move(x.body));
}

void round_messenger::carry_out(const round_fault& x) {
  self_->send(wired_.observer, fault_news(id_of(x.member), x.what, x.detail));
}

void round_messenger::carry_out(const member_accused& x) {
  self_->send(wired_.roster,
              offence_seen{id_of(x.member),
                           x.by_majority ? misconduct::witness::majority
                                         : misconduct::witness::alone,
                           "round " + short_name(contract_.group), x.why});
}

void round_messenger::carry_out(const member_dropped& x) {
  self_->send(wired_.gateway, drop_peer{id_of(x.member), x.why});
}

void round_messenger::carry_out(const members_in_doubt& x) {
  members_doubted news;
  news.why = x.why;
  for (auto i : x.members)
    news.who.push_back(id_of(i));
  self_->send(wired_.conductor, news);
}

void round_messenger::carry_out(const mean_checked& x) {
  self_->send(wired_.observer, event{"check",
                                     {{"peer", short_name(id_of(x.reducer))},
                                      {"chunk", std::uint64_t{x.chunk}},
                                      {"challenged", x.challenged},
                                      {"outcome", x.outcome}}});
}

void round_messenger::carry_out(round_outcome& x) {
  round_over news;
  news.contract = contract_;
  news.committed = x.committed;
  news.mean = std::move(x.mean);
  news.samples = x.samples;
  news.left_out = std::move(x.left_out);
  news.healed = x.healed;
  for (auto i : x.silent)
    news.silent.push_back(id_of(i));
  news.watched = x.watched;
  for (auto i : x.stalled)
    news.stalled.push_back(id_of(i));
  news.seconds = std::chrono::duration<double>(x.taken).count();
  news.bytes_sent = x.bytes_sent;
  news.bytes_received = x.bytes_received;
  tell_over(news);
}

} // namespace potluck
