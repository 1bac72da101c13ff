#include "runtime/state/state_transfer.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <stdexcept>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

constexpr std::uint64_t values = 1000;

state_snapshot donor(std::uint64_t seed = 8) {
  return state_snapshot(
      std::make_shared<const training_state>(some_state(values, seed)), 1024);
}

using verdict = state_transfer::verdict;

verdict give(state_transfer& joiner, const state_snapshot& donor,
             std::uint32_t piece) {
  auto bytes = donor.piece(piece);
  return joiner.offer(piece, bytes.data, bytes.size);
}

bool refuses(void (*change)(state_manifest&)) {
  auto manifest = donor().manifest(1);
  change(manifest);
  return !state_transfer::begin(manifest, values);
}

} // namespace

TEST_CASE("a joiner ends with the donor's state") {
  auto source = donor();
  auto joiner = state_transfer::begin(source.manifest(1), values);
  REQUIRE(bool(joiner));
  REQUIRE(joiner->pieces() == source.pieces());
  for (std::uint32_t i = source.pieces(); i-- > 0;) {
    CHECK(give(*joiner, source, i)
          == (i == 0 ? verdict::complete : verdict::placed));
    CHECK(joiner->missing() == i);
  }
  auto state = joiner->finish();
  REQUIRE(bool(state));
  CHECK(to_bytes(*state) == to_bytes(source.state()));
  CHECK(state->recent == source.state().recent);
}

TEST_CASE("a joiner gets the moments that there are, and refuses others") {
  for (unsigned moments : {0u, 1u, 2u}) {
    CAPTURE(moments);
    const state_snapshot source(
        std::make_shared<const training_state>(some_state(values, 8, moments)),
        1024);
    const auto manifest = source.manifest(1);
    CHECK(manifest.bytes == 64 + 4 * values * (1 + moments));
    for (unsigned other : {0u, 1u, 2u})
      if (other != moments)
        CHECK(!state_transfer::begin(manifest, values, other));
    auto joiner = state_transfer::begin(manifest, values, moments);
    REQUIRE(bool(joiner));
    for (std::uint32_t i = 0; i < source.pieces(); ++i)
      give(*joiner, source, i);
    const auto state = joiner->finish();
    REQUIRE(bool(state));
    CHECK(to_bytes(*state) == to_bytes(source.state()));
  }
}

TEST_CASE("a refused piece changes nothing") {
  auto source = donor();
  auto joiner = state_transfer::begin(source.manifest(1), values);
  auto bytes = source.piece(0);
  auto last = source.pieces() - 1;
  CHECK(joiner->offer(0, bytes.data, 0) == verdict::wrong_length);
  CHECK(joiner->offer(0, bytes.data, bytes.size - 1) == verdict::wrong_length);
  CHECK(joiner->offer(last, bytes.data, bytes.size) == verdict::wrong_length);
  CHECK(joiner->offer(last + 1, bytes.data, bytes.size)
        == verdict::wrong_piece);
  CHECK(joiner->offer(0xffffffffu, bytes.data, bytes.size)
        == verdict::wrong_piece);
  CHECK(joiner->missing() == source.pieces());
  CHECK(give(*joiner, source, 0) == verdict::placed);
  std::vector<std::uint8_t> forged(bytes.size, 7);
  CHECK(joiner->offer(0, forged.data(), forged.size()) == verdict::repeated);
  for (std::uint32_t i = 1; i < source.pieces(); ++i)
    give(*joiner, source, i);
  CHECK(bool(joiner->finish()));
}

TEST_CASE("a piece with one wrong bit is refused and can come again") {
  auto source = donor();
  auto joiner = state_transfer::begin(source.manifest(1), values);
  for (std::uint32_t i = 0; i < source.pieces(); ++i) {
    CAPTURE(i);
    auto piece = source.piece(i);
    std::vector<std::uint8_t> bytes(piece.data, piece.data + piece.size);
    bytes[bytes.size() / 2] ^= 1;
    CHECK(joiner->offer(i, bytes.data(), bytes.size()) == verdict::wrong_bytes);
    give(*joiner, source, i);
  }
  CHECK(bool(joiner->finish()));
}

TEST_CASE("pieces of two donors of one version fit together") {
  auto a = donor(), b = donor();
  auto joiner = state_transfer::begin(a.manifest(1), values);
  for (std::uint32_t i = 0; i < a.pieces(); ++i)
    give(*joiner, i % 2 ? a : b, i);
  CHECK(bool(joiner->finish()));
}

TEST_CASE("another version than the announced one is refused") {
  auto announced = donor(8), other = donor(9);
  auto joiner = state_transfer::begin(announced.manifest(1), values);
  CHECK(give(*joiner, other, 1) == verdict::wrong_bytes);
  // Nor does it help to list its pieces.
  auto lie = other.manifest(1);
  lie.state = announced.manifest(1).state;
  lie.recent = announced.manifest(1).recent;
  joiner = state_transfer::begin(lie, values);
  for (std::uint32_t i = 0; i < other.pieces(); ++i)
    CHECK(give(*joiner, other, i) != verdict::wrong_bytes);
  CHECK(!joiner->finish());
}

TEST_CASE("finishing early is a mistake of the caller") {
  auto joiner = state_transfer::begin(donor().manifest(1), values);
  CHECK_THROWS_AS(joiner->finish(), std::logic_error);
}

TEST_CASE("a manifest that does not fit our model is refused") {
  CHECK(!refuses([](state_manifest&) {}));
  CHECK(refuses([](state_manifest& x) { x.available = false; }));
  CHECK(refuses([](state_manifest& x) { x.bytes += 1; }));
  CHECK(refuses([](state_manifest& x) { x.bytes = ~std::uint64_t{0}; }));
  CHECK(refuses([](state_manifest& x) { x.piece_bytes = 0; }));
  CHECK(refuses([](state_manifest& x) { x.piece_bytes = 1; }));
  CHECK(refuses([](state_manifest& x) { x.piece_bytes = 0xffffffffu; }));
  CHECK(refuses([](state_manifest& x) { x.recent.clear(); }));
  CHECK(refuses([](state_manifest& x) { x.pieces.pop_back(); }));
  CHECK(refuses([](state_manifest& x) { x.mean = true; }));
  CHECK(refuses([](state_manifest& x) { x.recent[0].bytes[0] ^= 1; }));
  CHECK(refuses([](state_manifest& x) { x.recent.resize(65); }));
  CHECK(!state_transfer::begin(donor().manifest(1), values + 1));
}
