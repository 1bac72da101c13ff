#include "tests/contract/transport_contract.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "messages/framing.hpp"
#include "tests/contract/transport_probe.hpp"

namespace potluck::contract {

namespace {

const address anywhere{"127.0.0.1", 0};

/// Two nodes with one open connection.
struct pair {
  explicit pair(const transport_factory& make, std::size_t high_mark = ample,
                bool keep = true)
      : server(make(high_mark), keep), client(make(high_mark), keep) {
    auto bound = server.net->listen(anywhere);
    REQUIRE_MESSAGE(bound, bound.error());
    where = *bound;
    near = client.net->dial(where);
    REQUIRE(client.heard->wait_for_open(near));
    far = server.heard->wait_for_accepted();
    REQUIRE(far != 0);
  }
  node server;
  node client;
  address where;
  connection_id near = 0; ///< The client's name of the connection.
  connection_id far = 0;  ///< The server's.
};

/// Sizes around every border that the readers and writers have.
const std::vector<std::size_t> sizes{
    0,     1,       4,     63,    64,      4095,   4096,   4097,
    65523, 65535,   65536, 65537, 0,       131072, 262144, 1000001,
    3,     5 << 20, 0,     70000, 1 << 20, 12,     0,      (1 << 20) + 1};

void send_all(node& from, connection_id id) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    from.net->send(id, {head_of(static_cast<std::uint32_t>(i)),
                        body_of(sizes[i], static_cast<std::uint8_t>(i))});
}

void check_all(node& at, connection_id id) {
  REQUIRE(at.heard->wait_for_frames(id, sizes.size()));
  at.heard->with(id, [](history& x) {
    REQUIRE(x.frames.size() == sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      CAPTURE(i);
      auto& body = x.frames[i].body;
      CHECK(x.frames[i].head == head_of(static_cast<std::uint32_t>(i)));
      CHECK(same_bytes(body, body_of(sizes[i], static_cast<std::uint8_t>(i))));
      CHECK(reinterpret_cast<std::uintptr_t>(body.data) % 64 == 0);
    }
  });
}

/// Counts what is alive, so that a test sees a body's release.
shared_bytes counted_body(std::size_t size,
                          std::shared_ptr<std::atomic<int>> n) {
  auto* bytes = new std::vector<std::uint8_t>(size, 1);
  ++*n;
  return {std::shared_ptr<const void>(bytes,
                                      [n, bytes](const void*) {
                                        delete bytes;
                                        --*n;
                                      }),
          bytes->data(), size};
}

} // namespace

void frames_arrive_in_order_with_their_bodies(const transport_factory& make) {
  pair x{make};
  CHECK(x.client.heard->with(x.near, [](auto& h) { return h.remote; })
        == x.where);
  send_all(x.client, x.near);
  check_all(x.server, x.far);
  CHECK(x.server.net->traffic().bytes_received > (8u << 20));
}

void both_directions_work_at_once(const transport_factory& make) {
  pair x{make};
  std::thread other{[&] { send_all(x.server, x.far); }};
  send_all(x.client, x.near);
  other.join();
  check_all(x.server, x.far);
  check_all(x.client, x.near);
}

void frames_sent_before_the_connection_is_open_arrive(
    const transport_factory& make) {
  node server{make(ample)};
  node client{make(ample)};
  auto bound = server.net->listen(anywhere);
  REQUIRE(bound);
  auto id = client.net->dial(*bound);
  send_all(client, id);
  check_all(server, server.heard->wait_for_accepted());
}

void a_dial_to_a_closed_port_ends_in_a_sentence(const transport_factory& make) {
  address gone;
  {
    node server{make(ample)};
    gone = *server.net->listen(anywhere);
  }
  node client{make(ample)};
  auto id = client.net->dial(gone);
  REQUIRE(client.heard->wait_for_close(id));
  client.heard->with(id, [&](history& x) {
    CHECK_FALSE(x.opened);
    CHECK(x.reason.find("cannot connect to " + to_string(gone)) == 0);
  });
}

