#include "runtime/averaging/round/averaging_round.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/averaging/means_inquiry.hpp"

namespace potluck {

averaging_round::averaging_round(setting what, value_pool rooms,
                                 std::shared_ptr<round_intake> intake,
                                 std::function<void()> all_placed,
                                 random_stream& chance, time_point now)
    : what_{std::move(what)}, lines_{what_.contract},
      agreement_{what_.contract,
                 chunk_map{what_.contract.gradient_values,
                           what_.contract.chunk_values, what_.plan.chunks},
                 what_.self,
                 what_.keeps_majority
                     && what_.guards.has(safeguard::group_majority)},
      bulk_{what_.contract,       what_.plan,       members().self(),
            what_.usual,          std::move(rooms), std::move(intake),
            std::move(all_placed)},
      watch_{members().size(), now}, helpers_{bulk_.map(),
                                              what_.plan.predicted_seconds},
      faults_{bulk_.map(), members().self(), what_.contract},
      hasty_{std::chrono::milliseconds{what_.contract.patience_ms}, what_.rule,
             what_.call_offs},
      audits_{what_.contract, bulk_.map(), members().self(), what_.rule,
              what_.denials},
      out_{lines_, members().self()} {
  if (what_.guards.has(safeguard::audit))
    audits_.draw(chance, what_.nonce, lines_.serves_all(members().self()));
}

// ---- parts ------------------------------------------------------------------

round_orders
averaging_round::lend(std::shared_ptr<const std::vector<float>> gradient) {
  const auto samples = members().own().samples;
  if (alone() && bulk_.average_alone(*gradient, samples, what_.threads)) {
    carry_out(agreement_.averaged_alone(samples));
    return out_.take();
  }
  for (auto [chunk, to] : bulk_.parts().lend(std::move(gradient), samples))
    if (to == members().self())
      offer_own_part(chunk);
    else
      out_.send(bulk_.part_for(chunk, to));
  return out_.take();
}

void averaging_round::offer_own_part(std::uint32_t chunk) {
  if (auto x = bulk_.own_part(chunk)) {
    agreement_.part_here(chunk, x->head.samples);
    out_.order(std::move(*x));
  }
}

void averaging_round::read(std::size_t by, const chunk_part& x,
                           const shared_bytes& body) {
  if (x.chunk >= bulk_.map().chunk_count())
    return;
  if (auto for_a_check = audits_.shown(by, x, body))
    return out_.add(std::move(*for_a_check));
  if (over() || bulk_.made(x.chunk))
    return; // It comes too late.
  // Others' chunks are made here after a heal alone, and that after a question.
  // Its sender may have heard of the heal before this member.
  const bool ours = bulk_.map().owner(x.chunk) == members().self();
  if (!ours && !agreement_.frozen())
    return;
  out_.received(body.size);
  watch_.heard_bulk(by, ours);
  if (bulk_.is_first(by, x.chunk))
    watch_.news();
  agreement_.part_here(x.chunk, x.samples);
  out_.order(offer_part{by, x, body});
}

round_orders averaging_round::refused(std::size_t member,
                                      const std::string& why) {
  // The reducer does without it: the member itself can stay for now.
  out_.add(faults_.blame(member, "a part that cannot be summed: " + why));
  out_.add(faults_.refused(member, members().self()));
  return out_.take();
}

std::optional<round_orders> averaging_round::reducer_lost(std::uint32_t chunk) {
  if (bulk_.reducer_lost(chunk) > 1)
    return std::nullopt;
  offer_own_part(chunk);
  out_.add(bulk_.ask_anew(chunk, members()));
  return out_.take();
}

// ---- means ------------------------------------------------------------------

round_orders averaging_round::averaged(
    std::uint32_t chunk, std::shared_ptr<const std::vector<float>> mean,
    std::vector<std::uint8_t> left_out, std::vector<digest> parts) {
  if (over())
    return {};
  bulk_.keep(chunk, std::move(mean), std::move(parts));
  watch_.news();
  if (chunk < bulk_.map().chunk_count()
      && bulk_.map().owner(chunk) == members().self())
    helpers_.mean_here(members().self(), watch_.age());
  carry_out(agreement_.averaged(chunk, std::move(left_out)));
  return out_.take();
}

round_orders averaging_round::means_placed() {
  count(bulk_.intake().news());
  return out_.take();
}

void averaging_round::close_places() {
  bulk_.intake().close();
  count(bulk_.intake().news());
}

void averaging_round::count(const std::vector<round_intake::taken>& news) {
  for (const auto& x : news) {
    auto part = std::get_if<chunk_part>(&x.head);
    watch_.heard_bulk(x.member, part != nullptr);
    out_.received(x.bytes);
    if (part) {
      agreement_.part_here(part->chunk, part->samples);
      continue;
    }
    const auto& mean = std::get<chunk_mean>(x.head);
    if (over() || !agreement_.wants(members()[x.member].id, mean))
      continue;
    if (auto why = bulk_.objection(agreement_.ledger(), x.member, mean))
      out_.add(faults_.blame_for_mean(x.member, why));
    else
      count(x.member, mean, watch_.age_at(x.at));
  }
  carry_out(round_agreement::actions{});
}

void averaging_round::read(std::size_t by, const chunk_mean& x,
                           const shared_bytes& body) {
  if (over() || !agreement_.wants(members()[by].id, x))
    return;
  out_.received(body.size);
  watch_.heard_bulk(by, false);
  if (auto why = bulk_.place(agreement_.ledger(), by, x, body)) {
    out_.add(faults_.blame_for_mean(by, why));
  } else {
    watch_.news();
    count(by, x, watch_.age());
  }
  if (bulk_.places().none_open())
    count(bulk_.intake().news());
  else
    carry_out(round_agreement::actions{});
}

void averaging_round::count(std::size_t by, const chunk_mean& x,
                            duration since) {
  agreement_.mean_here(x);
  // Only a heal's means lack members for any other reason.
  if (x.version == 1)
    for (auto member : x.left_out)
      out_.add(faults_.refused(member, by));
  if (x.version == 1 && by == bulk_.map().owner(x.chunk)) {
    bulk_.note_seal(x);
    helpers_.mean_here(by, since);
  }
}

void averaging_round::read(std::size_t by, const mean_request& x,
                           const shared_bytes&) {
  if (bulk_.may_ask(by, x.chunk))
    carry_out(agreement_.asked(members()[by].id, x));
}

round_orders averaging_round::receive(const peer_id& from,
                                      const message& content,
                                      const shared_bytes& body) {
  const auto by = members().index_of(from);
  if (by == members().size())
    return {};
  watch_.heard(by, content, agreement_.leading());
  if (hasty_.is_unfounded(by, content, agreement_, watch_)) {
    // What another has made is not believed; a leader is not followed.
    if (!std::holds_alternative<round_standing>(content))
      carry_out(agreement_.call_off(from));
    return out_.take();
  }
  if (ends_bulk(content))
    close_places();
  std::visit([&](const auto& x) { read(by, x, body); }, content);
  out_.add(audits_.receive(by, content, means_here(), sums_here()));
  judge_if_all_spoke();
  return out_.take();
}

void averaging_round::doubt(std::optional<std::size_t> hasty) {
  if (hasty)
    out_.order(members_in_doubt{
        {*hasty},
        "it calls rounds off, or takes their lead, without a reason"});
}

template <class Other>
void averaging_round::read(std::size_t by, const Other& x,
                           const shared_bytes&) {
  if constexpr (std::is_constructible_v<round_message, Other>)
    carry_out(agreement_.receive(members()[by].id, x));
}

// ---- members that come and go -----------------------------------------------

round_orders averaging_round::joined(const peer_id& member) {
  const auto i = members().index_of(member);
  if (i == members().size())
    return {};
  watch_.joined(i);
  if (!over())
    carry_out(agreement_.member_returned(member));
  return out_.take();
}

void averaging_round::left(const peer_id& member) {
  if (auto i = members().index_of(member); i < members().size())
    watch_.left(i);
}

round_orders averaging_round::lost(const peer_id& member) {
  if (members().index_of(member) == members().size())
    return {};
  close_places();
  auto actions = agreement_.member_lost(member);
  // Who is asked because of it has the whole patience to answer.
  if (!actions.empty())
    watch_.news();
  carry_out(actions);
  return out_.take();
}

round_orders averaging_round::out_of_touch(const peer_id& member) {
  const auto last = members().index_of(member);
  if (last == members().size() || !watch_.present(last) || over())
    return lost(member);
  carry_out(agreement_.member_out_of_touch(member));
  return out_.take();
}

round_orders averaging_round::patience_over() {
  watch_.lose_patience(agreement_.leading());
  close_places();
  carry_out(agreement_.expired());
  return out_.take();
}

round_orders averaging_round::ask(const peer_id& member) {
  close_places();
  carry_out(agreement_.ask(member));
  return out_.take();
}

round_orders averaging_round::overtaken() {
  close_places();
  agreement_.overtaken();
  return out_.take();
}

bool averaging_round::gives_way_to(const peer_id& member) const {
  const auto self = members().self();
  const auto other = members().index_of(member);
  if (other == members().size() || agreement_.frozen()
      || !members().own().trains || !lines_.between(self, other)
      || (members()[other].trains && other > self))
    return false;
  return bulk_.map().chunks_of(self).count != 0
         || bulk_.map().chunks_of(other).count != 0;
}

// ---- what the agreement wants -----------------------------------------------

void averaging_round::carry_out(const round_agreement::actions& actions) {
  bulk_.adopt(agreement_.ledger());
  for (const auto& x : actions)
    std::visit([&](const auto& y) { carry_out(y); }, x);
  if (std::exchange(asks_, false))
    watch_.asks();
  if (!agreement_.digest_wanted())
    return;
  const auto compares = !alone() && what_.guards.has(safeguard::equal_digests);
  carry_out(agreement_.whole_vector_here(
      compares ? bulk_.places().whole_digest() : digest_of("", 0)));
  out_.add(audits_.all_here(means_here()));
}

void averaging_round::carry_out(const send_to_member& x) {
  if (std::holds_alternative<round_settle>(x.what)
      || std::holds_alternative<round_heal>(x.what))
    asks_ = true;
  std::visit([&](const auto& y) { out_.send(round_mail{x.to, y}); }, x.what);
}

void averaging_round::carry_out(const send_part& x) {
  out_.send(bulk_.part_for(x.chunk, x.to));
}

void averaging_round::carry_out(const send_mean& x) {
  out_.send(bulk_.mean_for(agreement_.ledger(), x.chunk, x.to));
}

void averaging_round::carry_out(const ask_mean& x) {
  out_.send(round_mail{x.from,
                       mean_request{what_.contract.group, x.chunk, x.version}});
}

void averaging_round::carry_out(const average_chunk& x) {
  offer_own_part(x.chunk);
  audits_.forget(x.chunk);
  bulk_.do_without(x.chunk, x.leave_out);
  out_.order(do_without{x.chunk, x.leave_out});
}

void averaging_round::carry_out(const round_decision& x) {
  close_places();
  out_.order(round_decided{});
  auto news = outcome(x);
  doubt(hasty_.over(x.commit && !watch_.lost_patience(), members()));
  if (x.commit && bulk_.needs_means())
    out_.add(audits_.committed(sums_here()));
  if (x.commit || !bulk_.needs_means() || !agreement_.ledger().complete()
      || members().size() == 1 || !what_.guards.has(safeguard::naming)) {
    out_.order(std::move(news));
    return;
  }
  inquires_ = true;
  out_.add(audits_.inquire(
      findings_of(agreement_.ledger(), bulk_.map(), *bulk_.places().whole()),
      std::move(news)));
  judge_if_all_spoke();
}

round_outcome averaging_round::outcome(const round_decision& x) const {
  round_outcome news;
  news.committed = x.commit;
  news.samples = x.samples;
  if (x.commit) {
    news.left_out = agreement_.ledger().left_out();
    news.healed = agreement_.ledger().healed();
    if (bulk_.needs_means())
      news.mean = bulk_.places().whole();
  }
  watch_.report(news, members(), bulk_.map(), lines_,
                std::chrono::milliseconds{what_.contract.patience_ms});
  if (bulk_.needs_means())
    news.stalled = helpers_.stalled(members(), agreement_.ledger(), x.commit,
                                    watch_.waited_for());
  news.bytes_sent = out_.bytes_sent();
  news.bytes_received = out_.bytes_received();
  return news;
}

// ---- who lied ---------------------------------------------------------------

void averaging_round::read(std::size_t by, const part_request& x,
                           const shared_bytes&) {
  if (x.chunk >= bulk_.map().chunk_count() || !audits_.may_show(by, x.chunk))
    return;
  if (auto parts = bulk_.parts_in(x.chunk))
    out_.send(
        round_mail{by, part_digests{what_.contract.group, x.chunk, *parts}});
  if (members().own().samples != 0)
    out_.send(bulk_.part_for(x.chunk, by));
}

void averaging_round::judge_if_all_spoke() {
  if (over() && audits_.all_spoke([this](auto i) { return watch_.present(i); }))
    judge();
}

void averaging_round::judge() {
  if (agreement_.standing() != standing::aborted)
    return;
  auto found = audits_.judge();
  const bool explained = names_liars(found);
  out_.add(std::move(found));
  if (!std::exchange(inquires_, false))
    return;
  // Whoever makes means again, for a heal, is not asked what it told whom.
  const auto& odd = agreement_.odd_ones();
  if (!explained && !odd.empty() && !agreement_.ledger().healed())
    out_.order(members_in_doubt{
        odd, "it says that it has other means than it was given"});
  doubt(hasty_.compared(explained, members()));
}

round_orders averaging_round::give_up() {
  judge();
  out_.add(audits_.give_up());
  return out_.take();
}

round_orders averaging_round::reminded(std::optional<std::uint32_t> chunk) {
  if (chunk)
    out_.add(audits_.waited_for(*chunk));
  else if (over())
    judge();
  else // Others have heard of the end before us.
    out_.order(audit_reminder{limits::findings_patience, std::nullopt});
  return out_.take();
}

} // namespace potluck
