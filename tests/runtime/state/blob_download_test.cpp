#include "runtime/state/blob_download.hpp"

#include <algorithm>
#include <doctest/doctest.h>

#include "runtime/state/pieces.hpp"
#include "tests/runtime/state/some_state.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using verdict = blob_download::verdict;

namespace {

constexpr std::uint64_t values = 20000;
constexpr blob_key key{true, 12};
const time_point now{std::chrono::seconds{100}};

state_snapshot donor(std::uint64_t seed = 8, unsigned moments = 2) {
  auto state
      = std::make_shared<training_state>(some_state(values, seed, moments));
  return state_snapshot(state);
}

/// One that fetches what `list` names, as donor 1 says.
struct joiner {
  explicit joiner(const state_manifest& list, unsigned moments = 2) {
    download.begin(values, moments);
    const auto said = download.name(id_of(1), list, 1, now);
    if (!said.liars.empty())
      problem = said.lie;
    pieces = download.progress(key).second;
  }
  verdict give(std::uint32_t piece, const shared_bytes& bytes) {
    const auto state = download.lists().chosen(key)->manifest.state;
    return download.read(id_of(1), {state, piece, false}, bytes, now).first;
  }
  verdict give(const state_snapshot& donor, std::uint32_t piece) {
    return give(piece, donor.piece(piece));
  }
  std::uint32_t missing() const {
    return pieces - download.progress(key).first;
  }
  std::optional<training_state> finish() {
    REQUIRE(download.complete(key));
    return download.take_state(key);
  }

  blob_download download{usual_joiner().plan};
  std::string problem; ///< Of the list; empty: it is fetched by it.
  std::uint32_t pieces = 0;
};

/// Of these bytes, as `list` cuts them.
shared_bytes piece_of(const std::string& bytes, const state_manifest& list,
                      std::uint32_t piece) {
  const auto where = extent_of(list, piece);
  return {nullptr,
          reinterpret_cast<const std::uint8_t*>(bytes.data()) + where.offset,
          where.size};
}

shared_bytes bytes_of(std::vector<std::uint8_t> x) {
  auto kept = std::make_shared<std::vector<std::uint8_t>>(std::move(x));
  return {kept, kept->data(), kept->size()};
}

shared_bytes start_of(const shared_bytes& whole, std::size_t size) {
  return {whole.owner, whole.data, size};
}

bool refuses(void (*change)(state_manifest&)) {
  auto manifest = donor().manifest(1);
  change(manifest);
  return !joiner{manifest}.problem.empty();
}

} // namespace

TEST_CASE("a joiner ends with the donor's state") {
  auto source = donor();
  joiner x{source.manifest(1)};
  REQUIRE(x.problem == "");
  REQUIRE(x.pieces > 10);
  CHECK(!x.download.begun());
  for (std::uint32_t i = x.pieces; i-- > 0;) {
    CHECK(x.give(source, i) == verdict::placed);
    CHECK(x.missing() == i);
    CHECK(x.download.begun() == source.digest());
  }
  auto state = x.finish();
  REQUIRE(bool(state));
  CHECK(to_bytes(*state) == to_bytes(source.state()));
  CHECK(state->recent == source.state().recent);
  CHECK(!x.download.begun());
}

TEST_CASE("a joiner gets the moments that there are, and refuses others") {
  for (unsigned moments : {0u, 1u, 2u}) {
    CAPTURE(moments);
    const auto source = donor(8, moments);
    const auto manifest = source.manifest(1);
    CHECK(manifest.bytes == 64 + 4 * values * (1 + moments));
    for (unsigned other : {0u, 1u, 2u})
      CHECK((joiner{manifest, other}.problem == "") == (other == moments));
    joiner x{manifest, moments};
    for (std::uint32_t i = 0; i < x.pieces; ++i)
      x.give(source, i);
    const auto state = x.finish();
    REQUIRE(bool(state));
    CHECK(to_bytes(*state) == to_bytes(source.state()));
  }
}

TEST_CASE("a refused piece changes nothing") {
  auto source = donor();
  joiner x{source.manifest(1)};
  auto bytes = source.piece(0);
  auto last = x.pieces - 1;
  CHECK(x.give(0, start_of(bytes, bytes.size - 1)) == verdict::wrong);
  CHECK(x.give(last, bytes) == verdict::wrong);
  CHECK(x.give(last + 1, bytes) == verdict::repeated); // It is not wanted.
  CHECK(x.give(0xffffffffu, bytes) == verdict::repeated);
  CHECK(x.missing() == x.pieces);
  CHECK(x.give(source, 0) == verdict::placed);
  CHECK(x.give(0, bytes_of(std::vector<std::uint8_t>(bytes.size, 7)))
        == verdict::repeated);
  for (std::uint32_t i = 1; i < x.pieces; ++i)
    x.give(source, i);
  CHECK(bool(x.finish()));
}

TEST_CASE("a piece with one wrong bit is refused and can come again") {
  auto source = donor();
  joiner x{source.manifest(1)};
  for (std::uint32_t i = 0; i < x.pieces; ++i) {
    CAPTURE(i);
    auto piece = source.piece(i);
    std::vector<std::uint8_t> bytes(piece.data, piece.data + piece.size);
    bytes[bytes.size() / 2] ^= 1;
    CHECK(x.give(i, bytes_of(std::move(bytes))) == verdict::wrong);
    CHECK(x.give(source, i) == verdict::placed);
  }
  CHECK(bool(x.finish()));
}

TEST_CASE("pieces of two donors of one version fit together") {
  auto a = donor(), b = donor();
  joiner x{a.manifest(1)};
  for (std::uint32_t i = 0; i < x.pieces; ++i)
    x.give(i % 2 ? a : b, i);
  CHECK(bool(x.finish()));
}

TEST_CASE("another version than the announced one is refused") {
  auto announced = donor(8), other = donor(9);
  CHECK(joiner{announced.manifest(1)}.give(other, 1) == verdict::wrong);
  // Nor does it help to list its pieces.
  auto lie = other.manifest(1);
  lie.state = announced.manifest(1).state;
  lie.recent = announced.manifest(1).recent;
  joiner x{lie};
  for (std::uint32_t i = 0; i < x.pieces; ++i)
    CHECK(x.give(other, i) == verdict::placed);
  CHECK(!x.finish());
}

TEST_CASE("a state whose header has one wrong bit is refused") {
  const auto source = donor();
  for (std::size_t i = 0; i < state_header_bytes; ++i) {
    CAPTURE(i);
    auto bytes = to_bytes(source.state());
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    auto list = source.manifest(1);
    for (std::uint32_t k = 0; k < list.pieces.size(); ++k)
      list.pieces[k] = digest_of(piece_of(bytes, list, k));
    joiner x{list};
    for (std::uint32_t k = 0; k < x.pieces; ++k)
      CHECK(x.give(k, piece_of(bytes, list, k)) == verdict::placed);
    CHECK(!x.finish());
  }
}

TEST_CASE("a list that does not fit our model is refused") {
  CHECK(!refuses([](state_manifest&) {}));
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
}
