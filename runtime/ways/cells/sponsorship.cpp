#include "runtime/ways/cells/sponsorship.hpp"

#include <utility>

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// For all contributions: a sponsor's leader waits `limits::answer_cap` for it.
/// Both, and each contribution's, are longer by `gathering_time`.
constexpr auto gathering_cap = 20s;

sponsorship::letter refused_letter(const peer_id& to, std::uint64_t number,
                                   const std::string& reason) {
  return {to, contribution_answer{number, false, reason}};
}

} // namespace

sponsorship::actions sponsorship::gather(gather_contributions order,
                                         time_point now) {
  order_ = std::move(order);
  asked_at_.clear();
  began_ = now;
  charged_until_ = now;
  packings_.clear();
  for (std::size_t i = 0; i < order_.packings.size(); ++i)
    packings_[order_.contributors.at(i)] = order_.packings[i];
  gathering::shape shape;
  shape.gradient_values = order_.gradient_values;
  shape.part_values = part_values_;
  gathering_.emplace(
      ++requests_, order_.step, order_.state, shape, order_.contributors,
      gathering::at_once(order_.gradient_values * sizeof(float)));
  if (in_vain_.spend({}, now) < limits::contribution_floor)
    for (const auto& id : order_.contributors)
      if (gave_.count(id) == 0)
        gathering_->without(id);
  actions out;
  go_on(out, now);
  return out;
}

sponsorship::actions sponsorship::look(time_point now) {
  actions out;
  if (!gathering_)
    return out;
  const auto late = now - began_ > gathering_cap + order_.patience;
  if (late)
    gathering_->ask_nobody_else();
  for (auto& id : gathering_->unfinished())
    if (late
        || now - asked_at_[id]
               > contributions_.patience(id) + order_.patience) {
      contributions_.expired(id);
      out.push_back(refused_letter(id, gathering_->number(), "too late"));
      gathering_->without(id);
      gave_.erase(id);
      in_vain_.spend(now - std::exchange(charged_until_, now), now);
    }
  go_on(out, now);
  return out;
}

sponsorship::actions sponsorship::offer(const peer_id& from,
                                        const contribution_part& part,
                                        const std::uint8_t* body,
                                        std::size_t size, time_point now) {
  actions out;
  if (!gathering_) {
    // The last chunk of what came too late gets the answer, for the others.
    if (part.number <= requests_ && part.chunk == 0)
      out.push_back(refused_letter(from, part.number, "too late"));
    return out;
  }
  switch (gathering_->offer(from, part, body, size)) {
    case gathering::verdict::placed:
    case gathering::verdict::unasked: // Its request was given up, and it knows.
      return out;
    case gathering::verdict::complete:
      contributions_.observed(from, now - asked_at_[from]);
      gave_.insert(from);
      passed_on_[from] = part.number;
      out.push_back(
          whole{std::make_shared<const contribution>(*gathering_->take(from))});
      break;
    case gathering::verdict::refused:
      out.push_back(refused{from, gathering_->reason()});
      out.push_back(refused_letter(from, part.number, gathering_->reason()));
      break;
  }
  go_on(out, now);
  return out;
}

bool sponsorship::awaits(const peer_id& from, std::uint64_t number) const {
  return gathering_ && gathering_->asked(from)
         && number == gathering_->number();
}

sponsorship::actions sponsorship::declined(const peer_id& from,
                                           time_point now) {
  actions out;
  if (gathering_) {
    gathering_->without(from);
    go_on(out, now);
  }
  return out;
}

sponsorship::actions sponsorship::taken(const peer_id& from, bool accepted) {
  const auto found = passed_on_.find(from);
  if (found == passed_on_.end())
    return {};
  contribution_answer answer;
  answer.number = found->second;
  answer.accepted = accepted;
  answer.reason = accepted ? "" : "the step is over";
  passed_on_.erase(found);
  return {letter{from, answer}};
}

sponsorship::actions sponsorship::left(const peer_id& who, time_point now) {
  passed_on_.erase(who);
  gave_.erase(who);
  return declined(who, now);
}

void sponsorship::go_on(actions& out, time_point now) {
  for (auto& id : gathering_->next()) {
    asked_at_[id] = now;
    out.push_back(letter{id, request_to(id)});
  }
  if (!gathering_->over())
    return;
  out.push_back(done{gathering_->step()});
  gathering_.reset();
}

contribution_request sponsorship::request_to(const peer_id& who) const {
  const auto as = packings_.find(who);
  auto result = as != packings_.end() ? gathering_->request(as->second)
                                      : gathering_->request();
  if (auto place = order_.chains.find(who); place != order_.chains.end()) {
    result.nearer = place->second.nearer;
    result.farther = place->second.farther;
  }
  if (auto better = order_.better.find(who); better != order_.better.end())
    result.better = better->second;
  return result;
}

} // namespace potluck
