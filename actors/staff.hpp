/// Adds children to a peer's supervisor: each is an actor, and what it is
/// configured with, filled in anew whenever it is started again.
#pragma once

#include <string>
#include <utility>

#include "actors/peer_estate.hpp"
#include "actors/supervisor.hpp"

namespace potluck {

class staff {
public:
  /// Both outlive this.
  staff(supervisor_actor::pointer self, peer_estate& has, supervisor& children)
      : self_(self), has_(has), children_(children) {
  }

protected:
  /// It and all that are added behind it are started again when it ends.
  /// @param handle In the estate's wiring. @param actor The function that is
  /// spawned. @param fill Returns its configuration.
  template <class Handle, class Actor, class Fill>
  void add(std::string name, Handle& handle, Actor actor, Fill fill) {
    children_.add({std::move(name), start(handle, actor, fill)});
  }
  /// It alone is: nobody behind it builds on what it held.
  template <class Handle, class Actor, class Fill>
  void add_alone(std::string name, Handle& handle, Actor actor, Fill fill) {
    children_.add({std::move(name), start(handle, actor, fill),
                   child_spec::policy::one_for_one});
  }

  peer_estate& has() {
    return has_;
  }
  peer_config& config() {
    return has_.config;
  }

private:
  template <class Handle, class Actor, class Fill>
  auto start(Handle& handle, Actor actor, Fill fill) {
    return child(handle, [self = self_, actor, fill] {
      return self->spawn(actor, fill());
    });
  }

  supervisor_actor::pointer self_;
  peer_estate& has_;
  supervisor& children_;
};

} // namespace potluck
