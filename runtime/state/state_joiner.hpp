/// A joiner's side: gets the training state, and the means of the steps that
/// pass meanwhile, from several donors at once.
///
/// The state is of one version, on which the donors agree; the means behind it
/// are collected from the first moment on, and applied on top in their order,
/// so that the joiner ends where the run is by then. Every piece is verified on
/// arrival, every state against what the majority says (vouchers.hpp). Pure:
/// facts and the time come in, actions go out. Its parts decide one thing each:
/// `donor_panel` who is asked, `version_choice` for which version,
/// `blob_download` which pieces come from whom and whether they are right,
/// `mean_course` what the trainer does next. README.md tells the whole story.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "runtime/state/blob_download.hpp"
#include "runtime/state/donor_panel.hpp"
#include "runtime/state/fetch_account.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/mean_course.hpp"
#include "runtime/state/version_choice.hpp"

namespace potluck {

class state_joiner {
public:
  struct bounds {
    download_plan::bounds plan;
    std::size_t donors;
    std::uint64_t mean_bytes; ///< Kept until they can be applied.
    std::size_t means;
    /// Of the run: no version lies behind it.
    std::uint64_t last_step = max_step;
    safeguard_set guards = {};
  };

  /// @param self Decides the order in which donors are asked.
  state_joiner(const peer_id& self, bounds most)
      : most_(most), panel_(self, most.donors), version_(most.last_step),
        download_(most.plan, most.guards) {
  }

  /// Starts; goes on with a version put aside when somebody still serves it.
  /// @param hub Keeps pieces of states, maybe, and is preferred to the donors;
  ///     empty: they have better lines.
  state_actions begin(fetch_goal goal, time_point now, const peer_id& hub = {});
  bool busy() const {
    return busy_;
  }
  /// Ends without an outcome; what is there is put aside.
  state_actions cancel(time_point now);

  /// A trainer that trains reports this state.
  state_actions heard(const peer_id& peer, std::uint64_t step,
                      const digest& state, time_point now);
  state_actions lost(const peer_id& peer, time_point now);
  state_actions read(const peer_id& from, const state_manifest& x,
                     time_point now);
  state_actions read(const peer_id& from, const state_piece& x,
                     const shared_bytes& body, time_point now);
  /// The trainer holds this now.
  state_actions applied(std::uint64_t step, const digest& state,
                        time_point now);
  /// The trainer refused the job.
  state_actions refused(const std::string& why, time_point now);
  /// Looks at deadlines.
  state_actions look(time_point now);

  /// Of the state's pieces, 0 to 1.
  double part() const;
  std::uint64_t version() const {
    return version_.step();
  }
  std::size_t means_held() const {
    return download_.means_held();
  }
  std::size_t donors() const {
    return panel_.size();
  }
  bool distrusts(const peer_id& peer) const {
    return panel_.distrusts(peer);
  }

private:
  bool fetches_goal() const;
  bool reports_goal(const peer_id& peer) const;
  void ask_everybody(time_point now);
  void do_without_relay(bool as_donor = false);
  void vote(const peer_id& from, const state_manifest& x, time_point now);
  void ban(const std::set<peer_id>& peers, const std::string& what,
           time_point now);
  void decide(time_point now);
  void request_pieces(time_point now);
  void finish_state(time_point now);
  /// Donors that have to name a mean: half of those that serve.
  std::size_t votes() const {
    return std::max<std::size_t>((panel_.count().serving + 1) / 2, 1);
  }
  bool too_many_means() const {
    const auto count = download_.means_known();
    return count * goal_.values * sizeof(float) > most_.mean_bytes
           || count > most_.means;
  }
  /// One that lists too many means that others do not know of, if any does.
  std::optional<peer_id> inventor() const {
    return download_.lists().alone_with(too_many_means()
                                            ? download_.means_known() / 2
                                            : limits::means_of_one_donor,
                                        votes());
  }
  void advance(time_point now);
  void fail(const std::string& reason, time_point now, bool keep = false);
  void end();
  void put_aside(time_point now);
  void forget_version() {
    download_.clear();
    version_.forget();
  }
  void send(donor_panel::letters xs) {
    for (auto& x : xs)
      actions_.push_back(std::move(x));
  }
  state_actions done(time_point now);

  bounds most_;
  bool busy_ = false;
  fetch_goal goal_;
  donor_panel panel_;
  version_choice version_;
  blob_download download_;
  mean_course course_;
  fetch_account account_;
  state_actions actions_;
};

} // namespace potluck
