/// What becomes of those who knock at an encrypted transport, or whom it dials.
#include <cstring>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "messages/framing.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace std::chrono_literals;

namespace {

const address anywhere{"127.0.0.1", 0};

template <class T>
using owned = std::unique_ptr<T, void (*)(T*)>;

sockaddr_in to_sockaddr(const address& x) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(x.port);
  inet_pton(AF_INET, x.host.c_str(), &where.sin_addr);
  return where;
}

/// A blocking socket.
class wire {
public:
  explicit wire(const address& to) : wire(socket(AF_INET, SOCK_STREAM, 0)) {
    auto where = to_sockaddr(to);
    REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof(where))
            == 0);
  }
  explicit wire(int fd) : fd_(fd) {
    timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~wire() {
    close(fd_);
  }
  wire(const wire&) = delete;
  void write(const std::string& text) {
    REQUIRE(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL)
            == static_cast<ssize_t>(text.size()));
  }
  /// All that comes until the other side ends it.
  std::string rest() {
    std::string all;
    char some[1000];
    for (ssize_t n; (n = recv(fd_, some, sizeof(some), 0)) > 0;)
      all.append(some, static_cast<std::size_t>(n));
    return all;
  }
  int fd() const {
    return fd_;
  }

private:
  int fd_;
};

/// A listening socket that answers nothing by itself.
class trap {
public:
  trap() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    auto where = to_sockaddr(anywhere);
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0);
    REQUIRE(listen(fd_, 8) == 0);
  }
  ~trap() {
    close(fd_);
  }
  address where() const {
    sockaddr_in x{};
    socklen_t size = sizeof(x);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&x), &size);
    return {"127.0.0.1", ntohs(x.sin_port)};
  }
  int accept() const {
    return ::accept(fd_, nullptr, nullptr);
  }

private:
  int fd_;
};

/// OpenSSL as others use it.
struct program {
  program(int oldest, int newest)
      : context(SSL_CTX_new(TLS_method()), SSL_CTX_free) {
    SSL_CTX_set_min_proto_version(context.get(), oldest);
    SSL_CTX_set_max_proto_version(context.get(), newest);
  }
  /// With a self-signed certificate of `key`.
  void show(EVP_PKEY* key, const EVP_MD* hash, EVP_PKEY* signer = nullptr) {
    owned<X509> x{X509_new(), X509_free};
    X509_gmtime_adj(X509_getm_notBefore(x.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(x.get()), 3600);
    X509_set_pubkey(x.get(), key);
    REQUIRE(X509_sign(x.get(), signer != nullptr ? signer : key, hash) > 0);
    REQUIRE(SSL_CTX_use_certificate(context.get(), x.get()) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context.get(), key) == 1);
  }
  /// Connects, and reads until the other side ends it.
  void meet(const wire& x, bool accepting) {
    owned<SSL> ssl{SSL_new(context.get()), SSL_free};
    SSL_set_fd(ssl.get(), x.fd());
    auto done
        = accepting ? SSL_accept(ssl.get()) : SSL_connect(ssl.get());
    char some[100];
    while (done > 0)
      done = SSL_read(ssl.get(), some, sizeof(some));
    ERR_clear_error();
  }
  owned<SSL_CTX> context;
};

owned<EVP_PKEY> rsa() {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{2048}),
          EVP_PKEY_free};
}
owned<EVP_PKEY> ed25519() {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free};
}

uv_transport_options secure() {
  uv_transport_options how;
  how.key = key_pair::generate();
  return how;
}
uv_transport_options insecure() {
  uv_transport_options how;
  how.insecure = true;
  return how;
}

/// Why the only connection of `x` that never opened was closed.
std::string reason_of(node& x) {
  std::string reason;
  REQUIRE(x.heard->wait([&](auto& all) {
    for (auto& [id, h] : all)
      if (h.closed > 0 && !h.opened)
        reason = h.reason;
    return !reason.empty();
  }));
  return reason;
}

