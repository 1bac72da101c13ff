#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

std::size_t fuzz_joiner(const std::uint8_t* data, std::size_t size);

TEST_CASE(
    "2,000 seeded downloads, from donors that say anything, are survived") {
  std::mt19937 random{79};
  std::size_t fruitful = 0;
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    std::vector<std::uint8_t> x(100 + random() % 2000);
    for (auto& byte : x)
      byte = static_cast<std::uint8_t>(random());
    x.shrink_to_fit();
    fruitful += fuzz_joiner(x.data(), x.size()) > 0;
  }
  CHECK(fruitful > 100); // Else it would look at the beginnings alone.
}
