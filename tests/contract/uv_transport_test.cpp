#include <doctest/doctest.h>

#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_contract.hpp"

using namespace potluck;
using namespace potluck::contract;

namespace {

/// Plain, as `--insecure` has it.
std::unique_ptr<transport> over_uv(std::size_t high_mark_bytes) {
  uv_transport_options options;
  options.high_mark_bytes = high_mark_bytes;
  options.insecure = true;
  return make_uv_transport(options);
}

} // namespace

TEST_CASE("libuv: frames arrive in order with their bodies") {
  frames_arrive_in_order_with_their_bodies(over_uv);
}
TEST_CASE("libuv: both directions work at once") {
  both_directions_work_at_once(over_uv);
}
TEST_CASE("libuv: frames sent before the connection is open arrive") {
  frames_sent_before_the_connection_is_open_arrive(over_uv);
}
TEST_CASE("libuv: a dial to a closed port ends in a sentence") {
  a_dial_to_a_closed_port_ends_in_a_sentence(over_uv);
}
TEST_CASE("libuv: the other side hears of a close") {
  the_other_side_hears_of_a_close(over_uv);
}
TEST_CASE("libuv: what was queued before a close arrives") {
  what_was_queued_before_a_close_arrives(over_uv);
}
TEST_CASE("libuv: a port in use is a sentence") {
  a_port_in_use_is_a_sentence(over_uv);
}
TEST_CASE("libuv: held bodies stop the reading") {
  held_bodies_stop_the_reading(over_uv);
}
TEST_CASE("libuv: a hundred connections work") {
  a_hundred_connections_work(over_uv);
}
TEST_CASE("libuv: stopping under load ends every connection once") {
  stopping_under_load_ends_every_connection_once(over_uv);
}
TEST_CASE("libuv: stopping twice is harmless") {
  stopping_twice_is_harmless(over_uv);
}
TEST_CASE("libuv: a body outlives its transport") {
  a_body_outlives_its_transport(over_uv);
}
TEST_CASE("libuv: oversized frames are refused at the sender") {
  oversized_frames_are_refused_at_the_sender(over_uv);
}
