/// One iterative look-up: who is closest to a point, and what do they store?
///
/// Pure state machine after Maymounkov and Mazieres 2002, section 2.3. The
/// owner sends what `next` asks for, reports every answer and every failure,
/// and calls `next` again until `done`. It decides how long an answer may take.
///
/// States of a contact: `known` -> `asked` -> `answered` or `failed`.
///
/// Differences from the paper:
/// - alpha requests are in flight at any time (paper: rounds of alpha). Once
/// the
///   alpha closest have answered, the rest of the k closest are asked at once.
/// - A look-up for records does not stop at the first that has one: values of
///   one key are spread by sub-key, so it merges what the `quorum` closest
///   store. What was found is not cached at other nodes: records live too
///   shortly.
/// - Of one network (/24, /48) two count among the closest while there are
///   others, however close its ids are; and who was silent lately is asked when
///   nobody else is left.
/// - Who takes long to answer holds up nobody else.
/// - An answer is hearsay. At most k of its contacts are taken; a look-up keeps
///   and asks a bounded number of them; and a peer whose contacts mostly fail
///   is a liar, whose word alone gets nobody asked any more.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "messages/routing.hpp"
#include "runtime/clock.hpp"
#include "runtime/dht/record_store.hpp"
#include "runtime/dht/routing_table.hpp"
#include "runtime/dht/xor_distance.hpp"

namespace potluck {

class lookup {
public:
  struct settings {
    /// How many of the closest contacts are wanted.
    std::size_t closest = bucket_size;
    /// Requests in flight while the look-up approaches its target.
    std::size_t parallel = 3;
    /// It ends when this many of the closest live contacts have answered; from
    /// 1 to `closest`. For nodes: all. For records, 5 suffice: that all of them
    /// are strangers to a record stored on the 20 closest takes much churn.
    std::size_t quorum = bucket_size;
    /// Not 0: it is in doubt from the start, with this quorum; see `doubt`.
    std::size_t doubted = 0;
    /// Who is asked only for want of others; null: nobody.
    std::function<bool(const peer_id&)> avoids = {};
  };

  /// Contacts of one crowd (`crowd_of`) that count among the closest.
  static constexpr std::size_t most_of_crowd = 2;
  /// Likewise those that are known through one of the contacts that it began
  /// with, where it is in doubt.
  static constexpr std::size_t most_of_root = 2;

  /// Contacts remembered; beyond it, those that were not asked yet go: the
  /// farthest of the crowd with the most.
  static constexpr std::size_t max_candidates = 8 * bucket_size;
  /// Contacts asked before it gives up looking for closer ones.
  static constexpr std::size_t max_asked = 6 * bucket_size;
  /// Failures from which on a peer that names contacts may be called a liar.
  static constexpr std::size_t max_lies = 4;
  /// Vouchers remembered for a contact.
  static constexpr std::size_t max_vouchers = 4;

  enum class verdict {
    taken,   ///< The answer counts.
    unasked, ///< No answer was expected from this peer; nothing changed.
  };

  /// @param target The point to approach.
  /// @param self Our own id; never asked, never a result.
  /// @param seeds Where to start; the closest `max_candidates` are used.
  lookup(const record_key& target, const peer_id& self,
         const std::vector<contact>& seeds, settings how);
  /// With the default settings.
  lookup(const record_key& target, const peer_id& self,
         const std::vector<contact>& seeds);

  /// The contacts to ask now; each counts as asked from here on. Empty while
  /// enough requests are in flight, and when the look-up is done.
  std::vector<contact> next();

  /// Counts the answer of `who` and the contacts that it names.
  verdict answered(const peer_id& who, const std::vector<contact>& nodes);

  /// Likewise, and merges `records`, as `record_store` does; that they are
  /// their owners' word has been seen to. Records of other keys are ignored.
  verdict answered(const peer_id& who, const std::vector<contact>& nodes,
                   const std::vector<dht_record>& records, time_point now);

