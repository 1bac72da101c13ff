#include "messages/check.hpp"

#include <algorithm>
#include <type_traits>

#include "messages/limits.hpp"
#include "messages/rules/experts.hpp"
#include "messages/rules/history.hpp"
#include "messages/rules/lines.hpp"
#include "messages/rules/organiser.hpp"
#include "messages/rules/peers.hpp"
#include "messages/rules/state.hpp"
#include "messages/rules/step.hpp"

namespace potluck {

namespace {

template <class T, class... Ts>
constexpr bool is_any = (std::is_same_v<T, Ts> || ...);

/// Bytes of the values that come with a call or its answer. No overflow: each
/// factor is below 2^32 and the rules allow 2^22 of either.
template <class T>
std::uint64_t tensor_bytes(const T& x) {
  if (std::uint64_t{x.samples} * x.values > max_sample_values)
    return UINT64_MAX;
  std::uint32_t apart = 0; // Has scales of its own.
  if constexpr (std::is_same_v<T, expert_request>)
    apart = std::min(x.gradients, x.values);
  return packed_bytes(x.packing, std::size_t{x.samples} * (x.values - apart))
         + packed_bytes(x.packing, std::size_t{x.samples} * apart);
}

template <class T>
void check_body(checks::rules& must, [[maybe_unused]] const T& x,
                std::size_t size) {
  if constexpr (is_any<T, chunk_part, chunk_mean, contribution_part>) {
    must.hold(size > 0, "the body holds no values");
    must.hold(x.packing != packing::float32 || size % 4 == 0,
              "the body does not hold whole float32 values");
  } else if constexpr (is_any<T, expert_request, expert_answer>)
    must.hold(size == tensor_bytes(x),
              "the body does not hold as many values as it says");
  else if constexpr (is_any<T, replica_chunk>)
    must.hold(size > 0 && size <= replica_chunk_bytes,
              "a part of a replica has no bytes or too many");
  else if constexpr (is_any<T, line_probe>)
    must.hold(size <= max_probe_bytes, "a line probe is too large");
  else if constexpr (is_any<T, circuit_data>)
    must.hold(size > 0 && size <= max_circuit_bytes,
              "a circuit's bytes are none or too many");
  else if constexpr (is_any<T, reach_request>)
    must.hold(size == (x.elsewhere ? errand_bytes : 0),
              "an errand is not paid for, or what is none is");
  else if constexpr (is_any<T, reach_errand>)
    must.hold(size == errand_bytes, "an errand is not paid for");
  else if constexpr (is_any<T, artifact_piece>)
    must.hold(x.retry_ms == 0 || size == 0, "what is there is put off");
  else if constexpr (!is_any<T, charter_reply, state_piece>)
    must.hold(size == 0, "a body came with a message that has none");
  must.hold(size <= max_body_bytes, "the body is too large");
}

/// Tokens are the asker's business, and every point of the space is a target.
template <class T>
constexpr bool anything_goes
    = is_any<T, heartbeat, heartbeat_reply, routing_ping, routing_pong,
             charter_reply, state_done, line_probe, reach_answer, reach_proof,
             circuit_data, hole_sync, line_switch>;

template <class T>
std::string problem_of(const T& x) {
  checks::rules must;
  check(must, x);
  return must.broken();
}

} // namespace

std::string problem_with(const message& x, std::size_t body_size) {
  checks::rules must;
  std::visit(
      [&](const auto& m) {
        check_body(must, m, body_size);
        if constexpr (!anything_goes<std::decay_t<decltype(m)>>)
          check(must, m);
      },
      x);
  return must.broken();
}

std::string problem_with(const progress_report& x) {
  return problem_of(x);
}

std::string problem_with(const expert_announcement& x) {
  return problem_of(x);
}

std::string problem_with(const expert_host_notice& x) {
  return problem_of(x);
}

} // namespace potluck
