/// What a peer does to be admitted to its run, and to stay so: whom it asks,
/// and when.
///
/// Asks the authority a minute before its token ends. Where that does not
/// answer a dial it is looked up, since it may have moved. While it is away
/// this peer asks members to vouch for it, one after the other; where all have
/// come back with tokens that have ended, those that say they are of the run.
/// Pure: what its own admission is worth it is told.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"

namespace potluck {

namespace limits {

using namespace std::chrono_literals;

/// Before a token ends its holder asks for the next one; where tokens are
/// short, in their last quarter.
constexpr duration renewal_margin = 60s;
/// For the authority's answer, and between two questions.
constexpr duration authority_patience = 5s;
/// Between two dials of an authority that is away, at first and at most.
constexpr duration first_authority_dial = 1s;
constexpr duration last_authority_dial = 30s;
/// For so long nobody but the authority is asked, and then the user is told.
constexpr duration before_vouchers = 3s;
constexpr duration before_complaint = 10s;
/// Between two members that are asked to vouch.
constexpr duration voucher_interval = 2s;
/// Outsiders that are asked at once: anybody can be one, so there may be many.
constexpr int outsiders_at_once = 8;

} // namespace limits

class admission_course {
public:
  /// What this peer's own admission is worth.
  struct standing {
    bool needed = true; ///< As far as is known.
    duration left{0};   ///< Until it ends; zero: there is none.
    duration life{0};   ///< Of the whole of it.
    bool may_be_vouched_for = false;
  };

  struct dial {
    contact who;
  };
  /// What the authority itself says in the DHT of where it is.
  struct look_up {
    peer_id whom;
  };
  struct ask {
    peer_id whom;
    bool to_vouch = false; ///< A member, not the authority.
  };
  /// For the user, once until it has changed.
  struct say {
    std::string sentence;
  };
  using action = std::variant<dial, look_up, ask, say>;

  explicit admission_course(const contact& authority) : authority_(authority) {
  }

  /// The charter says who it is, and perhaps where.
  void authority_is(const contact& x);
  const contact& authority() const {
    return authority_;
  }

  /// By its own word; what is said of others is no news.
  void found(const contact& x);

  enum class guest {
    other,    ///< Of no run, or of another one.
    outsider, ///< Of this run by its own word; without an admission.
    member,   ///< It may vouch.
  };
  /// A connection is there.
  void joined(const peer_id& who, guest what);
  void left(const peer_id& who);
  bool authority_is_here() const {
    return connected_.count(authority_.id) > 0;
  }

  std::vector<action> look(const standing& own, time_point now);
  /// There is a new admission.
  void granted();
  /// Whether an answer of that peer is waited for, which then it is no more.
  bool awaited(const peer_id& from);

private:
  void ask_authority(std::vector<action>& out, time_point now);
  void ask_to_vouch(std::vector<action>& out, const std::set<peer_id>& whom);

  contact authority_;
  std::set<peer_id> connected_;
  std::set<peer_id> members_;
  std::set<peer_id> outsiders_;
  std::set<peer_id> asked_;         ///< Their answers are awaited.
  std::optional<time_point> since_; ///< It lacks an admission.
  time_point ask_at_{};             ///< Not before.
  time_point dial_at_{};            ///< Likewise.
  duration dial_pause_ = limits::first_authority_dial;
  time_point voucher_at_{}; ///< Likewise.
  peer_id last_member_;     ///< That was asked to vouch.
  bool said_ = false;
};

} // namespace potluck
