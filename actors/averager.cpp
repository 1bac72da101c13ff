#include "actors/averager.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/chunk_reducer.hpp"
#include "runtime/config.hpp"
#include "runtime/planning/planned_windows.hpp"

namespace potluck {

void averager_state::init(averager_actor::pointer self,
                          averager_config config) {
  self_ = self;
  config_ = config;
  chance_ = random_stream{config_.seed};
  if (!config_.intake)
    config_.intake = std::make_shared<round_intake>(); // That nobody feeds.
  config_.intake->end();                               // A predecessor's.
}

void averager_state::on(const wiring& w) {
  wired_ = w;
  if (!config_.abandoned.group.empty() && wired_.gateway) {
    auto old = std::exchange(config_.abandoned, {});
    tell_out_of(old.group, old.members);
  }
}

// ---- the round begins
// -------------------------------------------------------------

void averager_state::on(const begin_round& x) {
  end_reducers();
  config_.intake->end();
  judge_means(); // For what it is worth: the news of it must not be lost.
  if (round_ && round_->over && !round_->committed) {
    aborted_.push_back(round_->contract().group);
    if (aborted_.size() > limits::groups_left)
      aborted_.pop_front();
  }
  const auto& c = x.contract;
  round_begun news{c.group, {}};
  for (auto& member : c.members)
    news.members.push_back(member.who.id);
  if (wired_.supervisor)
    self_->send(wired_.supervisor, news);
  chunk_map map{c.gradient_values, c.chunk_values, x.plan.chunks};
  round_.reset(); // Its means can be written over, if nobody else has them.
  const auto before = std::exchange(room_for_, c.gradient_values);
  if (!room_ || before != c.gradient_values)
    room_.emplace(2 * c.gradient_values);
  round_agreement agreement{c, map, config_.self, x.keeps_majority};
  auto self = agreement.members().index_of(config_.self);
  round_.emplace(x, map, self, c.members.at(self).role == role::trainer,
                 std::move(agreement), self_->clock().now());
  auto& r = *round_;
  if (r.trains) {
    r.mean = room_->take(c.gradient_values);
    r.assembly.emplace(r.map, r.mean->data());
  }
  draw_a_check();
  plan_windows();
  expect_means();
  send_parts();
  auto letters = std::move(early_);
  early_.clear();
  for (auto& l : letters)
    if (*group_of(l.content) == c.group)
      on(l);
  for (auto& member : c.members)
    if (member.who.id != config_.self && !connected_.count(member.who.id))
      lose(member.who.id);
  arm();
}

void averager_state::plan_windows() {
  auto& r = *round_;
  const auto& members = r.contract().members;
  windows_planned news;
  if (!r.over && r.order.plan.shares.size() == members.size()) {
    auto windows = planned_windows(collaboration_of(r.contract()),
                                   r.order.plan.shares, r.self);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (windows[i].queue > 0)
        news.windows.emplace_back(members[i].who.id, windows[i]);
  }
  self_->send(wired_.gateway, std::move(news));
}

chunk_reducer_actor averager_state::reducer_of(std::uint32_t chunk) {
  auto& r = *round_;
  if (r.averaged.count(chunk))
    return {};
  auto& result = r.reducers[chunk];
  if (!result) {
    reduction_job job;
    job.group = r.contract().group;
    for (auto& member : r.contract().members)
      job.samples.push_back(member.samples);
    job.parent = caf::actor_cast<averager_actor>(self_);
    job.rule = config_.rule;
    job.chunk = chunk;
    job.length = r.map.range(chunk).count;
    job.rooms = *room_;
    job.self = static_cast<std::uint32_t>(r.self);
    // Of planned chunks: what a heal moves comes by letter.
    // Nor those of a contract without samples, which its reducer fails at.
    const bool open = r.map.owner(chunk) == r.self
                      && std::any_of(job.samples.begin(), job.samples.end(),
                                     [](auto x) { return x != 0; });
    if (open)
      job.average = std::make_shared<shared_average>(job.length, job.samples,
                                                     job.rule, job.rooms);
    result = self_->spawn(chunk_reducer, job);
    if (open)
      config_.intake->expect_parts(chunk, job.average, [result] {
        caf::anon_send(result, part_given_up{});
      });
    self_->monitor(result);
    if (config_.reducer_started)
      config_.reducer_started("chunk_reducer",
                              caf::actor_cast<caf::actor>(result));
  }
  return result;
}

shared_bytes averager_state::own_part(std::uint32_t chunk) const {
  auto& r = *round_;
  auto range = r.map.range(chunk);
  return packed_body(packing::float32, r.order.gradient,
                     r.order.gradient->data() + range.offset, range.count);
}

packing averager_state::packing_of(std::size_t member) const {
  const auto& planned = round_->order.plan.packings;
  return planned.empty() ? config_.packing : planned.at(member);
}

std::pair<shared_bytes, packing>
averager_state::outgoing_part(std::uint32_t chunk) const {
  auto& r = *round_;
  // Its own part a reducer sums as it is, and shows it like that.
  auto how
      = r.map.owner(chunk) == r.self ? packing::float32 : packing_of(r.self);
  auto range = r.map.range(chunk);
  return {packed_body(how, r.order.gradient,
                      r.order.gradient->data() + range.offset, range.count),
          how};
}

void averager_state::offer_own_part(std::uint32_t chunk) {
  auto& r = *round_;
  auto samples = r.contract().members[r.self].samples;
  auto reducer = reducer_of(chunk);
  if (!reducer || !r.order.gradient || samples == 0
      || !r.offered.insert(chunk).second)
    return;
  r.agreement.part_here(chunk, samples);
  self_->send(reducer, part_arrived{static_cast<std::uint32_t>(r.self), samples,
                                    own_part(chunk)});
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
      if (owner == r.self)
        offer_own_part(chunk);
      else
        carry_out(send_part{chunk, owner});
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
    if (stayed_out(x, *group) || was_aborted(x, *group))
      return;
    // A round that we have not begun. Until then it is one of few letters: the
    // oldest goes when somebody floods us.
    early_.push_back(x);
    if (early_.size() > limits::early_letters)
      early_.pop_front();
    return;
  }
  catch_up();
  receive(x, self_->clock().now());
  catch_up(); // A place may have been closed, which was the last.
}