  /// Counts a request to `who` that failed or was answered too late.
  verdict failed(const peer_id& who);
  /// The answer of `who` takes long. It counts when it comes, and the look-up
  /// does not end before its failure; but the next in line is asked meanwhile.
  void slow(const peer_id& who);
  /// Takes back that `who` is asked: it is not to be. Says nothing against who
  /// named it.
  void passed_over(const peer_id& who);

  /// There is reason to doubt that those that answered are the closest. So many
  /// must answer of whom two at most owe it to the same contact that the
  /// look-up began with, while there are others; then the closest again. Where
  /// anybody is left to ask, it is not done any more.
  void doubt(std::size_t quorum);

  /// True when nothing is left to ask or to await. Changes back by `doubt`
  /// only. Requests still in flight then need not be awaited.
  bool done() const {
    return done_;
  }

  /// True when nobody of the quorum is left to ask, as far as is known, and
  /// answers are awaited. Those that must answer in case of doubt are more.
  bool awaits_only() const;

  /// The contacts that answered, closest first, at most `settings::closest`;
  /// those beyond a crowd's share come behind the others. We are not among
  /// them, even where we are closer than the last of them.
  std::vector<contact> closest() const;

  /// Contacts that an answer need not name: where it began, and those that have
  /// answered. Of others more vouchers may yet help. Closest first, at most
  /// twice `settings::closest`.
  std::vector<peer_id> known() const;

  /// The records merged so far, in the order of their sub-keys, with the life
  /// that remains at `now`.
  std::vector<dht_record> records(time_point now) const {
    return found_.find(target_, now);
  }

  /// See `record_store::number`.
  std::optional<std::uint64_t> number(const std::string& subkey) const {
    return found_.number(target_, subkey);
  }

  const record_key& target() const {
    return target_;
  }
  /// Requests whose answer or failure is awaited.
  std::size_t in_flight() const {
    return in_flight_;
  }
  /// Requests made: the look-up's price.
  std::size_t asked() const {
    return asked_;
  }

private:
  enum class progress { known, asked, answered, failed };

  struct candidate {
    contact who;
    std::string crowd; ///< See `crowd_of`.
    bool avoided = false;
    bool slow = false; ///< While it is asked.
    progress state = progress::known;
    std::vector<peer_id> vouchers; ///< Empty for seeds, which are trusted.
    peer_id root; ///< The seed that it is first known through, or see `few_`.
  };

  /// What came of the contacts that one peer named.
  struct reputation {
    std::size_t answered = 0;
    std::size_t failed = 0;
    bool liar() const {
      return failed >= max_lies && failed > 2 * answered;
    }
  };

  void take(const contact& who, const peer_id* voucher);
  /// Makes room for one more of a crowd, at this distance.
  bool make_room(const std::string& crowd, const xor_distance& distance);
  /// Those that live or may, in the order in which they count; the first so
  /// many. Without those that are slow, if they are not to be waited for.
  std::vector<const candidate*> line(std::size_t most, bool waits = true) const;
  bool believed(const candidate& x) const;
  candidate* awaited(const peer_id& who);
  void settle(candidate& x, progress outcome);
  std::size_t quorum() const {
    return doubted_ > 0 ? doubted_ : how_.quorum;
  }
  bool nothing_left() const;
  void conclude(); ///< Where nothing is left.

  record_key target_;
  peer_id self_;
  settings how_;
  std::map<xor_distance, candidate> candidates_; ///< Closest first.
  std::map<peer_id, reputation> vouchers_;
  std::size_t in_flight_ = 0;
  std::size_t slow_ = 0; ///< Of these.
  std::size_t asked_ = 0;
  std::size_t doubted_ = 0; ///< Quorum while it is in doubt; else 0.
  /// It began with so few that each whom these name counts as a beginning, too.
  bool few_ = false;
  bool done_ = false;
  record_store found_;
};

} // namespace potluck
