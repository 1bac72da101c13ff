/// What a message between peers is about, so that a session knows where it goes
/// and what may carry it.
#pragma once

#include <variant>

#include "actors/handles.hpp"

namespace potluck {

template <class... Ts>
bool is_one_of(const message& x) {
  return (std::holds_alternative<Ts>(x) || ...);
}

/// Whose conversation a message belongs to: the one place that knows. Null for
/// what the session handles itself, and for an actor that this role lacks.
letter_reader reader_of(const message& x, const session_handles& w);

/// What passes between this peer and one that its run has not admitted: how
/// peers find each other, what the organiser has signed and a bootstrap shows,
/// nothing of the run's steps.
bool is_for_everybody(const message& x);

/// Part of a gradient: no hub carries it.
bool is_of_a_gradient(const message& x);

/// A call of an expert, its answer, or what hosts hand each other: no hub
/// carries it, unless this peer's user allows it.
bool is_of_an_expert(const message& x);

} // namespace potluck
