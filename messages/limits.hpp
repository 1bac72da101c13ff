/// How large the parts of a message may be, and why. The schema states the same
/// numbers; check.cpp holds messages against them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/framing.hpp"

namespace potluck {

/// Bytes of a sentence or reason: a few lines of a terminal.
constexpr std::size_t max_sentence_bytes = 1000;
/// Bytes of a host: the longest name that DNS allows is 253.
constexpr std::size_t max_host_bytes = 253;
/// Bytes of a run's name: a file name, since logs are named after it.
constexpr std::size_t max_run_bytes = 255;
/// A charter has some 25 settings; room to grow.
constexpr std::size_t max_settings = 128;
constexpr std::size_t max_setting_name_bytes = 64;
constexpr std::size_t max_setting_value_bytes = 255;

/// Bytes of an amendment with its signatures: a ban names up to 100 peers.
constexpr std::size_t max_amendment_bytes = 8192;
/// Amendments of one frame: half a head.
constexpr std::size_t max_amendments = 64;
/// Bytes of an admission: two ids, two keys, times, signatures, and a name.
constexpr std::size_t max_admission_bytes = 2048;
/// Bytes of what it is claimed by.
constexpr std::size_t max_claim_bytes = 4096;

/// Contacts of one answer: Kademlia's bucket size.
constexpr std::size_t max_contacts = 20;
/// Records of one frame, and of one key in an answer: a peer's worth each in
/// the largest group.
constexpr std::size_t max_records = 256;
/// Of one key, that a node may say to store.
constexpr std::uint32_t max_stored = 1u << 20;
/// What a request may say that its asker knows, of nodes and of records.
constexpr std::size_t max_known = 256;
constexpr std::size_t max_subkey_bytes = 128; ///< An owner's id has 32.
/// Bytes of a record's value: a progress report takes up to 800.
constexpr std::size_t max_record_value_bytes = 4096;
/// Life of a record: a vanished owner is forgotten after ten minutes.
constexpr std::uint32_t max_record_life_ms = 600'000;

/// Members of a group: planning is quadratic, and a round is as slow as its
/// slowest member.
constexpr std::size_t max_members = 256;
/// Contributors of one sponsor, as far as a report may say.
constexpr std::uint32_t max_contributors = 65536;
/// Epochs of a round: a leader that settles again counts on by the number of
/// members, each time after the patience, so this is days.
constexpr std::uint32_t max_epochs = 1u << 16;
/// Steps of a run: a thousand a second for 34 years.
constexpr std::uint64_t max_step = std::uint64_t{1} << 40;
/// Signed steps that a peer shows: of 256 makers each, a quarter of a head.
constexpr std::size_t max_shown_steps = 8;
/// Peers that an answer to an invitation may name as avoided.
constexpr std::size_t max_avoided = 32;
/// Slow pairs that a peer tells of: a plan can do without few lines only.
constexpr std::size_t max_slow_pairs = 8;
/// Bytes of a line probe, and of all that come on a connection.
constexpr std::size_t max_probe_bytes = 64 * 1024;
constexpr std::size_t max_probe_total = 2 * 1024 * 1024;

/// Hubs that a report may name: one answers, another may have ended, and one is
/// on its way.
constexpr std::size_t max_hubs = 3;
/// Addresses that a peer may name of its own, of each kind.
constexpr std::size_t max_own_addresses = 8;
/// Bytes of a circuit in one frame, and that a hub may allow at once.
constexpr std::size_t max_circuit_bytes = 64 * 1024;
constexpr std::uint32_t max_circuit_credit = 1u << 24;
/// Bytes with which a third peer's dial is paid for: several times what the
/// handshakes of such a connection take.
constexpr std::size_t errand_bytes = 32 * 1024;

/// Samples of one peer in one step. `max_members` of them stay below 2^48,
/// which a double holds exactly.
constexpr std::uint64_t max_samples = std::uint64_t{1} << 40;
constexpr std::uint64_t max_group_samples = max_samples * max_members;
/// Samples in a run's history, so that sums of two never overflow.
constexpr std::uint64_t max_history_samples = std::uint64_t{1} << 56;
/// Rates and losses: above them, arithmetic on a few hundred stays finite.
constexpr double max_real = 1e18;

/// Values of a model: 4 TiB of float32.
constexpr std::uint64_t max_gradient_values = std::uint64_t{1} << 40;
/// Values of a chunk: a body's worth of float32.
constexpr std::uint32_t max_chunk_values = max_body_bytes / 4;
/// Chunks of a gradient: what a peer keeps a bit for (2 MiB).
constexpr std::uint64_t max_chunks = std::uint64_t{1} << 24;
/// Chunks of a round that can be healed: a standing says 12 bytes of each, and
/// a head is at most 1 MiB. At 256 KiB a chunk this is 16 GiB of gradient.
constexpr std::size_t max_heal_chunks = 1u << 16;
/// Chunks whose sums one seed checks: 96 bytes to each member.
constexpr std::size_t max_projections = 8;
/// Magnitude of a projection: of 2^22 values below 2^100, and some.
constexpr double max_projection = 0x1p126;
/// How long a member may have to wait for progress: an hour.
constexpr std::uint32_t max_patience_ms = 3600u * 1000u;

constexpr std::uint64_t max_state_bytes = std::uint64_t{1} << 40;
constexpr std::size_t max_recent_digests = 64; ///< 1 KiB.
/// Pieces of a state or a mean: their digests fill half a head.
constexpr std::uint64_t max_pieces = std::uint64_t{1} << 15;

/// Bytes of an expert's uid: a layer's name and four coordinates.
constexpr std::size_t max_uid_bytes = 64;
/// Bytes of an expert's saved state: 2^28 parameters with their moments.
constexpr std::uint64_t max_replica_bytes = (std::uint64_t{3} << 30) + 4096;
/// Of these in one body: small beside a call's samples, so that calls on the
/// same line wait little.
constexpr std::uint32_t replica_chunk_bytes = 1u << 20;
/// Wanted at once: the bandwidth-delay product of 300 Mbit/s over 100 ms.
constexpr std::uint32_t replica_window_bytes = 4 * replica_chunk_bytes;
/// Times that an expert may change hosts.
constexpr std::uint32_t max_term = 1u << 30;
/// Experts that a host may say it can take over.
constexpr std::uint32_t max_spare = 1u << 20;
/// Values of one sample, and samples of one call: each alone fills a body.
constexpr std::uint32_t max_sample_values = max_body_bytes / 4;
constexpr std::uint32_t max_call_samples = max_body_bytes / 4;

} // namespace potluck
