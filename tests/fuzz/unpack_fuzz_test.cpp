#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "runtime/packing/packing.hpp"

std::size_t fuzz_unpack(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("20,000 seeded bodies of random and mutated values are survived") {
  std::mt19937 random{79};
  std::uniform_real_distribution<float> value{-1, 1};
  constexpr packing ways[]
      = {packing::float32, packing::float16, packing::bfloat16, packing::int8};
  std::size_t fruitful = 0;
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    const auto way = random() % 4;
    const std::size_t count = random() % 1500;
    std::vector<float> values(count);
    for (auto& x : values)
      x = value(random);
    const std::size_t head = 3;
    std::vector<std::uint8_t> x(head + packed_bytes(ways[way], count));
    x[0] = static_cast<std::uint8_t>(way);
    x[1] = static_cast<std::uint8_t>(count >> 8);
    x[2] = static_cast<std::uint8_t>(count);
    pack(ways[way], values.data(), count, x.data() + head);
    for (auto n = random() % 3; n > 0 && x.size() > head; --n)
      x[head + random() % (x.size() - head)]
          = static_cast<std::uint8_t>(random());
    if (random() % 8 == 0)
      x.resize(head + random() % (x.size() - head + 1));
    x.shrink_to_fit();
    fruitful += fuzz_unpack(x.data(), x.size()) > 0;
  }
  CHECK(fruitful > 10000); // Else it would look at sizes alone.
}
