/// Our channel and OpenSSL as others use it, over memory.
#include <algorithm>
#include <optional>

#include "runtime/uv/tls_channel.hpp"
#include "tests/runtime/uv/noise.hpp"
#include "tests/runtime/uv/tls_strangers.hpp"

using namespace potluck;
using strangers::ed25519;
using strangers::owned;
using strangers::program;
using verdict = tls_channel::verdict;
using side = tls_channel::side;

namespace {

constexpr const char* aes = "TLS_AES_128_GCM_SHA256";
constexpr const char* chacha = "TLS_CHACHA20_POLY1305_SHA256";

int any_certificate(X509_STORE_CTX*, void*) {
  return 1;
}

/// Whatever OpenSSL does by itself, a few tickets included.
struct stranger {
  stranger(side which, const char* cipher) : peer(TLS1_3_VERSION, 0) {
    auto key = ed25519();
    peer.show(key.get(), nullptr);
    auto* context = peer.context.get();
    SSL_CTX_set_cert_verify_callback(context, any_certificate, nullptr);
    SSL_CTX_set_verify(
        context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    REQUIRE(SSL_CTX_set_ciphersuites(context, cipher) == 1);
    SSL_CTX_set_session_id_context(context, &which_context, 1);
    ssl.reset(SSL_new(context));
    in = BIO_new(BIO_s_mem());
    out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl.get(), in, out); // Frees them.
    if (which == side::dialler)
      SSL_set_connect_state(ssl.get());
    else
      SSL_set_accept_state(ssl.get());
  }

  void feed(const bytes& x) {
    if (!x.empty())
      REQUIRE(BIO_write(in, x.data(), static_cast<int>(x.size()))
              == static_cast<int>(x.size()));
  }
  bytes take_output() {
    bytes x(BIO_ctrl_pending(out));
    if (!x.empty())
      REQUIRE(BIO_read(out, x.data(), static_cast<int>(x.size()))
              == static_cast<int>(x.size()));
    return x;
  }
  void write(const bytes& x) {
    REQUIRE(SSL_write(ssl.get(), x.data(), static_cast<int>(x.size()))
            == static_cast<int>(x.size()));
  }
  /// Until there is no more; why is in `last`.
  bytes read() {
    bytes all, some(5000);
    int n = 0;
    while ((n = SSL_read(ssl.get(), some.data(), 5000)) > 0)
      all.insert(all.end(), some.data(), some.data() + n);
    last = SSL_get_error(ssl.get(), n);
    return all;
  }

