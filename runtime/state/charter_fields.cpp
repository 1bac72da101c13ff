#include "runtime/state/charter_fields.hpp"

#include <limits>

#include "runtime/manifest/run_key.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"

namespace potluck {

namespace {

using text = declared_setting::text_limits;
using whole = declared_setting::whole_limits;
using real = declared_setting::real_limits;

constexpr double largest_real = std::numeric_limits<double>::max();
constexpr std::uint64_t most_steps = std::uint64_t{1} << 40;

std::vector<std::string> names_of(const kind_family& family) {
  std::vector<std::string> result;
  for (const auto& kind : family.kinds)
    result.push_back(kind.name);
  return result;
}

std::vector<charter_field> make_fields() {
  using s = run_settings;
  std::vector<charter_field> all{
      {{"run", "run", "Name of the run; peers of one name train together",
        text{max_run_key}},
       &s::run},
      {{"model", "model", "Name of the model", text{64}}, &s::model},
      {{"initial", "model",
        "Digest of the state that training begins with, where whoever founds "
        "the run brings it; seed: it follows from model and seed",
        text{64}},
       &s::initial,
       "seed"},
      {{"target-batch", "averaging",
        "Samples behind one step, of all peers together",
        whole{1, std::uint64_t{1} << 32}},
       &s::target_batch},
      {{"reserve", "averaging",
        "Samples collected beyond the target batch; a step survives the loss "
        "of as many",
        whole{0, std::uint64_t{1} << 32}},
       &s::reserve},
      {{"group-size", "averaging",
        "Trainers that average together at most; the others hand their "
        "gradients to one of them",
        whole{2, 128}},
       &s::group_size},
      {{"averaging", "averaging",
        "exact: all hold the same parameters after every step; moshpit: "
        "groups of group-size that are drawn anew for every step average "
        "gradients and parameters, where not everybody can reach everybody",
        text{64, {"exact", "moshpit"}}},
       &s::averaging_method,
       "exact"},
      {{"steps", "run", "The run ends after this many", whole{1, most_steps}},
       &s::steps},
      {{"optimizer", "optimizer", "What makes a step of a mean gradient",
        text{64, names_of(optimizer_family())}},
       &s::optimizer},
      {{"warmup-steps", "optimizer", "Steps until the learning rate peaks",
        whole{0, most_steps}},
       &s::warmup_steps},
      {{"learning-rate", "optimizer", "Peak, after warm-up",
        real{0, largest_real, false, true}},
       &s::learning_rate},
      {{"clip-norm", "optimizer",
        "Largest norm of the mean gradient; 0 for none",
        real{0, largest_real, true, true}},
       &s::clip_norm},
      {{"aggregator", "averaging",
        "How members' parts become one: mean, or centered-clip, trimmed-mean "
        "or median, which withstand hostile members",
        text{64, {"mean", "centered-clip", "trimmed-mean", "median"}}},
       &s::aggregator},
      {{"trim", "averaging",
        "Share that a trimmed mean leaves away at either end",
        real{0, 0.5, true, false}},
       &s::trim},
      {{"clip-radius", "averaging",
        "Longest step of centered clipping towards one member; 0 for the "
        "median distance",
        real{0, largest_real, true, true}},
       &s::clip_radius},
      {{"part-norm", "averaging",
        "Largest norm of a chunk's mean over one member's samples; 0 for none",
        real{0, largest_real, true, true}},
       &s::part_norm},
      {{"packing", "averaging",
        "How values are sent: float32; float16 and bfloat16 take half the "
        "bytes, int8 a quarter, and round; auto rounds where a line holds up "
        "the step",
        text{64, {"float32", "float16", "bfloat16", "int8", "auto"}}},
       &s::packing},
      {{"shares", "averaging",
        "Who averages how much: planned by the lines; or, to compare with, "
        "all-reduce (equal shares) or parameter-server (one averages all)",
        text{64, {"planned", "all-reduce", "parameter-server"}}},
       &s::shares},
      {{"updates", "averaging",
        "synchronous: all apply a step's mean before they compute on; "
        "delayed: they compute the next step meanwhile, with parameters that "
        "are one step old",
        text{64, {"synchronous", "delayed"}}},
       &s::updates,
       "synchronous"},
      {{"seed", "run", "Of initialization and data order",
        whole{0, std::numeric_limits<std::uint64_t>::max()}},
       &s::seed},
      // 4194304 floats are 16 MiB: the largest body of a frame.
      {{"chunk-values", "averaging",
        "Values of an averaged chunk at most: rounds halve it for small "
        "models, unless lines are fast; more where packing makes bodies "
        "shorter",
        whole{256, 4194304}},
       &s::chunk_values},
      {{"admission", "admission",
        "Whom the run admits: open, whoever has the invitation; token, "
        "whoever has one with a code of the run's authority; list, whom the "
        "authority has on its list",
        text{64, {"open", "token", "list"}}},
       &s::admission,
       "open"},
      {{"authority", "admission",
        "The peer that admits, ID@HOST:PORT; HOST:PORT stands for the peer of "
        "this identity directory",
        text{350}},
       &s::authority,
       "none"},
      {{"vouchers", "admission",
        "Whether members may vouch for each other while the authority is "
        "away: yes or no",
        text{64, {"yes", "no"}}},
       &s::vouchers,
       "yes"},
      {{"successor", "organiser",
        "Who may amend a created run as well: a public key in hex, as `potluck "
        "amend key` prints that of a file; or K/KEY,KEY,...: then K signatures "
        "count, of these keys and the organiser's",
        text{522}},
       &s::successor,
       "none"},
      {{"keep-every", "organiser",
        "Steps between two states that members of a created run keep, so that "
        "it can be rolled back",
        whole{1, most_steps}},
       &s::keep_every,
       "100"},
      {{"keep-states", "organiser", "How many of these, the newest, are kept",
        whole{1, 100}},
       &s::keep_states,
       "3"},
  };
  const run_settings usual;
  for (auto& x : all)
    x.usual = x.print(usual);
  return all;
}

std::string print(const std::string& x) {
  return x;
}

std::string print(double x) {
  return print_real(x);
}

template <class Integer>
std::string print(Integer x) {
  return std::to_string(x);
}

void put(std::string& x, const std::string& value) {
  x = value;
}

void put(double& x, const std::string& value) {
  x = real_in(value);
}

template <class Integer>
void put(Integer& x, const std::string& value) {
  x = static_cast<Integer>(whole_in(value));
}

} // namespace

std::string charter_field::print(const run_settings& settings) const {
  return std::visit([&](auto x) { return potluck::print(settings.*x); },
                    member);
}

std::string charter_field::problem(const run_settings& settings) const {
  const auto value = read(print(settings));
  return value ? "" : value.error();
}

expected<bool> charter_field::assign(run_settings& settings,
                                     const std::string& value) const {
  const auto fine = read(value);
  if (!fine)
    return failure{fine.error()};
  std::visit([&](auto x) { put(settings.*x, *fine); }, member);
  return true;
}

const std::vector<charter_field>& charter_fields() {
  static const std::vector<charter_field> fields = make_fields();
  return fields;
}

std::vector<setting> common_table(const run_settings& settings) {
  std::vector<setting> table;
  for (const auto& field : charter_fields())
    if (field.written(settings))
      table.push_back({field.name, field.print(settings)});
  return table;
}

void set_unwritten(run_settings& settings) {
  for (const auto& x : charter_fields())
    if (!x.unwritten.empty())
      x.assign(settings, x.unwritten);
}

const charter_field* find_field(const std::string& name) {
  for (const auto& x : charter_fields())
    if (x.name == name)
      return &x;
  return nullptr;
}

} // namespace potluck
