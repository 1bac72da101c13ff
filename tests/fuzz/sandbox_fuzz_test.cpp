#include <doctest/doctest.h>

#include "tests/fuzz/sandbox_samples.hpp"

std::size_t fuzz_sandbox(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("200 seeded tokenizers and answers of sandboxed programs, mutated, "
          "are survived") {
  sandbox_samples::patience = std::chrono::minutes{1};
  const auto all = sandbox_samples::all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    const bool answers = i + 1 < all.size(); // The last one is not confined.
    CHECK(fuzz_sandbox(reinterpret_cast<const std::uint8_t*>(all[i].data()),
                       all[i].size())
          == (answers ? 1 : 0));
  }
  CHECK(feed_mutants(all, 200, 87, fuzz_sandbox) > 40);
}
