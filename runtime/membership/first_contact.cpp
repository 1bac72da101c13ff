#include "runtime/membership/first_contact.hpp"

#include <algorithm>
#include <utility>

#include "runtime/membership/limits.hpp"

namespace potluck {

bool first_contact::is_refused_by_all(const address& where,
                                      const std::string& sentence) {
  if (reached_ || gave_up_
      || std::find(seeds_.begin(), seeds_.end(), where) == seeds_.end())
    return false;
  refusals_[where] = sentence;
  gave_up_ = refusals_.size() == seeds_.size();
  return gave_up_;
}

std::optional<first_contact::word> first_contact::look(unsigned dials,
                                                       time_point now) {
  const auto waited = now - began_;
  if (reached_ || gave_up_ || seeds_.empty()
      || waited < limits::first_contact_patience)
    return std::nullopt;
  if (!refusals_.empty()) {
    gave_up_ = true;
    return word{true, refusals_.begin()->second};
  }
  gave_up_ = dials >= limits::first_contact_dials
             || waited >= limits::longest_first_contact;
  if (!gave_up_ && std::exchange(warned_, true))
    return std::nullopt;
  std::string names;
  for (auto& seed : seeds_)
    names += (names.empty() ? "" : ", ") + to_string(seed);
  auto nobody = "Nobody answers at " + names + " ("
                + (problem_.empty() ? "no answer in time" : problem_) + "); ";
  return word{gave_up_,
              nobody
                  + (gave_up_ ? "correct the peer's address, or start "
                                "`potluck bootstrap` there; where those "
                                "who trained there have finished and left, "
                                "start a run with another name."
                              : "trying again")};
}

} // namespace potluck
