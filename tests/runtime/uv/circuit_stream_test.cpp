/// What comes by circuits is bounded as well, though no socket can stop it.
#include "runtime/uv/circuit_stream.hpp"

#include <doctest/doctest.h>

#include "messages/framing.hpp"
#include "runtime/strangers/limits.hpp"
#include "tests/contract/transport_probe.hpp"

using namespace potluck;

namespace {

class listener : public frame_stream_listener {
public:
  void on_proven(const peer_id&) override {
    proven = true;
  }
  void on_frame(incoming_frame) override {
    ++frames;
  }
  bool proven = false;
  std::size_t frames = 0;
};

/// A circuit's two ends, without a hub.
struct circuit {
  circuit()
      : near{make_circuit_stream(tls, true, near_hears)},
        far{make_circuit_stream(tls, false, far_hears)} {
    near->begin();
    far->begin();
    for (int i = 0; i < 4; ++i) {
      CHECK(pass(*near, *far, 1 << 20) == "");
      CHECK(pass(*far, *near, 1 << 20) == "");
    }
    REQUIRE(near_hears.proven);
    REQUIRE(far_hears.proven);
  }
  /// What the reader says of at most so many bytes.
  static std::string pass(frame_stream& from, frame_stream& to,
                          std::size_t most) {
    for (std::size_t passed = 0; passed < most;) {
      const auto piece = from.next(16 * 1024);
      if (piece.empty())
        return "";
      passed += piece.size();
      if (auto over = to.take(piece.data(), piece.size()); !over.empty())
        return over;
    }
    return "";
  }
  std::string send(std::size_t bytes, std::size_t most) {
    near->push({{1}, contract::body_of(bytes, 1)});
    return pass(*near, *far, most);
  }

  tls_context tls{key_pair::generate()};
  listener near_hears, far_hears;
  std::unique_ptr<frame_stream> near, far;
};

} // namespace

TEST_CASE("of a frame that comes by a circuit what has come is known") {
  circuit x;
  CHECK(x.far->begun() == 0);
  CHECK(x.send(max_body_bytes, 1 << 20) == "");
  CHECK(x.far->begun() > 900 << 10);
  CHECK(x.far->begun() < 1100 << 10);
  CHECK(circuit::pass(*x.near, *x.far, max_body_bytes * 2) == "");
  CHECK(x.far_hears.frames == 1);
  CHECK(x.far->begun() == 0);
}

TEST_CASE(
    "who opens a circuit and proves nothing is not listened to for long") {
  tls_context tls{key_pair::generate()};
  listener hears;
  auto far = make_circuit_stream(tls, false, hears);
  far->begin();
  // A message of the handshake that never ends.
  std::vector<std::uint8_t> record{22, 3, 1, 0x10, 0, 1, 0, 0xff, 0xff};
  record.resize(5 + 0x1000, 'x');
  std::string over;
  std::size_t taken = 0;
  while (over.empty() && taken < (std::size_t{1} << 20)) {
    over = far->take(record.data(), record.size());
    taken += record.size();
    record = {22, 3, 1, 0x10, 0};
    record.resize(5 + 0x1000, 'x');
  }
  CHECK(over == "the other side sends much and proves nothing");
  CHECK(taken <= limits::bytes_before_proof + record.size());
}
