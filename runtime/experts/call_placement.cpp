#include "runtime/experts/call_placement.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/experts/tenure.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

constexpr std::chrono::milliseconds longest_patience{max_patience_ms};

std::size_t width_of(const expert_call& x) {
  return x.values->size() / x.samples;
}

} // namespace

std::string problem_with(const expert_call& x) {
  if (auto uid = parse_expert_uid(x.uid); !uid)
    return uid.error();
  if (!x.values || x.samples == 0 || x.values->empty()
      || x.values->size() % x.samples != 0)
    return "A call needs values, as many for each of its samples.";
  if (x.values->size() > max_sample_values)
    return "The values of a call must fit one frame of 16 MiB; split it.";
  if (x.patience.count() <= 0 || x.patience > longest_patience)
    return "The patience of a call must be between 1 ms and an hour.";
  if (x.packing > packing::int8)
    return "The packing of a call must be float32, float16, bfloat16 or int8.";
  if (!all_finite(x.values->data(), x.values->size()))
    return "The values of the call to " + x.uid + " are not finite.";
  return "";
}

host_choice choose_host(const expert_call& x,
                        const std::vector<expert_announcement>& hosts,
                        const failing_hosts& failing, time_point now) {
  host_choice result;
  bool other_shape = false;
  for (auto& host : hosts) {
    auto gradients = x.pass == expert_pass::forward ? 0 : host.outputs;
    if (width_of(x) != std::uint64_t{host.inputs} + gradients) {
      other_shape = true;
      continue;
    }
    if (failing.usable(host.host.id, now)
        && (result.host == nullptr
            || tenure_of(*result.host) < tenure_of(host)))
      result.host = &host;
  }
  if (result.host == nullptr)
    result.problem
        = hosts.empty() ? "Nobody hosts expert " + x.uid + " now."
          : other_shape
              ? "Expert " + x.uid + " takes other samples than "
                    + std::to_string(width_of(x)) + " values each."
              : "The host of expert " + x.uid + " failed a moment ago.";
  return result;
}

expert_request request_of(const expert_call& x, std::uint64_t number,
                          const expert_announcement& host, duration left) {
  auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(left);
  expert_request r;
  r.number = number;
  r.uid = x.uid;
  r.pass = x.pass;
  r.samples = x.samples;
  r.values = static_cast<std::uint32_t>(width_of(x));
  r.packing = x.packing;
  r.gradients = x.pass == expert_pass::forward ? 0 : host.outputs;
  r.patience_ms
      = static_cast<std::uint32_t>(std::max<std::int64_t>(1, patience.count()));
  return r;
}

} // namespace potluck
