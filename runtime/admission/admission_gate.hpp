/// Who is let into this peer's run: what guests have shown, held against the
/// run's rules.
///
/// One for a whole peer. Sessions, the gateway and the transport's thread ask
/// it for every letter of the run, so that a guest is out at the moment when
/// its admission ends. Thread-safe; knows no actor.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/admission/admission.hpp"

namespace potluck {

/// A run that a peer passes circuits on for without taking part in it.
struct passed_run {
  admission_rules rules;
  std::vector<public_key> organisers = {};
};

class admission_gate {
public:
  /// Milliseconds since 1970, by this machine.
  using clock = std::function<std::uint64_t()>;

  /// @param run The run's key; of a trial, or none, all are let in.
  /// @param how Null: of a run that admits nobody without an admission, nobody
  ///     is let in.
  admission_gate(const peer_id& self, const std::string& run,
                 shared_signatures how, clock wall_clock);

  // ---- this peer

  /// The run's rules are known from here on. Until then all are let in: there
  /// is nothing here to protect.
  void lay_down(const admission_rules& rules);
  /// Whose word counts beside the authority's.
  void organisers_are(std::vector<public_key> keys);
  /// The organiser has amended what was laid down. A run without an authority
  /// stays open.
  void amend(admission_rules::mode how);
  admission_rules rules() const;
  /// Whether the rules are known and ask for an admission.
  bool closed() const {
    return closed_;
  }
  const run_id& run() const {
    return run_;
  }

  /// Shows this admission to others from here on, if it is good. Before the
  /// rules are known it is kept and looked at then.
  /// @returns Why it is not, as the rest of a sentence that begins with "it".
  std::string take(const std::string& bytes);
  /// To show; empty: none that counts.
  std::string own() const;
  /// How long that still counts by its own word; zero: there is none.
  std::chrono::milliseconds own_left() const;
  /// Of the whole life of that.
  std::chrono::milliseconds own_life() const;
  /// Whether this peer may take part.
  bool is_inside() const;

  /// Other machines' clocks, those that this peer has chosen, are ahead by so
  /// much.
  void clock_is_behind(std::int64_t ms) {
    behind_ms_ = ms;
  }
  std::uint64_t now_ms() const;

  // ---- other runs

  /// This peer, a bootstrap, is a hub for these runs; none: for any. Of runs
  /// that are not among them it passes nothing on where all of these are
  /// closed. Before anything is shown.
  void passes_for(const std::map<std::string, passed_run>& runs);
  /// Whether circuits of a guest that says it is of this run are passed on.
  bool passes(const peer_id& who, const std::string& run) const;

  // ---- guests

  enum class standing {
    open,    ///< Everybody is let in.
    inside,  ///< It has shown an admission that counts.
    outside, ///< It has not: only the DHT and questions of admission.
  };
  standing of(const peer_id& who) const;
  bool admits(const peer_id& who) const {
    return of(who) != standing::outside;
  }

  /// A guest shows this. A good one stays when a worse one follows.
  /// @returns Why it does not count, likewise; empty: it does, or the rules are
  ///     not known yet.
  std::string show(const peer_id& who, const std::string& bytes);
  /// Why the guest is outside, for a person.
  std::string sentence_for(const peer_id& who) const;
  /// The guest has no connection any more.
  void left(const peer_id& who);
  /// How many admissions were shown that do not count.
  std::uint64_t refused() const {
    return refused_;
  }

  /// Never lets it in again, whatever it shows, nor by its vouchers; its line
  /// ends with the next letter, or at once by `drop_peer`. For the organiser's
  /// word.
  void ban(const peer_id& who);

private:
  struct shown {
    std::string bytes;
    std::uint64_t until_ms = 0; ///< Tolerance included; 0: it never counts.
    std::string problem;
  };

  admission_scene scene() const;
  shown judge(const peer_id& who, const std::string& bytes) const;
  /// Judges all anew. Precondition: the mutex is held.
  void look_again();
  /// Likewise.
  bool counts(const shown& x) const {
    return x.until_ms >= now_ms();
  }

  const peer_id self_;
  const std::string run_key_;
  const run_id run_;
  const shared_signatures how_;
  const clock wall_clock_;
  std::atomic<bool> closed_{false};
  std::atomic<std::int64_t> behind_ms_{0};
  std::atomic<std::uint64_t> refused_{0};
  mutable std::mutex mutex_;
  bool known_ = false; ///< The rules.
  admission_rules rules_;
  std::vector<public_key> organisers_;
  std::string own_;
  std::map<peer_id, shown> guests_;
  std::set<peer_id> banned_;
  /// Of the runs that it passes circuits on for; never changed once in use.
  std::map<std::string, std::unique_ptr<admission_gate>> passed_;
};

} // namespace potluck
