/// A transport's connections on the loop's thread, without the transport.
#include "runtime/uv/connection_desk.hpp"

#include <future>

#include "tests/contract/transport_probe.hpp"
#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace potluck::strangers;

namespace {

struct board {
  explicit board(uv_transport_options how = insecure())
      : it(std::move(how), loop) {
    it.main()->listener = heard;
    loop->start(it);
    run([&] { it.begin(); });
  }
  ~board() {
    loop->stop([&] { it.stop(); });
  }
  /// On the loop's thread, to its end.
  template <class F>
  void run(F what) {
    std::promise<void> done;
    REQUIRE(loop->post([&] {
      what();
      done.set_value();
    }));
    done.get_future().wait();
  }
  address listen() {
    std::promise<expected<address>> bound;
    run([&] {
      it.listen(anywhere, [&](const auto& x) { bound.set_value(x); });
    });
    return *bound.get_future().get();
  }
  connection_id dial(const address& where) {
    const auto id = it.new_id();
    run([&] { it.dial(id, it.main(), where, {}); });
    return id;
  }
  std::string end_of(connection_id id) {
    REQUIRE(heard->wait_for_close(id));
    return heard->with(id, [](auto& x) { return x.reason; });
  }

  std::shared_ptr<event_loop> loop = std::make_shared<event_loop>();
  std::shared_ptr<transport_probe> heard = std::make_shared<transport_probe>();
  connection_desk it;
};

} // namespace

TEST_CASE("what is dialled is answered where somebody listens") {
  board a, b;
  const auto id = a.dial(b.listen());
  REQUIRE(a.heard->wait_for_open(id));
  const auto far = b.heard->wait_for_accepted();
  REQUIRE(far != 0);
  a.loop->post(id, {head_of(7), body_of(1000, 1)});
  CHECK(b.heard->wait_for_frames(far, 1));
  b.run([&] { b.it.close(far, std::chrono::milliseconds{0}); });
  a.end_of(id);
}

TEST_CASE("beyond the most connections a dial fails, and says so") {
  auto few = insecure();
  few.max_connections = 1;
  board a{few}, b;
  const auto where = b.listen();
  REQUIRE(a.heard->wait_for_open(a.dial(where)));
  CHECK(a.end_of(a.dial(where)).find("too many connections")
        != std::string::npos);
}

TEST_CASE("a punch says why it cannot begin") {
  board a;
  const auto fails_with = [&](const address& where) {
    const auto id = a.it.new_id();
    a.run([&] { a.it.punch(id, a.it.main(), where, true); });
    return a.end_of(id);
  };
  CHECK(fails_with({"somebody.example", 7}).find("no numeric address")
        != std::string::npos);
  CHECK(fails_with({"127.0.0.1", 7}).find("listens nowhere")
        != std::string::npos);
}

TEST_CASE("a face that has left dials nobody, and loses what it has") {
  board a, b;
  const auto where = b.listen();
  const auto id = a.dial(where);
  REQUIRE(a.heard->wait_for_open(id));
  a.run([&] { a.it.leave(a.it.main()); });
  CHECK(a.end_of(id) == "the transport was stopped");
  const auto late = a.dial(where);
  a.run([] {});
  CHECK_FALSE(a.heard->with(late, [](auto& x) { return x.opened; }));
}

TEST_CASE("what is said of an unknown connection has no effect") {
  board a;
  a.run([&] {
    a.it.close(99, std::chrono::milliseconds{0});
    a.it.hold(99, true);
    a.it.no_stranger(99);
    a.it.plan_window(99, {});
    a.it.on_posted_frame(99, {head_of(1), {}});
    a.it.on_all_handled();
  });
  CHECK(a.heard->all().empty());
}

TEST_CASE("what waited for a dial counts when it is connected, if nothing more "
          "is sent") {
  board a{secure()};
  trap silent;
  const auto id = a.it.new_id();
  a.run([&] {
    a.it.dial(id, a.it.main(), silent.where(), {});
    constexpr std::size_t each = 40'000;
    for (std::size_t all = 0; all <= limits::unread_answers_of_all; all += each)
      a.it.on_posted_frame(id, {std::vector<std::uint8_t>(each), {}});
  });
  CHECK(says(a.end_of(id), "does not read its answers"));
}
