#include "runtime/averaging/round/round_agreement.hpp"

#include <utility>

#include "messages/limits.hpp"

namespace potluck {

namespace {

/// Epochs beyond are refused, so that a next one always fits on the wire.
constexpr std::uint32_t highest_epoch = max_epochs / 2;

/// A leader acts at the first expiry and everybody else at this one, so that
/// the leader's action arrives before the others suspect it.
constexpr int expiries_before_suspicion = 2;

/// Of one member in one round that end suspicions. An honest one needs two, and
/// three each time that somebody is lost.
constexpr unsigned most_words = 16;

} // namespace

round_agreement::round_agreement(const group_contract& contract,
                                 const chunk_map& map, const peer_id& self,
                                 bool keeps_majority)
    : group_{contract.group}, least_samples_{contract.least_samples},
      course_{contract, map, self, keeps_majority},
      words_(contract.members.size(), 0) {
}

// ---- what happened to means -------------------------------------------------

round_agreement::actions
round_agreement::averaged(std::uint32_t chunk,
                          std::vector<std::uint8_t> left_out) {
  expiries_ = 0;
  course_.averaged(chunk, std::move(left_out));
  return course_.take();
}

round_agreement::actions
round_agreement::averaged_alone(std::uint64_t samples) {
  expiries_ = 0;
  for (std::uint32_t chunk = 0; chunk < ledger().chunks(); ++chunk) {
    course_.part_here(chunk, samples);
    course_.averaged(chunk, {});
  }
  return course_.take();
}

bool round_agreement::wants(const peer_id& id, const chunk_mean& x) const {
  auto from = members().index_of(id);
  return from < members().size() && own().wants(from, x, frozen());
}

round_agreement::actions round_agreement::asked(const peer_id& id,
                                                const mean_request& x) {
  if (auto by = members().index_of(id); by < members().size())
    course_.asked(by, x);
  return course_.take();
}

round_agreement::actions
round_agreement::whole_vector_here(const digest& mean) {
  if (!digest_wanted())
    return {};
  expiries_ = 0;
  course_.whole_vector_here(mean);
  return course_.take();
}

// ---- members that are lost, come back or fall silent ------------------------

round_agreement::actions round_agreement::member_lost(const peer_id& id) {
  if (auto i = members().index_of(id); members().in_touch(i))
    course_.lost(i);
  return course_.take();
}

round_agreement::actions
round_agreement::member_out_of_touch(const peer_id& id) {
  if (auto i = members().index_of(id); members().in_touch(i)) {
    course_.members().give_back(i);
    course_.lost(i);
    course_.returned(i);
  }
  return course_.take();
}

round_agreement::actions round_agreement::member_returned(const peer_id& id) {
  auto i = members().index_of(id);
  if (i < members().size() && members()[i].down)
    course_.returned(i);
  return course_.take();
}

round_agreement::actions round_agreement::expired() {
  if (leading())
    course_.expired();
  else if (decided())
    return {};
  else if (members().self() == 0 && course_.answered() < 0)
    course_.settle(0);
  else
    expired_as_follower();
  return course_.take();
}

void round_agreement::expired_as_follower() {
  auto epoch = course_.acting_epoch();
  if (++expiries_ < expiries_before_suspicion) {
    // The leader may have stalled between telling one and the next. Verdicts go
    // out in the contract's order: the first who is left knows, if anybody
    // does, and settles when it hears this. One question a round, since settles
    // that compete wait for each other's silent members again and again.
    if (asked_around_ || !epoch)
      return;
    if (auto first = members().first_but(members().leader_of(*epoch))) {
      asked_around_ = true;
      course_.tell_where_i_stand(*first);
    }
    return;
  }
  expiries_ = 0;
  if (epoch)
    course_.members().suspect(members().leader_of(*epoch));
  course_.reconsider();
  epoch = course_.acting_epoch();
  if (epoch && !leading() && !decided())
    course_.tell_where_i_stand(members().leader_of(*epoch));
}

round_agreement::actions round_agreement::ask(const peer_id& id) {
  auto i = members().index_of(id);
  if (i < members().size() && i != members().self() && !decided())
    course_.tell_where_i_stand(i);
  return course_.take();
}

round_agreement::actions round_agreement::call_off(const peer_id& leader) {
  const auto from = members().index_of(leader);
  if (from < members().size() && !decided()) {
    course_.call_off();
    course_.tell_where_i_stand(from);
  }
  return course_.take();
}

// ---- what messages do -------------------------------------------------------

round_agreement::actions round_agreement::receive(const peer_id& id,
                                                  const round_message& what) {
  auto from = members().index_of(id);
  bool fits = std::visit(
      [&](const auto& x) {
        return x.group == group_ && x.epoch <= highest_epoch;
      },
      what);
  if (!fits || !members().in_touch(from) || members()[from].gave_up)
    return {};
  // Others that ask around, because they wait as well, are no progress. Nor is
  // one that talks for ever.
  const bool heeded = leading() || ++words_[from] <= most_words;
  if (heeded)
    course_.members().trust(from);
  if (heeded && (leading() || !std::holds_alternative<round_standing>(what)))
    expiries_ = 0;
  std::visit([&](const auto& x) { on(from, x); }, what);
  return course_.take();
}

void round_agreement::on(std::size_t from, const round_prepared& x) {
  if (!decided() && members()[from].trains)
    course_.prepared(
        from, x.epoch,
        {standing::prepared, {x.mean, x.least_samples, x.most_samples}});
}

void round_agreement::on(std::size_t from, const round_settle& x) {
  if (leads(from, x.epoch) && x.epoch != course_.answered())
    course_.answer(from, x.epoch);
}

void round_agreement::on(std::size_t from, const round_standing& x) {
  member_stand said{
      x.standing, {x.mean, x.least_samples, x.most_samples}, x.chunks, x.ruled};
  if (said.is == standing::aborted && course_.may_release(from, x.epoch))
    return course_.release(from);
  const bool overtaken = leading() && x.epoch > course_.answered();
  // Somebody has lost faith in its leader and turns to the next one. Undecided
  // members have deadlines of their own; this one would not notice.
  const bool called = !leading() && decided() && !own().spectator()
                      && !said.final()
                      && members().leader_of(x.epoch) != members().self();
  // This one would lead, if anything were to be ruled.
  const bool left = members().self() == 0 && course_.answered() < 0
                    && !decided() && said.final();
  if (overtaken || called)
    course_.settle_above(x.epoch);
  else if (left)
    course_.settle(0);
  else if (leading() && x.epoch == course_.answered())
    course_.stands(from, std::move(said));
}

void round_agreement::on(std::size_t from, const round_verdict& x) {
  if (heeds(from, x.epoch) && !decided())
    course_.obey(from, x);
}

void round_agreement::on(std::size_t from, const round_heal& x) {
  if (!heeds(from, x.epoch) || x.chunks.size() != ledger().chunks()
      || x.alive.back() >= members().size()) // The last is the highest.
    return;
  if (decided()) // Its leader did not hear us in time.
    course_.tell_where_i_stand(from);
  else
    course_.obey(x);
}

std::string round_agreement::fingerprint() const {
  std::string result;
  append(result, static_cast<std::int64_t>(asked_around_)
                     | static_cast<std::int64_t>(expiries_) << 1);
  course_.fingerprint(result);
  return result;
}

} // namespace potluck
