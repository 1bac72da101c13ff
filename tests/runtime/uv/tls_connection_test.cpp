/// What an encrypted connection tells, and how it ends.
#include "messages/framing.hpp"
#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace potluck::strangers;

TEST_CASE("both ends are told who is at the other") {
  auto one = secure(), other = secure();
  node server{make_uv_transport(one)};
  node client{make_uv_transport(other)};
  auto id = client.net->dial(*server.net->listen(anywhere));
  REQUIRE(client.heard->wait_for_open(id));
  auto far = server.heard->wait_for_accepted();
  auto proven = [](auto& x) { return x.proven; };
  CHECK(client.heard->with(id, proven) == one.key->id());
  CHECK(server.heard->with(far, proven) == other.key->id());
}

TEST_CASE("without encryption nobody is proven to be anybody") {
  node server{make_uv_transport(insecure())};
  node client{make_uv_transport(insecure())};
  auto id = client.net->dial(*server.net->listen(anywhere));
  REQUIRE(client.heard->wait_for_open(id));
  CHECK(client.heard->with(id, [](auto& x) { return x.proven.empty(); }));
  CHECK_THROWS_AS(make_uv_transport(), std::invalid_argument);
}

TEST_CASE("a peer that asks for no certificate is let in, proven itself") {
  // It does not know whom it talks to, which is its own loss.
  auto key = ed25519();
  trap there;
  node client{make_uv_transport(secure())};
  auto id = client.net->dial(there.where());
  wire line{there.accept()};
  program careless{TLS1_3_VERSION, TLS1_3_VERSION};
  careless.show(key.get(), nullptr);
  owned<SSL> ssl{SSL_new(careless.context.get()), SSL_free};
  SSL_set_fd(ssl.get(), line.fd());
  REQUIRE(SSL_accept(ssl.get()) == 1);
  REQUIRE(client.heard->wait_for_open(id));
  CHECK(client.heard->with(id, [](auto& x) { return x.proven; })
        == id_of(*public_key_of(key.get())));
}

TEST_CASE("an encrypted and an insecure peer say what is the matter") {
  const std::string both = "start both with it, or neither";
  const std::string alike = "start both alike";
  SUBCASE("the insecure one dials") {
    node server{make_uv_transport(secure())};
    node client{make_uv_transport(insecure())};
    auto id = client.net->dial(*server.net->listen(anywhere));
    client.net->send(id, {head_of(1), {}}); // As a hello is.
    CHECK(says(reason_of(server), alike));
    REQUIRE(client.heard->wait_for_close(id));
    CHECK(says(client.heard->with(id, [](auto& x) { return x.reason; }), both));
  }
  SUBCASE("the encrypted one dials") {
    node server{make_uv_transport(insecure())};
    node client{make_uv_transport(secure())};
    auto id = client.net->dial(*server.net->listen(anywhere));
    auto far = server.heard->wait_for_accepted();
    server.net->send(far, {head_of(1), {}});
    REQUIRE(server.heard->wait_for_close(far));
    CHECK(
        says(server.heard->with(far, [](auto& x) { return x.reason; }), both));
    REQUIRE(client.heard->wait_for_close(id));
    // Whether the frame or the answer to ours came first is chance.
    auto reason = client.heard->with(id, [](auto& x) { return x.reason; });
    CHECK((says(reason, alike)
           || says(reason, "does not speak TLS 1.3; it may be another program, "
                           "or run with insecure")));
  }
}

TEST_CASE("an insecure transport keeps to this machine") {
  node x{make_uv_transport(insecure())};
  for (auto& where : {address{"0.0.0.0", 0}, address{"::", 0},
                      address{"203.0.113.1", 0}, address{"", 0}}) {
    auto refused = x.net->listen(where);
    REQUIRE_FALSE(refused);
    CHECK(says(refused.error(), "with insecure only this machine may"));
    CHECK(says(refused.error(), "listen at 127.0.0.1:0"));
  }
  CHECK(x.net->listen(anywhere));
  CHECK(x.net->listen({"127.9.8.7", 0}));
  for (auto& where : {address{"203.0.113.1", 7000}, address{"::2", 7000},
                      address{"::ffff:203.0.113.1", 7000}}) {
    auto id = x.net->dial(where);
    REQUIRE(x.heard->wait_for_close(id));
    CHECK(says(x.heard->with(id, [](auto& h) { return h.reason; }),
               "with insecure only this machine can be dialled"));
  }
}

TEST_CASE("a line that is cut is told from an orderly end") {
  auto key = ed25519();
  for (bool orderly : {true, false}) {
    node server{make_uv_transport(secure())};
    wire line{*server.net->listen(anywhere)};
    program peer{TLS1_3_VERSION, TLS1_3_VERSION};
    peer.show(key.get(), nullptr);
    owned<SSL> ssl{SSL_new(peer.context.get()), SSL_free};
    SSL_set_fd(ssl.get(), line.fd());
    REQUIRE(SSL_connect(ssl.get()) == 1);
    auto id = server.heard->wait_for_accepted();
    REQUIRE(id != 0);
    if (orderly)
      SSL_shutdown(ssl.get());
    shutdown(line.fd(), SHUT_WR);
    REQUIRE(server.heard->wait_for_close(id));
    CHECK(server.heard->with(id, [](auto& x) { return x.reason; })
          == (orderly ? "the other side closed the connection"
                      : "the other side ended, or the line was cut, without a "
                        "goodbye"));
  }
}

TEST_CASE("an ended transport says goodbye") {
  auto key = ed25519();
  node server{make_uv_transport(secure())};
  wire line{*server.net->listen(anywhere)};
  program peer{TLS1_3_VERSION, TLS1_3_VERSION};
  peer.show(key.get(), nullptr);
  owned<SSL> ssl{SSL_new(peer.context.get()), SSL_free};
  SSL_set_fd(ssl.get(), line.fd());
  REQUIRE(SSL_connect(ssl.get()) == 1);
  auto id = server.heard->wait_for_accepted();
  server.net->send(id, {head_of(1), body_of(100'000, 1)});
  server.net->close(id, 10'000);
  std::size_t got = 0;
  char some[10'000];
  for (int n; (n = SSL_read(ssl.get(), some, sizeof(some))) > 0;)
    got += static_cast<std::size_t>(n);
  CHECK(got == preamble_bytes + 4 + 100'000);
  CHECK(SSL_get_shutdown(ssl.get()) == SSL_RECEIVED_SHUTDOWN);
}
