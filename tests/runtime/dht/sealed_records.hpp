/// Records of made-up peers under their seals.
#pragma once

#include "messages/codec.hpp"
#include "runtime/dht/notary.hpp"
#include "runtime/dht/record_rules.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

namespace potluck::sealed {

/// A peer that reports, under the run's key.
inline dht_record report_of(const peer_id& who, std::uint64_t number = 1,
                            const record_key& key = key_of("run/soup"),
                            phase what = phase::accumulating) {
  progress_report said;
  said.id = who;
  said.where = {"10.0.0.1", 7000};
  said.phase = what;
  notary its{made_up(who)};
  its.clocks(number, number);
  dht_record x{key, "", encode_progress(said), 15'000, record_kind::progress};
  its.seal(x);
  return x;
}

inline peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  x.bytes[31] = 1;
  return x;
}

} // namespace potluck::sealed
