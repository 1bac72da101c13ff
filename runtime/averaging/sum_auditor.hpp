/// Who lies about sums, as one member of a round can tell without anybody's
/// parts: trainers that have committed tell each other their parts' projections
/// along directions that one of them has drawn, and hold their sum against the
/// mean's.
///
/// README.md, "Hostile members", states the protocol. Pure: the round, which
/// owns it, says what is here, and hears what is to be sent and who is doubted.
/// Only for the plain mean. Members are indices into the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/averaging/denials.hpp"
#include "runtime/averaging/sum_defence.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// For a reducer's answer to a dispute: it waits for parts half as long.
constexpr auto account_patience = 10s;

} // namespace potluck::limits

namespace potluck {

class sum_auditor {
public:
  using evidence_source = round_auditor::evidence_source;

  /// @param denials Of this member's rounds so far.
  sum_auditor(const group_contract& contract, const chunk_map& map,
              std::size_t self, averaging_rule rule,
              std::shared_ptr<denials> denials);

  void at(time_point now) {
    now_ = now;
  }
  /// This member may be one that draws: on average one of all trainers is.
  /// @param nonce What nobody else knows; it is kept until the commit.
  void draw(random_stream& chance, std::uint64_t nonce);
  /// This member, a trainer, has committed: no mean changes any more.
  round_orders committed(const evidence_source& evidence);
  /// Nothing for other messages.
  round_orders receive(std::size_t by, const message& content,
                       const evidence_source& evidence);
  /// Parts of this chunk are for an answer to a dispute.
  bool gathers(std::uint32_t chunk) const {
    return defence_.gathers(chunk);
  }
  round_orders shown(std::size_t by, const chunk_part& head,
                     const shared_bytes& body);
  /// What was asked for about this chunk may have been waited for long enough.
  round_orders waited_for(std::uint32_t chunk);
  /// The next round begins.
  round_orders give_up();

private:
  /// One chunk of a check.
  struct disputable {
    std::uint32_t chunk = 0;
    std::optional<sum_check> mean; ///< None: it cannot be checked.
    bool wrong = false;
    bool disputed = false;
    bool settled = false;
  };
  /// What one member has drawn.
  struct check {
    std::optional<std::uint64_t> seed;             ///< By its own word.
    std::map<std::size_t, part_projections> words; ///< The first of each.
    std::vector<disputable> sums; ///< Empty until this member has answered.
    bool judged = false;
    time_point due;
  };

  /// Others only average, and look at their own means.
  bool trains() const {
    return self_ < trainers_;
  }
  void hear(std::size_t by, const part_projections& x,
            const evidence_source& evidence, round_orders& out);
  void answer(std::size_t drawn_by, const evidence_source& evidence,
              round_orders& out);
  disputable look(std::uint64_t seed, std::uint32_t chunk,
                  const std::optional<mean_evidence>& mean) const;
  bool complete(const check& x) const;
  std::vector<projection> parts_of(const check& x, std::size_t sum) const;
  void judge(check& x, const evidence_source& evidence, round_orders& out);
  void defend(std::uint32_t chunk, std::uint64_t seed,
              const evidence_source& evidence, round_orders& out);
  void tell_accounts(std::uint32_t chunk, round_orders& out);
  void hear(std::size_t by, const sum_account& x, round_orders& out);
  /// What its reducer has answered; null: nothing.
  const sum_account* account_of(std::uint32_t chunk, std::uint64_t seed) const;
  /// Its reducer was asked, and nothing has come of it; true once.
  bool unanswered(disputable& x) const;
  void settle(check& x, std::size_t sum, round_orders& out);
  void doubt(const std::set<std::size_t>& who, std::uint32_t chunk,
             const char* why, round_orders& out);
  void tell_others(const message& what, round_orders& out) const;

  group_id group_;
  chunk_map map_;
  std::size_t self_;
  double part_norm_;
  bool linear_;
  std::vector<peer_id> ids_;
  std::vector<std::uint64_t> samples_;
  std::size_t trainers_;
  std::shared_ptr<denials> denials_;
  sum_defence defence_;
  time_point now_;
  std::optional<std::uint64_t> drawn_;
  bool committed_ = false;
  std::map<std::size_t, check> checks_; ///< By the member that has drawn.
  /// Of each reducer, by chunk and seed.
  std::map<std::size_t,
           std::map<std::pair<std::uint32_t, std::uint64_t>, sum_account>>
      accounts_;
  std::map<std::size_t, std::size_t> disputes_; ///< By each trainer.
  std::set<std::size_t> doubted_;               ///< Once a round.
};

} // namespace potluck
