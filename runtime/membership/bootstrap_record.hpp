/// The record by which a bootstrap is found when those that the user named are
/// gone: its report, under a key that is the same for every run. An authority,
/// whose id members know, publishes it under a key of its own, too, since it
/// may have moved.
#pragma once

#include <optional>

#include "messages/codec.hpp"
#include "runtime/clock.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/dialable.hpp"

namespace potluck::bootstrap_record {

/// Of a record: it outlives its bootstrap by ten minutes, the longest that the
/// DHT keeps anything,
constexpr auto life = std::chrono::minutes{10};
/// and is published so often: nobody hurries, and a few publications may be
/// lost.
constexpr auto publish_interval = std::chrono::minutes{2};
/// Members look for them a moment after they came, and then rarely.
constexpr auto first_look = std::chrono::seconds{20};
constexpr auto look_interval = std::chrono::minutes{10};
/// Records that each node names.
constexpr std::uint32_t asked_for = 16;

inline record_key key() {
  return key_of("bootstraps");
}

inline record_key key_of_authority(const peer_id& id) {
  return key_of("authority/" + to_string(id));
}

inline dht_record of(const contact& self, const record_key& under = key()) {
  progress_report x;
  x.id = self.id;
  x.where = self.where;
  x.role = role::bootstrap;
  x.phase = phase::waiting;
  return {under, subkey_of(self.id), encode_progress(x),
          static_cast<std::uint32_t>(std::chrono::milliseconds{life}.count()),
          record_kind::bootstrap};
}

/// Nothing when it is none.
inline std::optional<contact> read(const dht_record& x) {
  auto report = decode_progress(x.value);
  if (!report || report->role != role::bootstrap
      || x.subkey != subkey_of(report->id)
      || !dialable(contact{report->id, report->where}))
    return std::nullopt;
  return contact{report->id, report->where};
}

} // namespace potluck::bootstrap_record
