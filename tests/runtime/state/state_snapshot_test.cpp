#include "runtime/state/state_snapshot.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

TEST_CASE("the pieces of a snapshot are the state's bytes, as it lists them") {
  for (std::size_t values : {0, 1, 4000, 4080, 4081, 100'000})
    for (unsigned moments : {0u, 1u, 2u}) {
      CAPTURE(values);
      CAPTURE(moments);
      auto state = std::make_shared<const training_state>(
          some_state(values, 8, moments));
      state_snapshot snapshot(state);
      const auto list = snapshot.manifest(5);
      CHECK(list.token == 5);
      std::string all;
      for (std::uint32_t i = 0; i < list.pieces.size(); ++i) {
        auto piece = snapshot.piece(i);
        REQUIRE(piece.size > 0);
        CHECK(digest_of(piece.data, piece.size) == list.pieces[i]);
        all.append(reinterpret_cast<const char*>(piece.data), piece.size);
      }
      CHECK(all.size() == state_bytes(*state));
      CHECK(all == to_bytes(*state));
      const auto end = static_cast<std::uint32_t>(list.pieces.size());
      CHECK(snapshot.piece(end).size == 0);
      CHECK(snapshot.piece(0xffffffffu).size == 0);
    }
}

TEST_CASE("a piece inside one vector is not copied and keeps the state") {
  auto state = std::make_shared<const training_state>(some_state(100'000, 8));
  std::weak_ptr<const training_state> watched = state;
  auto parameters
      = reinterpret_cast<const std::uint8_t*>(state->parameters.data());
  shared_bytes piece;
  std::size_t size = 0;
  {
    state_snapshot snapshot(std::move(state));
    size = snapshot.manifest(1).piece_bytes;
    piece = snapshot.piece(2);
  }
  CHECK(piece.data == parameters + 2 * size - state_header_bytes);
  CHECK(!watched.expired());
  piece = {};
  CHECK(watched.expired());
}
