#include "tools/lab/network/fault_proxy.hpp"

#include <thread>

#include <doctest/doctest.h>

#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using contract::transport_probe;

namespace {

using clock = std::chrono::steady_clock;

/// A machine behind the proxy: a transport that dials from its front's host.
struct machine {
  machine(fault_proxy& proxy, std::size_t number)
      : listener(std::make_shared<transport_probe>()) {
    auto host = "127.1.77." + std::to_string(number + 1);
    auto back = "127.2.77." + std::to_string(number + 1);
    auto opened = proxy.add(number, host, back);
    REQUIRE_MESSAGE(opened, (opened ? "" : opened.error()));
    front = *opened;
    uv_transport_options how;
    how.dial_from = host;
    how.high_mark_bytes = contract::ample;
    how.key = key_pair::generate();
    network = make_uv_transport(how);
    network->start(listener);
    auto bound = network->listen({back, front.port});
    REQUIRE_MESSAGE(bound, (bound ? "" : bound.error()));
  }
  ~machine() {
    network->stop();
  }

  address front;
  std::shared_ptr<transport_probe> listener;
  std::unique_ptr<transport> network;
};

outgoing_frame frame_of(std::size_t size) {
  return {std::vector<std::uint8_t>(size, 7), {}};
}

struct two_machines {
  fault_proxy proxy{1};
  machine a{proxy, 0};
  machine b{proxy, 1};
  connection_id out = 0; ///< At a.
  connection_id in = 0;  ///< At b.

  void connect() {
    out = a.network->dial(b.front);
    REQUIRE(a.listener->wait_for_open(out));
    in = b.listener->wait_for_accepted();
    REQUIRE(in != 0);
  }

  /// Seconds until a frame of a has reached b.
  double carry(std::size_t size) {
    auto before = b.listener->with(in, [](auto& x) { return x.frame_count; });
    auto begin = clock::now();
    a.network->send(out, frame_of(size));
    REQUIRE(b.listener->wait_for_frames(in, before + 1));
    return std::chrono::duration<double>(clock::now() - begin).count();
  }
};

} // namespace

TEST_CASE("a proxy carries frames both ways, under the dialler's own host") {
  two_machines x;
  x.connect();
  CHECK(x.b.listener->with(x.in, [](auto& h) { return h.remote.host; })
        == x.a.front.host);
  CHECK(x.a.listener->with(x.out, [](auto& h) { return h.remote; })
        == x.b.front);
  for (int i = 0; i < 50; ++i) {
    x.a.network->send(x.out, frame_of(1 + 999 * i));
    x.b.network->send(x.in, frame_of(1 + 777 * i));
  }
  CHECK(x.b.listener->wait_for_frames(x.in, 50));
  CHECK(x.a.listener->wait_for_frames(x.out, 50));
  CHECK(x.proxy.totals().connections == 1);
  CHECK(x.proxy.totals().bytes > 50 * 24 * 1000);
}

