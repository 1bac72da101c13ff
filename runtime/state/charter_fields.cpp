#include "runtime/state/charter_fields.hpp"

#include <charconv>
#include <limits>

#include "runtime/manifest/run_key.hpp"

namespace potluck {

namespace {

template <class... Handlers>
struct overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

using text_limits = charter_field::text_limits;
using u32_limits = charter_field::integer_limits<std::uint32_t>;
using u64_limits = charter_field::integer_limits<std::uint64_t>;
using real_limits = charter_field::real_limits;

constexpr double largest_real = std::numeric_limits<double>::max();
constexpr std::uint64_t most_steps = std::uint64_t{1} << 40;

std::string print_real(double x) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), x).ptr;
  return std::string(buffer, end);
}

/// The whole of `text` as a number, or false.
template <class Number>
bool read(const std::string& text, Number& out) {
  auto end = text.data() + text.size();
  auto result = std::from_chars(text.data(), end, out);
  return result.ec == std::errc{} && result.ptr == end;
}

std::vector<charter_field> make_fields() {
  using s = run_settings;
  return {
      {"run", "run", "Name of the run; peers of one name train together",
       text_limits{&s::run, max_run_key}},
      {"model", "model", "Name of the model", text_limits{&s::model, 64}},
      {"vocabulary", "model", "Tokens, specials included",
       u32_limits{&s::vocabulary, 16, 200000}},
      {"sequence-length", "model", "Tokens a sample",
       u32_limits{&s::sequence_length, 8, 4096}},
      {"embedding-size", "model", "Width of the token embeddings",
       u32_limits{&s::embedding_size, 1, 16384}},
      {"hidden-size", "model", "Width of the layers",
       u32_limits{&s::hidden_size, 1, 16384}},
      {"intermediate-size", "model", "Width of the feed-forward part",
       u32_limits{&s::intermediate_size, 1, 16384}},
      {"layers", "model", "Applications of the shared layer",
       u32_limits{&s::layers, 1, 128}},
      {"heads", "model", "Attention heads; must divide hidden-size",
       u32_limits{&s::heads, 1, 16384}},
      {"mask-probability", "data", "Share of the tokens to predict",
       real_limits{&s::mask_probability, 0, 1, false, false}},
      {"experts", "experts",
       "Name of the experts that layers of a mixture call",
       text_limits{&s::experts, 64}},
      {"expert-grid", "experts",
       "How many experts such a layer has in each dimension",
       text_limits{&s::expert_grid, 64}},
      {"experts-per-sample", "experts",
       "Experts that such a layer calls for a sample",
       u32_limits{&s::experts_per_sample, 1, 256}},
      {"call-packing", "experts",
       "How values travel to experts and back: float32, float16, bfloat16 or "
       "int8",
       text_limits{
           &s::call_packing, 64, {"float32", "float16", "bfloat16", "int8"}}},
      {"target-batch", "averaging",
       "Samples behind one step, of all peers together",
       u64_limits{&s::target_batch, 1, std::uint64_t{1} << 32}},
      {"reserve", "averaging",
       "Samples collected beyond the target batch; a step survives the loss of "
       "as many",
       u64_limits{&s::reserve, 0, std::uint64_t{1} << 32}},
      {"group-size", "averaging",
       "Trainers that average together at most; the others hand their "
       "gradients to one of them",
       u32_limits{&s::group_size, 2, 128}},
      {"averaging", "averaging",
       "exact: all hold the same parameters after every step; moshpit: groups "
       "of group-size that are drawn anew for every step average gradients and "
       "parameters, where not everybody can reach everybody",
       text_limits{&s::averaging_method, 64, {"exact", "moshpit"}}, "exact"},
      {"steps", "run", "The run ends after this many",
       u64_limits{&s::steps, 1, most_steps}},
      {"warmup-steps", "optimizer", "Steps until the learning rate peaks",
       u64_limits{&s::warmup_steps, 0, most_steps}},
      {"learning-rate", "optimizer", "Peak, after warm-up",
       real_limits{&s::learning_rate, 0, largest_real, false, true}},
      {"beta1", "optimizer", "LAMB's memory of the gradient",
       real_limits{&s::beta1, 0, 1, true, false}},
      {"beta2", "optimizer", "LAMB's memory of the squared gradient",
       real_limits{&s::beta2, 0, 1, true, false}},
      {"epsilon", "optimizer", "LAMB's guard against division by zero",
       real_limits{&s::epsilon, 1e-30, 1, true, true}},
      {"weight-decay", "optimizer", "LAMB's weight decay",
       real_limits{&s::weight_decay, 0, 1, true, true}},
      {"clip-norm", "optimizer",
       "Largest norm of the mean gradient; 0 for none",
       real_limits{&s::clip_norm, 0, largest_real, true, true}},
      {"aggregator", "averaging",
       "How members' parts become one: mean, or centered-clip, trimmed-mean or "
       "median, which withstand hostile members",
       text_limits{&s::aggregator,
                   64,
                   {"mean", "centered-clip", "trimmed-mean", "median"}}},
      {"trim", "averaging",
       "Share that a trimmed mean leaves away at either end",
       real_limits{&s::trim, 0, 0.5, true, false}},
      {"clip-radius", "averaging",
       "Longest step of centered clipping towards one member; 0 for the median "
       "distance",
       real_limits{&s::clip_radius, 0, largest_real, true, true}},
      {"part-norm", "averaging",
       "Largest norm of a chunk's mean over one member's samples; 0 for none",
       real_limits{&s::part_norm, 0, largest_real, true, true}},
      {"packing", "averaging",
       "How values are sent: float32; float16 and bfloat16 take half the "
       "bytes, int8 a quarter, and round; auto rounds where a line holds up "
       "the step",
       text_limits{&s::packing,
                   64,
                   {"float32", "float16", "bfloat16", "int8", "auto"}}},
      {"shares", "averaging",
       "Who averages how much: planned by the lines; or, to compare with, "
       "all-reduce (equal shares) or parameter-server (one averages all)",
       text_limits{
           &s::shares, 64, {"planned", "all-reduce", "parameter-server"}}},
      {"updates", "averaging",
       "synchronous: all apply a step's mean before they compute on; delayed: "
       "they compute the next step meanwhile, with parameters that are one "
       "step old",
       text_limits{&s::updates, 64, {"synchronous", "delayed"}}, "synchronous"},
      {"seed", "run", "Of initialization and data order",
       u64_limits{&s::seed, 0, std::numeric_limits<std::uint64_t>::max()}},
      // 4194304 floats are 16 MiB: the largest body of a frame.
      {"chunk-values", "averaging",
       "Values of an averaged chunk at most: rounds halve it for small models, "
       "unless lines are fast; more where packing makes bodies shorter",
       u32_limits{&s::chunk_values, 256, 4194304}},
      {"admission", "admission",
       "Whom the run admits: open, whoever has the invitation; token, whoever "
       "has one with a code of the run's authority; list, whom the authority "
       "has on its list",
       text_limits{&s::admission, 64, {"open", "token", "list"}}, "open"},
      {"authority", "admission",
       "The peer that admits, ID@HOST:PORT; HOST:PORT stands for the peer of "
       "this identity directory",
       text_limits{&s::authority, 350}, "none"},
      {"vouchers", "admission",
       "Whether members may vouch for each other while the authority is away: "
       "yes or no",
       text_limits{&s::vouchers, 64, {"yes", "no"}}, "yes"},
      {"successor", "organiser",
       "Who may amend a created run as well: a public key in hex, as `potluck "
       "amend key` prints that of a file; or K/KEY,KEY,...: then K signatures "
       "count, of these keys and the organiser's",
       text_limits{&s::successor, 522}, "none"},
      {"keep-every", "organiser",
       "Steps between two states that members of a created run keep, so that "
       "it can be rolled back",
       u64_limits{&s::keep_every, 1, most_steps}, "100"},
      {"keep-states", "organiser", "How many of these, the newest, are kept",
       u32_limits{&s::keep_states, 1, 100}, "3"},
  };
}