void averager_state::catch_up() {
  if (!round_)
    return;
  for (auto& x : config_.intake->arrivals()) {
    if (!round_ || round_->contract().group != *group_of(x.content))
      continue;
    receive({x.from, std::move(x.content), std::move(x.body)}, x.when);
  }
}

void averager_state::receive(const letter& x, clock_time when) {
  if (round_->agreement.members().index_of(x.from)
      == round_->contract().members.size())
    return;
  // A leader that sends nothing and then calls the round off is as silent as
  // any.
  auto verdict = std::get_if<round_verdict>(&x.content);
  if (std::holds_alternative<chunk_part>(x.content)
      || std::holds_alternative<chunk_mean>(x.content)
      || std::holds_alternative<round_prepared>(x.content)
      || std::holds_alternative<round_standing>(x.content)
      || (verdict && verdict->commit))
    round_->heard.insert(round_->agreement.members().index_of(x.from));
  // Members that ask around because they wait as well bring no news.
  if (round_->agreement.leading()
      || !std::holds_alternative<round_standing>(x.content))
    round_->last_news = std::max(round_->last_news, when);
  // Who settles wants to know what is here, and what comes now is void.
  if (std::holds_alternative<round_settle>(x.content)
      || std::holds_alternative<round_standing>(x.content)
      || std::holds_alternative<round_heal>(x.content)
      || std::holds_alternative<round_verdict>(x.content)
      || std::holds_alternative<mean_request>(x.content))
    close_intake();
  std::visit([&](const auto& y) { read(x, y); }, x.content);
}

void averager_state::read(const letter& x, const chunk_part& part) {
  auto& r = *round_;
  if (x.body.data == nullptr && x.body.size > 0) { // It is in its sum already.
    r.bytes_received += x.body.size;
    r.agreement.part_here(part.chunk, part.samples);
    return;
  }
  if (part.chunk >= r.map.chunk_count() || shown(x, part) || r.over)
    return;
  auto reducer = reducer_of(part.chunk);
  if (!reducer)
    return;
  r.bytes_received += x.body.size;
  r.agreement.part_here(part.chunk, part.samples);
  self_->send(reducer, part_arrived{static_cast<std::uint32_t>(
                                        r.agreement.members().index_of(x.from)),
                                    part.samples, x.body, part.packing});
}

