#include "runtime/averaging/round/chunk_ledger.hpp"

#include <algorithm>
#include <iterator>

#include "messages/limits.hpp"

namespace potluck {

chunk_ledger::chunk_ledger(const group_contract& contract, const chunk_map& map,
                           std::size_t self)
    : self_{self}, map_{map}, held_(map.chunk_count(), 0),
      own_(map.chunk_count(), false), source_(map.chunk_count()),
      parts_(map.chunk_count(), 0) {
  for (auto& x : contract.members) {
    trainer_.push_back(x.role == role::trainer);
    samples_.push_back(x.samples);
    total_samples_ += x.samples;
  }
  trains_ = trainer_.at(self_);
  for (std::size_t i = 0; i < map.member_count(); ++i) {
    auto own = map.chunks_of(i);
    for (auto chunk = own.first; chunk < own.first + own.count; ++chunk)
      source_[chunk] = {static_cast<std::uint8_t>(i), 1};
  }
}

// ---- what is here -----------------------------------------------------------

void chunk_ledger::part_here(std::uint32_t chunk, std::uint64_t samples) {
  // A repeated part counts again: this figure is a hint, never a promise.
  auto& x = parts_.at(chunk);
  x = std::min(x + std::min(samples, total_samples_), total_samples_);
}

void chunk_ledger::averaged(std::uint32_t chunk,
                            std::vector<std::uint8_t> left_out) {
  averaged_.emplace(chunk, std::move(left_out));
}

chunk_ledger::actions chunk_ledger::publish(std::uint32_t chunk) {
  actions result;
  auto here = averaged_.find(chunk);
  auto& from = source_.at(chunk);
  if (here == averaged_.end() || from.member != self_ || held_[chunk] != 0)
    return result;
  hold(chunk, from.version, here->second);
  own_[chunk] = true;
  for (std::size_t i = 0; i < trainer_.size(); ++i) {
    // A heal's means are pulled: whoever did not know of the heal yet would
    // have to refuse them.
    auto wants = asked_.find({chunk, i});
    auto asked = wants != asked_.end() && wants->second == from.version;
    if (i != self_ && (asked || (from.version == 1 && trainer_[i])))
      result.emplace_back(send_mean{chunk, i});
    if (asked)
      asked_.erase(wants);
  }
  return result;
}

void chunk_ledger::mean_here(const chunk_mean& x) {
  hold(x.chunk, x.version, x.left_out);
}

void chunk_ledger::hold(std::uint32_t chunk, mean_version version,
                        std::vector<std::uint8_t> left_out) {
  drop(chunk);
  held_.at(chunk) = version;
  ++held_count_;
  if (!left_out.empty())
    left_out_[chunk] = std::move(left_out);
}

void chunk_ledger::drop(std::uint32_t chunk) {
  held_count_ -= held_.at(chunk) != 0;
  held_[chunk] = 0;
  own_[chunk] = false;
  left_out_.erase(chunk);
}

void chunk_ledger::drop_all() {
  for (std::uint32_t i = 0; i < chunks(); ++i)
    drop(i);
}

// ---- what is to come --------------------------------------------------------

bool chunk_ledger::wants(std::size_t from, const chunk_mean& x) const {
  return x.chunk < chunks() && source_[x.chunk].member == from
         && source_[x.chunk].version == x.version && held_[x.chunk] == 0;
}

chunk_ledger::actions chunk_ledger::heal(const round_heal& x,
                                         const std::vector<bool>& lost) {
  actions result;
  std::vector<std::uint8_t> without;
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (i != self_ && samples_[i] != 0
        && (lost.at(i)
            || !std::binary_search(x.alive.begin(), x.alive.end(), i)))
      without.push_back(static_cast<std::uint8_t>(i));
  auto add = [&](actions more) {
    std::move(more.begin(), more.end(), std::back_inserter(result));
  };
  for (std::uint32_t i = 0; i < chunks() && i < x.chunks.size(); ++i) {
    auto& from = x.chunks[i];
    source_[i] = from;
    if (held_[i] == from.version)
      continue;
    drop(i);
    if (from.member == self_) {
      if (from.version == x.epoch + 2 && !averaged_.count(i))
        result.emplace_back(average_chunk{i, without});
      add(publish(i));
      continue;
    }
    // The planned reducer got our part when the round began.
    if (from.version == x.epoch + 2 && samples_[self_] != 0
        && from.member != map_.owner(i)
        && sent_.insert({i, from.member}).second)
      result.emplace_back(send_part{i, from.member});
    if (trains_)
      result.emplace_back(ask_mean{i, from.version, from.member});
  }
  return result;
}

chunk_ledger::actions chunk_ledger::do_without(std::size_t member,
                                               std::uint32_t epoch) const {
  actions result;
  if (samples_.at(member) == 0)
    return result;
  for (auto i : to_make(epoch))
    result.emplace_back(average_chunk{i, {static_cast<std::uint8_t>(member)}});
  return result;
}

chunk_ledger::actions chunk_ledger::again_with(std::size_t member,
                                               bool published) const {
  actions result;
  for (std::uint32_t i = 0; i < chunks(); ++i) {
    const auto& from = source_[i];
    if (from.member == self_ && trainer_.at(member) && published
        && held_[i] == 1)
      result.emplace_back(send_mean{i, member});
    if (from.member != member || held_[i] != 0)
      continue;
    if (samples_[self_] != 0)
      result.emplace_back(send_part{i, member});
    if (trains_ && from.version != 1)
      result.emplace_back(ask_mean{i, from.version, member});
  }
  return result;
}

chunk_ledger::actions chunk_ledger::ask_missing(std::size_t holder) const {
  actions result;
  for (std::uint32_t i = 0; i < chunks(); ++i)
    if (held_[i] == 0)
      result.emplace_back(ask_mean{i, 0, holder});
  return result;
}

chunk_ledger::actions chunk_ledger::asked(std::size_t by,
                                          const mean_request& x) {
  if (x.chunk >= chunks())
    return {};
  auto held = held_[x.chunk];
  if (held != 0 && (x.version == 0 || x.version == held))
    return {send_mean{x.chunk, by}};
  if (x.version != 0)
    asked_[{x.chunk, by}] = x.version;
  return {};
}

// ---- questions --------------------------------------------------------------

std::vector<std::uint32_t> chunk_ledger::to_make(std::uint32_t epoch) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < chunks(); ++i)
    if (source_[i].member == self_ && source_[i].version == epoch + 2
        && held_[i] == 0)
      result.push_back(i);
  return result;
}

