#include "actors/averager.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/chunk_reducer.hpp"
#include "runtime/config.hpp"

namespace potluck {

namespace {

const group_id* group_of(const message& x) {
  return std::visit(
      [](const auto& y) -> const group_id* {
        using type = std::decay_t<decltype(y)>;
        if constexpr (
            std::is_same_v<
                type,
                chunk_part> || std::is_same_v<type, chunk_mean> || std::is_same_v<type, mean_request> || std::is_constructible_v<round_message, type>)
          return &y.group;
        else
          return nullptr;
      },
      x);
}

std::size_t index_of(const group_contract& c, const peer_id& id) {
  std::size_t i = 0;
  while (i < c.members.size() && c.members[i].who.id != id)
    ++i;
  return i;
}

} // namespace

void averager_state::init(averager_actor::pointer self,
                          averager_config config) {
  self_ = self;
  config_ = config;
}

void averager_state::on(const wiring& w) {
  wired_ = w;
}

// ---- members come and go
// --------------------------------------------------------

void averager_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
}

void averager_state::on(const peer_left& x) {
  connected_.erase(x.id);
  early_.erase(std::remove_if(early_.begin(), early_.end(),
                              [&](auto& l) { return l.from == x.id; }),
               early_.end());
  if (round_)
    carry_out(round_->agreement.member_lost(x.id));
}

void averager_state::on(const member_withdrew& x) {
  if (x.member == config_.self) {
    if (round_ && round_->contract().group == x.group)
      return; // It runs, and its end will be told.
    round_over never;
    never.contract.group = x.group;
    self_->send(wired_.matchmaking, never);
    left_.push_back({x.group, {}});
    if (left_.size() > limits::groups_left)
      left_.pop_front();
    auto letters = std::move(early_);
    early_.clear();
    for (auto& l : letters)
      if (!stayed_out(l, *group_of(l.content)))
        early_.push_back(std::move(l));
    return;
  }
  if (round_ && round_->contract().group == x.group)
    carry_out(round_->agreement.member_lost(x.member));
}

bool averager_state::stayed_out(const letter& x, const group_id& group) {
  for (auto& [left, told] : left_) {
    if (left != group)
      continue;
    // Its leader was lost before it could start us, but had started others:
    // they would wait for us, with our session up, until they lose patience.
    if (told.insert(x.from).second) {
      group_answer no;
      no.group = group;
      no.reason = "never started this round";
      self_->send(wired_.gateway, parcel{x.from, no, {}});
    }
    return true;
  }
  return false;
}

// ---- the round begins
// -------------------------------------------------------------

void averager_state::on(const begin_round& x) {
  end_reducers();
  const auto& c = x.contract;
  auto self = index_of(c, config_.self);
  round_.emplace(
      round{x,
            chunk_map{c.gradient_values, c.chunk_values, x.plan.chunks},
            self,
            c.members.at(self).role == role::trainer,
            round_agreement{c, config_.self},
            nullptr,
            std::nullopt,
            {},
            std::nullopt,
            false,
            self_->clock().now(),
            self_->clock().now(),
            0,
            0,
            0});
  auto& r = *round_;
  for (auto& member : c.members)
    r.total_samples += member.samples;
  if (r.trains) {
    r.mean = std::make_shared<std::vector<float>>(c.gradient_values);
    r.assembly.emplace(r.map, r.mean->data());
  }
  spawn_reducers();
  send_parts();
  auto letters = std::move(early_);
  early_.clear();
  for (auto& l : letters)
    if (*group_of(l.content) == c.group)
      on(l);
  for (auto& member : c.members)
    if (member.who.id != config_.self && !connected_.count(member.who.id))
      carry_out(r.agreement.member_lost(member.who.id));
  arm();
}

void averager_state::spawn_reducers() {
  auto& r = *round_;
  reduction_job job;
  job.group = r.contract().group;
  for (auto& member : r.contract().members)
    job.samples.push_back(member.samples);
  job.parent = caf::actor_cast<averager_actor>(self_);
  auto mine = r.map.chunks_of(r.self);
  for (auto chunk = mine.first; chunk < mine.first + mine.count; ++chunk) {
    job.chunk = chunk;
    job.length = r.map.range(chunk).count;
    auto reducer = self_->spawn(chunk_reducer, job);
    self_->monitor(reducer);
    r.reducers.emplace(chunk, reducer);
  }
}

void averager_state::send_parts() {
  auto& r = *round_;
  const auto& own = r.contract().members[r.self];
  if (!r.order.gradient || own.samples == 0)
    return;
  // One chunk of each owner in turn, beginning behind ourselves, so that all
  // lines are busy at once and no reducer is everybody's first.
  auto members = r.contract().members.size();
  for (std::uint32_t turn = 0;; ++turn) {
    bool any = false;
    for (std::size_t hop = 1; hop <= members; ++hop) {
      auto owner = (r.self + hop) % members;
      auto chunks = r.map.chunks_of(owner);
      if (turn >= chunks.count)
        continue;
      any = true;
      auto chunk = chunks.first + turn;
      auto range = r.map.range(chunk);
      shared_bytes values{r.order.gradient,
                          reinterpret_cast<const std::uint8_t*>(
                              r.order.gradient->data() + range.offset),
                          range.count * sizeof(float)};
      if (owner == r.self) {
        self_->send(r.reducers.at(chunk),
                    part_arrived{static_cast<std::uint32_t>(r.self),
                                 own.samples, std::move(values)});
        continue;
      }
      r.bytes_sent += values.size;
      self_->send(wired_.gateway,
                  parcel{r.contract().members[owner].who.id,
                         chunk_part{r.contract().group, chunk, own.samples,
                                    packing::float32},
                         std::move(values)});
    }
    if (!any)
      return;
  }
}

