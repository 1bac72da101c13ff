#include "runtime/averaging/round/own_side.hpp"

#include <utility>

namespace potluck {

own_side::own_side(const group_contract& contract, const chunk_map& map,
                   std::size_t self)
    : ledger_{contract, map, self}, spectator_{contract.members.at(self).role
                                               != role::trainer} {
  if (spectator_)
    own_.is = standing::spectator;
}

own_side::actions own_side::averaged(std::uint32_t chunk,
                                     std::vector<std::uint8_t> left_out,
                                     bool frozen) {
  ledger_.averaged(chunk, std::move(left_out));
  return !frozen || healing_ ? ledger_.publish(chunk) : actions{};
}

bool own_side::wants(std::size_t from, const chunk_mean& x, bool frozen) const {
  if (spectator_ || decided())
    return false;
  if (fetching_)
    return from == holder_ && x.chunk < ledger_.chunks()
           && ledger_.version(x.chunk) == 0;
  return (!frozen || healing_) && ledger_.wants(from, x);
}

own_side::actions own_side::asked(std::size_t by, const mean_request& x) {
  // Any version will do only where all of them together have been counted.
  if (x.version == 0 && !holds_means())
    return {};
  return ledger_.asked(by, x);
}

bool own_side::digest_wanted(bool frozen) const {
  if (spectator_ || !ledger_.complete() || decided())
    return false;
  return fetching_
         || (own_.is == standing::incomplete && (!frozen || healing_));
}

void own_side::prepare(const vector_mark& has, std::uint32_t ruled) {
  own_ = {standing::prepared, has, {}, ruled};
}

void own_side::hold(std::uint32_t ruled) {
  healing_ = false;
  own_.ruled = ruled;
}

void own_side::stop() {
  fetching_ = false;
  healing_ = false;
}

own_side::actions own_side::obey(const round_heal& x,
                                 const std::vector<bool>& lost) {
  healing_ = true;
  fetching_ = false;
  own_ = {spectator_ ? standing::spectator : standing::incomplete};
  return ledger_.heal(x, lost);
}

own_side::actions own_side::do_without(std::size_t member,
                                       std::uint32_t epoch) const {
  return healing_ ? ledger_.do_without(member, epoch) : actions{};
}

own_side::actions own_side::again_with(std::size_t member, bool frozen) const {
  if (decided())
    return {};
  if (fetching_)
    return member == holder_ ? ledger_.ask_missing(holder_) : actions{};
  return ledger_.again_with(member, !frozen);
}

own_side::actions own_side::fetch(std::size_t holder, const vector_mark& mean,
                                  bool everything) {
  own_ = {};
  healing_ = false;
  fetching_ = true;
  holder_ = holder;
  fetched_all_ = everything;
  wanted_ = mean;
  if (everything)
    ledger_.drop_all();
  return ledger_.ask_missing(holder);
}

own_side::fetched own_side::end_fetch(const vector_mark& has) {
  const bool right = has == wanted_;
  if (!right && !fetched_all_)
    return fetched::refetch;
  fetching_ = false;
  return right ? fetched::right : fetched::wrong;
}

void own_side::decide(bool commit, const vector_mark& mean) {
  healing_ = false;
  own_ = {commit ? standing::committed : standing::aborted, mean};
}

void own_side::fingerprint(std::string& out) const {
  append(out, healing_ | fetching_ << 1 | fetched_all_ << 2
                  | static_cast<std::int64_t>(holder_ << 3));
  append(out, own_);
  append(out, wanted_);
  ledger_.fingerprint(out);
}

} // namespace potluck
