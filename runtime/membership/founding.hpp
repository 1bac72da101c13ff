/// Whether this peer founds its run, waits for somebody who does, or takes the
/// charter from those who have it.
///
/// A run founds itself once. Peers that start at the same moment agree by
/// Lamport's bakery over the DHT: everybody publishes that it is there, and
/// only then looks who else is. After a settling time the smallest peer id
/// among those without a charter publishes that it is `founding`, looks again,
/// and goes on unless it sees a charter or a smaller id that is founding too.
///
/// A run that an organiser created (its key has an id: runtime/manifest) is
/// founded by nobody: its charter is the manifest with that id, whoever gives
/// it.
///
/// Whoever is heard of with a charter, or founding, counts as long as a record
/// of it lives, whether there is a line to it or not: but keys cost nothing,
/// so one that nobody meets counts for `rumour_life`. Who has
/// none gets the charter through a bootstrap that both reach, and says
/// meanwhile what it waits for. Pure: facts in, actions out, the time comes in.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/membership/founding_wait.hpp"
#include "runtime/membership/run_witnesses.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

// ---- what is to be done -----------------------------------------------------

/// Ask this peer for the charter.
struct ask_for_charter {
  peer_id whom;
};
/// Tell others, and the DHT, that this peer does this.
struct show_phase {
  potluck::phase what = potluck::phase::joining;
};
/// Learn a tokenizer and fix the settings; `proposed` hears of it.
struct begin_proposal {};
/// It is agreed: the rest of the peer can start.
struct take_charter {
  charter what;
  bool founded = false; ///< By this peer.
};
/// This peer cannot take part, by its user's mistake.
struct give_up_run {
  std::string sentence;
};
/// For people: what is waited for, or who lied.
struct say_of_founding {
  std::string what;
  std::string sentence;
};

using founding_action
    = std::variant<ask_for_charter, show_phase, begin_proposal, take_charter,
                   give_up_run, say_of_founding>;

class founding {
public:
  using actions = std::vector<founding_action>;

  /// Between publishing that we are there and founding: another look-up that
  /// starts after our record is stored must have ended as well.
  static constexpr duration settle = std::chrono::milliseconds{700};
  /// A bootstrap's charter is taken no sooner: who gets it from a peer has a
  /// line to the run, and does not begin apart from it.
  static constexpr duration offer_rest = std::chrono::seconds{10};
  /// A peer that names nobody, but met others before, looks for these so long
  /// before it founds.
  static constexpr duration reunion = std::chrono::seconds{5};

  struct settings {
    peer_id self;
    std::string run; ///< Its key.
    bool can_found = false;
    /// The run's manifest, as bytes, where it is here from the start.
    std::string manifest;
    /// The user named others; who names none, and knows none, founds at once.
    bool names_others = false;
    bool met_others = false; ///< Addresses were kept from an earlier start.
    /// What the user insists on; a charter that differs ends the peer.
    std::vector<setting> demanded;
  };

  /// @param known The charter, when it is known from the start.
  founding(settings how, std::optional<charter> known, time_point now);

  /// The others can hear this peer now, perhaps anew.
  actions begin(time_point now);

  // The others. Those of other roles than trainer, auxiliary and bootstrap are
  // not told.
  /// There is a line to this peer. @param has Its charter; may be empty.
  void joined(const contact& who, role what, const digest& has, bool is_hub,
              time_point now);
  /// There is none any more, or none came about. @param orderly It said
  /// goodbye.
  void left(const peer_id& who, bool orderly) {
    others_.left(who, orderly);
  }
  void heard(const progress_report& x, time_point now);
  /// A look-up of all of the run's records has ended, and `heard` them.
  void looked_up();
  /// Whether others can dial this peer.
  void reachable(bool yes) {
    wait_.reachable(yes);
  }

  /// An answer to `ask_for_charter`. @param bytes Empty: it has none.
  actions answered(const peer_id& from, const std::string& bytes,
                   time_point now);
  actions proposed(charter x, time_point now);
  actions proposal_failed(const std::string& sentence);
  /// Time has passed.
  actions look(time_point now);

  /// The charter's bytes for whoever asks for this run's (an empty name: the
  /// asked peer's own); empty when there is none here.
  std::string answer(const std::string& run) const;
  /// Whether there is one.
  bool answers(const std::string& run) const {
    return agreed_ && (run.empty() || run == how_.run);
  }
  /// The manifest of a created run, as bytes; empty while there is none.
  const std::string& manifest() const {
    return how_.manifest;
  }
  const std::optional<charter>& agreed() const {
    return agreed_;
  }
  /// Nothing is to be done or looked at any more.
  bool over() const {
    return agreed_ || gave_up_;
  }
  /// What is waited for, in a few words; empty: nothing, or not for long.
  const std::string& waiting() const {
    return wait_.brief();
  }
  std::size_t lines() const {
    return others_.lines();
  }

private:
  using witness = run_witnesses::witness;

  /// For a person.
  std::string run() const {
    return shown_run(how_.run);
  }

  /// Somebody may have had the run's last step.
  void note_end(const witness& x);
  void ask(actions& out, time_point now);
  void agree(actions& out, charter c, bool founded);
  void give_up(actions& out, std::string sentence);
  void give_up_finished(actions& out);
  void show(actions& out, potluck::phase what, time_point now);
  void found_when_sure(actions& out, time_point now);
  /// A bootstrap's charter is taken once records show that it is the run's, or
  /// that nobody says otherwise.
  void take_offer(actions& out, time_point now);
  /// A manifest is: only peers that have begun are waited for, a while.
  void take_manifest(actions& out, time_point now);
  /// All that would found, or have, would be known by now.
  bool settled(time_point now) const;

  settings how_;
  bool created_; ///< The run, by an organiser.
  std::optional<charter> agreed_;
  run_witnesses others_;
  founding_wait wait_;
  time_point began_;
  bool announced_ = false;
  bool connected_once_ = false;
  bool founding_ = false;
  bool finished_ = false; ///< Somebody had the run's last step.
  bool gave_up_ = false;
  std::optional<charter> proposal_;
  std::optional<charter> offer_; ///< A bootstrap's, or the manifest's.
  time_point offered_at_{};
  bool said_of_offer_ = false;
  /// Look-ups that ended since our last publication: the first may have begun
  /// before our record was stored.
  unsigned lookups_ = 0;
  time_point published_at_{};
};

} // namespace potluck
