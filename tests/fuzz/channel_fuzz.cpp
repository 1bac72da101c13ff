/// What a line may make of an encrypted connection, from its first byte on.
///
/// The input is a script: the first bytes say how the stream is cut, how
/// much room its reader has, how long a key lives, and whether the handshake is
/// spoilt; then each step writes something, or spoils what was written.
/// tools/fuzz runs it with libFuzzer, channel_fuzz_test.cpp without.
#include <algorithm>
#include <cstdlib>

#include "runtime/uv/tls_channel.hpp"
#include "tests/fuzz/input_script.hpp"

using namespace potluck;
using verdict = tls_channel::verdict;

namespace {

const tls_context& context() {
  static const tls_context made{key_pair::generate()};
  return made;
}

void spoil(input_script& from, byte_array& x) {
  const auto where = from.number() << 8 | from.byte();
  if (!x.empty())
    x[where % x.size()] ^= static_cast<std::uint8_t>(from.byte());
}

/// What is fed is an exact copy, so that a sanitizer sees a read beyond it.
verdict shake(tls_channel& to, const byte_array& wire) {
  const byte_array piece(wire.begin(), wire.end());
  to.feed(piece.data(), piece.size());
  return to.shake();
}

/// Whether both are done. The flight numbered `spoilt` changes on its way; what
/// one says after it has failed need not be heard.
bool shake(tls_channel& near, tls_channel& far, input_script& from,
           std::size_t spoilt) {
  auto a = near.shake(), b = verdict::more;
  for (std::size_t flight = 0; flight < 4; ++flight) {
    auto& speaker = flight % 2 == 0 ? near : far;
    auto& heard = flight % 2 == 0 ? b : a;
    byte_array wire;
    speaker.take_output(wire);
    if (flight == spoilt)
      spoil(from, wire);
    if (heard == verdict::more && !wire.empty())
      heard = shake(flight % 2 == 0 ? far : near, wire);
  }
  return a == verdict::done && b == verdict::done;
}

struct stream {
  byte_array wire, content;
};

void follow(input_script& from, tls_channel& by, stream& x) {
  while (!from.over() && x.wire.size() < 200'000) {
    const auto what = from.byte();
    byte_array more;
    switch (what % 4) {
      case 0: // A piece of any size, which waits for the next, or does not.
      case 1:
        more.resize(1 + from.number() % (what % 4 == 0 ? 200 : 40'000));
        std::fill(more.begin(), more.end(), static_cast<std::uint8_t>(what));
        by.write(more.data(), more.size());
        x.content.insert(x.content.end(), more.begin(), more.end());
        if (what & 128)
          by.flush();
        break;
      case 2: // A byte changed, of all so far.
        if (what & 128)
          spoil(from, x.wire);
        break;
      default: // Bytes from nowhere, or some that are gone.
        if ((what & 128) == 0)
          break;
        for (auto n = from.byte() % 8; n > 0; --n)
          x.wire.push_back(static_cast<std::uint8_t>(from.byte()));
        x.wire.resize(x.wire.size() - std::min(x.wire.size(), from.byte() % 4));
        break;
    }
    by.take_output(more);
    x.wire.insert(x.wire.end(), more.begin(), more.end());
  }
}

} // namespace

/// @returns How much content came out.
std::size_t fuzz_channel(const std::uint8_t* data, std::size_t size) {
  input_script from{data, size};
  const auto cut = std::max<std::size_t>(from.number(), 1);
  const auto room = std::max<std::size_t>(from.number(), 1);
  const auto key_life = 1 + from.byte();
  const auto spoilt = from.byte(); // One in 64 that matters.
  tls_channel near{context(), tls_channel::side::dialler, key_life};
  tls_channel far{context(), tls_channel::side::acceptor, key_life};
  if (!shake(near, far, from, spoilt))
    return 0;
  stream x;
  follow(from, near, x);
  byte_array into(room);
  std::size_t out = 0;
  bool ended = false;
  for (std::size_t i = 0; i < x.wire.size(); i += cut) {
    const byte_array piece(x.wire.data() + i,
                           x.wire.data() + std::min(i + cut, x.wire.size()));
    far.feed(piece.data(), piece.size());
    for (;;) {
      const auto got = far.read(into.data(), into.size());
      if (got.what != verdict::done) {
        ended = ended || got.what != verdict::more;
        break;
      }
      // Only what was written, in order, and nothing behind an end.
      if (ended || got.size == 0 || got.size > into.size()
          || out + got.size > x.content.size()
          || !std::equal(into.data(), into.data() + got.size,
                         x.content.data() + out))
        std::abort();
      out += got.size;
    }
  }
  return out;
}
