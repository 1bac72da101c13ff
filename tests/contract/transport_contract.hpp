/// What every transport must do, whatever it is made of. A test file names a
/// factory and calls `transport_contract` from a test case.
#pragma once

#include <functional>
#include <memory>

#include "runtime/ports/transport.hpp"

namespace potluck::contract {

/// Makes a transport that has not started; bodies held beyond `high_mark_bytes`
/// stop a connection from being read.
using transport_factory
    = std::function<std::unique_ptr<transport>(std::size_t high_mark_bytes)>;

/// Each is one property, checked between transports of the factory.
void frames_arrive_in_order_with_their_bodies(const transport_factory&);
void both_directions_work_at_once(const transport_factory&);
void frames_sent_before_the_connection_is_open_arrive(const transport_factory&);
void a_dial_to_a_closed_port_ends_in_a_sentence(const transport_factory&);
void the_other_side_hears_of_a_close(const transport_factory&);
void what_was_queued_before_a_close_arrives(const transport_factory&);
void a_port_in_use_is_a_sentence(const transport_factory&);
void held_bodies_stop_the_reading(const transport_factory&);
void a_hundred_connections_work(const transport_factory&);
void stopping_under_load_ends_every_connection_once(const transport_factory&);
void stopping_twice_is_harmless(const transport_factory&);
void a_body_outlives_its_transport(const transport_factory&);
void oversized_frames_are_refused_at_the_sender(const transport_factory&);

} // namespace potluck::contract
