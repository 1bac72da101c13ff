#include "runtime/averaging/round/round_bulk.hpp"

#include <atomic>
#include <utility>

#include "runtime/contract_members.hpp"
#include "runtime/parallel_loop.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

round_bulk::round_bulk(const group_contract& contract, const share_plan& plan,
                       std::size_t self, packing usual, value_pool rooms,
                       std::shared_ptr<round_intake> intake,
                       std::function<void()> all_placed)
    : group_{contract.group}, self_{self}, map_{contract.gradient_values,
                                                contract.chunk_values,
                                                plan.chunks},
      rooms_{std::move(rooms)}, intake_{std::move(intake)}, parts_{
                                                                map_, self,
                                                                plan.packings,
                                                                usual} {
  if (contract.members.at(self).role == role::trainer)
    places_ = std::make_shared<mean_places>(
        map_, rooms_.take(contract.gradient_values));
  intake_->begin(group_, ids_of(contract), self, places_,
                 std::move(all_placed));
}

// ---- parts ------------------------------------------------------------------

std::optional<round_mail> round_bulk::part_for(std::uint32_t chunk,
                                               std::size_t to) {
  if (!parts_.any()) {
    parts_.owe(chunk, to);
    return std::nullopt;
  }
  auto [head, body] = parts_.outgoing(chunk);
  head.group = group_;
  return round_mail{to, head, std::move(body)};
}

std::optional<offer_part> round_bulk::own_part(std::uint32_t chunk) {
  if (!parts_.any()) {
    parts_.owe(chunk, self_);
    return std::nullopt;
  }
  if (made(chunk) || std::exchange(own_chunks_[chunk].has_ours, true))
    return std::nullopt;
  auto [head, body] = parts_.whole(chunk);
  head.group = group_;
  return offer_part{self_, head, std::move(body)};
}

void round_bulk::do_without(std::uint32_t chunk,
                            const std::vector<std::uint8_t>& members) {
  own_chunks_[chunk].without.insert(members.begin(), members.end());
}

int round_bulk::reducer_lost(std::uint32_t chunk) {
  auto& own = own_chunks_[chunk];
  own.has_ours = false;
  return ++own.reducers_lost;
}

round_orders round_bulk::ask_anew(std::uint32_t chunk,
                                  const member_roll& members) {
  const auto& without = own_chunks_[chunk].without;
  round_orders out;
  if (!without.empty())
    out.emplace_back(
        potluck::do_without{chunk, {without.begin(), without.end()}});
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members.in_touch(i) && members[i].samples != 0
        && without.count(static_cast<std::uint8_t>(i)) == 0)
      out.emplace_back(round_mail{i, part_request{group_, chunk}});
  return out;
}

// ---- means ------------------------------------------------------------------

bool round_bulk::average_alone(const std::vector<float>& gradient,
                               std::uint64_t samples, unsigned threads) {
  if (!places_ || samples == 0 || gradient.size() != map_.gradient_values())
    return false;
  auto& whole = *places_->whole();
  std::atomic<bool> well{true};
  for_each_piece(
      whole.size(), threads, [&](std::size_t begin, std::size_t size) {
        if (!scale_within(whole.data() + begin, gradient.data() + begin, size,
                          one_over(samples), largest_part_value,
                          writing_of(whole.size())))
          well = false;
      });
  return well;
}

void round_bulk::keep(std::uint32_t chunk,
                      std::shared_ptr<const std::vector<float>> mean,
                      std::vector<digest> parts) {
  const auto how = parts_.packing_of(self_);
  if (how != packing::float32 && map_.owner(chunk) == self_)
    shelf_.keep_packed(chunk, how, *mean, std::move(parts), rooms_);
  else
    shelf_.keep(chunk, std::move(mean), std::move(parts));
}

const std::vector<digest>* round_bulk::parts_in(std::uint32_t chunk) const {
  return map_.owner(chunk) == self_ ? shelf_.parts(chunk) : nullptr;
}

void round_bulk::adopt(const chunk_ledger& ledger) {
  if (!places_)
    return; // It only serves them.
  for (auto chunk : shelf_.chunks()) {
    if (!ledger.is_own(chunk))
      continue;
    places_->place(chunk, packing::float32, shelf_.values(chunk));
    shelf_.drop(chunk);
  }
}

const char* round_bulk::objection(const chunk_ledger& ledger, std::size_t by,
                                  const chunk_mean& x) const {
  if (!ledger.adds_up(x))
    return "a mean over other samples than the contract's";
  if (x.version == 1 && by == map_.owner(x.chunk) && x.seal.empty())
    return "a mean that does not name its parts";
  return nullptr;
}

const char* round_bulk::place(const chunk_ledger& ledger, std::size_t by,
                              const chunk_mean& x, const shared_bytes& body) {
  if (auto why = objection(ledger, by, x))
    return why;
  switch (places_->place(x.chunk, x.packing, body)) {
    case mean_places::verdict::wrong_length:
      return "a mean of another length";
    case mean_places::verdict::not_finite:
      return "a mean with a NaN or an infinity";
    case mean_places::verdict::placed:
    case mean_places::verdict::not_open: // Not of a chunk that is wanted.
      break;
  }
  return nullptr;
}

std::optional<round_mail> round_bulk::mean_for(const chunk_ledger& ledger,
                                               std::uint32_t chunk,
                                               std::size_t to) const {
  auto head = ledger.describe(chunk);
  head.group = group_;
  const bool planned = head.version == 1 && map_.owner(chunk) == self_;
  if (planned)
    head.seal = shelf_.seal(chunk);
  auto body = planned ? shelf_.packed(chunk) : shared_bytes{};
  if (body.size != 0)
    head.packing = parts_.packing_of(self_);
  else if (ledger.is_own(chunk))
    body = shelf_.values(chunk);
  if (body.size == 0 && places_)
    body = places_->bytes(chunk);
  if (body.size == 0)
    return std::nullopt;
  return round_mail{to, head, std::move(body)};
}

std::optional<mean_evidence> round_bulk::evidence(const chunk_ledger& ledger,
                                                  std::uint32_t chunk) const {
  const auto seal = shelf_.seal(chunk);
  const auto range = map_.range(chunk);
  const auto* made = shelf_.values(chunk).data;
  if (seal.empty() || ledger.version(chunk) != 1 || (!places_ && !made))
    return std::nullopt;
  mean_evidence result;
  result.values = places_ ? places_->whole()->data() + range.offset
                          : reinterpret_cast<const float*>(made);
  result.length = range.count;
  result.left_out = ledger.describe(chunk).left_out;
  result.seal = seal;
  result.how = parts_.packing_of(map_.owner(chunk));
  if (parts_.any())
    result.own = parts_.outgoing(chunk);
  if (auto* parts = parts_in(chunk))
    result.parts = *parts;
  return result;
}

std::optional<mean_evidence>
round_bulk::evidence_or_part(const chunk_ledger& ledger,
                             std::uint32_t chunk) const {
  auto result = evidence(ledger, chunk);
  if (result || !parts_.any())
    return result;
  result.emplace();
  result->length = map_.range(chunk).count;
  result->own = parts_.outgoing(chunk);
  return result;
}

} // namespace potluck
