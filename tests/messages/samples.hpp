/// One filled-in, valid message of every type, for tests.
#pragma once

#include <vector>

#include "messages/limits.hpp"
#include "messages/message.hpp"

namespace potluck::samples {

template <class Id>
Id id(std::uint8_t first) {
  Id x;
  for (std::size_t i = 0; i < Id::size; ++i)
    x.bytes[i] = static_cast<std::uint8_t>(first + i);
  return x;
}

inline contact somebody(std::uint8_t n) {
  return {id<peer_id>(n), {"10.0.0." + std::to_string(n), 7000}};
}

inline dht_record record(std::uint8_t n) {
  return {id<record_key>(n),
          "",
          std::string("\xff\0value", 7),
          60000u + n,
          record_kind::host_notice,
          {id<public_key>(n), 1800000000456, 90000, id<signature>(n)}};
}

inline progress_report report() {
  progress_report x;
  x.id = id<peer_id>(1);
  x.where = {"::1", 7001};
  x.role = role::auxiliary;
  x.phase = phase::averaging;
  x.charter = id<digest>(2);
  x.step = 12;
  x.history_samples = 3456;
  x.state = id<digest>(3);
  x.samples = 78;
  x.samples_per_second = 9.5;
  x.upload_bytes_per_second = 1e6;
  x.download_bytes_per_second = 2e6;
  x.loss = 6.25;
  x.contributes = true;
  x.sponsor = id<peer_id>(9);
  x.contributors = 7;
  x.members = 8;
  x.slow_pairs = {{id<peer_id>(2), 1e5}, {id<peer_id>(3), 2e5}};
  x.reach = reach::cone;
  x.hubs = {somebody(4), somebody(5)};
  x.step_proof = {id<public_key>(6), id<signature>(7)};
  return x;
}

inline group_contract contract() {
  group_contract x;
  x.group = id<group_id>(4);
  x.step = 5;
  x.gradient_values = 1000;
  x.chunk_values = 300;
  x.patience_ms = 2000;
  x.members = {{somebody(1),
                role::trainer,
                10,
                20.5,
                1e6,
                2e6,
                {{id<peer_id>(2), 3e5}},
                {id<peer_id>(2)}},
               {somebody(2), role::auxiliary, 0, 0, 3e6, 4e6}};
  x.plan = id<digest>(6);
  x.least_samples = 8;
  return x;
}

inline signed_step made_step(std::uint64_t step) {
  return {id<digest>(1),
          step,
          3456,
          30,
          id<digest>(2),
          id<digest>(3),
          {{id<peer_id>(1), 10, {id<public_key>(6), id<signature>(7)}},
           {id<peer_id>(2), 20}}};
}

inline expert_announcement announcement() {
  return {somebody(5), 30, 40, 78, 3};
}

inline expert_host_notice notice() {
  return {somebody(6), id<digest>(8), 12};
}

/// In the variant's order, so that `all()[n].index() == n`.
inline std::vector<message> all() {
  auto group = id<group_id>(4);
  auto mean = id<digest>(7);
  return {
      hello{protocol_version,
            id<peer_id>(1),
            role::auxiliary,
            "demo",
            7000,
            "192.0.2.7",
            id<digest>(2),
            {{"layers", "4"}, {"model", "albert"}},
            40001,
            true,
            1800000000123,
            std::string("\xff\0bytes", 7)},
      refusal{"target-batch is 256 here and 512 there"},
      goodbye{"leaving"},
      heartbeat{11},
      heartbeat_reply{12},
      routing_ping{13},
      routing_pong{14},
      find_nodes{15, id<record_key>(8), {1, 2, 3}},
      nodes_found{16, {somebody(1), somebody(2)}},
      store_records{17, {record(1), record(2)}},
      records_stored{18, 2},
      find_records{19, id<record_key>(9), {4, 5}, {6}, 16},
      records_found{20, {record(3)}, {somebody(3)}, 7},
      report(),
      group_invite{group, 5, id<digest>(3)},
      group_answer{group,
                   true,
                   "with pleasure",
                   10,
                   20.5,
                   1e6,
                   2e6,
                   {id<peer_id>(7)},
                   {{id<peer_id>(8), 4e5}},
                   {id<peer_id>(8), id<peer_id>(9)}},
      group_start{contract()},
      group_cancel{group, "nobody came"},
      chunk_part{group, 2, 10, packing::float32},
      chunk_mean{group, 3, 30, packing::float32, 1, {0, 5, 255}, id<digest>(9)},
      mean_request{group, 1, 4},
      round_prepared{group, mean, 2, 30, 40},
      round_settle{group, 1},
      round_standing{
          group, 1, standing::prepared, mean, 30, 40, {{4, 30}, {0, 7}}, 2},
      round_verdict{group, 1, true, mean, id<peer_id>(2), 30, 40},
      charter_request{21, "demo"},
      charter_reply{22},
      state_request{23, 5, id<digest>(3), true, true},
      state_manifest{
          24,
          true,
          5,
          600,
          id<digest>(3),
          1000,
          300,
          {id<digest>(3), id<digest>(2)},
          true,
          64,
          {id<digest>(4), id<digest>(5), id<digest>(6), id<digest>(7)}},
      piece_request{id<digest>(3), 2, true, 77},
      state_piece{id<digest>(3), 2, true},
      state_done{},
      round_heal{group, 3, {0, 2, 255}, {{2, 5}, {255, 1}}},
      contribution_request{25, 5, id<digest>(3), packing::float32, somebody(8),
                           id<peer_id>(9), somebody(10)},
      contribution_part{25, 2, 10, 20.5, packing::float32},
      contribution_answer{25, true, "with thanks"},
      round_findings{group, {mean, {}, id<digest>(9)}},
      part_request{group, 4},
      mean_challenge{group, 5},
      expert_request{26, "ffn.3.12", expert_pass::backward, 4, 75, 30000,
                     packing::float16, 35},
      expert_answer{26, expert_outcome::done, "as asked", 5, 60, 77,
                    packing::int8},
      replica_offer{"ffn.3.12", 2, 78, 5000, id<digest>(5), id<digest>(6),
                    somebody(2), true},
      replica_reply{"ffn.3.12", 2, 78, replica_standing::wanted, 4096, 904},
      replica_chunk{"ffn.3.12", 2, 78, 4096},
      line_probe{},
      reach_request{7000, 31, true},
      reach_answer{true, 31},
      part_digests{group, 4, {mean, {}, id<digest>(9)}},
      reach_errand{32, somebody(7)},
      reach_proof{33},
      circuit_open{34, id<peer_id>(8), "192.0.2.8", true},
      circuit_data{35, true},
      circuit_credit{36, true, 65536},
      circuit_close{37, true, "over"},
      hole_connect{38,
                   true,
                   {{"192.0.2.7", 7000}, {"2001:db8::7", 7001}},
                   {{"10.0.0.7", 7000}}},
      hole_sync{39},
      line_switch{},
      part_projections{group, 3, 40, {{-4.5, 6}, {0.25, 0.5f}}},
      sum_dispute{group, 5, 41},
      sum_account{group, 5, 41, {{1, 2}, {}, {-3, 4}}, {1}},
      amendments_request{42, "demo", 6},
      amendments_reply{43, "demo", {{std::string("\xff\0a", 3)}, {"b"}}},
      admission_request{44, "demo", std::string("\xff\0claim", 7)},
      admission_reply{45, std::string("\xff\0bytes", 7), ""},
      admission_shown{std::string("\xff\0bytes", 7)},
      history_request{46, "demo"},
      history_reply{47, "demo", {made_step(5), made_step(8)}},
      artifact_request{id<sha256_digest>(11), 5, 77, true},
      artifact_piece{id<sha256_digest>(12), 6, 1000}};
}

/// Whether `x` says itself how large its body is.
inline bool counts_its_values(const message& x) {
  return std::holds_alternative<expert_request>(x)
         || std::holds_alternative<reach_request>(x)
         || std::holds_alternative<reach_errand>(x)
         || std::holds_alternative<expert_answer>(x);
}

/// A body size that a message of `x`'s type may come with.
inline std::size_t body_size(const message& x) {
  if (auto call = std::get_if<expert_request>(&x))
    return packed_bytes(call->packing, std::size_t{call->samples}
                                           * (call->values - call->gradients))
           + packed_bytes(call->packing,
                          std::size_t{call->samples} * call->gradients);
  if (auto answer = std::get_if<expert_answer>(&x))
    return packed_bytes(answer->packing,
                        std::size_t{answer->samples} * answer->values);
  if (std::holds_alternative<reach_request>(x)
      || std::holds_alternative<reach_errand>(x))
    return errand_bytes;
  bool values = std::holds_alternative<chunk_part>(x)
                || std::holds_alternative<chunk_mean>(x)
                || std::holds_alternative<contribution_part>(x)
                || std::holds_alternative<circuit_data>(x)
                || std::holds_alternative<replica_chunk>(x);
  return values ? 1200 : 0;
}

} // namespace potluck::samples
