/// Who else is there before this peer's run begins, and what each says of the
/// run: whether it has the charter, is founding, or waits as this peer does.
///
/// Says, too, whom to ask for the charter, and when. Knows no charter but by
/// its digest. Pure: the time comes in.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class run_witnesses {
public:
  /// A charter can be megabytes: one peer is asked for it, the next one when
  /// that has none, lies or leaves, or when so long nothing came; doubled each
  /// time up to the cap.
  static constexpr duration hedge = std::chrono::milliseconds{500};
  static constexpr duration longest_hedge = std::chrono::seconds{4};
  /// For an answer to a request before it is sent once more, doubled each time
  /// up to the cap. Nobody is suspected for it.
  static constexpr duration patience = std::chrono::seconds{5};
  static constexpr duration longest_patience = std::chrono::seconds{60};
  /// Who says to have a charter, or to be founding, counts for so long if there
  /// is never a line to it: longer than a new hub or a bootstrap's charter
  /// takes to be found.
  static constexpr duration rumour_life = std::chrono::minutes{5};
  /// One that does not answer so many requests is asked on, but counts for
  /// nothing until it answers: after 35 s.
  static constexpr unsigned most_in_vain = 3;
  /// A bootstrap that has no charter of the run is asked again after this,
  /// doubled each time up to the cap: somebody who has it may have come.
  static constexpr duration again = std::chrono::seconds{1};
  static constexpr duration longest_again = std::chrono::seconds{30};
  /// Peers remembered; beyond, hearsay of further ones is not taken.
  static constexpr std::size_t most_others = 4096;

  struct witness {
    bool connected = false;
    potluck::role role = role::trainer;
    digest charter;
    potluck::phase phase = phase::joining;
    address where; ///< As it says; an empty host: it has not said.
    std::vector<contact> hubs;
    bool is_hub = false;
    time_point heard_at;
    time_point since;      ///< Heard of, without a line to it.
    bool asked = false;    ///< And has not answered.
    bool answered = false; ///< A request, on this line.
    unsigned in_vain = 0;  ///< Requests since its last answer.
    time_point ask_at{};
    duration wait{};       ///< For its answer, or before it is asked again.
    bool has_none = false; ///< Its last answer.
    bool lied = false;     ///< What it gave is not what it says it has.
  };
  using each = std::map<peer_id, witness>;

  explicit run_witnesses(const peer_id& self) : self_(self) {
  }

  const each& all() const {
    return all_;
  }
  /// Connected ones.
  std::size_t lines() const {
    return lines_;
  }

  /// There is a line to this peer. @param has Its charter; may be empty.
  /// @returns Whether it counts as one.
  bool joined(const contact& who, role what, const digest& has, bool is_hub,
              time_point now);
  /// There is none any more, or none came about. @param orderly It said
  /// goodbye.
  void left(const peer_id& who, bool orderly);
  /// @returns Null when that is not taken.
  const witness* heard(const progress_report& x, time_point now);
  /// Forgets those that are not connected and say nothing any more.
  void forget_silent(time_point now);

  /// Whether what it says keeps this peer from founding.
  static bool counts(const witness& x, time_point now) {
    return x.connected ? x.in_vain <= most_in_vain
                       : now - x.since < rumour_life;
  }
  /// Of those before this peer: who has, or is about to have, a charter; null:
  /// nobody. @param founding This peer is founding.
  const each::value_type* before_us(bool founding, time_point now) const;

  // ---- the charter

  /// Whom to ask for it now.
  std::vector<peer_id> ask(time_point now);
  /// An answer came. @returns Null when nobody has asked for it.
  const witness* answered(const peer_id& from);
  // ...which says one of these:
  void has_none(const peer_id& from, time_point now);
  /// It is not asked again.
  void lied(const peer_id& from);
  /// A bootstrap has given what others have; it is asked whether that is so
  /// still.
  void keeps(const peer_id& from, time_point now);
  /// A bootstrap's first answer may still come.
  bool may_answer(time_point now) const;

private:
  witness* find(const peer_id& who, bool connected, time_point now);
  /// What was asked for does not come from there.
  void ask_the_next();

  peer_id self_;
  each all_;
  std::size_t lines_ = 0;
  duration hedge_ = hedge;
  time_point next_asked_{}; ///< Not sooner.
};

} // namespace potluck
