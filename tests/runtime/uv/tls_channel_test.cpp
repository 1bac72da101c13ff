#include "runtime/uv/tls_channel.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include <openssl/err.h>

#include "runtime/random.hpp"

using namespace potluck;
using bytes = byte_array;
using verdict = tls_channel::verdict;

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

/// Two channels, and the line between them.
struct line {
  explicit line(std::uint64_t records_per_key = never)
      : line(tls_context{key_pair::generate()},
             tls_context{key_pair::generate()}, records_per_key) {
  }
  line(const tls_context& one, const tls_context& other,
       std::uint64_t records_per_key)
      : near(one, tls_channel::side::dialler, records_per_key),
        far(other, tls_channel::side::acceptor, records_per_key) {
  }

  /// What `from` has to say, in pieces of at most `most`.
  bytes carry(tls_channel& from) {
    bytes x;
    from.take_output(x);
    wire += x.size();
    return x;
  }

  /// Until both are done, or neither has anything to say.
  bool shake() {
    auto a = near.shake();
    auto b = verdict::more;
    for (int i = 0; i < 10 && (a != verdict::done || b != verdict::done); ++i) {
      auto out = carry(near);
      if (b == verdict::more && !out.empty()) {
        far.feed(out.data(), out.size());
        b = far.shake();
      }
      auto back = carry(far);
      if (a == verdict::more && !back.empty()) {
        near.feed(back.data(), back.size());
        a = near.shake();
      }
    }
    return a == verdict::done && b == verdict::done;
  }

  /// All that arrives of what `from` wrote; cut at `cuts` on its way.
  bytes deliver(tls_channel& from, tls_channel& to, std::size_t cut) {
    bytes result, room(record_bytes);
    auto all = carry(from);
    for (std::size_t i = 0; i < all.size(); i += cut) {
      to.feed(all.data() + i, std::min(cut, all.size() - i));
      for (;;) {
        auto got = to.read(room.data(), room.size());
        last = got.what;
        if (got.what != verdict::done)
          break;
        result.insert(result.end(), room.begin(), room.begin() + got.size);
      }
    }
    return result;
  }

  tls_channel near, far;
  std::size_t wire = 0;
  verdict last = verdict::more;
};

bytes noise(std::size_t size, std::uint64_t seed) {
  random_stream chance{seed};
  bytes x(size);
  for (auto& b : x)
    b = static_cast<std::uint8_t>(chance.below(256));
  return x;
}

/// Of the process, in KiB.
std::size_t resident() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t all = 0, here = 0;
  file >> all >> here;
  return here * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

} // namespace

TEST_CASE("a handshake proves each to the other") {
  auto mine = key_pair::generate(), theirs = key_pair::generate();
  line x{tls_context{mine}, tls_context{theirs}, never};
  CHECK_THROWS_AS(x.near.peer(), std::logic_error);
  REQUIRE(x.shake());
  CHECK(x.near.peer() == theirs.id());
  CHECK(x.far.peer() == mine.id());
  CHECK(x.wire < 2500); // Both certificates in them.
}

TEST_CASE("what is written is read, whatever the sizes and cuts") {
  line x;
  REQUIRE(x.shake());
  for (std::size_t cut : {1, 7, 1400, 65536, 10'000'000}) {
    bytes all;
    for (std::size_t size :
         {1, 20, 4095, 4096, 4097, 16383, 16384, 16385, 40000, 3, 100000}) {
      if (cut == 1 && size > 5000)
        continue;
      auto part = noise(size, size + cut);
      x.near.write(part.data(), part.size());
      all.insert(all.end(), part.begin(), part.end());
    }
    x.near.flush();
    CHECK(x.deliver(x.near, x.far, cut) == all);
    CHECK(x.last == verdict::more);
  }
  x.far.write(reinterpret_cast<const std::uint8_t*>("back"), 4);
  CHECK(x.deliver(x.far, x.near, 100).empty()); // It waits for company.
  x.far.flush();
  CHECK(x.deliver(x.far, x.near, 100).size() == 4);
}

