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
  for (const auto& x : all)
    CHECK(fuzz_router(reinterpret_cast<const std::uint8_t*>(x.data()), x.size())
          > 0);
  CHECK(feed_mutants(all, 100, 91, fuzz_router) > 20);
}