std::set<std::size_t> chunk_ledger::awaited() const {
  std::set<std::size_t> result;
  for (std::uint32_t i = 0; i < chunks(); ++i)
    if (held_[i] == 0 && source_[i].member != self_)
      result.insert(source_[i].member);
  return result;
}

std::uint64_t
chunk_ledger::samples_without(const std::vector<std::uint8_t>& out) const {
  auto result = total_samples_;
  for (auto i : out)
    if (i < samples_.size())
      result -= samples_[i];
  return result;
}

std::uint64_t chunk_ledger::samples_of(std::uint32_t chunk) const {
  auto out = left_out_.find(chunk);
  return out == left_out_.end() ? total_samples_ : samples_without(out->second);
}

chunk_mean chunk_ledger::describe(std::uint32_t chunk) const {
  chunk_mean result;
  result.chunk = chunk;
  result.version = version(chunk);
  result.samples = samples_of(chunk);
  auto out = left_out_.find(chunk);
  if (out != left_out_.end())
    result.left_out = out->second;
  return result;
}

bool chunk_ledger::adds_up(const chunk_mean& x) const {
  return samples_without(x.left_out) == x.samples
         && (x.left_out.empty() || x.left_out.back() < samples_.size());
}

std::uint64_t chunk_ledger::least_samples() const {
  auto result = total_samples_;
  for (auto& [chunk, out] : left_out_)
    result = std::min(result, samples_without(out));
  return result;
}

std::uint64_t chunk_ledger::most_samples() const {
  if (left_out_.size() < held_count_ || left_out_.empty())
    return total_samples_;
  std::uint64_t result = 0;
  for (auto& [chunk, out] : left_out_)
    result = std::max(result, samples_without(out));
  return result;
}

std::vector<std::uint8_t> chunk_ledger::left_out() const {
  std::set<std::uint8_t> all;
  for (auto& [chunk, out] : left_out_)
    all.insert(out.begin(), out.end());
  return {all.begin(), all.end()};
}

bool chunk_ledger::healed() const {
  return std::any_of(held_.begin(), held_.end(),
                     [](mean_version x) { return x > 1; });
}

std::vector<chunk_standing> chunk_ledger::standings() const {
  std::vector<chunk_standing> result;
  if (held_.size() > max_heal_chunks)
    return result;
  result.reserve(held_.size());
  for (std::uint32_t i = 0; i < chunks(); ++i)
    result.push_back({held_[i], held_[i] != 0 ? samples_of(i) : parts_[i]});
  return result;
}

void chunk_ledger::fingerprint(std::string& out) const {
  auto add = [&](std::uint64_t x) {
    for (; x >= 0x80; x >>= 7)
      out.push_back(static_cast<char>(x | 0x80));
    out.push_back(static_cast<char>(x));
  };
  auto add_list = [&](const std::vector<std::uint8_t>& xs) {
    add(xs.size());
    out.append(xs.begin(), xs.end());
  };
  for (std::uint32_t i = 0; i < chunks(); ++i) {
    add(held_[i]);
    add(source_[i].member);
    add(source_[i].version);
    add(parts_[i]);
  }
  for (auto* lists : {&left_out_, &averaged_}) {
    add(lists->size());
    for (auto& [chunk, members] : *lists) {
      add(chunk);
      add_list(members);
    }
  }
  add(sent_.size());
  for (auto& [chunk, to] : sent_) {
    add(chunk);
    add(to);
  }
  add(asked_.size());
  for (auto& [at, version] : asked_) {
    add(at.first);
    add(at.second);
    add(version);
  }
}

} // namespace potluck
