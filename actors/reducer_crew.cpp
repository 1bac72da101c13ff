#include "actors/reducer_crew.hpp"

#include <utility>

#include "actors/chunk_reducer.hpp"
#include "runtime/contract_members.hpp"

namespace potluck {

void reducer_crew::init(averager_actor::pointer self,
                        supervisor::witness started,
                        std::shared_ptr<round_intake> intake) {
  self_ = self;
  started_ = std::move(started);
  intake_ = std::move(intake);
}

const chunk_reducer_actor& reducer_crew::of(std::uint32_t chunk,
                                            const averaging_round& round,
                                            const value_pool& rooms,
                                            duration patience) {
  auto& result = all_[chunk];
  if (result)
    return result;
  const auto& what = round.what();
  auto sum = std::make_shared<chunk_sum>(
      round.bulk().map().range(chunk).count, samples_by_member(what.contract),
      what.rule, rooms, round.members().self(), what.guards);
  std::weak_ptr<chunk_sum> place = sum;
  result = self_->spawn(chunk_reducer,
                        reduction_job{what.contract.group, chunk,
                                      std::move(sum), patience,
                                      caf::actor_cast<averager_actor>(self_)});
  self_->monitor(result);
  intake_->expect_parts(
      chunk, std::move(place), [it = result](std::size_t member, auto news) {
        if (news.refused)
          caf::anon_send(it, part_unfit{member, news.refused});
        if (news.complete)
          caf::anon_send(it, parts_complete{});
      });
  if (started_)
    started_("chunk_reducer", caf::actor_cast<caf::actor>(result));
  return result;
}

std::optional<std::uint32_t> reducer_crew::lost(const caf::actor_addr& who) {
  for (auto i = all_.begin(); i != all_.end(); ++i) {
    if (i->second.address() != who)
      continue;
    const auto chunk = i->first;
    all_.erase(i);
    return chunk;
  }
  return std::nullopt;
}

void reducer_crew::end_all() {
  for (auto& [chunk, reducer] : std::exchange(all_, {})) {
    self_->demonitor(reducer.address());
    self_->send_exit(reducer, caf::exit_reason::user_shutdown);
  }
}

} // namespace potluck