void averager_state::read(const letter& x, const chunk_mean& mean) {
  auto& r = *round_;
  if (r.over || !r.assembly || !r.agreement.wants(x.from, mean))
    return;
  if (!r.agreement.ledger().adds_up(mean)) {
    refuse_mean(x.from, "a mean over other samples than the contract's");
    return;
  }
  bool planned
      = mean.version == 1
        && r.agreement.members().index_of(x.from) == r.map.owner(mean.chunk);
  if (planned && mean.seal.empty()) {
    refuse_mean(x.from, "a mean that does not name its parts");
    return;
  }
  r.bytes_received += x.body.size;
  r.assembly->forget(mean.chunk); // In case another mean counted before.
  switch (place(mean.chunk, mean.packing, x.body)) {
    case gradient_assembly::verdict::placed:
    case gradient_assembly::verdict::complete:
      r.agreement.mean_here(mean);
      // Only a heal's means lack members for any other reason.
      if (mean.version == 1)
        for (auto member : mean.left_out)
          note_refusal(member, r.agreement.members().index_of(x.from));
      if (planned)
        r.seals[mean.chunk] = mean.seal;
      carry_out(round_agreement::actions{});
      break;
    case gradient_assembly::verdict::repeated:    // Forgotten above.
    case gradient_assembly::verdict::wrong_chunk: // Not wanted.
      break;
    case gradient_assembly::verdict::wrong_length:
      refuse_mean(x.from, "a mean of another length");
      break;
    case gradient_assembly::verdict::not_finite:
      refuse_mean(x.from, "a mean with a NaN or an infinity");
      break;
  }
}

void averager_state::read(const letter& x, const mean_request& request) {
  carry_out(round_->agreement.asked(x.from, request));
}

template <class Other>
void averager_state::read(const letter& x, const Other& other) {
  if constexpr (std::is_constructible_v<round_message, Other>)
    carry_out(round_->agreement.receive(x.from, other));
}

// ---- means
// -----------------------------------------------------------------------------

shared_bytes averager_state::mean_bytes(std::uint32_t chunk) const {
  auto& r = *round_;
  auto range = r.map.range(chunk);
  auto bytes = range.count * sizeof(float);
  auto own = r.made.find(chunk);
  if (own != r.made.end())
    return {own->second,
            reinterpret_cast<const std::uint8_t*>(own->second->data()), bytes};
  if (!r.mean)
    return {};
  auto sum = r.digests.find(chunk);
  return {r.mean,
          reinterpret_cast<const std::uint8_t*>(r.mean->data() + range.offset),
          bytes, sum == r.digests.end() ? digest{} : sum->second};
}

void averager_state::on(const mean_ready& x) {
  if (!round_ || round_->contract().group != x.group || round_->over)
    return;
  auto& r = *round_;
  r.reducers.erase(x.chunk);
  r.averaged.insert(x.chunk);
  config_.intake->close_parts(x.chunk);
  auto values = x.values;
  if (config_.bend_mean) {
    auto bent = std::make_shared<std::vector<float>>(*values);
    config_.bend_mean(*bent);
    values = bent;
  }
  if (packing_of(r.self) != packing::float32
      && r.map.owner(x.chunk) == r.self) {
    values = pack_mean(x.chunk, *values);
  }
  r.made.emplace(x.chunk, values);
  r.parts.emplace(x.chunk, x.parts);
  r.seals.emplace(x.chunk, sealed(x.parts));
  r.last_news = self_->clock().now();
  catch_up();
  if (round_) // Else what has come has ended it.
    carry_out(round_->agreement.averaged(x.chunk, x.left_out));
}

std::shared_ptr<const std::vector<float>>
averager_state::pack_mean(std::uint32_t chunk,
                          const std::vector<float>& values) {
  auto rounded = room_->take(values.size());
  auto body = pack_and_round(packing_of(round_->self), values.data(),
                             values.size(), rounded->data());
  auto what = digest_of(body.data, body.size);
  round_->packed_means[chunk]
      = {std::move(body.owner), body.data, body.size, what};
  return rounded;
}

void averager_state::adopt_own_means() {
  auto& r = *round_;
  if (!r.assembly)
    return; // Only serves them.
  auto& ledger = r.agreement.ledger();
  for (auto i = r.made.begin(); i != r.made.end();) {
    if (ledger.version(i->first) == 0
        || ledger.source(i->first).member != r.self) {
      ++i;
      continue;
    }
    r.assembly->forget(i->first);
    place(i->first, packing::float32,
          {i->second, reinterpret_cast<const std::uint8_t*>(i->second->data()),
           i->second->size() * sizeof(float)});
    i = r.made.erase(i);
  }
}

averager_actor::behavior_type
averager(averager_actor::stateful_pointer<averager_state> self,
         averager_config config) {
  return behave<averager_actor, averager_state>(self, config);
}

} // namespace potluck
