/// Those who knock at an encrypted transport, or whom it dials, and are not
/// what they should be.
#pragma once

#include <cstring>
#include <memory>
#include <string>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "runtime/uv/uv_transport.hpp"
#include "tests/contract/transport_probe.hpp"

namespace potluck::strangers {

using contract::head_of;
using contract::node;

inline const address anywhere{"127.0.0.1", 0};

template <class T>
using owned = std::unique_ptr<T, void (*)(T*)>;

inline sockaddr_in to_sockaddr(const address& x) {
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
    auto done = accepting ? SSL_accept(ssl.get()) : SSL_connect(ssl.get());
    char some[100];
    while (done > 0)
      done = SSL_read(ssl.get(), some, sizeof(some));
    ERR_clear_error();
  }
  owned<SSL_CTX> context;
};

inline owned<EVP_PKEY> rsa() {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{2048}),
          EVP_PKEY_free};
}
inline owned<EVP_PKEY> ed25519() {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free};
}

inline uv_transport_options secure() {
  uv_transport_options how;
  how.key = key_pair::generate();
  return how;
}
inline uv_transport_options insecure() {
  uv_transport_options how;
  how.insecure = true;
  return how;
}

/// Why the only connection of `x` that never opened was closed.
inline std::string reason_of(node& x) {
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

inline bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

} // namespace potluck::strangers
