/// What the averager and the round's intake share: places for means, and the
/// digests of what is in them.
#include "actors/averager.hpp"
#include "runtime/config.hpp"

namespace potluck {

static_assert(value_pool::most_waiting_of_one
                  < limits::read_on_share * limits::unread_bytes,
              "a member whose parts wait for others' would not be read again");

void averager_state::close_intake() {
  config_.intake->close();
  catch_up();
}

void averager_state::expect_means() {
  auto& r = *round_;
  std::vector<peer_id> members;
  for (auto& member : r.contract().members)
    members.push_back(member.who.id);
  auto self = caf::actor_cast<averager_actor>(self_);
  config_.intake->begin(
      r.contract().group, std::move(members), [self](round_intake::arrival x) {
        caf::anon_send(self,
                       letter{x.from, std::move(x.content), std::move(x.body)});
      });
  if (!r.trains)
    return;
  for (std::uint32_t chunk = 0; chunk < r.map.chunk_count(); ++chunk) {
    auto range = r.map.range(chunk);
    if (r.map.owner(chunk) != r.self)
      config_.intake->expect_mean(chunk, r.map.owner(chunk), r.mean,
                                  range.offset, range.count);
  }
}

gradient_assembly::verdict averager_state::place(std::uint32_t chunk,
                                                 packing how,
                                                 const shared_bytes& body) {
  auto& r = *round_;
  auto range = r.map.range(chunk);
  auto* values = r.mean->data() + range.offset;
  const bool here = body.data == reinterpret_cast<const std::uint8_t*>(values);
  if (!here)
    config_.intake->close_mean(chunk);
  digest sum;
  if (here)
    sum = digest_of(body);
  auto result = here ? r.assembly->in_place(chunk)
                     : r.assembly->place(chunk, how, body, sum);
  if (result == gradient_assembly::verdict::placed
      || result == gradient_assembly::verdict::complete)
    r.digests[chunk] = sum;
  return result;
}

digest averager_state::digest_of_means() {
  auto& r = *round_;
  std::vector<digest> all;
  for (std::uint32_t chunk = 0; chunk < r.map.chunk_count(); ++chunk) {
    auto range = r.map.range(chunk);
    auto [known, fresh] = r.digests.try_emplace(chunk);
    if (fresh)
      known->second = digest_of(r.mean->data() + range.offset,
                                range.count * sizeof(float));
    all.push_back(known->second);
  }
  return digest_of(all.data(), all.size() * sizeof(digest));
}

} // namespace potluck
