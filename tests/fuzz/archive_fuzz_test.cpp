#include <doctest/doctest.h>

#include "tests/fuzz/archive_samples.hpp"

std::size_t fuzz_archive(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("5,000 seeded files of TorchScript, mutated, are survived") {
  for (const auto& x : archive_samples::all())
    CHECK(
        fuzz_archive(reinterpret_cast<const std::uint8_t*>(x.data()), x.size())
        == 1);
  CHECK(feed_mutants(archive_samples::all(), 5000, 83, fuzz_archive) > 500);
}
