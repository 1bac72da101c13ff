/// A joiner's side: gets the training state, and the means of the steps that
/// pass meanwhile, from several donors at once.
///
/// The state is of one version, on which the donors agree; the means behind it
/// are collected from the first moment on, and applied on top in their order,
/// so that the joiner ends where the run is by then. Every piece is verified on
/// arrival, every state against what the majority says (vouchers.hpp). Pure:
/// the time comes in, letters and jobs go out. README.md tells the whole story.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/state/download_plan.hpp"
#include "runtime/state/state_donor.hpp"
#include "runtime/state/state_transfer.hpp"
#include "runtime/state/vouchers.hpp"

namespace potluck {

struct fetch_goal {
  std::uint64_t step = 0;      ///< Of the history that counts most,
  digest state;                ///< and its state.
  std::vector<peer_id> donors; ///< Who reports it.
  std::uint64_t own_step = 0;
  digest own_state;         ///< Empty: none.
  std::uint64_t values = 0; ///< Parameters of the model.
  /// The donor's state is like nobody else's (runtime/ways/moshpit): there is only
  /// one donor, nobody else's reports say what it holds, and what lies before
  /// its state is no history of ours.
  bool alone = false;
  /// Of one who holds what we hold, and fetches the same mean, or of a donor:
  /// its pieces are asked for there, and of the other donors only when it keeps
  /// us waiting. Its list is not believed without theirs. Empty: nobody.
  peer_id relay;
};

/// How a fetch ended well.
struct fetch_result {
  peer_id donor;           ///< Who gave the most.
  std::size_t donors = 0;  ///< Who gave anything.
  std::uint64_t step = 0;  ///< Now held.
  std::uint64_t means = 0; ///< Applied on top.
  bool whole_state = true; ///< False: the means were all that was fetched.
  std::uint64_t bytes = 0; ///< Of pieces that came.
  double seconds = 0;
  /// Own steps are not part of the history taken over,
  bool own_history_lost = false;
  /// or are so old that nobody remembers them.
  bool own_history_unknown = false;
};

struct fetch_failure {
  std::string reason;
  bool put_aside = false; ///< What has come is kept for the next fetch.
};

struct fetch_fault {
  peer_id peer;
  std::string what;
};

class state_joiner {
public:
  struct bounds {
    download_plan::bounds plan;
    std::size_t donors;
    std::uint64_t mean_bytes; ///< Kept until they can be applied.
    std::size_t means;
    /// Of the run: no version lies behind it.
    std::uint64_t last_step = max_step;
  };
  /// One of these at a time, for the trainer; `applied` answers it.
  struct mean_job {
    std::uint64_t step;
    std::uint64_t samples;
    std::shared_ptr<const std::vector<float>> values;
  };

  /// @param self Decides the order in which donors are asked: each joiner has
  /// another, so that they spread.
  state_joiner(const peer_id& self, bounds most);

  /// Starts; goes on with a version put aside when somebody still serves it.
  void begin(fetch_goal goal, time_point now);
  bool busy() const {
    return stage_ != stage::idle;
  }
  /// Ends without an outcome; what is there is put aside.
  void cancel(time_point now);

  /// A trainer that trains reports this state.
  void heard(const peer_id& peer, std::uint64_t step, const digest& state,
             time_point now);
  void lost(const peer_id& peer, time_point now);
  void read(const peer_id& from, const state_manifest& x, time_point now);
  void read(const peer_id& from, const state_piece& x, const shared_bytes& body,
            time_point now);
  /// The trainer holds this now.
  void applied(std::uint64_t step, const digest& state, time_point now);
  /// The trainer refused the job.
  void refused(const std::string& why, time_point now);
  /// Looks at deadlines.
  void look(time_point now);

  // What is to be done; each is handed out once.
  std::vector<state_letter> take_letters();
  std::vector<fetch_fault> take_faults();
  /// Means that come from here on, and their pieces that are here: others may
  /// have them.
  std::vector<coming_mean> take_listed();
  std::vector<coming_piece> take_placed();
  std::shared_ptr<training_state> take_state();
  std::optional<mean_job> take_mean();
  std::optional<fetch_result> take_result();
  std::optional<fetch_failure> take_failure();

