/// Restarting children in order: the bookkeeping behind a supervising actor.
///
/// Rest-for-one: when a child ends by itself, it and all children behind it are
/// started again, since what comes later was built on what comes before.
/// One-for-one, for a child that nobody behind it was built on: it alone. A
/// budget bounds the restarts; when it is spent the supervisor gives up.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include "runtime/clock.hpp"
#include "runtime/membership/restart_budget.hpp"

namespace potluck {

/// A child: its name for logs, and how to start it. `caf::actor` is untyped on
/// purpose: only here is an actor nothing but something that can end.
struct child_spec {
  /// Who is started again when this child ends.
  enum class policy {
    rest_for_one, ///< It and all behind it.
    one_for_one,  ///< It alone: new handles are all that the others need.
  };
  std::string name;
  std::function<caf::actor()> start;
  child_spec::policy policy = policy::rest_for_one;
};

class supervisor {
public:
  /// What the end of an actor meant.
  enum class verdict {
    unrelated, ///< Not a child (or one that was replaced already).
    restarted, ///< It was started again, and its juniors if they build on it.
    exhausted, ///< The budget is spent; nothing was started.
  };

  /// Told of every child that was started, and started again.
  using witness
      = std::function<void(const std::string& name, const caf::actor& child)>;

  explicit supervisor(caf::scheduled_actor* self, witness started = nullptr);

  /// Starts `spec` behind the children that exist.
  void add(child_spec spec);

  /// @param ended Receives the child's name unless `unrelated`.
  verdict on_down(const caf::down_msg& x, time_point now, std::string& ended);

  /// Instead of `on_down`, when this peer ends: what ended is no child any more
  /// and not started again.
  void forget(const caf::down_msg& x);

  /// Asks all children to end, youngest first.
  void stop();

  /// Kills those that have not ended.
  void kill();

  /// True when every child has ended for good.
  bool childless() const {
    return children_.empty();
  }

private:
  struct child {
    child_spec spec;
    caf::actor handle;
  };

  void start(child& c);

  caf::scheduled_actor* self_;
  witness started_;
  std::vector<child> children_;
  restart_budget budget_;
};

/// A start function that stores the new handle, so that `wire` spreads it.
template <class Handle, class Spawn>
auto child(Handle& handle, Spawn spawn) {
  return [&handle, spawn] {
    handle = spawn();
    return caf::actor_cast<caf::actor>(handle);
  };
}

} // namespace potluck
