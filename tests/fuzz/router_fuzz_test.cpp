#include <doctest/doctest.h>

#include <system_error>

#include "tests/fuzz/router_samples.hpp"
#include "tests/support/skip.hpp"

std::size_t fuzz_router(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("100 seeded conversations with routers, mutated, are survived") {
  try {
    fuzz_router(nullptr, 0);
  } catch (const std::system_error&) {
    return support::skip("port 5351 of an address of the loopback is taken");
  }
  const auto all = router_samples::all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(all[i].data());
    bool opened = false; // A machine that stands still costs the answers.
    for (int tries = 0; tries < 30 && !opened; ++tries)
      opened = fuzz_router(bytes, all[i].size()) > 0;
    CHECK(opened);
  }
  feed_mutants(all, 100, 91, fuzz_router);
}
