/// What goes out of one end of a connection and comes into the other, without
/// a socket.
#include <algorithm>
#include <cstring>
#include <memory>

#include <doctest/doctest.h>

#include "runtime/uv/incoming_stream.hpp"
#include "runtime/uv/outgoing_stream.hpp"
#include "tests/runtime/uv/noise.hpp"

using namespace potluck;
using verdict = incoming_stream::verdict;
using side = tls_channel::side;

namespace {

constexpr frame_queue::bounds ample{std::size_t{1} << 30, 4};

outgoing_frame frame_of(std::size_t size, std::uint64_t seed) {
  auto body = std::make_shared<bytes>(noise(size, seed));
  return {{static_cast<std::uint8_t>(seed)}, {body, body->data(), size}};
}

/// One end.
struct end_point : incoming_stream::listener {
  end_point(const tls_context* context, side which)
      : tls(context ? std::make_unique<tls_channel>(*context, which) : nullptr),
        out(frame_queue{ample, tls == nullptr}, tls.get()),
        in(tls.get(), decrypted.data(), *this) {
    if (!tls)
      out.open();
    else
      tls->shake();
  }
  void on_proven(const peer_id& x) override {
    who = x;
    out.open();
  }
  void on_whole(frame_reader::frame x) override {
    frames.push_back(std::move(x));
  }

  /// At most so many bytes at a time, as a slow line may allow.
  bytes write(std::size_t most = std::size_t{1} << 20) {
    bytes all;
    for (;;) {
      const auto size = out.prepare(std::min(most, out.wanted()));
      if (size == 0)
        return all;
      largest = std::max(largest, size);
      for (const auto& x : out.batch())
        all.insert(all.end(), x.base, x.base + x.len);
      out.sent(size);
    }
  }
  /// As libuv would, `cut` bytes at most.
  incoming_stream::outcome read(const bytes& all, std::size_t cut = 1 << 20) {
    incoming_stream::outcome x{verdict::more, {}};
    for (std::size_t i = 0; i < all.size() && x.what == verdict::more;) {
      const auto room = in.room(staging.data());
      const auto part = std::min({all.size() - i, room.size, cut});
      std::memcpy(room.data, all.data() + i, part);
      i += part;
      x = in.take(room.data, part);
    }
    return x;
  }

  std::unique_ptr<tls_channel> tls;
  bytes decrypted = bytes(record_bytes);
  bytes staging = bytes(encrypted_staging_bytes);
  outgoing_stream out;
  incoming_stream in;
  peer_id who;
  std::vector<frame_reader::frame> frames;
  std::size_t largest = 0;
};

struct line {
  explicit line(bool encrypted)
      : near(encrypted ? &mine : nullptr, side::dialler),
        far(encrypted ? &theirs : nullptr, side::acceptor) {
    for (int i = 0; i < 2 && encrypted; ++i) {
      REQUIRE(far.read(near.write()).what == verdict::more);
      REQUIRE(near.read(far.write()).what == verdict::more);
    }
  }
  key_pair my_key = key_pair::generate(), their_key = key_pair::generate();
  tls_context mine{my_key}, theirs{their_key};
  end_point near, far;
};

} // namespace