void the_other_side_hears_of_a_close(const transport_factory& make) {
  pair x{make};
  x.client.net->close(x.near);
  REQUIRE(x.server.heard->wait_for_close(x.far));
  REQUIRE(x.client.heard->wait_for_close(x.near));
  x.client.net->send(x.near, {head_of(1), {}}); // Dropped.
  x.client.net->close(x.near);                  // Nothing more to close.
  x.client.net->stop();
  x.server.net->stop();
  for (auto* n : {&x.client, &x.server})
    for (auto& [id, h] : n->heard->all()) {
      CHECK(h.closed == 1);
      CHECK_FALSE(h.reason.empty());
      CHECK(h.frame_count == 0);
    }
}

void what_was_queued_before_a_close_arrives(const transport_factory& make) {
  pair x{make};
  // The client has unread bytes of ours when it closes: they must not cost the
  // server the client's last words.
  x.server.net->send(x.far, {head_of(0), body_of(100000, 1)});
  send_all(x.client, x.near);
  x.client.net->close(x.near, 15000);
  check_all(x.server, x.far);
  CHECK(x.server.heard->wait_for_close(x.far));
  CHECK(x.client.heard->wait_for_close(x.near));
}

void a_port_in_use_is_a_sentence(const transport_factory& make) {
  node first{make(ample)};
  node second{make(ample)};
  auto bound = first.net->listen(anywhere);
  REQUIRE(bound);
  auto again = second.net->listen(*bound);
  REQUIRE_FALSE(again);
  CHECK(again.error()
        == "cannot listen on " + to_string(*bound)
               + ": address already in use; stop the other program or listen "
                 "at another port");
  CHECK(second.net->listen(anywhere)); // It has not broken anything.
}

void held_bodies_stop_the_reading(const transport_factory& make) {
  constexpr std::size_t mark = 1 << 20;
  constexpr std::size_t size = 256 * 1024;
  constexpr int count = 200;
  pair x{make, mark};
  auto alive = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < count; ++i)
    x.client.net->send(x.near, {head_of(static_cast<std::uint32_t>(i)),
                                counted_body(size, alive)});
  // More than the mark is delivered, then no more; what the kernel's buffers
  // cannot take stays with the sender.
  REQUIRE(x.server.heard->wait_for_frames(x.far, mark / size));
  // A frame in the other direction shows that the server's thread goes on.
  x.server.net->send(x.far, {head_of(7), {}});
  REQUIRE(x.client.heard->wait_for_frames(x.near, 1));
  auto delivered = [&] {
    return x.server.heard->with(x.far, [](auto& h) { return h.frame_count; });
  };
  CHECK(delivered() <= mark / size + 1);
  CHECK(alive->load() > 0);
  // Releasing lets it continue to the end, in order.
  for (std::size_t next = 0; next < count;) {
    REQUIRE(x.server.heard->wait_for_frames(x.far, next + 1));
    std::vector<incoming_frame> taken;
    x.server.heard->with(x.far, [&](auto& h) { taken.swap(h.frames); });
    for (auto& frame : taken)
      CHECK(frame.head == head_of(static_cast<std::uint32_t>(next++)));
    CHECK(taken.size() <= mark / size + 2);
  }
  x.client.net->stop();
  CHECK(alive->load() == 0);
}

void a_hundred_connections_work(const transport_factory& make) {
  node server{make(ample)};
  node client{make(ample)};
  auto bound = server.net->listen(anywhere);
  REQUIRE(bound);
  std::vector<connection_id> ids;
  for (std::uint32_t i = 0; i < 100; ++i) {
    ids.push_back(client.net->dial(*bound));
    client.net->send(ids.back(), {head_of(i), body_of(i * 1000, 1)});
  }
  REQUIRE(server.heard->wait([](auto& all) {
    return std::count_if(all.begin(), all.end(),
                         [](auto& x) { return x.second.frame_count == 1; })
           == 100;
  }));
  std::vector<std::uint8_t> heads;
  for (auto& [id, x] : server.heard->all()) {
    CHECK(x.frames[0].body.size == x.frames[0].head[0] * 1000u);
    heads.push_back(x.frames[0].head[0]);
    server.net->send(id, {x.frames[0].head, {}});
  }
  std::sort(heads.begin(), heads.end());
  CHECK(std::unique(heads.begin(), heads.end()) == heads.end());
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(client.heard->wait_for_frames(ids[i], 1));
    client.heard->with(ids[i],
                       [&](auto& x) { CHECK(x.frames[0].head == head_of(i)); });
  }
}

