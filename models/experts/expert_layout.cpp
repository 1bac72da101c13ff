#include "models/experts/expert_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "messages/ids.hpp"
#include "messages/limits.hpp"
#include "runtime/experts/expert_kind_digest.hpp"
#include "runtime/random.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

constexpr char magic[] = "PLKEXPRT";
constexpr std::uint32_t format_version = 1;
/// Magic, version, four reserved bytes that are zero, the kind's digest, the
/// updates, the number of parameters.
constexpr std::size_t header_bytes = 8 + 4 + 4 + digest::size + 8 + 8;

/// Adds the two tensors of a linear map or of a norm.
struct section {
  model_layout& layout;

  /// With noise of the deviation that LibTorch's linear maps begin with.
  void linear(const std::string& name, std::int64_t out, std::int64_t in) {
    auto deviation = static_cast<float>(1 / std::sqrt(3.0 * double(in)));
    layout.add(name + ".weight", {out, in}, false, 0, deviation);
    layout.add(name + ".bias", {out}, false, 0, 0);
  }
  void layer_norm(const std::string& name, std::int64_t size) {
    layout.add(name + ".weight", {size}, false, 1, 0);
    layout.add(name + ".bias", {size}, false, 0, 0);
  }
};

std::vector<std::uint8_t> header_of(const expert_kind& kind,
                                    const training_state& state) {
  std::vector<std::uint8_t> x(header_bytes);
  std::memcpy(x.data(), magic, 8);
  put_little_endian(x.data() + 8, format_version);
  auto sum = digest_of_kind(kind);
  std::memcpy(x.data() + 16, sum.bytes.data(), digest::size);
  put_little_endian(x.data() + 32, state.step);
  put_little_endian(x.data() + 40,
                    static_cast<std::uint64_t>(state.parameters.size()));
  return x;
}

} // namespace

std::vector<std::string> known_expert_layers() {
  return {"ffn", "nop", "transformer"};
}

std::string problem_with(const expert_kind& kind) {
  auto known = known_expert_layers();
  if (std::find(known.begin(), known.end(), kind.layer) == known.end())
    return "'" + kind.layer
           + "' is not a kind of expert; choose ffn, nop or transformer.";
  if (kind.hidden == 0 || kind.tokens == 0)
    return "An expert needs a hidden size and tokens of at least 1.";
  if (std::uint64_t{kind.hidden} * kind.tokens > max_sample_values / 2)
    return "A sample of " + std::to_string(kind.tokens) + " tokens times "
           + std::to_string(kind.hidden)
           + " values does not fit a call; make one of them smaller.";
  if (kind.layer == "transformer"
      && (kind.heads == 0 || kind.hidden % kind.heads != 0))
    return "The " + std::to_string(kind.heads)
           + " heads of a transformer must divide its hidden size "
           + std::to_string(kind.hidden) + " evenly; choose another number.";
  // No product overflows: hidden is below 2^22, inner below 2^32.
  if (auto values = expert_layout(kind).values();
      values > limits::expert_values)
    return "An expert with hidden size " + std::to_string(kind.hidden)
           + " and inner size " + std::to_string(inner_of(kind)) + " has "
           + std::to_string(values)
           + " parameters, too many to be saved; make one of them smaller.";
  return "";
}

expert_shape shape_of(const expert_kind& kind) {
  return {kind.hidden * kind.tokens, kind.hidden * kind.tokens};
}

std::uint32_t inner_of(const expert_kind& kind) {
  return kind.inner == 0 ? 4 * kind.hidden : kind.inner;
}

model_layout expert_layout(const expert_kind& kind) {
  model_layout result;
  section layer{result};
  std::int64_t hidden = kind.hidden;
  std::int64_t inner = inner_of(kind);
  if (kind.layer == "nop")
    return result;
  if (kind.layer == "transformer") {
    layer.linear("attention.qkv", 3 * hidden, hidden);
    layer.linear("attention.dense", hidden, hidden);
    layer.layer_norm("attention.LayerNorm", hidden);
  }
  layer.linear("ffn", inner, hidden);
  layer.linear("ffn_output", hidden, inner);
  layer.layer_norm("full_layer_layer_norm", hidden);
  return result;
}

training_state fresh_expert(const expert_kind& kind, const std::string& uid,
                            std::uint64_t seed) {
  auto name = digest_of(uid.data(), uid.size());
  return initial_state(
      expert_layout(kind),
      mix(seed, get_little_endian<std::uint64_t>(name.bytes.data())));
}

std::vector<std::uint8_t> expert_bytes(const expert_kind& kind,
                                       const training_state& state) {
  auto bytes = header_of(kind, state);
  auto part = state.parameters.size() * sizeof(float);
  bytes.resize(header_bytes + 3 * part + digest::size);
  auto at = bytes.data() + header_bytes;
  for (auto* x :
       {&state.parameters, &state.first_moment, &state.second_moment}) {
    if (part != 0)
      std::memcpy(at, x->data(), part);
    at += part;
  }
  auto sum = digest_of(bytes.data(), bytes.size() - digest::size);
  std::memcpy(at, sum.bytes.data(), digest::size);
  return bytes;
}

expected<training_state> read_expert(const expert_kind& kind,
                                     const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < header_bytes + digest::size
      || std::memcmp(bytes.data(), magic, 8) != 0)
    return failure{"These bytes are no expert's state; use those that a host "
                   "of experts has saved."};
  if (get_little_endian<std::uint32_t>(bytes.data() + 8) != format_version)
    return failure{"The expert's state is of another format; use the same "
                   "version of Potluck everywhere."};
  training_state state;
  state.step = get_little_endian<std::uint64_t>(bytes.data() + 32);
  auto values = expert_layout(kind).values();
  auto written = get_little_endian<std::uint64_t>(bytes.data() + 40);
  auto sum = digest_of_kind(kind);
  if (written != values
      || std::memcmp(bytes.data() + 16, sum.bytes.data(), digest::size) != 0)
    return failure{"The state is that of another kind of expert; give all "
                   "hosts of a layer the same --layer, --hidden, --inner, "
                   "--heads and --tokens."};
  sum = digest_of(bytes.data(), bytes.size() - digest::size);
  auto part = values * sizeof(float);
  if (bytes.size() != header_bytes + 3 * part + digest::size
      || std::memcmp(bytes.data() + bytes.size() - digest::size,
                     sum.bytes.data(), digest::size)
             != 0
      || get_little_endian<std::uint32_t>(bytes.data() + 12) != 0)
    return failure{"The expert's state is damaged; bring back a copy of it, or "
                   "remove it to begin afresh."};
  auto at = bytes.data() + header_bytes;
  for (auto* x :
       {&state.parameters, &state.first_moment, &state.second_moment}) {
    x->resize(values);
    if (part != 0)
      std::memcpy(x->data(), at, part);
    at += part;
  }
  return state;
}

} // namespace potluck
