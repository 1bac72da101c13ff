/// A scenario: what a collaboration is like and what befalls it, as a file that
/// a person writes. README.md documents the format; tools/scenarios has many.
///
/// The same file drives the simulation (`potluck sim`) and real processes
/// (`potluck chaos`); `where` of a fault's kind says which of them knows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/handshake.hpp"
#include "runtime/clock.hpp"
#include "tools/lab/scenario/fault_kind.hpp"
#include "tools/lab/scenario/quantity.hpp"

namespace potluck {

/// One peer's access line and machine.
struct line_profile {
  quantity delay;       ///< Seconds one way to the middle of the network.
  quantity jitter;      ///< Seconds more, drawn for every frame.
  quantity upload;      ///< Bytes per second; 0: no limit.
  quantity download;    ///< Bytes per second; 0: no limit.
  double loss = 0;      ///< Of packets: each costs a retransmission.
  double duplicate = 0; ///< Of frames, by a broken box on the way.
  double reorder = 0;   ///< Of frames.
  double corrupt = 0;   ///< Of frames: one bit flips.
};

/// A number of alike peers.
struct peer_group {
  std::string name;      ///< For `who` of faults and for reports.
  std::size_t count = 0; ///< Scaled when `--peers` asks for another number.
  std::string role = "trainer"; ///< trainer, auxiliary or bootstrap.
  std::string router = "none";  ///< Of `router_names()`: before each home.
  std::size_t homes = 0;        ///< Of all of them together; 0: one each.
  quantity samples_per_second{quantity::law::constant, 50, 0};
  quantity joins_at;    ///< Seconds from the beginning.
  quantity clock_drift; ///< 0.01: its clock runs 1 % fast.
  line_profile line;
  bool writes_checkpoints = false;
  bool keeps_addresses = false; ///< Of whom it met, for its next start.
  /// They know the ids of the peers that they dial first, as from an
  /// invitation.
  bool invited = false;
  /// How long it stays, then how long it is away; never away without.
  std::optional<quantity> stays;
  quantity away;
  double leaves_orderly = 0; ///< Share of departures with a goodbye.
  double keeps_disk = 1;     ///< Share of returns with its files and identity.
};

/// Machines of somebody who is not of the run: each speaks to the peers that
/// can be dialled, in one manner, with keys of its own.
struct stranger_group {
  std::string manner;            ///< Of `stranger_manners()`.
  double rate = 10;              ///< Tries a second, of all together.
  std::size_t identities = 1;    ///< Keys, of all together.
  std::size_t addresses = 1;     ///< Machines, each with an address.
  duration from{0};              ///< When they come,
  std::optional<duration> until; ///< and when they go; never without.
  line_profile line;
};

/// A manner of strangers, with one line of what they do.
struct stranger_manner {
  std::string name;
  std::string meaning;
};
const std::vector<stranger_manner>& stranger_manners();

/// The manners in which a peer can misbehave: `detail` of that fault.
const std::vector<std::string>& misbehaviours();
/// The actors that can crash: `detail` of that fault, besides "" for any.
const std::vector<std::string>& crashable_actors();

/// Whom a fault befalls: chosen when it happens, among those who are there.
struct fault_target {
  std::vector<std::size_t> peers; ///< By number, from 0; empty: by chance.
  std::string group;              ///< Empty: any group but bootstraps.
  std::size_t count = 1;          ///< By chance; ignored when `share` is set.
  double share = 0;               ///< Of those who are there, rounded up.
};

struct fault_rule {
  fault_kind kind = fault_kind::kill;
  fault_target who;
  quantity at;                        ///< Seconds: when first.
  std::optional<quantity> every;      ///< Again after so long...
  std::optional<duration> until;      ///< ...but not later than this.
  std::optional<quantity> lasts;      ///< "for": seconds; forever without.
  std::optional<quantity> back_after; ///< (kill, power_cut, leave) Returns.
  double amount = 0;
  std::string detail;
};

/// What must be true besides the promises that every run keeps.
struct expectation {
  bool finishes = true; ///< All who are there finish, equal.
  double first_try = 0; ///< Share of steps committed in the first
                        ///< round tried.
  duration recovers_within = std::chrono::minutes{5}; ///< After the last fault.
  std::optional<double> final_loss;                   ///< At most.
  bool may_ban = false; ///< Hostile peers are there, and must be banned.
  /// Peers that cannot reach each other may go on apart, and heal later.
  bool may_split = false;
};

struct scenario {
  std::string name;
  std::string about;
  duration lasts = std::chrono::minutes{30}; ///< Virtual time at most.
  std::vector<setting> run;        ///< Charter settings ("target-batch", ...).
  std::size_t model_values = 1024; ///< Parameters of the simulated model.
  std::vector<peer_group> groups;
  std::vector<fault_rule> faults;
  std::vector<stranger_group> strangers;
  expectation expects;

  /// Some homes reach nothing but port 443, so first contacts listen on it.
  bool needs_port_443() const;
  bool has_routers() const;

  /// All groups together, without strangers and those who come by `join`
  /// faults.
  std::size_t peers() const;
  /// The same with `n` peers in all, groups scaled in proportion (each at least
  /// one that had one; bootstraps stay), and so are those who join later.
  /// Counts of targets stay as they are: name a share where they should not.
  /// Fails when `n` is too small or too large, or a fault names a peer by a
  /// number that is no more.
  expected<scenario> scaled_to(std::size_t n) const;
};

/// Whether it is a group of `with_strangers`.
bool is_stranger(const peer_group& x);
/// The scenario with a group of machines, behind all others, for each entry of
/// `strangers`.
scenario with_strangers(scenario what);

/// From JSON with comments. A failure is one sentence with the place:
/// "faults[2].fault: there is no fault `kil`; did you mean `kill`?"
expected<scenario> parse_scenario(const std::string& text);
expected<scenario> load_scenario(const std::string& path);

/// As a file that `parse_scenario` reads back as the same; defaults are left
/// out.
std::string to_text(const scenario& x);

/// For `--help` and README.md: every field with its meaning and default.
std::string scenario_help();

} // namespace potluck
