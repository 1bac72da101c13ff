#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

std::size_t fuzz_peer(const std::uint8_t* data, std::size_t size);

TEST_CASE("a whole peer survives 40 seeded scripts of what somebody may say") {
  std::mt19937 random{83};
  std::size_t said = 0;
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    std::vector<std::uint8_t> x(200 + random() % 4000);
    for (auto& byte : x)
      byte = static_cast<std::uint8_t>(random());
    x.shrink_to_fit();
    said += fuzz_peer(x.data(), x.size());
  }
  CHECK(said > 1000); // Else it was never let speak.
}
