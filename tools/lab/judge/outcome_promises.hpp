/// What a run comes to, and what is promised of that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tools/lab/judge/promise.hpp"

namespace potluck {

/// How far a run has come. Promises nothing by itself.
class course {
public:
  void told(duration at, const event& x);
  void history_gone();

  /// The longest history that any peer has reported, and when it last grew.
  std::uint64_t longest_history() const {
    return longest_;
  }
  std::uint64_t highest_step() const {
    return highest_step_;
  }
  duration last_progress() const {
    return last_progress_;
  }
  double last_loss() const {
    return last_loss_;
  }
  /// Of the steps committed: the share whose first round succeeded.
  double first_try() const;

private:
  struct tries {
    std::set<std::string> groups;
    bool committed = false;
  };
  /// Steps that were committed, and those of them at the first try.
  std::pair<std::size_t, std::size_t> counts() const;

  std::map<std::uint64_t, tries> tries_; ///< Of the present history.
  std::size_t committed_before_ = 0;
  std::size_t at_once_before_ = 0;
  std::uint64_t longest_ = 0;
  std::uint64_t reached_ = 0; ///< By the present history.
  std::uint64_t highest_step_ = 0;
  duration last_progress_{0};
  double last_loss_ = 0;
};

/// All who are there to the end finish the last step, with one digest unless
/// groups are redrawn or a simulated run may split.
class all_finish : public outer_promise {
public:
  all_finish(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
  void history_gone() override {
    digest_.clear();
  }
  bool has_finished(std::size_t peer) const {
    return finished_.count(peer) > 0;
  }
  std::string seen() const override {
    return !demanded_
               ? ""
               : counted(finished_.size(), "peer")
                     + (digest_.empty() ? "" : " with " + digest_.substr(0, 8));
  }

private:
  std::uint64_t steps_;
  bool demanded_;
  bool one_digest_;
  std::set<std::size_t> finished_;
  std::string digest_, whose_;
};

/// A promise that somebody else looks at: `What::demand(run)` says which.
template <class What>
class looked_at : public outer_promise {
public:
  looked_at(ledger& all, const terms& run)
      : outer_promise(all, What::demand(run)) {
  }
  std::string seen() const override {
    return seen_;
  }
  void note(const std::string& seen) {
    seen_ = seen;
  }

private:
  std::string seen_;
};

struct goes_on {
  static std::string demand(const terms& run);
};
struct commits_at_once {
  static std::string demand(const terms& run);
};
struct learns {
  static std::string demand(const terms& run);
};
struct stays_inside {
  static std::string demand(const terms& run);
};
struct ends_well {
  static std::string demand(const terms& run);
};
struct stays_in_bounds {
  static std::string demand(const terms& run);
};
struct leaves_nothing {
  static std::string demand(const terms& run);
};

} // namespace potluck
