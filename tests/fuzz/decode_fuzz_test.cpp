#include <doctest/doctest.h>

#include <random>

#include "messages/codec.hpp"
#include "messages/framing.hpp"
#include "tests/messages/samples.hpp"

std::size_t fuzz_decode(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("20,000 seeded streams of random and mutated frames are survived") {
  std::mt19937 random{77};
  auto below = [&](std::size_t n) { return random() % n; };
  auto all = samples::all();
  std::size_t accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    std::vector<std::uint8_t> stream{static_cast<std::uint8_t>(random())};
    for (std::size_t frames = 1 + below(3); frames > 0; --frames) {
      auto& x = all[below(all.size())];
      auto head = encode(x);
      if (below(8) == 0)
        for (auto& byte : head)
          byte = static_cast<std::uint8_t>(random());
      for (std::size_t n = below(4); n > 0; --n)
        head[below(head.size())] = static_cast<std::uint8_t>(random());
      auto body = samples::body_size(x);
      std::vector<std::uint8_t> nulls(body);
      auto preamble = write_preamble(
          preamble_for(head.data(), head.size(), nulls.data(), body));
      stream.insert(stream.end(), preamble.begin(), preamble.end());
      stream.insert(stream.end(), head.begin(), head.end());
      stream.resize(stream.size() + body);
    }
    if (below(4) == 0)
      stream.resize(1 + below(stream.size()));
    if (below(8) == 0)
      stream[below(stream.size())] ^= static_cast<std::uint8_t>(1 + below(255));
    // An exact copy, so that a sanitizer sees a read beyond the end.
    std::vector<std::uint8_t> exact(stream.begin(), stream.end());
    exact.shrink_to_fit();
    accepted += fuzz_decode(exact.data(), exact.size());
  }
  CHECK(accepted > 5000); // Else it would look at framing alone.
}
