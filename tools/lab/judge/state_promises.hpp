/// What peers promise about the parameters that they hold together.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/judge/given_up.hpp"

namespace potluck {

/// Peers that report one step, download it or finish with it hold the same
/// parameters, unless a run may split. Steps of redrawn groups are compared by
/// `equal_rounds`.
///
/// Where steps may be given up for a longer history, it judges at the end and
/// sets those aside. A log with gaps cannot convict, and where peers may part,
/// a side that was killed is excused.
class equal_states : public promise {
public:
  equal_states(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
  void history_gone() override {
    states_.clear();
  }
  void close(duration at) override;
  std::string seen() const override;

  /// Steps that more than one history had at a time.
  std::size_t splits() const {
    return splits_.size();
  }

private:
  void hold(const teller& who, duration at, std::uint64_t step,
            const std::string& digest);
  void remember(const teller& who, const event& x);
  /// By step and digest: who reports it.
  using holders
      = std::map<std::uint64_t, std::map<std::string, std::set<std::string>>>;
  holders not_excused(const std::set<held_step>& lost) const;

  bool may_give_up_;
  bool may_part_;
  bool may_split_;
  /// Per step: digests, and one peer that holds each.
  std::map<std::uint64_t, std::map<std::string, std::string>> states_;
  std::set<std::uint64_t> splits_;
  std::set<std::uint64_t> redrawn_;
  std::map<std::size_t, std::size_t> index_; ///< In `lives_`, by peer.
  std::vector<life_history> lives_;          ///< (may_give_up)
  std::size_t compared_ = 0, given_up_ = 0, alone_ = 0;
};

/// The members of a round begin its step with the same parameters.
class equal_rounds : public promise {
public:
  equal_rounds(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
  void ended(const teller& who) override {
    last_.erase(who.peer);
  }
  void close(duration at) override;
  std::string seen() const override {
    return counted(compared_, "report") + " compared, "
           + counted(rounds_.size(), "round");
  }

private:
  struct round {
    std::string group;
    std::uint64_t step = 0;
  };

  bool must_compare_;
  std::map<std::size_t, round> last_; ///< That each peer committed.
  /// Per group: what its members got, and who said so first.
  std::map<std::string, std::pair<std::string, std::string>> rounds_;
  std::size_t compared_ = 0;
};

/// A checkpoint that a peer continues from holds parameters that somebody had
/// at its step, as far as anybody remembers.
class sound_checkpoints : public promise {
public:
  sound_checkpoints(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
  void resumed(std::size_t peer, duration at, std::uint64_t step,
               const std::string& digest);

private:
  std::map<std::uint64_t, std::set<std::string>> ever_;
};

} // namespace potluck
