#include "runtime/identity/sha256.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("SHA-256 is the standard's") {
  // FIPS 180-4's examples: one block, and nothing.
  CHECK(to_string(sha256("abc"))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(to_string(sha256(""))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("bytes that come one after the other have the same SHA-256") {
  sha256_stream x;
  x.add("a", 1);
  x.add("", 0);
  x.add("bc", 2);
  CHECK(x.sum() == sha256("abc"));
}
