#include "runtime/dht/record_rules.hpp"

#include <algorithm>
#include <functional>

#include "messages/codec.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

const char* const others_name = "the record speaks for somebody else";

const peer_id& speaker_of(const progress_report& x) {
  return x.id;
}
const peer_id& speaker_of(const expert_announcement& x) {
  return x.host.id;
}
const peer_id& speaker_of(const expert_host_notice& x) {
  return x.host.id;
}

template <auto Decode>
std::string own_word(const std::string& value, const peer_id& owner) {
  const auto x = Decode(value);
  if (!x)
    return x.error();
  return speaker_of(*x) == owner ? "" : others_name;
}

/// Of a bootstrap, or of any other peer.
template <bool IsBootstrap>
std::string own_report(const std::string& value, const peer_id& owner) {
  const auto x = decode_progress(value);
  if (x && (x->role == role::bootstrap) != IsBootstrap)
    return IsBootstrap ? "the peer is no bootstrap"
                       : "a bootstrap has no progress";
  return own_word<decode_progress>(value, owner);
}

/// A byte each, ascending.
std::string coordinates(const std::string& value, const peer_id&) {
  const auto above = [](char a, char b) {
    return static_cast<std::uint8_t>(a) >= static_cast<std::uint8_t>(b);
  };
  return std::adjacent_find(value.begin(), value.end(), above) == value.end()
             ? ""
             : "the coordinates are in no order";
}

/// The lives are those that publishers give (membership/limits.hpp,
/// bootstrap_record.hpp, expert_records.hpp). The bytes leave room for the
/// longest hosts.
constexpr record_rule rules[] = {
    {record_kind::progress, 2048, 15s, own_report<false>},
    {record_kind::bootstrap, 1024, 10min, own_report<true>},
    {record_kind::expert_host, 512, 2min, own_word<decode_announcement>},
    {record_kind::replica, 512, 2min, own_word<decode_announcement>},
    {record_kind::host_notice, 512, 30s, own_word<decode_notice>},
    {record_kind::coordinates, 256, 2min, coordinates},
};

} // namespace

const record_rule* rule_of(record_kind x) {
  for (const auto& rule : rules)
    if (rule.kind == x)
      return &rule;
  return nullptr;
}

std::string problem_with(const dht_record& x, const peer_id& owner) {
  const auto* rule = rule_of(x.kind);
  if (rule == nullptr)
    return "the record is of a kind that this version does not know";
  if (x.value.size() > rule->most_bytes)
    return "the record is too large for its kind";
  if (x.seal.life_ms == 0
      || std::chrono::milliseconds{x.seal.life_ms} > rule->longest_life)
    return "the record's life is none, or too long for its kind";
  if (x.lives_ms == 0 || x.lives_ms > x.seal.life_ms)
    return "the record has no life left, or more than its owner gave it";
  return rule->problem(x.value, owner);
}

} // namespace potluck