  std::uint8_t which_context = 1;
  program peer;
  owned<SSL> ssl{nullptr, SSL_free};
  BIO* in = nullptr;
  BIO* out = nullptr;
  int last = SSL_ERROR_NONE;
};

/// A stranger and one of us, who have shaken hands.
struct pair {
  pair(side ours, const char* cipher, std::uint64_t key_life)
      : us(tls_context{key_pair::generate()}, ours, key_life),
        them(ours == side::dialler ? side::acceptor : side::dialler, cipher) {
    auto done = us.shake();
    for (int i = 0; i < 5; ++i) {
      them.feed(output());
      SSL_do_handshake(them.ssl.get());
      ERR_clear_error();
      // What OpenSSL says behind its last flight comes with it.
      if (SSL_is_init_finished(them.ssl.get()) == 1 && first_words.empty()
          && ours == side::acceptor) {
        first_words = noise(20'000, 1);
        them.write(first_words);
      }
      come = them.take_output();
      if (come.empty())
        continue;
      us.feed(come.data(), come.size());
      if (done == verdict::more)
        done = us.shake();
      if (done == verdict::done)
        CHECK(read_fed() == first_words);
    }
    REQUIRE(done == verdict::done);
    REQUIRE(SSL_is_init_finished(them.ssl.get()) == 1);
    CHECK(SSL_CIPHER_get_name(SSL_get_current_cipher(them.ssl.get()))
          == std::string{cipher});
  }

  bytes output() {
    bytes x;
    us.take_output(x);
    return x;
  }
  /// All that we read of `wire`.
  bytes read(const bytes& wire, std::size_t cut = ~std::size_t{0}) {
    bytes all;
    for (std::size_t i = 0; i < wire.size();) {
      const auto part = std::min(cut, wire.size() - i);
      us.feed(wire.data() + i, part);
      i += part;
      all = join({all, read_fed()});
    }
    return all;
  }
  bytes read_fed() {
    bytes all, room(record_bytes);
    for (;;) {
      auto got = us.read(room.data(), room.size());
      last = got.what;
      if (got.what != verdict::done)
        return all;
      all.insert(all.end(), room.data(), room.data() + got.size);
    }
  }

  tls_channel us;
  stranger them;
  bytes come, first_words;
  verdict last = verdict::more;
};

template <class Check>
void with_all(Check check, std::uint64_t key_life = records_per_key) {
  for (auto ours : {side::dialler, side::acceptor})
    for (auto* cipher : {aes, chacha}) {
      CAPTURE(cipher);
      pair x{ours, cipher, key_life};
      check(x);
      CHECK(ERR_peek_error() == 0);
    }
}

} // namespace

TEST_CASE("OpenSSL reads what we write, and we what it writes") {
  with_all([](pair& x) {
    random_stream chance{3};
    for (int i = 0; i < 60; ++i) {
      const auto part = noise(1 + chance.below(i % 4 == 0 ? 60'000 : 3'000), i);
      x.us.write(part.data(), part.size());
      x.us.flush();
      x.them.feed(x.output());
      CHECK(x.them.read() == part);
      CHECK(x.them.last == SSL_ERROR_WANT_READ);
      const auto back = noise(1 + chance.below(i % 4 == 0 ? 60'000 : 3'000), i);
      x.them.write(back);
      CHECK(x.read(x.them.take_output(), 1 + chance.below(20'000)) == back);
      CHECK(x.last == verdict::more);
    }
  });
}

TEST_CASE("OpenSSL pads its records, and we read them") {
  with_all([](pair& x) {
    SSL_set_block_padding(x.them.ssl.get(), 4096);
    for (std::size_t size : {1, 4095, 4096, 16383, 16384, 30'000}) {
      x.them.write(noise(size, size));
      CHECK(x.read(x.them.take_output()) == noise(size, size));
    }
  });
}

TEST_CASE("keys are replaced by either side, asked for or not") {
  auto exchange = [](pair& x) {
    for (int i = 0; i < 40; ++i) {
      if (i % 3 == 0)
        REQUIRE(SSL_key_update(x.them.ssl.get(),
                               i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED
                                          : SSL_KEY_UPDATE_NOT_REQUESTED)
                == 1);
      const auto there = noise(40'000, i), back = noise(30'000, i + 100);
      x.them.write(there);
      REQUIRE(x.read(x.them.take_output(), 1000) == there);
      x.us.write(back.data(), back.size());
      x.them.feed(x.output());
      REQUIRE(x.them.read() == back);
    }
  };
  with_all(exchange);
  with_all(exchange, 2);
}

TEST_CASE("requests for our key are answered, each at most once") {
  with_all([](pair& x) {
    for (int i = 0; i < 5; ++i) {
      SSL_key_update(x.them.ssl.get(), SSL_KEY_UPDATE_REQUESTED);
      x.them.write({1});
    }
    CHECK(x.read(x.them.take_output()) == bytes(5, 1));
    const bytes some(10, 7);
    x.us.write(some.data(), some.size());
    x.us.flush();
    const auto update = 5 + record_overhead_bytes;
    CHECK(x.us.output_size() >= update + 10 + record_overhead_bytes);
    CHECK(x.us.output_size() <= 5 * update + 10 + record_overhead_bytes);
    x.them.feed(x.output());
    CHECK(x.them.read() == some);
  });
}

TEST_CASE("a peer that asks for new keys again and again is not listened to") {
  const auto ask = [](pair& x, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      SSL_key_update(x.them.ssl.get(), SSL_KEY_UPDATE_REQUESTED);
      x.them.write({1});
    }
    return x.read(x.them.take_output());
  };
  with_all([&](pair& x) {
    // Two tickets may have come before.
    CHECK(ask(x, late_messages - 2) == bytes(late_messages - 2, 1));
    CHECK(x.last == verdict::more);
    x.output();
    CHECK(ask(x, 1000).size() <= 2);
    CHECK(x.last == verdict::failed);
    CHECK(x.us.failure() == "the other side asks for new keys again and again");
    // Only those before were answered.
    CHECK(x.us.output_size() <= 3 * (5 + record_overhead_bytes));
  });
}

TEST_CASE("a peer that asks for new keys and sends much is listened to") {
  with_all([](pair& x) {
    const auto part = noise(bytes_per_late_message, 1);
    for (std::size_t i = 0; i < 3 * late_messages; ++i) {
      SSL_key_update(x.them.ssl.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
      x.them.write(part);
      REQUIRE(x.read(x.them.take_output()) == part);
    }
    CHECK(x.last == verdict::more);
  });
}

TEST_CASE("a goodbye is understood both ways") {
  with_all([](pair& x) {
    x.us.say_goodbye();
    x.us.say_goodbye(); // Once is enough.
    CHECK(x.us.output_size() == 2 + record_overhead_bytes);
    x.them.feed(x.output());
    CHECK(x.them.read().empty());
    CHECK(x.them.last == SSL_ERROR_ZERO_RETURN);
    x.them.write({1, 2, 3}); // What it still has to say.
    SSL_shutdown(x.them.ssl.get());
    CHECK(x.read(x.them.take_output()) == bytes{1, 2, 3});
    CHECK(x.last == verdict::closed);
  });
}

TEST_CASE("each tells the other of a record that was changed") {
  with_all([](pair& x) {
    x.them.write(noise(1000, 1));
    auto wire = x.them.take_output();
    wire[500] ^= 1;
    CHECK(x.read(wire).empty());
    CHECK(x.last == verdict::failed);
    CHECK(x.us.failure().find("corrupt record: bits changed") == 0);
    x.them.feed(x.output());
    CHECK(x.them.read().empty());
    CHECK(x.them.last == SSL_ERROR_SSL);
    CHECK(ERR_GET_REASON(ERR_get_error()) == SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
    ERR_clear_error();
  });
  with_all([](pair& x) {
    const bytes some(5000, 1);
    x.us.write(some.data(), some.size());
    auto wire = x.output();
    wire[500] ^= 1;
    x.them.feed(wire);
    CHECK(x.them.read().empty());
    ERR_clear_error();
    CHECK(x.read(x.them.take_output()).empty());
    CHECK(x.last == verdict::failed);
    CHECK(x.us.failure().find("corrupt record, says the other side") == 0);
    CHECK(x.us.output_size() == 0); // An alert is not answered.
  });
}
