#include "runtime/averaging/round/other_rounds.hpp"

#include <algorithm>
#include <type_traits>

#include "messages/codec.hpp"
#include "runtime/averaging/round/round_actions.hpp"

namespace potluck {

namespace {

/// Groups remembered that this peer declined or was released from: several
/// leaders may try at once, and others' letters follow within a round trip.
constexpr std::size_t groups_left = 16;

template <class T>
constexpr bool of_a_round = std::disjunction_v<
    std::is_same<T, chunk_part>, std::is_same<T, chunk_mean>,
    std::is_same<T, mean_request>, std::is_same<T, round_findings>,
    std::is_same<T, part_request>, std::is_same<T, part_digests>,
    std::is_same<T, mean_challenge>, std::is_same<T, part_projections>,
    std::is_same<T, sum_dispute>, std::is_same<T, sum_account>,
    std::is_constructible<round_message, T>>;

group_answer refusal_of(const group_id& group, const char* reason) {
  group_answer no;
  no.group = group;
  no.reason = reason;
  return no;
}

} // namespace

const group_id* round_of(const message& x) {
  return std::visit(
      [](const auto& y) -> const group_id* {
        if constexpr (of_a_round<std::decay_t<decltype(y)>>)
          return &y.group;
        else
          return nullptr;
      },
      x);
}

std::optional<message> other_rounds::read(letter x) {
  const auto& group = *round_of(x.content);
  const bool out = std::any_of(left_.begin(), left_.end(),
                               [&](const left& y) { return y.group == group; });
  const bool void_now
      = std::find(aborted_.begin(), aborted_.end(), group) != aborted_.end();
  if (out || void_now)
    return answer(x);
  if (awaits_->is(group))
    keep(std::move(x));
  return std::nullopt;
}

void other_rounds::keep(letter x) {
  // A head that names all chunks is a third longer when it is read.
  const auto head = 2 * encode(x.content).size();
  const auto bytes = std::max(head + x.body.size, limits::least_early_bytes);
  const auto from = x.from;
  all_early_bytes_ += bytes;
  early_bytes_[from] += bytes;
  early_[from].push_back({std::move(x), bytes});
  while (all_early_bytes_ > limits::early_bytes) {
    auto most = std::max_element(
        early_bytes_.begin(), early_bytes_.end(),
        [](auto& a, auto& b) { return a.second < b.second; });
    auto& its = early_.at(most->first);
    all_early_bytes_ -= its.back().bytes;
    most->second -= its.back().bytes;
    its.pop_back();
  }
}

std::map<peer_id, std::vector<other_rounds::early>> other_rounds::take_early() {
  early_bytes_.clear();
  all_early_bytes_ = 0;
  return std::exchange(early_, {});
}

std::optional<message> other_rounds::answer(const letter& x) {
  const auto& group = *round_of(x.content);
  for (auto& y : left_) {
    if (y.group != group)
      continue;
    // Its leader was lost before it could start us, but had started others:
    // they would wait for us, with our session up, until they lose patience.
    if (y.told.insert(x.from).second)
      return refusal_of(group, "never started this round");
    return std::nullopt;
  }
  // A leader whose lines broke knows of no ruling but its own. Without an
  // answer it would heal what it has, and commit alone what all others gave up.
  const auto* question = std::get_if<round_settle>(&x.content);
  if (!question)
    return std::nullopt;
  round_standing given_up;
  given_up.group = group;
  given_up.epoch = question->epoch;
  given_up.standing = standing::aborted;
  return given_up;
}

std::vector<other_rounds::letter> other_rounds::begin(const group_id& group) {
  std::vector<letter> result;
  for (auto& [from, all] : take_early())
    for (auto& x : all)
      if (*round_of(x.what.content) == group)
        result.push_back(std::move(x.what));
  return result;
}

void other_rounds::forget(const peer_id& from) {
  early_.erase(from);
  if (auto at = early_bytes_.find(from); at != early_bytes_.end()) {
    all_early_bytes_ -= at->second;
    early_bytes_.erase(at);
  }
}

std::vector<std::pair<peer_id, message>>
other_rounds::stay_out(const group_id& group) {
  left_.push_back({group, {}});
  if (left_.size() > groups_left)
    left_.pop_front();
  std::vector<std::pair<peer_id, message>> result;
  for (auto& [from, all] : take_early())
    for (auto& x : all)
      if (auto no = read(std::move(x.what)))
        result.emplace_back(from, std::move(*no));
  return result;
}

std::vector<std::pair<peer_id, message>>
other_rounds::leave(const group_id& group,
                    const std::vector<peer_id>& members) {
  auto result = stay_out(group);
  for (auto& member : members)
    if (left_.back().told.insert(member).second)
      result.emplace_back(member, refusal_of(group, "left this round"));
  return result;
}

void other_rounds::aborted(const group_id& group) {
  aborted_.push_back(group);
  if (aborted_.size() > groups_left)
    aborted_.pop_front();
}

} // namespace potluck