/// Lets `knock` loose on an encrypted transport, which another peer uses, too;
/// says why it was closed, having checked that the other one noticed nothing.
template <class Knock>
std::string reason_after(Knock knock, uv_transport_options how = secure()) {
  node server{make_uv_transport(how)};
  node friendly{make_uv_transport(secure())};
  auto where = *server.net->listen(anywhere);
  auto id = friendly.net->dial(where);
  REQUIRE(friendly.heard->wait_for_open(id));
  auto far = server.heard->wait_for_accepted();
  REQUIRE(far != 0);
  knock(where);
  auto reason = reason_of(server);
  for (auto& [other, h] : server.heard->all())
    CHECK((other == far) == h.opened);
  friendly.net->send(id, {head_of(1), {}});
  CHECK(server.heard->wait_for_frames(far, 1));
  return reason;
}

/// Dials somebody who does as `answer` likes, and says how that ended.
template <class Answer>
std::string reason_of_dial(Answer answer, uv_transport_options how = secure()) {
  trap there;
  node client{make_uv_transport(how)};
  auto id = client.net->dial(there.where());
  wire line{there.accept()};
  answer(line);
  REQUIRE(client.heard->wait_for_close(id));
  auto h = client.heard->with(id, [](auto& x) { return x; });
  CHECK(h.opened == how.insecure);
  if (!how.insecure)
    CHECK(h.reason.find("cannot connect to " + to_string(there.where()) + ": ")
          == 0);
  return h.reason;
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

} // namespace

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

