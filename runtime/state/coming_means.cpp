#include "runtime/state/coming_means.hpp"

#include <utility>

#include "runtime/state/pieces.hpp"

namespace potluck {

coming_means::early_requests coming_means::expects(coming_mean mean,
                                                   std::uint64_t held,
                                                   const digest& state) {
  early_requests unanswered;
  const auto step = mean.manifest.step;
  if (auto known = means_.find(step); known != means_.end())
    unanswered = forget(known, std::next(known));
  entry x;
  if (auto last = means_.find(step - 1); last != means_.end())
    x.before = last->second.mean.manifest.state;
  else if (step == held + 1)
    x.before = state;
  x.here.resize(mean.manifest.pieces.size());
  x.mean = std::move(mean);
  means_.emplace(step, std::move(x));
  return unanswered;
}

std::optional<coming_means::arrival>
coming_means::placed(const coming_piece& x) {
  auto found = means_.find(x.step);
  if (found == means_.end() || x.piece >= found->second.here.size())
    return std::nullopt;
  auto& mean = found->second;
  mean.here[x.piece] = true;
  const auto wanted = mean.wanted.extract(x.piece);
  if (wanted.empty())
    return std::nullopt;
  arrival result;
  result.bytes = extent_of(mean.mean.manifest, x.piece).size;
  for (auto& [id, request] : wanted.mapped())
    result.wanted.push_back({id, request});
  return result;
}

// ---- forgetting -------------------------------------------------------------

coming_means::early_requests coming_means::forget(entries::iterator first,
                                                  entries::iterator last) {
  early_requests unanswered;
  for (auto i = first; i != last; ++i)
    for (auto& [piece, askers] : i->second.wanted)
      for (auto& [id, request] : askers)
        unanswered.push_back({id, request});
  means_.erase(first, last);
  return unanswered;
}

coming_means::early_requests coming_means::forget_before(std::uint64_t step) {
  return forget(means_.begin(), means_.lower_bound(step));
}

coming_means::early_requests coming_means::forget_behind(std::uint64_t step) {
  return forget(means_.upper_bound(step), means_.end());
}

void coming_means::leave(const peer_id& who) {
  for (auto& [step, x] : means_)
    for (auto& [piece, askers] : x.wanted)
      askers.erase(who);
}

// ---- what comes -------------------------------------------------------------

bool coming_means::follows(std::uint64_t step, const digest& state) const {
  const auto next = means_.find(step + 1);
  return next != means_.end() && next->second.before == state;
}

const state_manifest* coming_means::manifest(std::uint64_t step) const {
  const auto found = means_.find(step);
  return found == means_.end() ? nullptr : &found->second.mean.manifest;
}

shared_bytes coming_means::piece(const digest& state,
                                 std::uint32_t index) const {
  for (auto& [step, x] : means_)
    if (x.mean.manifest.state == state && index < x.here.size()
        && x.here[index])
      return piece_of({step, 0, 0, {}, {}, x.mean.values}, index);
  return {};
}

bool coming_means::wait(const peer_id& from, const piece_request& what) {
  for (auto& [step, x] : means_)
    if (x.mean.manifest.state == what.state) {
      if (what.piece >= x.here.size())
        return false;
      x.wanted[what.piece][from] = what;
      return true;
    }
  return false;
}

} // namespace potluck
