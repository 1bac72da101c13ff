#include "runtime/experts/open_calls.hpp"

#include "runtime/experts/call_values.hpp"

namespace potluck {

std::optional<std::uint64_t> open_calls::open(call what) {
  if (calls_.size() >= limits::expert_calls_open
      || bytes_ + what.bytes > limits::expert_call_bytes)
    return std::nullopt;
  bytes_ += what.bytes;
  calls_.emplace(next_, std::move(what));
  return next_++;
}

void open_calls::sent(std::uint64_t number, const peer_id& host,
                      std::uint32_t values) {
  auto& c = calls_.at(number);
  c.host = host;
  c.values = values;
}

const open_calls::call* open_calls::find(std::uint64_t number) const {
  auto i = calls_.find(number);
  return i == calls_.end() ? nullptr : &i->second;
}

open_calls::verdict open_calls::judge(const peer_id& from,
                                      const expert_answer& x,
                                      const shared_bytes& body,
                                      float_array& values) const {
  auto c = find(x.number);
  if (c == nullptr || c->host.empty() || c->host != from)
    return verdict::stranger;
  if (x.outcome != expert_outcome::done)
    return verdict::refused;
  if (x.samples != c->samples || x.values != c->values
      || x.packing != c->packing)
    return verdict::wrong_shape;
  const auto size = size_of(x);
  values.resize(size.inputs);
  return read_values(x.packing, body, size, values.data())
             ? verdict::answered
             : verdict::wrong_values;
}

bool open_calls::close(std::uint64_t number) {
  auto i = calls_.find(number);
  if (i == calls_.end())
    return false;
  bytes_ -= i->second.bytes;
  calls_.erase(i);
  return true;
}

std::vector<std::uint64_t> open_calls::waiting_for(const peer_id& host) const {
  std::vector<std::uint64_t> result;
  for (auto& [number, c] : calls_)
    if (!c.host.empty() && c.host == host)
      result.push_back(number);
  return result;
}

std::vector<std::uint64_t> open_calls::looked_up(const std::string& uid) const {
  std::vector<std::uint64_t> result;
  for (auto& [number, c] : calls_)
    if (c.host.empty() && c.uid == uid)
      result.push_back(number);
  return result;
}

} // namespace potluck
