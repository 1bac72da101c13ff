/// Who lies about means, as one member of a round can find out: it checks means
/// drawn by chance and those that others challenge, and judges, after a round
/// whose means differed, what all say they got.
///
/// README.md, "Hostile members", states the protocol. Pure: the round, which
/// owns it, says what is here, and hears what is to be sent and who is doubted.
/// Members are indices into the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/chunk_audit.hpp"
#include "runtime/averaging/means_inquiry.hpp"
#include "runtime/averaging/round/part_source.hpp"
#include "runtime/averaging/round/round_orders.hpp"
#include "runtime/random.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// For what all members found when a round was aborted.
constexpr auto findings_patience = 2s;

} // namespace potluck::limits

namespace potluck {

/// A planned mean that is here, and what its reducer said of it.
struct mean_evidence {
  const float* values = nullptr; ///< Null: no mean of its planned reducer.
  std::size_t length = 0;        ///< The chunk's.
  std::vector<std::uint8_t> left_out;
  digest seal;
  packing how = packing::float32;       ///< It was packed like this.
  std::optional<part_source::part> own; ///< This member's part, if it has one.
  std::vector<digest> parts; ///< Of those summed, where that was done here.
};

class round_auditor {
public:
  round_auditor(const group_contract& contract, const chunk_map& map,
                std::size_t self, averaging_rule rule);

  // ---- checks

  /// Draws a mean to check, or none.
  void draw(random_stream& chance);
  /// The mean drawn, once. It is to be checked when all means are here: before,
  /// on a slow line, a chunk of every member is a tenth of the round.
  std::optional<std::uint32_t> take_drawn();
  /// Begins to check a mean: asks for its parts.
  round_orders check(std::uint32_t chunk, std::optional<std::size_t> challenger,
                     const mean_evidence& mean);
  /// What there is to check a chunk's mean with; none when it cannot be.
  using evidence_source
      = std::function<std::optional<mean_evidence>(std::uint32_t chunk)>;
  /// A member tells what it summed, calls a mean wrong (then it is checked
  /// here, too), or says what it got of all. Nothing for other messages.
  round_orders receive(std::size_t by, const message& content,
                       const evidence_source& evidence);
  /// The parts of this chunk are for a new mean now.
  void forget(std::uint32_t chunk) {
    checks_.erase(chunk);
  }
  /// Whether a member that asks for our part of a chunk gets it: once each, and
  /// few, for nobody is to use up our line with questions.
  bool may_show(std::size_t to, std::uint32_t chunk);
  /// Whether the chunk is being checked: then its parts are for that.
  bool checks(std::uint32_t chunk) const {
    return checks_.count(chunk) != 0;
  }
  round_orders shown(std::size_t by, const chunk_part& head,
                     const shared_bytes& body);

  // ---- after a round whose means differed

  /// This member has aborted a round whose every mean it holds: what it got.
  /// @param outcome Comes with the judgement, so that the next group already
  /// forms without whoever lied.
  round_orders inquire(std::vector<digest> found, round_outcome outcome);
  /// Every trainer has spoken that can.
  bool all_spoke(const std::function<bool(std::size_t)>& present) const;
  /// Names who lied, once, by what was heard.
  round_orders judge();

  /// What was asked for has been waited for long enough.
  round_orders waited_for(std::uint32_t chunk);

private:
  /// A mean that this member averages once more.
  struct check_under_way {
    chunk_audit audit;
    std::set<std::size_t> challengers; ///< Empty: it was drawn here.
    std::optional<chunk_audit::outcome> found = std::nullopt;
  };

  void told(std::size_t by, const part_digests& x, round_orders& out);
  /// @returns It is to be checked here, too.
  bool challenged(std::size_t by, std::uint32_t chunk, round_orders& out);
  void open_inquiry(round_orders& out);
  void show(chunk_audit& audit, std::size_t member, const chunk_part& head,
            const shared_bytes& body);
  void judge_check(std::uint32_t chunk, round_orders& out);
  void answer_for(const check_under_way& x, std::uint32_t chunk,
                  round_orders& out) const;
  void expose(std::size_t member, const std::string& why,
              round_orders& out) const;
  void tell_others(const message& what, round_orders& out) const;

  group_id group_;
  std::vector<std::uint64_t> samples_;
  std::size_t trainers_;
  chunk_map map_;
  std::size_t self_;
  averaging_rule rule_;
  std::optional<std::uint32_t> drawn_;
  std::map<std::uint32_t, check_under_way> checks_;
  std::set<std::size_t> challenged_by_;
  /// To whom, which, and how often.
  std::map<std::size_t, std::map<std::uint32_t, unsigned>> shown_;
  std::optional<means_inquiry> inquiry_;
  bool judged_ = false;
  std::optional<round_outcome> withheld_; ///< Until judged.
};

} // namespace potluck
