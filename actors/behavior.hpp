/// From an actor's interface to its behavior: one `on` per message.
///
/// Every actor here is a state class with `init(self, config)` and a member
/// `on(...)` per message of its handle. Missing one is a compile error, so the
/// interface in interfaces.hpp stays the truth.
#pragma once

#include <string>
#include <type_traits>

#include <caf/all.hpp>

namespace potluck {

namespace detail {

template <class Signature>
struct to_state;

template <class... Inputs, class Output>
struct to_state<caf::typed_mpi<caf::detail::type_list<Inputs...>, Output>> {
  template <class Self>
  static auto of(Self self) {
    return [self](const Inputs&... xs) { self->state.on(xs...); };
  }
};

template <class Handle>
struct reactions;

template <class... Signatures>
struct reactions<caf::typed_actor<Signatures...>> {
  template <class Self>
  static typename caf::typed_actor<Signatures...>::behavior_type of(Self self) {
    return {to_state<Signatures>::of(self)...};
  }
};

template <class State, class = void>
struct hears_downs : std::false_type {};

template <class State>
struct hears_downs<State, std::void_t<decltype(std::declval<State&>().on_down(
                              std::declval<const caf::down_msg&>()))>>
    : std::true_type {};

} // namespace detail

/// Initializes `self->state` from `config` and returns the behavior that
/// forwards every message of `Handle` to it, down messages included when the
/// state has an `on_down`.
template <class Handle, class State, class Config>
typename Handle::behavior_type
behave(typename Handle::template stateful_pointer<State> self, Config config) {
  if constexpr (detail::hears_downs<State>::value)
    self->set_down_handler(
        [self](caf::down_msg& x) { self->state.on_down(x); });
  self->state.init(self, std::move(config));
  return detail::reactions<Handle>::of(self);
}

/// Why an actor has ended: the sentence that it gave, as an expert does, or
/// what CAF calls it.
inline std::string cause_of(const caf::down_msg& x) {
  if (x.reason && x.reason.context().match_elements<std::string>())
    return x.reason.context().get_as<std::string>(0);
  return caf::actor_system_config::render(x.reason);
}

} // namespace potluck
