#include "tools/lab/scenario/scenario_fields.hpp"

#include "runtime/config.hpp"

namespace potluck {

namespace {

const double longest = to_seconds(limits::scenario_longest);
const double shortest = to_seconds(limits::scenario_shortest);
/// Beyond it a line carries next to nothing: name a partition instead.
constexpr double heaviest_loss = 0.95;
constexpr double fastest_line = 1e12;
constexpr double fastest_peer = 1e9;
constexpr double most_peers = limits::scenario_peers;
constexpr double slowest_factor = 1e6;
/// A clock that runs backwards, or stands, is not drift.
constexpr double slowest_clock = -0.9;
constexpr double fastest_clock = 10;

using m = measure;

} // namespace

template <>
const std::vector<scenario_field<scenario>>& scenario_fields() {
  using s = scenario;
  static const std::vector<scenario_field<s>> fields{
      {"name", &s::name, "for reports; without it, the file's name"},
      {"about", &s::about, "what it shows, for people"},
      {"lasts", &s::lasts, "virtual time at most", m::seconds, 1, longest},
      {"run", special_field::run,
       "settings of the run, as in {\"target-batch\": 256, \"steps\": 200}; "
       "the names are join's options"},
      {"model_values", &s::model_values, "parameters of the simulated model",
       m::plain, 1, 1 << 24},
      {"groups", &s::groups, "groups of alike peers; required"},
      {"faults", &s::faults, "what befalls them"},
      {"expects", &s::expects, "what must hold besides the invariants"},
  };
  return fields;
}

template <>
const std::vector<scenario_field<peer_group>>& scenario_fields() {
  using g = peer_group;
  static const std::vector<scenario_field<g>> fields{
      {"name", &g::name, "for `who` of faults and for reports; required"},
      {"count", &g::count,
       "how many from the beginning; --peers scales them, but not bootstraps",
       m::plain, 0, most_peers},
      {"role",
       &g::role,
       "trainer, auxiliary or bootstrap; or of experts: expert, caller "
       "(simulation)",
       m::plain,
       0,
       0,
       {"trainer", "auxiliary", "bootstrap", "expert", "caller"}},
      {"behind_nat", &g::behind_nat, "can dial, cannot be dialled"},
      {"samples_per_second", &g::samples_per_second,
       "what one computes; chance draws it once a peer", m::plain, 1e-3,
       fastest_peer},
      {"joins_at", &g::joins_at, "when it starts", m::seconds, 0, longest},
      {"clock_drift", &g::clock_drift, "0.01: its clock runs 1 % fast",
       m::share, slowest_clock, fastest_clock},
      {"line", &g::line, "its access line"},
      {"writes_checkpoints", &g::writes_checkpoints,
       "saves the training state on its disk"},
      {"stays", &g::stays,
       "how long it stays before it goes away; always "
       "without",
       m::seconds, shortest, longest},
      {"away", &g::away, "how long it is away then; required with `stays`",
       m::seconds, 0, longest},
      {"leaves_orderly", &g::leaves_orderly,
       "share of those departures with a goodbye; others are kills", m::share,
       0, 1},
      {"keeps_disk", &g::keeps_disk,
       "share of returns with the peer's files and identity", m::share, 0, 1},
  };
  return fields;
}

template <>
const std::vector<scenario_field<line_profile>>& scenario_fields() {
  using l = line_profile;
  static const std::vector<scenario_field<l>> fields{
      {"delay", &l::delay, "one way, to the middle of the network", m::seconds,
       0, 60},
      {"jitter", &l::jitter, "more of it, at most, for every frame", m::seconds,
       0, 60},
      {"upload", &l::upload, "0: no limit", m::rate, 0, fastest_line},
      {"download", &l::download, "0: no limit", m::rate, 0, fastest_line},
      {"loss", &l::loss, "share of packets; each costs a retransmission",
       m::share, 0, heaviest_loss},
      {"duplicate", &l::duplicate,
       "share of frames, by a broken box on the "
       "way",
       m::share, 0, 1},
      {"reorder", &l::reorder, "share of frames", m::share, 0, 1},
      {"corrupt", &l::corrupt, "share of frames: one bit flips", m::share, 0,
       1},
  };
  return fields;
}

template <>
const std::vector<scenario_field<fault_rule>>& scenario_fields() {
  using f = fault_rule;
  static const std::vector<scenario_field<f>> fields{
      {"fault", special_field::kind, "its kind, see below; required"},
      {"who", special_field::target, "whom it befalls; not with join"},
      {"at", &f::at, "when first", m::seconds, 0, longest},
      {"every", &f::every, "again after so long, each time anew", m::seconds,
       shortest, longest},
      {"until", &f::until, "but not later than this", m::seconds, 0, longest},
      {"for", &f::lasts, "how long one that lasts does; else for ever",
       m::seconds, shortest, longest},
      {"back_after", &f::back_after,
       "(kill, power_cut, leave) when it starts again; else never, or after "
       "its group's `away`",
       m::seconds, 0, longest},
      {"amount", special_field::amount,
       "how much: a time, rate, share or factor, as the kind has it"},
      {"actor", special_field::actor, "(crash_actor) which one; else any",
       m::plain, 0, 0, crashable_actors()},
      {"manner", special_field::manner, "(misbehave) in which way; required",
       m::plain, 0, 0, misbehaviours()},
      {"group", special_field::group, "(join) of which group; required"},
      {"count", special_field::joiners, "(join) how many", m::plain, 1,
       most_peers},
  };
  return fields;
}

template <>
const std::vector<scenario_field<fault_target>>& scenario_fields() {
  using t = fault_target;
  static const std::vector<scenario_field<t>> fields{
      {"peers", &t::peers, "these, by number from 0 in the groups' order",
       m::plain, 0, most_peers - 1},
      {"random", &t::count, "so many, by chance", m::plain, 1, most_peers},
      {"share", &t::share, "this share of those who are there, rounded up",
       m::share, 1e-6, 1},
      {"group", &t::group,
       "only of this group; alone, all of it. Without it: of any but the "
       "bootstraps"},
  };
  return fields;
}

template <>
const std::vector<scenario_field<expectation>>& scenario_fields() {
  using e = expectation;
  static const std::vector<scenario_field<e>> fields{
      {"finishes", &e::finishes, "all who are there finish, with one state"},
      {"first_try", &e::first_try,
       "share of steps that the first round tried commits, at least", m::share,
       0, 1},
      {"recovers_within", &e::recovers_within,
       "from the end of the last fault to the next step, at most", m::seconds,
       1, longest},
      {"final_loss", &e::final_loss, "the last step's, at most", m::plain, 0,
       1e9},
      {"may_ban", &e::may_ban, "hostile peers are there, and must be banned"},
      {"may_split", &e::may_split,
       "peers cut off from the others may go on apart, and heal later"},
  };
  return fields;
}

amount_rule amount_rule_of(fault_kind x) {
  switch (x) {
    case fault_kind::delay:
      return {m::seconds, 1e-6, 600};
    case fault_kind::throttle:
      return {m::rate, 1, fastest_line};
    case fault_kind::lose:
      return {m::share, 1e-9, heaviest_loss};
    case fault_kind::duplicate:
    case fault_kind::reorder:
    case fault_kind::corrupt:
      return {m::share, 1e-9, 1};
    case fault_kind::slow:
      return {m::plain, 1, slowest_factor};
    case fault_kind::drift:
      return {m::share, slowest_clock, fastest_clock};
    default:
      return {};
  }
}

std::optional<fault_kind> owner_of(special_field x) {
  switch (x) {
    case special_field::actor:
      return fault_kind::crash_actor;
    case special_field::manner:
      return fault_kind::misbehave;
    case special_field::group:
    case special_field::joiners:
      return fault_kind::join;
    default:
      return std::nullopt;
  }
}

} // namespace potluck
