#include "tools/lab/sim/sim_disk.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

struct computer {
  explicit computer(std::uint64_t seed) : files{seed, [this] { return now; }} {
  }
  bool write(const std::string& text) {
    auto half = text.size() / 2;
    return files
        .replace("f", {{text.data(), half},
                       {text.data() + half, text.size() - half}})
        .
        operator bool();
  }
  std::string read() const {
    auto x = files.find("f");
    return x ? std::string{x->begin(), x->end()} : "nothing";
  }

  duration now{0};
  sim_disk files;
};

const std::string before = "what was there before";
const std::string after = "what comes in its place";

} // namespace

TEST_CASE("a disk keeps what is written, and nothing else when it is full") {
  computer x{1};
  CHECK(x.read() == "nothing");
  CHECK(x.write(before));
  CHECK(x.read() == before);
  x.files.full = true;
  auto done = x.files.replace("f", {{after.data(), after.size()}});
  REQUIRE_FALSE(done);
  CHECK(done.error().find("no space left") != std::string::npos);
  CHECK(x.read() == before);
  x.files.full = false;
  CHECK(x.write(after));
  x.files.cut();
  CHECK(x.read() == after);
}

TEST_CASE("a bit of each file may rot") {
  computer x{1};
  random_stream chance{1};
  x.files.rot(chance); // There is none.
  CHECK(x.write(before));
  x.files.rot(chance);
  const auto after_all = x.read();
  REQUIRE(after_all.size() == before.size());
  int bits = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (auto differ = static_cast<unsigned char>(before[i] ^ after_all[i]);
         differ != 0;
         differ = static_cast<unsigned char>(differ & (differ - 1)))
      ++bits;
  CHECK(bits == 1);
}

TEST_CASE("what is under way when the power goes may be old, new or torn") {
  int old = 0, whole = 0, shorter = 0, zeros = 0, never = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    computer x{seed};
    x.files.tears_writes = true;
    bool had_one = seed % 2 == 0;
    if (had_one)
      REQUIRE(x.write(before));
    x.now += 10s;
    REQUIRE(x.write(after));
    x.now += 1s;
    x.files.cut();
    auto is = x.read();
    old += is == before;
    whole += is == after;
    never += is == "nothing";
    CHECK((had_one || is != before));
    if (is == before || is == after || is == "nothing")
      continue;
    auto same = std::mismatch(is.begin(), is.end(), after.begin()).first;
    CHECK(std::all_of(same, is.end(), [](char c) { return c == 0; }));
    (is.size() == after.size() ? zeros : shorter) += 1;
    x.now += 1s;
    x.files.cut(); // What is torn does not tear again.
    CHECK(x.read() == is);
  }
  for (auto count : {old, whole, shorter, zeros, never})
    CHECK(count > 5);
}

TEST_CASE("what was written long ago is safe") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    computer x{seed};
    x.files.tears_writes = true;
    REQUIRE(x.write(after));
    x.now += sim_disk::unsafe;
    x.files.cut();
    CHECK(x.read() == after);
  }
}