TEST_CASE("noise and other protocols are shown the door") {
  for (const std::string& text :
       {std::string{"GET / HTTP/1.1\r\nHost: example\r\n\r\n"},
        std::string{"SSH-2.0-OpenSSH_9.2\r\n"}, std::string(1, '\0'),
        std::string(100'000, '\xff')}) {
    std::string answer;
    auto reason = reason_after([&](const address& where) {
      wire x{where};
      ::send(x.fd(), text.data(), text.size(), MSG_NOSIGNAL);
      answer = x.rest();
    });
    CHECK(reason
          == "the other side does not speak TLS 1.3; it is another program");
    if (text.size() < 1000) // Else a reset may overtake it.
      CHECK(answer == std::string{"\x15\x03\x03\x00\x02\x02\x46", 7});
  }
}

TEST_CASE("what only begins like TLS is shown the door") {
  for (const std::string& text :
       {std::string{"\x16\x03\x01\x00\x05\xff\xff\xff\xff\xff", 10},
        std::string{"\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9},
        std::string{"\x16\x03\x03\xff\xff", 5},
        std::string{"\x15\x03\x03\x00\x02\x02\x28", 7}}) {
    auto reason = reason_after([&](const address& where) {
      wire x{where};
      x.write(text);
      x.rest();
    });
    CAPTURE(reason);
    CHECK(says(reason, "the encrypted connection failed: "));
  }
}

TEST_CASE("an older TLS is refused") {
  auto knock = [](const address& where) {
    program{TLS1_2_VERSION, TLS1_2_VERSION}.meet(wire{where}, false);
  };
  CHECK(says(reason_after(knock), "does not speak TLS 1.3"));
  auto key = ed25519();
  CHECK(says(reason_of_dial([&](wire& x) {
               program old{TLS1_2_VERSION, TLS1_2_VERSION};
               old.show(key.get(), nullptr);
               old.meet(x, true);
             }),
             "does not speak TLS 1.3"));
}

TEST_CASE("who shows no certificate, or a wrong one, is refused") {
  auto with = [](EVP_PKEY* key, const EVP_MD* hash, EVP_PKEY* signer) {
    return [=](const address& where) {
      program x{TLS1_3_VERSION, TLS1_3_VERSION};
      if (key != nullptr)
        x.show(key, hash, signer);
      x.meet(wire{where}, false);
    };
  };
  CHECK(reason_after(with(nullptr, nullptr, nullptr))
        == "the other side showed no certificate with an Ed25519 key");
  // It is told that it would not do, and so shows none.
  CHECK(reason_after(with(rsa().get(), EVP_sha256(), nullptr))
        == "the other side showed no certificate with an Ed25519 key");
  auto one = ed25519(), other = ed25519();
  CHECK(reason_after(with(one.get(), nullptr, other.get()))
        == "the other side showed a certificate that its own key has not "
           "signed");
}

TEST_CASE("whoever is dialled has to prove a key as well") {
  auto answer_with = [](EVP_PKEY* key, const EVP_MD* hash, EVP_PKEY* signer) {
    return [=](wire& x) {
      program answering{TLS1_3_VERSION, TLS1_3_VERSION};
      answering.show(key, hash, signer);
      answering.meet(x, true);
    };
  };
  auto other_key = reason_of_dial(answer_with(rsa().get(), EVP_sha256(), nullptr));
  CHECK(says(other_key, "the encrypted connection failed: "));
  auto one = ed25519(), other = ed25519();
  CHECK(says(reason_of_dial(answer_with(one.get(), nullptr, other.get())),
             "showed a certificate that its own key has not signed"));
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

TEST_CASE("who stops in the middle of a handshake is not waited for") {
  auto how = secure();
  how.handshake_timeout = 200ms;
  auto silent = [](const address& where) { wire{where}.rest(); };
  CHECK(says(reason_after(silent, how), "has not proven who it is in time"));
  auto half = [](const address& where) {
    wire x{where};
    x.write(std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11});
    x.rest();
  };
  CHECK(says(reason_after(half, how), "has not proven who it is in time"));
  CHECK(says(reason_of_dial([](wire& x) { x.rest(); }, how),
             "has not proven who it is in time"));
}

TEST_CASE("who hangs up in the middle of a handshake is gone") {
  CHECK(says(reason_after([](const address& where) { wire{where}; }),
             "before it had proven who it is"));
  CHECK(says(reason_of_dial([](wire& x) { shutdown(x.fd(), SHUT_RDWR); }),
             "before it had proven who it is"));
}

TEST_CASE("those who prove nothing do not take all the room") {
  auto how = secure();
  how.max_unproven = 3;
  how.handshake_timeout = 300ms;
  node server{make_uv_transport(how)};
  auto where = *server.net->listen(anywhere);
  std::vector<std::unique_ptr<wire>> idle;
  for (int i = 0; i < 3; ++i)
    idle.push_back(std::make_unique<wire>(where));
  // The fourth is turned away at once, and is no connection at all.
  CHECK(wire{where}.rest().empty());
  REQUIRE(server.heard->wait([](auto& all) {
    std::size_t closed = 0;
    for (auto& [id, h] : all)
      closed += h.closed > 0;
    return closed == 3;
  }));
  node friendly{make_uv_transport(secure())};
  for (int i = 0; i < 10; ++i)
    CHECK(friendly.heard->wait_for_open(friendly.net->dial(where)));
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
    CHECK(says(server.heard->with(far, [](auto& x) { return x.reason; }), both));
    REQUIRE(client.heard->wait_for_close(id));
    // Whether the frame or the answer to ours came first is chance.
    auto reason = client.heard->with(id, [](auto& x) { return x.reason; });
    CHECK((says(reason, alike)
           || says(reason, "does not speak TLS 1.3; it may be another program, "
                           "or run with --insecure")));
  }
}

TEST_CASE("an insecure transport keeps to this machine") {
  node x{make_uv_transport(insecure())};
  for (auto& where : {address{"0.0.0.0", 0}, address{"::", 0},
                      address{"203.0.113.1", 0}, address{"", 0}}) {
    auto refused = x.net->listen(where);
    REQUIRE_FALSE(refused);
    CHECK(says(refused.error(), "with --insecure only this machine may"));
    CHECK(says(refused.error(), "--listen 127.0.0.1:0"));
  }
  CHECK(x.net->listen(anywhere));
  CHECK(x.net->listen({"127.9.8.7", 0}));
  for (auto& where : {address{"203.0.113.1", 7000}, address{"::2", 7000},
                      address{"::ffff:203.0.113.1", 7000}}) {
    auto id = x.net->dial(where);
    REQUIRE(x.heard->wait_for_close(id));
    CHECK(says(x.heard->with(id, [](auto& h) { return h.reason; }),
               "with --insecure only this machine can be dialled"));
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
