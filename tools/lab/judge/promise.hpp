/// What a collaboration promises, whatever befalls it: the base of all
/// promises, each a class that is told events and says whether it was kept.
///
/// Pure: told events and moments; knows neither whether the peers are simulated
/// nor how they run.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/clock.hpp"
#include "tools/lab/judge/logged_event.hpp"
#include "tools/lab/judge/terms.hpp"

namespace potluck {

using tools::count_of;
using tools::number_of;
using tools::text_of;

/// "1 step", "3 steps".
std::string counted(std::size_t n, const std::string& noun);

/// What was checked in one run, and what did not hold, in the order in which it
/// was found.
class ledger {
public:
  void note(bool holds, duration at, const std::string& sentence);

  const std::vector<std::string>& violations() const {
    return violations_;
  }
  std::uint64_t checks() const {
    return checks_;
  }

private:
  std::vector<std::string> violations_;
  std::uint64_t checks_ = 0;
};

/// Who tells of an event: one peer, in one of its lives.
struct teller {
  std::size_t peer = 0;
  std::string name = {}; ///< Empty: "peer " and its number.
  /// What it logs is not all: its disk was full for a while.
  bool has_gaps = false;
  bool survived = true; ///< Nobody ends this life from outside.
  bool trains = true;   ///< Holds parameters.

  std::string called() const {
    return name.empty() ? "peer " + std::to_string(peer) : name;
  }
};

class promise {
public:
  /// @param demand What must hold, in one sentence.
  promise(ledger& all, std::string demand)
      : all_(all), demand_(std::move(demand)) {
  }
  virtual ~promise() = default;

  const std::string& demand() const {
    return demand_;
  }
  /// The first sentence that shows that it was broken; empty: it was kept.
  const std::string& problem() const {
    return problem_;
  }
  /// What it has looked at, for a person; empty: at nothing.
  virtual std::string seen() const {
    return checks_ > 0 ? counted(checks_, "check") : "";
  }

  virtual void told(const teller&, duration, const event&) {
  }
  /// The process ended: what comes from that peer is another one.
  virtual void ended(const teller&) {
  }
  /// The last process that held a step is gone, and the history with it:
  /// whoever comes founds the run anew.
  virtual void history_gone() {
  }
  /// There is no more to tell.
  virtual void close(duration) {
  }

protected:
  /// @param say Makes the sentence, when one is needed.
  template <class Say, class = std::invoke_result_t<Say>>
  void check(bool holds, duration at, Say say) {
    ++checks_;
    const auto sentence = holds ? std::string{} : std::string{say()};
    if (!holds && problem_.empty())
      problem_ = sentence;
    all_.note(holds, at, sentence);
  }

private:
  ledger& all_;
  std::string demand_;
  std::string problem_;
  std::uint64_t checks_ = 0;
};

/// What somebody else looks at: one demand, checked from outside.
class outer_promise : public promise {
public:
  using promise::check;
  using promise::promise;
};

} // namespace potluck
