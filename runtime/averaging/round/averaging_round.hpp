/// One round as one of its members runs it: parts out, means in, and whether it
/// counts.
///
/// Puts together what the files beside it do: the values (`round_bulk`), the
/// agreement, who is silent, what is held against others (`round_jury`), and
/// the report at the end. Pure: its owner says what happened and when, and
/// carries out the orders that each call returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/averaging/round/bulk_watch.hpp"
#include "runtime/averaging/round/member_watch.hpp"
#include "runtime/averaging/round/round_agreement.hpp"
#include "runtime/averaging/round/round_bulk.hpp"
#include "runtime/averaging/round/round_jury.hpp"
#include "runtime/averaging/round/round_outbox.hpp"
#include "runtime/averaging/round/round_report.hpp"
#include "runtime/averaging/round/round_terms.hpp"
#include "runtime/direct_lines.hpp"

namespace potluck {

class averaging_round {
public:
  /// @param rooms Where means are made. @param all_placed See
  /// `round_intake::begin`; then `means_placed` is to be called.
  /// Throws std::invalid_argument as `round_agreement` does.
  averaging_round(round_terms what, value_pool rooms,
                  std::shared_ptr<round_intake> intake,
                  std::function<void()> all_placed, random_stream& chance,
                  time_point now);

  // ---- what happens

  /// It is so late when what is told next happens.
  void at(time_point now) {
    watch_.at(now);
    jury_.at(now);
  }
  /// This member's gradient is here: its parts go out.
  /// Where nobody else is in the round its mean is made here, at once, and the
  /// gradient is not kept.
  round_orders lend(std::shared_ptr<const std::vector<float>> gradient);
  /// Another member says something. Strangers are not heard.
  round_orders receive(const peer_id& from, const message& content,
                       const shared_bytes& body);
  /// No place for a mean is open any more.
  round_orders means_placed();
  /// A reducer of this member's has made its mean.
  round_orders averaged(std::uint32_t chunk,
                        std::shared_ptr<const std::vector<float>> mean,
                        std::vector<std::uint8_t> left_out,
                        std::vector<digest> parts);
  /// A reducer of this member's has refused a part: it does without it.
  round_orders refused(std::size_t member, const std::string& why) {
    return jury_.part_refused(member, why);
  }
  /// A reducer has ended before its mean, and the parts in it are gone: another
  /// one is to get them, which others are asked for.
  /// @returns None: it happened before, and this member has to leave the round.
  std::optional<round_orders> reducer_lost(std::uint32_t chunk);
  /// A member is connected, or not any more. Unless its line may come back,
  /// `lost` follows.
  round_orders joined(const peer_id& member);
  void left(const peer_id& member);
  round_orders lost(const peer_id& member);
  /// Its line broke, and it has had the time to come back.
  round_orders out_of_touch(const peer_id& member);
  /// Looks at what has come; a heal goes on without parts that are late. To be
  /// called before `quiet`.
  round_orders look();
  /// Nothing has happened for `patience`.
  round_orders patience_over();
  /// A peer seems to know the outcome.
  round_orders ask(const peer_id& member);
  /// Most others have completed the step. From here on this member commits only
  /// what somebody has committed.
  round_orders overtaken();
  /// An `audit_reminder` is due.
  round_orders reminded(std::optional<std::uint32_t> chunk) {
    return jury_.reminded(chunk);
  }
  /// The owner runs it no longer: names who lied, by what it knows.
  round_orders give_up() {
    return jury_.give_up();
  }

  const round_terms& what() const {
    return what_;
  }
  const round_agreement& agreement() const {
    return agreement_;
  }
  const member_roll& members() const {
    return agreement_.members();
  }
  const round_bulk& bulk() const {
    return bulk_;
  }
  const member_watch& watch() const {
    return watch_;
  }
  bool over() const {
    return agreement_.decided();
  }
  /// For how long nothing may happen: the contract's patience. Half of it where
  /// it has ended once and this member waits for answers: small letters.
  duration patience() const;
  /// For how long no member said anything and no mean or part came.
  duration quiet() const {
    return watch_.quiet_since(owed_.last_news(bulk_.intake().last_taken()));
  }

private:
  void read(std::size_t by, const chunk_part& x, const shared_bytes& body);
  void read(std::size_t by, const chunk_mean& x, const shared_bytes& body);
  void read(std::size_t by, const mean_request& x, const shared_bytes&);
  void read(std::size_t by, const part_request& x, const shared_bytes&);
  template <class Other>
  void read(std::size_t by, const Other& x, const shared_bytes&);

  /// From here on everything comes by letter; what was taken counts first.
  void close_places();
  void count(const std::vector<round_intake::taken>& news);
  /// @param since The round began.
  void count(std::size_t by, const chunk_mean& x, duration since);
  void offer_own_part(std::uint32_t chunk);
  void do_without_late();
  void carry_out(const round_agreement::actions& actions);
  void carry_out(const send_to_member& x);
  void carry_out(const send_part& x);
  void carry_out(const send_mean& x);
  void carry_out(const ask_mean& x);
  void carry_out(const average_chunk& x);
  void carry_out(const round_decision& x);

  const round_terms what_;
  const direct_lines lines_;
  round_agreement agreement_;
  round_bulk bulk_;
  member_watch watch_;
  bulk_watch owed_;
  round_report report_;
  round_jury jury_;
  round_outbox out_;
  bool asks_ = false; ///< All others, by what is carried out now.
  /// The epoch by which bulk is sent anew; -1: by none.
  std::int64_t anew_ = -1;
};

} // namespace potluck