// ---- letters
// ------------------------------------------------------------------------

void averager_state::on(const letter& x) {
  auto group = group_of(x.content);
  if (!group)
    return;
  if (!round_ || round_->contract().group != *group) {
    if (stayed_out(x, *group))
      return;
    // A round that we have not begun. Until then it is one of few letters: the
    // oldest goes when somebody floods us.
    early_.push_back(x);
    if (early_.size() > limits::early_letters)
      early_.pop_front();
    return;
  }
  if (index_of(round_->contract(), x.from) == round_->contract().members.size())
    return;
  round_->last_news = self_->clock().now();
  std::visit([&](const auto& y) { read(x, y); }, x.content);
}

void averager_state::read(const letter& x, const chunk_part& part) {
  auto& r = *round_;
  auto reducer = r.reducers.find(part.chunk);
  if (reducer == r.reducers.end())
    return; // Not ours, or already averaged.
  r.bytes_received += x.body.size;
  self_->send(reducer->second, part_arrived{static_cast<std::uint32_t>(
                                                index_of(r.contract(), x.from)),
                                            part.samples, x.body});
}

void averager_state::read(const letter& x, const chunk_mean& mean) {
  auto& r = *round_;
  if (r.over || !r.assembly || mean.chunk >= r.map.chunk_count())
    return;
  auto from_owner
      = r.contract().members[r.map.owner(mean.chunk)].who.id == x.from;
  auto wanted
      = r.holder ? *r.holder == x.from : from_owner && !r.agreement.frozen();
  if (!wanted)
    return;
  if (mean.samples != r.total_samples) {
    blame(x.from, "a mean over other samples than the contract's");
    return;
  }
  r.bytes_received += x.body.size;
  place(mean.chunk, reinterpret_cast<const float*>(x.body.data),
        x.body.size / sizeof(float));
}

void averager_state::read(const letter& x, const mean_request& request) {
  auto& r = *round_;
  if (!r.agreement.holds_means() || request.chunk >= r.map.chunk_count())
    return;
  auto bytes = mean_bytes(r, request.chunk);
  r.bytes_sent += bytes.size;
  self_->send(wired_.gateway,
              parcel{x.from,
                     chunk_mean{request.group, request.chunk, r.total_samples,
                                packing::float32},
                     std::move(bytes)});
}

template <class Other>
void averager_state::read(const letter& x, const Other& other) {
  if constexpr (std::is_constructible_v<round_message, Other>)
    carry_out(round_->agreement.receive(x.from, other));
}

// ---- means
// -----------------------------------------------------------------------------

shared_bytes averager_state::mean_bytes(const round& r,
                                        std::uint32_t chunk) const {
  auto range = r.map.range(chunk);
  return {r.mean,
          reinterpret_cast<const std::uint8_t*>(r.mean->data() + range.offset),
          range.count * sizeof(float)};
}

void averager_state::on(const mean_ready& x) {
  if (!round_ || round_->contract().group != x.group)
    return;
  auto& r = *round_;
  r.reducers.erase(x.chunk);
  r.last_news = self_->clock().now();
  shared_bytes bytes{x.values,
                     reinterpret_cast<const std::uint8_t*>(x.values->data()),
                     x.values->size() * sizeof(float)};
  for (std::size_t i = 0; i < r.contract().members.size(); ++i) {
    const auto& member = r.contract().members[i];
    if (i == r.self || member.role != role::trainer)
      continue;
    r.bytes_sent += bytes.size;
    self_->send(
        wired_.gateway,
        parcel{member.who.id,
               chunk_mean{x.group, x.chunk, r.total_samples, packing::float32},
               bytes});
  }
  if (r.assembly && !r.over && !r.agreement.frozen())
    place(x.chunk, x.values->data(), x.values->size());
}

void averager_state::place(std::uint32_t chunk, const float* values,
                           std::size_t count) {
  auto& r = *round_;
  auto owner = r.contract().members[r.map.owner(chunk)].who.id;
  switch (r.assembly->place(chunk, values, count)) {
    case gradient_assembly::verdict::placed:
    case gradient_assembly::verdict::repeated:
    case gradient_assembly::verdict::wrong_chunk: // Checked by the caller.
      break;
    case gradient_assembly::verdict::complete: {
      auto whole = digest_of(r.mean->data(), r.mean->size() * sizeof(float));
      if (r.holder)
        carry_out(r.agreement.means_fetched(whole));
      else
        carry_out(r.agreement.all_means_here(whole));
      break;
    }
    case gradient_assembly::verdict::wrong_length:
      blame(r.holder.value_or(owner), "a mean of another length");
      break;
    case gradient_assembly::verdict::not_finite:
      blame(r.holder.value_or(owner), "a mean with a NaN or an infinity");
      break;
  }
}

averager_actor::behavior_type
averager(averager_actor::stateful_pointer<averager_state> self,
         averager_config config) {
  return behave<averager_actor, averager_state>(self, config);
}

} // namespace potluck