  // How it goes.
  /// Of the state's pieces, 0 to 1.
  double part() const;
  std::uint64_t version() const {
    return version_;
  }
  std::size_t means_held() const;
  std::size_t donors() const {
    return donors_.size();
  }
  bool distrusts(const peer_id& peer) const {
    return distrusted_.count(peer) != 0;
  }

private:
  enum class stage {
    idle,
    loading,  ///< The state's pieces, and means.
    applying, ///< The trainer has the state; means follow.
  };
  enum class answer {
    none,     ///< Asked.
    serves,   ///< The version, or in a catch-up its means.
    declines, ///< Means at most.
    busy,
  };
  struct donor {
    answer said = answer::none;
    std::uint64_t token = 0;
    bool lists_only = false; ///< Was asked for no pieces.
    time_point asked;
    time_point reminded; ///< Of us: when the request was sent last.
    time_point retry;
    std::uint64_t step = 0;    ///< Where it was when it declined.
    std::uint64_t offered = 0; ///< What it had instead.
    std::uint64_t arrived = 0;
    /// Of the relay, whose word counts for nothing: what it lists.
    std::map<blob_key, digest> listed;
  };
  struct offer {
    state_manifest manifest;
    std::set<peer_id> donors;
  };
  struct blob {
    std::map<digest, offer> offers; ///< By listing.
    digest chosen;
    time_point chosen_at{};
    std::shared_ptr<std::vector<float>> values; ///< Of a mean.
    bool doubted = false; ///< All that named the chosen list are distrusted.
  };

  // state_joiner.cpp: the course of a fetch.
  void start_version(std::uint64_t step, const digest& state, time_point now);
  void ask(const peer_id& peer, time_point now);
  void ask_everybody(time_point now);
  /// Whether one more donor is wanted.
  bool asks_more() const;
  void decide(time_point now);
  void next_version(time_point now);
  void advance(time_point now);
  void fail(const std::string& reason, time_point now, bool keep = false);
  void end(time_point now);
  void put_aside(time_point now);
  void forget_version();
  void forget_unheld_means();
  void expire_distrust(time_point now);

  // state_joiner_pieces.cpp: what donors list and send.
  void vote(const peer_id& from, const state_manifest& x, time_point now);
  void choose(const blob_key& key, time_point now);
  void listed_by_relay(const state_manifest& x);
  /// Those that the pieces of each blob may be asked of by now: the relay alone
  /// while it lists the same, or may be about to.
  void add_holders(time_point now);
  /// Donors that were asked for lists are asked for all.
  void ask_for_pieces(time_point now);
  void do_without_relay();
  void take_relay_as_donor(time_point now);
  void load(const blob_key& key, const digest& listing, time_point now);
  void ban(const peer_id& peer, const std::string& what, time_point now);
  void ban_all(const std::set<peer_id>& peers, const std::string& what,
               time_point now);
  void finish_state(time_point now);
  void request_pieces(time_point now);
  bool place(const blob_key& key, std::uint32_t piece,
             const shared_bytes& body);
  std::optional<blob_key> key_of(const state_piece& x) const;
  const state_manifest* chosen(const blob_key& key) const;

  peer_id self_;
  bounds most_;
  stage stage_ = stage::idle;
  fetch_goal goal_;
  time_point began_{};
  std::uint64_t token_ = 0;
  std::vector<peer_id> candidates_; ///< In the order to ask them.
  std::map<peer_id, donor> donors_;
  std::map<peer_id, time_point> distrusted_; ///< Until when.
  vouchers vouchers_;

  // The version.
  std::uint64_t version_ = 0;
  digest version_state_; ///< Empty: nobody has said.
  bool means_only_ = false;
  bool resumed_ = false;
  std::set<std::uint64_t> versions_tried_;
  unsigned tries_ = 0;
  bool relay_alone_ = false;     ///< Nobody else was asked for pieces so far.
  bool relay_late_ = false;      ///< It is one of several from here on.
  bool relay_is_donor_ = false;  ///< It reports what is to be fetched.
  std::uint64_t known_step_ = 0; ///< The donors' when they were asked.
  time_point version_began_{};
  std::optional<time_point> reached_;   ///< When somebody was there.
  std::optional<time_point> donorless_; ///< Since when.
  std::optional<time_point> unserved_;  ///< Since when all were busy.
  std::optional<time_point> put_aside_at_;
  download_plan plan_;
  std::map<blob_key, blob> blobs_;
  std::map<digest, std::uint64_t> mean_steps_; ///< By the state after it.
  std::optional<state_transfer> transfer_;

  // What the trainer has.
  std::uint64_t at_ = 0;
  std::optional<std::pair<std::uint64_t, digest>> awaited_;

  // For the result.
  std::uint64_t bytes_ = 0;
  std::uint64_t means_applied_ = 0;
  std::map<peer_id, std::uint64_t> given_;
  bool history_lost_ = false;
  bool history_unknown_ = false;

  std::vector<state_letter> letters_;
  std::vector<fetch_fault> faults_;
  std::vector<coming_mean> listed_;
  std::vector<coming_piece> placed_;
  std::shared_ptr<training_state> state_job_;
  std::optional<mean_job> mean_job_;
  std::optional<fetch_result> result_;
  std::optional<fetch_failure> failure_;
};

} // namespace potluck