template <class Integer>
std::string range_of(const charter_field::integer_limits<Integer>& x) {
  return std::to_string(x.low) + " to " + std::to_string(x.high);
}

std::string range_of(const real_limits& x) {
  std::string result
      = (x.low_allowed ? "at least " : "more than ") + print_real(x.low);
  if (x.high == largest_real)
    return result + " and finite";
  return result + (x.high_allowed ? " and at most " : " and less than ")
         + print_real(x.high);
}

std::string problem_of_choice(const std::string& name, const std::string& value,
                              const std::vector<std::string>& choices) {
  std::string all;
  for (auto& x : choices) {
    if (value == x)
      return {};
    all += (all.empty() ? "" : ", ") + x;
  }
  return name + " must be one of " + all;
}

bool is_printable(const std::string& text) {
  for (unsigned char c : text)
    if (c < 0x20 || c > 0x7e)
      return false;
  return true;
}

} // namespace

std::string charter_field::print(const run_settings& settings) const {
  return std::visit(
      overloaded{
          [&](const text_limits& x) { return settings.*x.member; },
          [&](const real_limits& x) { return print_real(settings.*x.member); },
          [&](const auto& x) { return std::to_string(settings.*x.member); }},
      limits);
}

std::string charter_field::problem(const run_settings& settings) const {
  auto integer = [&](const auto& x) {
    std::uint64_t value = settings.*x.member;
    if (value >= x.low && value <= x.high)
      return std::string{};
    return name + " is " + std::to_string(value) + ", but must be "
           + range_of(x);
  };
  return std::visit(
      overloaded{[&](const text_limits& x) {
                   const auto& value = settings.*x.member;
                   if (!x.choices.empty())
                     return problem_of_choice(name, value, x.choices);
                   if (!value.empty() && value.size() <= x.longest
                       && is_printable(value))
                     return std::string{};
                   return name + " must be 1 to " + std::to_string(x.longest)
                          + " printable ASCII characters";
                 },
                 [&](const real_limits& x) {
                   double value = settings.*x.member;
                   bool above = x.low_allowed ? value >= x.low : value > x.low;
                   bool below
                       = x.high_allowed ? value <= x.high : value < x.high;
                   if (above && below)
                     return std::string{};
                   return name + " is " + print_real(value) + ", but must be "
                          + range_of(x);
                 },
                 [&](const u32_limits& x) { return integer(x); },
                 [&](const u64_limits& x) { return integer(x); }},
      limits);
}

expected<bool> charter_field::assign(run_settings& settings,
                                     const std::string& value) const {
  run_settings changed = settings;
  auto integer = [&](const auto& x) {
    if (read(value, changed.*x.member))
      return std::string{};
    return name + " must be a whole number, " + range_of(x);
  };
  std::string problem = std::visit(
      overloaded{[&](const text_limits& x) {
                   changed.*x.member = value;
                   return std::string{};
                 },
                 [&](const real_limits& x) {
                   if (read(value, changed.*x.member))
                     return std::string{};
                   return name + " must be a number, " + range_of(x);
                 },
                 [&](const u32_limits& x) { return integer(x); },
                 [&](const u64_limits& x) { return integer(x); }},
      limits);
  if (problem.empty())
    problem = this->problem(changed);
  if (!problem.empty())
    return failure{problem};
  settings = std::move(changed);
  return true;
}

const std::vector<charter_field>& charter_fields() {
  static const std::vector<charter_field> fields = make_fields();
  return fields;
}

} // namespace potluck
