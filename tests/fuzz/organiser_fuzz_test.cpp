#include <doctest/doctest.h>

#include <random>
#include <string>

#include "runtime/identity/sha256.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "tests/fuzz/organiser_samples.hpp"

std::size_t fuzz_organiser(const std::uint8_t* data, std::size_t size);

using namespace potluck;

namespace {

using generator = std::mt19937;

std::string name(generator& random) {
  return std::string(1 + random() % 8, static_cast<char>('a' + random() % 26));
}

std::string invitation_bytes(generator& random) {
  std::string rest;
  const std::string key(32, static_cast<char>(1 + random() % 255));
  rest += key + key;
  append_text(rest, name(random));
  const auto count = 1 + random() % 3;
  rest += static_cast<char>(count);
  for (auto i = count; i > 0; --i) {
    rest += key;
    append_little_endian(rest, static_cast<std::uint16_t>(random()));
    append_text(rest, name(random));
  }
  std::string all(1, '\1');
  append_little_endian(all, static_cast<std::uint16_t>(rest.size() + 3));
  return '\0' + all + rest;
}

std::string manifest_bytes(generator& random) {
  std::string head;
  append_text(head, name(random));
  const auto count = random() % 4;
  head += static_cast<char>(count);
  std::string bodies;
  for (auto i = count; i > 0; --i) {
    const std::string body(random() % 40, 'x');
    append_text(head, std::to_string(i) + name(random));
    append_little_endian(head, static_cast<std::uint32_t>(body.size()));
    append_id(head, sha256(body));
    bodies += body;
  }
  std::string all(1, '\1');
  append_little_endian(all, static_cast<std::uint16_t>(head.size()));
  return all + head + bodies;
}

} // namespace

TEST_CASE("1,500 seeded charters, signed or not, mutated, are survived") {
  // Else it would look at the beginnings alone.
  CHECK(feed_mutants(organiser_samples::all(), 1500, 81, fuzz_organiser) > 150);
}

TEST_CASE("4,000 seeded invitations and manifests, mutated, are survived") {
  generator random{80};
  std::size_t fruitful = 0;
  for (int i = 0; i < 4000; ++i) {
    CAPTURE(i);
    auto x = i % 8 == 0 ? invitation_bytes(random) : manifest_bytes(random);
    for (auto n = random() % 3; n > 0; --n)
      x[1 + random() % (x.size() - 1)] = static_cast<char>(random());
    if (random() % 8 == 0)
      x.resize(random() % x.size());
    x.shrink_to_fit();
    fruitful += fuzz_organiser(reinterpret_cast<const std::uint8_t*>(x.data()),
                               x.size());
  }
  CHECK(fruitful > 1000); // Else it would look at the beginnings alone.
}