TEST_CASE("frames arrive whole and in order, however little is written") {
  for (bool encrypted : {false, true})
    for (std::size_t most : {1, 1500, 40'000, 1 << 20})
      for (std::size_t cut : {100, 1 << 20}) {
        CAPTURE(encrypted);
        CAPTURE(most);
        line x{encrypted};
        const std::size_t sizes[]{0, 1, 16'383, 5, 16'384, 300'000, 7};
        std::uint64_t seed = 0;
        for (auto size : sizes)
          x.near.out.push(
              frame_of(most == 1 && size > 1000 ? 1000 : size, ++seed));
        const auto wire = x.near.write(most);
        CHECK(x.near.out.waiting() == 0);
        CHECK(x.far.read(wire, cut).what == verdict::more);
        REQUIRE(x.far.frames.size() == std::size(sizes));
        for (std::size_t i = 0; i < std::size(sizes); ++i) {
          const auto& got = x.far.frames[i];
          CHECK(got.head
                == std::vector<std::uint8_t>{static_cast<std::uint8_t>(i + 1)});
          const auto sent = noise(got.body_size, i + 1);
          CHECK(std::equal(sent.begin(), sent.end(), got.body.get()));
        }
      }
}

TEST_CASE("before both are proven no frame leaves") {
  key_pair key = key_pair::generate();
  tls_context context{key};
  end_point x{&context, side::dialler};
  x.out.push(frame_of(1000, 1));
  CHECK(x.out.wanted() == 0);
  CHECK(x.write().size() < 1000); // The dialler's first words alone.
  CHECK(x.out.waiting() > 1000);
  line both{true};
  CHECK(both.near.who == both.their_key.id());
  CHECK(both.far.who == both.my_key.id());
}

TEST_CASE("a large body is encrypted in batches of full records") {
  line x{true};
  const std::size_t size = 10 << 20;
  x.near.out.push(frame_of(size, 1));
  const auto wire = x.near.write();
  const auto records = size / record_bytes + 50;
  CHECK(wire.size() < size + records * record_overhead_bytes);
  CHECK(x.near.largest > 200'000);
  CHECK(x.near.largest < 300'000);
  x.far.read(wire);
  CHECK(x.far.frames.size() == 1);
}

TEST_CASE("encrypted frames are let go at once, others once they are sent") {
  for (bool encrypted : {false, true}) {
    line x{encrypted};
    auto frame = frame_of(1000, 1);
    const std::weak_ptr<const void> alive = frame.body.owner;
    x.near.out.push(std::move(frame));
    const auto size = x.near.out.prepare(x.near.out.wanted());
    CHECK(alive.expired() == encrypted);
    x.near.out.sent(size);
    CHECK(alive.expired());
  }
}

TEST_CASE("a goodbye follows what was queued") {
  line x{true};
  x.near.out.push(frame_of(100'000, 1));
  x.near.out.finish();
  const auto end = x.far.read(x.near.write());
  CHECK(x.far.frames.size() == 1);
  CHECK(end.what == verdict::ended);
  CHECK(end.reason == "the other side closed the connection");
}

TEST_CASE("an end without a goodbye, or within a frame, is told") {
  line x{true}, plain{false};
  CHECK(x.far.in.reason_of_end().find("without a goodbye")
        != std::string::npos);
  CHECK(plain.far.in.reason_of_end() == "the other side closed the connection");
  for (auto* which : {&x, &plain}) {
    which->near.out.push(frame_of(100'000, 1));
    auto wire = which->near.write();
    wire.resize(wire.size() / 2);
    CHECK(which->far.read(wire).what == verdict::more);
    CHECK(which->far.frames.empty());
  }
  CHECK(plain.far.in.reason_of_end().find("within a frame")
        != std::string::npos);
}

TEST_CASE("a bit that changed ends it before its frame is seen") {
  for (bool encrypted : {false, true}) {
    line x{encrypted};
    x.near.out.push(frame_of(50'000, 1));
    x.near.out.push(frame_of(50'000, 2));
    auto wire = x.near.write();
    wire[70'000] ^= 4;
    const auto end = x.far.read(wire);
    CHECK(end.what == (encrypted ? verdict::failed : verdict::ended));
    CHECK(end.reason.find("corrupt") == 0);
    CHECK(x.far.frames.size() == 1);
    if (!encrypted)
      continue;
    x.far.out.drop();
    const auto heard = x.near.read(x.far.write()); // The last words.
    CHECK(heard.what == verdict::failed);
    CHECK(heard.reason.find("says the other side") != std::string::npos);
    CHECK(x.near.out.failed());
  }
}

TEST_CASE("an end that encrypts and one that does not are told apart") {
  line x{true}, plain{false};
  plain.near.out.push(frame_of(10, 1));
  const auto frame = plain.near.write();
  end_point fresh{&x.mine, side::acceptor}, dialling{&x.mine, side::dialler};
  CHECK(fresh.read(frame).what == verdict::unrelated);
  CHECK(plain.far.read(dialling.write()).what == verdict::unrelated);
  end_point other{nullptr, side::acceptor};
  CHECK(other.read(bytes(30, 'x')).what == verdict::ended);
}

TEST_CASE("answers that nobody takes are not piled up") {
  line x{true};
  const auto waits = [&] { return x.near.out.overfull(); };
  x.near.out.push(frame_of(10 << 20, 1));
  REQUIRE(x.near.out.prepare(x.near.out.wanted()) > 200'000);
  CHECK_FALSE(waits()); // A batch may wait.
  x.near.tls->make_room(1);
  bytes more = noise(300'000, 1); // What TLS would say by itself.
  x.near.tls->write(more.data(), more.size());
  CHECK(waits());
  CHECK(x.near.out.own_bytes() > 500'000); // The batch counts, and they.
}