TEST_CASE("the last words before an orderly end still arrive") {
  two_machines x;
  x.connect();
  for (int i = 0; i < 20; ++i)
    x.a.network->send(x.out, frame_of(30'000));
  x.a.network->close(x.out, 2000);
  CHECK(x.b.listener->wait_for_frames(x.in, 20));
  CHECK(x.b.listener->wait_for_close(x.in));
}

TEST_CASE("a line delays by both ends' delays, and throttles") {
  two_machines x;
  x.connect();
  access_line slow;
  slow.delay = 50ms;
  x.proxy.set_line(0, slow);
  x.proxy.set_line(1, slow);
  CHECK(x.carry(10) >= 0.099);
  x.proxy.set_line(1, {});
  slow.delay = 0ms;
  slow.upload = 100e3;
  x.proxy.set_line(0, slow);
  CHECK(x.carry(50'000) >= 0.49);
  slow.upload = 0;
  slow.loss_up = 0.5;
  x.proxy.set_line(0, slow);
  CHECK(x.carry(20'000) >= 0.2); // One retransmission at least.
  CHECK(x.proxy.totals().lost_packets > 0);
}

TEST_CASE("a partition holds what is on its way until it heals") {
  two_machines x;
  x.connect();
  auto one = x.proxy.part({0});
  auto other = x.proxy.part({1});
  x.a.network->send(x.out, frame_of(10));
  auto late = x.a.network->dial(x.b.front);
  x.proxy.reunite(one);
  // The proxy accepts; nobody is there to prove who they are.
  auto heard = [&] {
    return x.b.listener->with(x.in, [](auto& h) { return h.frame_count; });
  };
  // What would have to happen happens within a few looks of the proxy: as long
  // as a frame takes on a machine with nothing to do, times fifty.
  std::this_thread::sleep_for(100ms);
  CHECK(heard() == 0);
  CHECK_FALSE(x.a.listener->with(late, [](auto& h) { return h.opened; }));
  x.proxy.reunite(other);
  CHECK(x.b.listener->wait_for_frames(x.in, 1));
  CHECK(x.a.listener->wait_for_open(late));
  CHECK(x.b.listener->wait([](auto& all) { return all.size() == 2; }));
}

TEST_CASE("a deaf machine hears nothing, but is heard") {
  two_machines x;
  x.connect();
  access_line deaf;
  deaf.deaf = true;
  x.proxy.set_line(1, deaf);
  x.a.network->send(x.out, frame_of(10));
  x.b.network->send(x.in, frame_of(10));
  CHECK(x.a.listener->wait_for_frames(x.out, 1));
  CHECK(x.b.listener->with(x.in, [](auto& h) { return h.frame_count; }) == 0);
  x.proxy.set_line(1, {});
  CHECK(x.b.listener->wait_for_frames(x.in, 1));
}

TEST_CASE("a cut breaks a connection for both sides; a new one works") {
  two_machines x;
  x.connect();
  x.proxy.cut(1);
  CHECK(x.a.listener->wait_for_close(x.out));
  CHECK(x.b.listener->wait_for_close(x.in));
  CHECK(x.proxy.totals().cut == 1);
  auto again = x.a.network->dial(x.b.front);
  x.a.network->send(again, frame_of(10));
  CHECK(x.b.listener->wait([](auto& all) {
    for (auto& [id, h] : all)
      if (h.frame_count == 1)
        return true;
    return false;
  }));
}

TEST_CASE("corruption flips bits, and the receiver closes the connection") {
  two_machines x;
  x.connect();
  access_line noisy;
  noisy.corrupt = 1;
  x.proxy.set_line(0, noisy);
  // A preamble that announces too much waits for more: it gets more.
  for (int i = 0; i < 200; ++i)
    x.a.network->send(x.out, frame_of(100'000));
  CHECK(x.b.listener->wait_for_close(x.in));
  CHECK(x.b.listener->with(x.in, [](auto& h) { return h.frame_count; }) == 0);
  CHECK(x.proxy.totals().corrupted > 0);
}

TEST_CASE("who is gone, closed or a stranger cannot be reached") {
  two_machines x;
  x.connect();
  access_line closed;
  closed.closed = true;
  x.proxy.set_line(1, closed);
  auto refused = x.a.network->dial(x.b.front);
  CHECK(x.a.listener->wait_for_close(refused));
  x.proxy.set_line(1, {});
  auto stranger = std::make_shared<transport_probe>();
  uv_transport_options how;
  how.key = key_pair::generate();
  auto elsewhere = make_uv_transport(how);
  elsewhere->start(stranger);
  auto id = elsewhere->dial(x.b.front);
  CHECK(stranger->wait_for_close(id));
  elsewhere->stop();
  x.b.network->stop();
  CHECK(x.a.listener->wait_for_close(x.out));
  auto gone = x.a.network->dial(x.b.front);
  CHECK(x.a.listener->wait_for_close(gone));
}

TEST_CASE("a proxy says what it cannot listen on") {
  fault_proxy proxy{1};
  auto x = proxy.add(0, "no.such.host.example", "127.2.77.9");
  REQUIRE_FALSE(x);
  CHECK(x.error().find("numeric hosts") != std::string::npos);
  x = proxy.add(0, "192.0.2.77", "127.2.77.9");
  REQUIRE_FALSE(x);
  CHECK(x.error().find("192.0.2.77") != std::string::npos);
}

TEST_CASE("a transport dials from no address that is not this machine's") {
  auto listener = std::make_shared<transport_probe>();
  uv_transport_options how;
  how.dial_from = "192.0.2.77";
  how.key = key_pair::generate();
  auto network = make_uv_transport(how);
  network->start(listener);
  auto id = network->dial({"127.0.0.1", 9});
  CHECK(listener->wait_for_close(id));
  network->stop();
  CHECK(is_numeric_host("::1"));
  CHECK_FALSE(is_numeric_host("localhost"));
  CHECK_FALSE(is_numeric_host(""));
}