void stopping_under_load_ends_every_connection_once(
    const transport_factory& make) {
  auto alive = std::make_shared<std::atomic<int>>(0);
  {
    pair x{make, ample, false};
    // A stranger would be parted with for reading too slowly.
    x.client.net->no_stranger(x.near);
    x.server.net->no_stranger(x.far);
    std::atomic<bool> enough{false};
    std::vector<std::thread> senders;
    for (auto* side : {&x.client, &x.server})
      senders.emplace_back([&, side] {
        auto id = side == &x.client ? x.near : x.far;
        for (std::uint32_t i = 0; !enough && i < 2000; ++i)
          side->net->send(id,
                          {head_of(i), counted_body(i * 100 % 300000, alive)});
      });
    for (int i = 0; i < 20; ++i)
      x.client.net->dial(x.where);
    CHECK(x.server.heard->wait_for_frames(x.far, 50));
    x.server.net->stop();
    x.client.net->stop();
    auto before = x.server.heard->all();
    enough = true;
    for (auto& t : senders)
      t.join();
    for (auto* n : {&x.client, &x.server})
      for (auto& [id, h] : n->heard->all()) {
        CHECK(h.closed == 1);
        CHECK(h.after_close == 0);
      }
    for (auto& [id, h] : before) // No call-back after stop().
      CHECK(h.frame_count
            == x.server.heard->with(id, [](auto& y) { return y.frame_count; }));
    CHECK_FALSE(x.server.net->listen(anywhere));
  }
  CHECK(alive->load() == 0);
}

void stopping_twice_is_harmless(const transport_factory& make) {
  {
    auto never_started = make(ample);
    never_started->stop();
  }
  node x{make(ample)};
  REQUIRE(x.net->listen(anywhere));
  std::thread other{[&] { x.net->stop(); }};
  x.net->stop();
  other.join();
  x.net->stop();
  x.net->dial(anywhere); // Nobody listens to the answer any more.
  CHECK(x.heard->all().empty());
}

void a_body_outlives_its_transport(const transport_factory& make) {
  incoming_frame kept;
  {
    pair x{make, 1000};
    x.client.net->send(x.near, {head_of(1), body_of(100000, 5)});
    REQUIRE(x.server.heard->wait_for_frames(x.far, 1));
    kept = x.server.heard->with(x.far, [](auto& h) { return h.frames[0]; });
  }
  CHECK(same_bytes(kept.body, body_of(100000, 5)));
}

void oversized_frames_are_refused_at_the_sender(const transport_factory& make) {
  pair x{make};
  std::vector<std::uint8_t> head(max_head_bytes + 1);
  CHECK_THROWS_AS(x.client.net->send(x.near, {head, {}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(x.client.net->send(x.near, {{}, {}}), std::invalid_argument);
  CHECK_THROWS_AS(
      x.client.net->send(x.near, {head_of(1), body_of(max_body_bytes + 1, 0)}),
      std::invalid_argument);
  // The largest of both passes.
  head.pop_back();
  x.client.net->send(x.near, {head, body_of(max_body_bytes, 9)});
  REQUIRE(x.server.heard->wait_for_frames(x.far, 1));
  x.server.heard->with(x.far, [&](auto& h) {
    CHECK(h.frames[0].head == head);
    CHECK(same_bytes(h.frames[0].body, body_of(max_body_bytes, 9)));
  });
}

} // namespace potluck::contract
