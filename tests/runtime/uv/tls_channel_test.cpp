#include "runtime/uv/tls_channel.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include <openssl/err.h>

#include "tests/runtime/uv/noise.hpp"

using namespace potluck;
using verdict = tls_channel::verdict;

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

/// Two channels, and the line between them.
struct line {
  explicit line(std::uint64_t key_life = never)
      : line(tls_context{key_pair::generate()},
             tls_context{key_pair::generate()}, key_life) {
  }
  line(const tls_context& one, const tls_context& other, std::uint64_t key_life)
      : near(one, tls_channel::side::dialler, key_life),
        far(other, tls_channel::side::acceptor, key_life) {
  }

  /// What `from` has to say.
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

  /// What `from` writes, as it goes over the wire.
  bytes sealed(tls_channel& from, const bytes& content) {
    from.write(content.data(), content.size());
    from.flush();
    return carry(from);
  }

  /// All that arrives of what `from` wrote; cut after every `cut` bytes on its
  /// way, and read into rooms of `size`.
  bytes deliver(tls_channel& from, tls_channel& to, std::size_t cut,
                std::size_t size = record_bytes) {
    return read(to, carry(from), cut, size);
  }

  /// Likewise of these bytes.
  bytes read(tls_channel& to, const bytes& all,
             std::size_t cut = ~std::size_t{0},
             std::size_t size = record_bytes) {
    bytes result, room(size);
    for (std::size_t i = 0; i < all.size();) {
      // An exact copy, so that a sanitizer sees a read beyond its end.
      const auto part = std::min(cut, all.size() - i);
      const bytes piece(all.data() + i, all.data() + i + part);
      i += part;
      to.feed(piece.data(), piece.size());
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

TEST_CASE("what is written is read, whatever the sizes, cuts and rooms") {
  line x;
  REQUIRE(x.shake());
  for (std::size_t cut : {1, 7, 1400, 65536, 10'000'000})
    for (std::size_t room : {1, 100, 16383, 16384, 200'000}) {
      bytes all;
      for (std::size_t size :
           {1, 20, 4095, 4096, 4097, 16383, 16384, 16385, 40000, 3, 100000}) {
        if ((cut == 1 || room == 1) && size > 5000)
          continue;
        auto part = noise(size, size + cut);
        x.near.write(part.data(), part.size());
        all.insert(all.end(), part.begin(), part.end());
      }
      x.near.flush();
      CHECK(x.deliver(x.near, x.far, cut, room) == all);
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

TEST_CASE("a changed bit in any byte of a record ends it") {
  const tls_context one{key_pair::generate()}, other{key_pair::generate()};
  random_stream chance{1};
  for (std::size_t i = 0; i < 5 + 40 + 17; ++i) {
    CAPTURE(i);
    line x{one, other, never};
    REQUIRE(x.shake());
    const auto first = x.sealed(x.near, noise(50, 1));
    auto changed = x.sealed(x.near, noise(40, 2));
    REQUIRE(changed.size() == 5 + 40 + 17);
    changed[i] ^= static_cast<std::uint8_t>(1 << chance.below(8));
    // If it is longer now, the rest comes, and does not help.
    const auto got = x.read(x.far, join({first, changed, bytes(20'000)}));
    CHECK(got == noise(50, 1));
    REQUIRE(x.last == verdict::failed);
    if (i >= 5) { // The header is not encrypted, and may say anything.
      CHECK(x.far.failure().find("corrupt record") == 0);
      CHECK(x.deliver(x.far, x.near, 1000).empty());
      CHECK(x.last == verdict::failed);
      CHECK(x.near.failure().find("corrupt record, says the other side") == 0);
      x.near.say_goodbye(); // Nothing more to say, and no harm.
      CHECK(x.near.output_size() == 0);
    }
    CHECK(ERR_peek_error() == 0);
  }
}

TEST_CASE("records that are lost, repeated or swapped end it") {
  const tls_context one{key_pair::generate()}, other{key_pair::generate()};
  for (const std::string order : {"abc", "bc", "ac", "aab", "bac"}) {
    CAPTURE(order);
    line x{one, other, never};
    REQUIRE(x.shake());
    bytes wire, records[3];
    for (std::uint8_t i = 0; i < 3; ++i)
      records[i] = x.sealed(x.near, {i});
    for (auto letter : order)
      wire = join({wire, records[letter - 'a']});
    const auto got = x.read(x.far, wire);
    const bool sound = order == "abc";
    CHECK(got.size() == (sound ? 3 : order[0] == 'a' ? 1 : 0));
    CHECK(x.last == (sound ? verdict::more : verdict::failed));
  }
}

TEST_CASE("nothing is given out before a record's last byte has come") {
  line x;
  REQUIRE(x.shake());
  const auto wire = x.sealed(x.near, noise(1000, 1));
  for (std::size_t i = 0; i + 1 < wire.size(); ++i)
    CHECK(x.read(x.far, {wire[i]}).empty());
  CHECK(x.read(x.far, {wire.back()}) == noise(1000, 1));
}

TEST_CASE("a record that is too long is refused by its header") {
  for (std::size_t carried : {16384 + 256, 16384 + 257, 65535}) {
    line x;
    REQUIRE(x.shake());
    const bytes header{23, 3, 3, static_cast<std::uint8_t>(carried >> 8),
                       static_cast<std::uint8_t>(carried)};
    CHECK(x.read(x.far, header).empty());
    CHECK(x.last == (carried == 16384 + 256 ? verdict::more : verdict::failed));
  }
}

TEST_CASE("what is not encrypted is refused once the handshake is over") {
  for (std::uint8_t type : {20, 21, 22, 24, 255}) {
    CAPTURE(static_cast<int>(type));
    line x;
    REQUIRE(x.shake());
    CHECK(x.read(x.far, {type, 3, 3, 0, 2, 2, 40}).empty());
    CHECK(x.last == verdict::failed);
  }
}

TEST_CASE("a failure is for good") {
  line x;
  REQUIRE(x.shake());
  const auto first = x.sealed(x.near, {1}), second = x.sealed(x.near, {2});
  CHECK(x.read(x.far, second).empty());
  CHECK(x.last == verdict::failed);
  CHECK(x.read(x.far, join({first, second})).empty());
  CHECK(x.last == verdict::failed);
  x.carry(x.far);
  CHECK(x.sealed(x.far, noise(100, 1)).empty());
}

TEST_CASE("what was fed is used up before more is") {
  line x;
  REQUIRE(x.shake());
  const bytes some(10, 23);
  x.far.feed(some.data(), some.size());
  CHECK_THROWS_AS(x.far.feed(some.data(), 1), std::logic_error);
}

TEST_CASE("memory for output is kept, made and given back") {
  line x;
  REQUIRE(x.shake());
  x.near.make_room(100'000);
  bytes out = x.sealed(x.near, noise(50'000, 1));
  CHECK(out.capacity() >= 100'000);
  out.clear();
  x.near.take_output(out); // Lends it.
  CHECK(out.capacity() == 0);
  out = x.sealed(x.near, noise(50'000, 1));
  CHECK(out.capacity() >= 100'000);
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

TEST_CASE("5,000 handshakes leave no memory and no errors behind") {
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
  handshakes(4000);
  CHECK(ERR_peek_error() == 0);
  // A leak of one session alone would be 4,000 times 2 KiB.
  CHECK(resident() < before + 4 * 1024);
}
