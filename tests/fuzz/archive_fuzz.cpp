/// A file of TorchScript from a stranger, before LibTorch gets any of it.
/// tools/fuzz runs it with libFuzzer, archive_fuzz_test.cpp without.
#include <cstdint>
#include <cstdlib>

#include "models/script/script_archive.hpp"

using namespace potluck;

/// @returns Whether it was one.
std::size_t fuzz_archive(const std::uint8_t* data, std::size_t size) {
  script_limits most;
  most.bytes = most.code_bytes = 1 << 20;
  const auto once
      = checked_archive({reinterpret_cast<const char*>(data), size}, most);
  if (!once)
    return 0;
  const auto twice = checked_archive(*once, most);
  if (!twice || *twice != *once)
    std::abort();
  return 1;
}
