/// Whether no line of this peer carries a gradient although others train: hubs
/// pass letters on, and nothing else.
///
/// Then no group forms, and its user is told why, again and again. Pure: the
/// time comes in.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runtime/step/facts.hpp"
#include "runtime/step/solitude.hpp"

namespace potluck {

class gradient_lines {
public:
  /// A direct line comes within seconds or not at all; an auxiliary may come
  /// later.
  static constexpr duration patience = std::chrono::seconds{20};

  /// A peer is connected, or another line leads to it from now on.
  void joined(const peer_joined& x) {
    if (x.role == role::trainer || x.role == role::auxiliary)
      lines_[x.who.id] = {x.role == role::trainer, x.relayed};
  }
  void left(const peer_id& who) {
    lines_.erase(who);
  }

  /// Trainers are there, and only hubs lead to them: none of them can average
  /// for others.
  bool needs_auxiliary() const {
    const auto trains = [](auto& x) { return x.second.trains; };
    const auto direct
        = [](auto& x) { return x.second.trains && !x.second.relayed; };
    return std::any_of(lines_.begin(), lines_.end(), trains)
           && std::none_of(lines_.begin(), lines_.end(), direct);
  }

  /// @returns what is to be said now, if anything.
  std::optional<solitude::word> look(time_point now) {
    const auto any = [this](auto condition) {
      return std::any_of(lines_.begin(), lines_.end(),
                         [&](auto& x) { return condition(x.second); });
    };
    if (any([](auto& x) { return !x.relayed; })) {
      since_.reset();
      if (!std::exchange(told_, false))
        return std::nullopt;
      return solitude::word{false, "a line for gradients is there", true};
    }
    // Circuits end when nothing comes of them: that is no company.
    if (!since_ && !any([](auto& x) { return x.trains; }))
      return std::nullopt;
    if (!since_) {
      since_ = now;
      next_word_ = now + patience;
      pause_ = solitude::first_pause;
    }
    if (now < next_word_)
      return std::nullopt;
    next_word_ = now + pause_;
    pause_ = std::min(2 * pause_, solitude::longest_pause);
    told_ = true;
    return word();
  }
  /// What is to be said at the end.
  std::optional<solitude::word> last_word() const {
    return told_ ? word() : std::optional<solitude::word>{};
  }
  /// The same in a few words; empty while there is no trouble.
  std::string trouble() const {
    return told_ ? "no line for gradients" : "";
  }

private:
  struct line {
    bool trains = false;
    bool relayed = false;
  };

  static std::optional<solitude::word> word() {
    return solitude::word{
        true,
        "Nobody averages with this peer: only hubs lead to the others, and "
        "they pass on letters, no gradients. Have a machine that all can reach "
        "average (`potluck bootstrap --run NAME` there, or `--any-run`), or "
        "open a port of one of you, and set announce to it",
        true};
  }

  std::map<peer_id, line> lines_;
  std::optional<time_point> since_; ///< There is none.
  bool told_ = false;
  time_point next_word_{};
  duration pause_{};
};

} // namespace potluck
