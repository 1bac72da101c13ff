#include "runtime/averaging/round/averaging_round.hpp"

#include <type_traits>
#include <utility>

#include "runtime/averaging/round/late_bulk.hpp"

namespace potluck {

averaging_round::averaging_round(round_terms what, value_pool rooms,
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
      watch_{members().size(), now}, owed_{what_.contract,
                                           bulk_.map(),
                                           lines_,
                                           members().self(),
                                           what_.plan.predicted_seconds,
                                           now},
      report_{what_, bulk_.map()}, jury_{what_, agreement_, bulk_, watch_},
      out_{lines_, members().self()} {
  if (what_.guards.has(safeguard::audit))
    jury_.draw(chance, what_.nonce, lines_.serves_all(members().self()));
}

// ---- parts ------------------------------------------------------------------

round_orders
averaging_round::lend(std::shared_ptr<const std::vector<float>> gradient) {
  const auto samples = members().own().samples;
  if (what_.alone() && bulk_.average_alone(*gradient, samples, what_.threads)) {
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
  if (auto for_a_check = jury_.shown(by, x, body))
    return out_.add(std::move(*for_a_check));
  if (over() || bulk_.made(x.chunk))
    return; // It comes too late.
  // Others' chunks are made here after a heal alone, and that after a question.
  // Its sender may have heard of the heal before this member.
  const bool ours = bulk_.map().owner(x.chunk) == members().self();
  if (!ours && !agreement_.frozen())
    return;
  out_.received(body.size);
  watch_.heard_bulk(by);
  owed_.part_came(by, x.chunk, watch_.now());
  agreement_.part_here(x.chunk, x.samples);
  out_.order(offer_part{by, x, body});
}

std::optional<round_orders> averaging_round::reducer_lost(std::uint32_t chunk) {
  if (bulk_.reducer_lost(chunk) > 1)
    return std::nullopt;
  owed_.forget(chunk);
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
  owed_.mean_came(watch_.now());
  if (chunk < bulk_.map().chunk_count()
      && bulk_.map().owner(chunk) == members().self())
    report_.mean_here(members().self(), watch_.age());
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
    watch_.heard_bulk(x.member);
    out_.received(x.bytes);
    if (auto part = std::get_if<chunk_part>(&x.head)) {
      owed_.part_came(x.member, part->chunk, x.at);
      agreement_.part_here(part->chunk, part->samples);
      continue;
    }
    const auto& mean = std::get<chunk_mean>(x.head);
    if (over() || !agreement_.wants(members()[x.member].id, mean))
      continue;
    if (auto why = bulk_.objection(agreement_.ledger(), x.member, mean))
      out_.add(jury_.mean_refused(x.member, why));
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
  watch_.heard_bulk(by);
  if (auto why = bulk_.place(agreement_.ledger(), by, x, body)) {
    out_.add(jury_.mean_refused(by, why));
  } else {
    owed_.mean_came(watch_.now());
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
  out_.add(jury_.mean_here(by, x));
  if (x.version == 1 && by == bulk_.map().owner(x.chunk)) {
    bulk_.note_seal(x);
    report_.mean_here(by, since);
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
  if (jury_.is_unfounded(by, content)) {
    // What another has made is not believed; a leader is not followed.
    if (!std::holds_alternative<round_standing>(content))
      carry_out(agreement_.call_off(from));
    return out_.take();
  }
  if (ends_bulk(content))
    close_places();
  std::visit([&](const auto& x) { read(by, x, body); }, content);
  out_.add(jury_.heard(by, content));
  return out_.take();
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
  // Members asked because of it have the whole patience to answer.
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

duration averaging_round::patience() const {
  const duration whole = std::chrono::milliseconds{what_.contract.patience_ms};
  return watch_.lost_patience() && agreement_.awaits_answers() ? whole / 2
                                                               : whole;
}

round_orders averaging_round::look() {
  count(bulk_.intake().news());
  owed_.look(watch_.now());
  do_without_late();
  return out_.take();
}

void averaging_round::do_without_late() {
  for (const auto& x : without_late(owed_, agreement_))
    carry_out(x);
}

round_orders averaging_round::patience_over() {
  watch_.lose_patience(agreement_.leading());
  note_withheld(agreement_, owed_);
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

// ---- what the agreement wants -----------------------------------------------

void averaging_round::carry_out(const round_agreement::actions& actions) {
  bulk_.adopt(agreement_.ledger());
  for (const auto& x : actions)
    std::visit([&](const auto& y) { carry_out(y); }, x);
  if (std::exchange(asks_, false))
    watch_.asks();
  const auto anew = agreement_.healing() || agreement_.fetching()
                        ? agreement_.answered()
                        : -1;
  if (std::exchange(anew_, anew) != anew && anew >= 0) {
    owed_.begins_anew(watch_.now());
    do_without_late();
  }
  if (!agreement_.digest_wanted())
    return;
  const auto compares
      = !what_.alone() && what_.guards.has(safeguard::equal_digests);
  carry_out(agreement_.whole_vector_here(
      compares ? bulk_.places().whole_digest() : digest_of("", 0)));
  out_.add(jury_.all_here());
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
  jury_.forget(x.chunk);
  bulk_.do_without(x.chunk, x.leave_out);
  out_.order(do_without{x.chunk, x.leave_out});
}

void averaging_round::carry_out(const round_decision& x) {
  close_places();
  out_.order(round_decided{});
  out_.add(jury_.decided(
      report_.outcome(x, agreement_, bulk_, watch_, owed_, out_)));
}

// ---- checks -----------------------------------------------------------------

void averaging_round::read(std::size_t by, const part_request& x,
                           const shared_bytes&) {
  if (x.chunk >= bulk_.map().chunk_count() || !jury_.may_show(by, x.chunk))
    return;
  if (auto parts = bulk_.parts_in(x.chunk))
    out_.send(
        round_mail{by, part_digests{what_.contract.group, x.chunk, *parts}});
  if (members().own().samples != 0)
    out_.send(bulk_.part_for(x.chunk, by));
}

} // namespace potluck
