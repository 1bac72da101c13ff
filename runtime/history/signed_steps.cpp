#include "runtime/history/signed_steps.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/contract_members.hpp"
#include "runtime/identity/sealing.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

/// What a maker signs. All parts have fixed lengths, but for the last.
std::string words_of(const signed_step& x) {
  std::string result;
  result.reserve(64 + x.makers.size() * 40);
  append_little_endian(result, x.history_samples);
  append_little_endian(result, x.samples);
  append_id(result, x.before);
  append_id(result, x.after);
  for (const auto& maker : x.makers) {
    append_id(result, maker.id);
    append_little_endian(result, maker.samples);
  }
  seal none;
  none.number = x.step;
  const std::string run{x.charter.bytes.begin(), x.charter.bytes.end()};
  return bytes_under(none, {"potluck step", 0, run, result});
}

bool leads(const signed_step& from, const signed_step& to) {
  return from.charter == to.charter && from.step < to.step
         && most_have_signed(to, weights_of(from));
}

/// Whether those that made one step made another one, too.
bool all_stay(const signed_step& x, const signed_step& other) {
  const auto& all = other.makers;
  return std::includes(all.begin(), all.end(), x.makers.begin(), x.makers.end(),
                       [](auto& a, auto& b) { return a.id < b.id; });
}

} // namespace

std::vector<step_maker> makers_of(const group_contract& x,
                                  const std::vector<std::uint8_t>& left_out) {
  std::vector<step_maker> result;
  for (const auto* member : trainers_behind(x, left_out))
    if (member->samples > 0)
      result.push_back({member->who.id, member->samples, {}});
  std::sort(result.begin(), result.end(),
            [](auto& a, auto& b) { return a.id < b.id; });
  return result;
}

electorates::weights weights_of(const signed_step& x) {
  std::map<peer_id, std::uint64_t> samples;
  for (const auto& maker : x.makers)
    samples[maker.id] = maker.samples;
  return electorates::weights_of(samples);
}

step_signature sign(const signed_step& x, const signatures& own) {
  return {own.key(), own.sign(words_of(x))};
}

void drop_forgeries(signed_step& x, const signatures& how) {
  const auto words = words_of(x);
  for (auto& maker : x.makers)
    if (!maker.by.empty()
        && (how.owner_of(maker.by.signer) != maker.id
            || !how.fits(maker.by.proof, maker.by.signer, words)))
      maker.by = {};
}

bool most_have_signed(const signed_step& x, const electorates::weights& of) {
  double all = 0;
  double signers = 0;
  for (const auto& weight : of)
    all += weight.second;
  for (const auto& maker : x.makers)
    if (const auto found = of.find(maker.id);
        found != of.end() && !maker.by.empty())
      signers += found->second;
  return 2 * signers > all;
}

signed_history::signed_history(std::vector<signed_step> shown,
                               const signatures& how) {
  if (shown.size() > most)
    shown.erase(shown.begin(), shown.end() - most);
  for (auto& x : shown) {
    drop_forgeries(x, how);
    if (most_have_signed(x, weights_of(x)))
      add(std::move(x));
    else
      steps_.clear();
  }
}

void signed_history::add(signed_step x) {
  if (!steps_.empty() && !leads(steps_.back(), x))
    steps_.clear();
  if (steps_.size() > 1 && leads(steps_[steps_.size() - 2], x)
      && all_stay(steps_.back(), x))
    steps_.pop_back();
  steps_.push_back(std::move(x));
  if (steps_.size() <= most)
    return;
  for (std::size_t i = 1; i + 1 < steps_.size(); ++i)
    if (leads(steps_[i - 1], steps_[i + 1])) {
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  steps_.erase(steps_.begin());
}

bool signed_history::is_signed_by_any(const std::set<peer_id>& of) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const auto& step) {
    return std::any_of(step.makers.begin(), step.makers.end(),
                       [&](const auto& maker) {
                         return !maker.by.empty() && of.count(maker.id) != 0;
                       });
  });
}

bool signed_history::extend_with(const signed_history& x) {
  bool found = false;
  for (const auto& step : x.steps_)
    if (steps_.empty() || leads(steps_.back(), step)) {
      found = true;
      add(step);
    }
  return found;
}

} // namespace potluck
