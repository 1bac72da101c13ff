/// How what proves a run's history comes to its peers: what this one keeps of
/// it, asks, answers and believes.
///
/// A newcomer asks those that it meets, and goes by those that its invitation
/// names: by what one of them shows, or what another shows that one of them has
/// signed. A keeper (a bootstrap, an auxiliary) makes no steps: it asks now and
/// then, and takes what goes on from what it holds. Nothing is read that was
/// not asked for. Pure: facts in, letters out, the time comes in.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "messages/history.hpp"
#include "runtime/clock.hpp"
#include "runtime/history/electorates.hpp"
#include "runtime/history/signed_steps.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

class history_exchange {
public:
  /// Between two questions of a keeper that holds a history, each to one peer.
  static constexpr duration pause = std::chrono::seconds{10};
  /// A keeper forgets a history if none that made its newest step has been here
  /// for so long, and held it still.
  static constexpr duration memory = std::chrono::seconds{60};
  /// A newcomer asks so many that it does not know, beside those that it does.
  static constexpr std::size_t most_strangers = 8;

  struct settings {
    std::string run;
    digest charter;             ///< Empty: not known.
    std::set<peer_id> trusted;  ///< The invitation names them.
    bool keeps = false;         ///< A keeper; else it makes steps itself.
    shared_signatures how = {}; ///< Null: nothing is believed.
    /// Of a checkpoint, checked. It is shown, and gone on from, until this peer
    /// holds something newer; but those that it trusts are asked nevertheless.
    signed_history resumed = {};
  };

  /// @param held Of a predecessor.
  history_exchange(settings how, signed_history held)
      : how_(std::move(how)), held_(std::move(held)) {
  }

  struct outcome {
    std::map<peer_id, history_request> questions;
    /// By whom a newcomer goes; empty: by nobody, for those that it trusts have
    /// nothing to show.
    std::optional<electorates::weights> roots;
    bool changed = false; ///< What is held.
  };

  /// It is connected. @param trains A keeper asks nobody else.
  outcome joined(const peer_id& who, bool trains);
  void left(const peer_id& who) {
    guests_.erase(who);
  }
  outcome told(const peer_id& from, const history_reply& x, time_point now);
  /// Time has passed.
  outcome look(time_point now);
  /// A step of this peer's own was signed.
  void made(signed_step x, time_point now);
  /// The answer to who asks: who is not of the run gets nothing.
  history_reply answer(const peer_id& from, const history_request& x) const;

  bool has_guests() const {
    return !guests_.empty();
  }
  const signed_history& held() const {
    return held_;
  }
  /// That, or what a checkpoint had of it.
  const signed_history& shown() const {
    return held_.empty() ? how_.resumed : held_;
  }

private:
  struct guest {
    bool trains = false;
    std::optional<std::uint64_t> asked; ///< The question's token.
    bool has_shown = false; ///< What it holds, when it was asked last.
  };
  void ask(const peer_id& whom, outcome& out);
  bool has_made_newest(const peer_id& who) const;
  /// Of those that made the newest step, one is here and holds it still.
  bool is_alive() const;
  void keep(signed_history x, outcome& out, time_point now);

  settings how_;
  signed_history held_;
  std::map<peer_id, guest> guests_;
  std::uint64_t questions_ = 0;
  std::size_t strangers_asked_ = 0;
  /// By a keeper that holds nothing, since it looked last: an answer can have
  /// thousands of signatures, and costs its sender none.
  bool asked_who_came_ = false;
  peer_id last_asked_; ///< By a keeper.
  time_point next_{};  ///< Question of a keeper.
  time_point alive_at_{};
};

} // namespace potluck
