/// Several peers behind one port.
#include "runtime/uv/faces.hpp"
#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace potluck::strangers;

namespace {

/// Two peers of one process, and somebody who dials them.
struct house {
  house() {
    main.net->start(main.heard);
    guest.net->start(guest.heard);
    where = *main.net->listen(anywhere);
  }
  struct face {
    explicit face(const std::shared_ptr<shared_transport>& of,
                  const key_pair& key)
        : heard(std::make_shared<transport_probe>()), net(make_face(of, key)) {
    }
    std::shared_ptr<transport_probe> heard;
    std::unique_ptr<transport> net;
  };
  /// Who proves to be there, for a caller that asks for `whom`.
  peer_id who_answers(const peer_id& whom) {
    auto id = caller.net->dial(where, whom);
    REQUIRE(caller.heard->wait_for_open(id));
    return caller.heard->with(id, [](auto& x) { return x.proven; });
  }

  uv_transport_options options = secure();
  key_pair other = key_pair::generate();
  std::shared_ptr<shared_transport> shared = make_shared_transport(options);
  face main{shared, *options.key};
  face guest{shared, other};
  address where;
  node caller{make_uv_transport(secure())};
};

std::size_t accepted(transport_probe& x) {
  std::size_t result = 0;
  for (auto& [id, one] : x.all())
    result += one.accepted;
  return result;
}

} // namespace

TEST_CASE("who asks for a face on a shared port is answered by it") {
  house x;
  CHECK(*x.guest.net->listen({"0.0.0.0", 0}) == x.where);
  CHECK(x.who_answers(x.other.id()) == x.other.id());
  CHECK(x.guest.heard->wait_for_accepted() != 0);
  CHECK(accepted(*x.main.heard) == 0);
  CHECK(x.who_answers(x.options.key->id()) == x.options.key->id());
  CHECK(x.main.heard->wait_for_accepted() != 0);
  CHECK(accepted(*x.guest.heard) == 1);
}

TEST_CASE(
    "who asks for nobody, or for a stranger, is answered by the main face") {
  house x;
  CHECK(x.who_answers({}) == x.options.key->id());
  CHECK(x.who_answers(key_pair::generate().id()) == x.options.key->id());
}

TEST_CASE("frames of a face come to it, and it dials as itself") {
  house x;
  auto id = x.caller.net->dial(x.where, x.other.id());
  x.caller.net->send(id, {head_of(7), body_of(100'000, 1)});
  auto far = x.guest.heard->wait_for_accepted();
  REQUIRE(x.guest.heard->wait_for_frames(far, 1));
  x.guest.net->send(far, {head_of(8), {}});
  CHECK(x.caller.heard->wait_for_frames(id, 1));

  // To the other face of its own house, too.
  auto own = x.guest.net->dial(x.where, {});
  REQUIRE(x.guest.heard->wait_for_open(own));
  auto came = x.main.heard->wait_for_accepted();
  auto proven = [](auto& y) { return y.proven; };
  CHECK(x.guest.heard->with(own, proven) == x.options.key->id());
  CHECK(x.main.heard->with(came, proven) == x.other.id());
}

TEST_CASE("a face that is closed loses its connections, and only those") {
  house x;
  auto gone = x.caller.net->dial(x.where, x.other.id());
  auto stays = x.caller.net->dial(x.where);
  REQUIRE(x.caller.heard->wait_for_open(gone));
  REQUIRE(x.caller.heard->wait_for_open(stays));
  REQUIRE(x.guest.heard->wait_for_accepted() != 0);
  x.guest.net->stop();
  REQUIRE(x.caller.heard->wait_for_close(gone));
  for (auto& [id, one] : x.guest.heard->all())
    CHECK(one.closed == 1);
  CHECK(x.who_answers(x.other.id()) == x.options.key->id());
  CHECK(x.caller.heard->with(stays, [](auto& y) { return y.closed; }) == 0);

  house::face again{x.shared, x.other};
  again.net->start(again.heard);
  CHECK(x.who_answers(x.other.id()) == x.other.id());
}

TEST_CASE("when the main face is closed its port is free for the next one") {
  house x;
  x.main.net->stop();
  house::face next{x.shared, *x.options.key};
  next.net->start(next.heard);
  REQUIRE(next.net->listen(x.where));
  CHECK(x.who_answers({}) == x.options.key->id());
  CHECK(next.heard->wait_for_accepted() != 0);
  CHECK(x.who_answers(x.other.id()) == x.other.id());
}

TEST_CASE("without encryption there are no faces") {
  CHECK_THROWS_AS(make_shared_transport(insecure()), std::invalid_argument);
}