TEST_CASE("small pieces share records, large ones have their own") {
  line x;
  REQUIRE(x.shake());
  auto small = noise(20, 1);
  for (int i = 0; i < 500; ++i)
    x.near.write(small.data(), small.size());
  x.near.flush();
  CHECK(x.near.output_size() == 500 * 20 + record_overhead_bytes);
  x.deliver(x.near, x.far, 1000);
  auto large = noise(10 * record_bytes, 2);
  x.near.write(large.data(), large.size());
  CHECK(x.near.output_size() == large.size() + 10 * record_overhead_bytes);
}

TEST_CASE("a key is replaced after its records, unnoticed") {
  line x{3};
  REQUIRE(x.shake());
  for (int i = 0; i < 50; ++i) {
    auto part = noise(20000, i);
    auto& from = i % 2 == 0 ? x.near : x.far;
    auto& to = i % 2 == 0 ? x.far : x.near;
    from.write(part.data(), part.size());
    from.flush();
    CHECK(x.deliver(from, to, 1000) == part);
  }
}

TEST_CASE("a goodbye is told from a failure") {
  line x;
  REQUIRE(x.shake());
  auto part = noise(10, 1);
  x.near.write(part.data(), part.size());
  x.near.flush();
  x.near.say_goodbye();
  CHECK(x.deliver(x.near, x.far, 1000) == part);
  CHECK(x.last == verdict::closed);
  x.far.write(part.data(), part.size()); // What it still has to say.
  x.far.flush();
  CHECK(x.far.output_size() > 0);
}

TEST_CASE("a changed bit anywhere fails, and is told to the other side") {
  random_stream chance{1};
  for (int i = 0; i < 50; ++i) {
    line x;
    REQUIRE(x.shake());
    auto part = noise(5000, i);
    x.near.write(part.data(), part.size());
    x.near.flush();
    auto out = x.carry(x.near);
    auto bit = chance.below(8 * (out.size() - 5)) + 40; // Behind the header.
    out[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    x.far.feed(out.data(), out.size());
    bytes room(record_bytes);
    auto got = x.far.read(room.data(), room.size());
    REQUIRE(got.what == verdict::failed);
    CHECK(x.far.failure().find("corrupt record") == 0);
    CHECK(x.deliver(x.far, x.near, 1000).empty());
    CHECK(x.last == verdict::failed);
    CHECK(x.near.failure().find("corrupt record, says the other side") == 0);
    x.near.say_goodbye(); // Nothing more to say, and no harm.
    CHECK(x.near.output_size() == 0);
    CHECK(ERR_peek_error() == 0);
  }
}

TEST_CASE("first words tell TLS, frames and others apart") {
  line x;
  x.near.shake();
  auto out = x.carry(x.near);
  CHECK(recognize(out.data(), out.size()) == first_words::tls);
  auto alert = not_tls_alert();
  CHECK(recognize(alert.data(), alert.size()) == first_words::tls);
  auto is = [](const std::string& text) {
    return recognize(reinterpret_cast<const std::uint8_t*>(text.data()),
                     text.size());
  };
  CHECK(is("PLK3....") == first_words::frame);
  CHECK(is("PLK") == first_words::frame);
  CHECK(is("POST / HTTP/1.1") == first_words::other);
  CHECK(is(std::string(1, '\0')) == first_words::other);
}

TEST_CASE("an alert from somebody who speaks no TLS ends the handshake") {
  line x;
  x.near.shake();
  auto alert = not_tls_alert();
  x.near.feed(alert.data(), alert.size());
  CHECK(x.near.shake() == verdict::failed);
  CHECK(x.near.failure().find("does not speak TLS 1.3") != std::string::npos);
}

TEST_CASE("10,000 handshakes leave no memory and no errors behind") {
  const tls_context one{key_pair::generate()}, other{key_pair::generate()};
  auto handshakes = [&](int count) {
    for (int i = 0; i < count; ++i) {
      line x{one, other, never};
      if (i % 4 == 3) { // Given up half-way.
        x.near.shake();
        auto out = x.carry(x.near);
        x.far.feed(out.data(), out.size());
        x.far.shake();
      } else {
        REQUIRE(x.shake());
      }
    }
  };
  handshakes(1000); // What OpenSSL keeps for the process it has then.
  auto before = resident();
  handshakes(9000);
  CHECK(ERR_peek_error() == 0);
  // A leak of one session alone would be 9,000 times 2 KiB.
  CHECK(resident() < before + 4 * 1024);
}
