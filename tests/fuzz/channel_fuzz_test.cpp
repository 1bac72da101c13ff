#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

std::size_t fuzz_channel(const std::uint8_t* data, std::size_t size);

TEST_CASE("1,500 seeded streams, sound and spoilt ones, are survived") {
  std::mt19937 random{78};
  std::size_t fruitful = 0;
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    std::vector<std::uint8_t> x(6 + random() % 60);
    for (auto& byte : x)
      byte = static_cast<std::uint8_t>(random());
    if (random() % 2 == 0) // Whole, or cut at a few places only.
      x[0] = 255;
    x.shrink_to_fit();
    fruitful += fuzz_channel(x.data(), x.size()) > 0;
  }
  CHECK(fruitful > 500); // Else it would look at the first record alone.
}
