/// Strangers that make a peer hold what nobody reads, or what does not come to
/// its end: its memory stays bounded, and newcomers get in meanwhile.
#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "tests/hostile/stranger.hpp"

using namespace potluck;
using namespace potluck::hostile;

namespace {

constexpr std::size_t most_growth = std::size_t{150} << 20;

/// Lines that take what is written to them for a moment only.
std::vector<std::unique_ptr<raw_socket>> lines(peer& to, std::size_t count,
                                               bool reads_little) {
  raw_socket::manner how;
  how.patience = std::chrono::milliseconds{2};
  how.reads_little = reads_little;
  std::vector<std::unique_ptr<raw_socket>> result;
  while (result.size() < count) {
    const auto who = key_pair::generate();
    auto x = std::make_unique<raw_socket>(to.port(), line::encrypted, who, how);
    REQUIRE(x->open());
    auto said = greeting(who);
    said.listen_port = static_cast<std::uint16_t>(20'000 + result.size());
    x->write(frame_of(said));
    result.push_back(std::move(x));
  }
  return result;
}

/// While `write` is called again and again, a newcomer gets in, and `victim`
/// does not grow by more than it may.
template <class Write>
void check_newcomer_while(scene& s, peer& victim, const words& how,
                          Write write) {
  const auto before = memory_of(victim);
  std::atomic<bool> over{false};
  std::atomic<std::size_t> most{0};
  std::thread attack{[&] {
    while (!over) {
      write();
      most = std::max(most.load(), memory_of(victim));
    }
  }};
  const auto began = std::chrono::steady_clock::now();
  auto& late = s.join("late", how);
  const auto joined = late.log.await("step", startup_patience);
  // The attack has some seconds for itself as well.
  while (std::chrono::steady_clock::now() - began < std::chrono::seconds{6}
         && victim.process.running())
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  over = true;
  attack.join();
  CHECK(!joined.is_null());
  CHECK(victim.process.running());
  CHECK(most.load() < before + most_growth);
}

} // namespace

TEST_CASE("look-ups whose answers nobody reads take a bounded memory") {
  scene s;
  auto& boot = s.bootstrap();
  auto& a
      = s.join("a", tiny_run(64, 1000000) + words{"--peer", boot.address()});
  a.await("step");
  auto deaf = lines(boot, 60, true);
  find_records wanted;
  wanted.key.bytes.fill(7);
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += frame_of(wanted);
  check_newcomer_while(s, boot, {"--peer", boot.address()}, [&] {
    for (auto& x : deaf)
      x->write(many);
  });
}

TEST_CASE("bodies one byte short take a bounded memory") {
  scene s;
  auto& boot = s.bootstrap();
  auto& a
      = s.join("a", tiny_run(64, 1000000) + words{"--peer", boot.address()});
  a.await("step");
  auto slow = lines(boot, 60, false);
  const auto head = preamble_of(64, max_body_bytes) + std::string(64, 'h');
  for (auto& x : slow)
    x->write(head);
  std::vector<std::size_t> left(slow.size(), max_body_bytes - 1);
  const std::string piece(64 * 1024, 'x');
  check_newcomer_while(s, boot, {"--peer", boot.address()}, [&] {
    for (std::size_t i = 0; i < slow.size(); ++i)
      while (left[i] > piece.size() && slow[i]->write(piece))
        left[i] -= piece.size();
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  });
}

TEST_CASE("parts of rounds that nobody has begun take a bounded memory") {
  scene s;
  auto& boot = s.bootstrap();
  auto& a
      = s.join("a", tiny_run(64, 1000000) + words{"--peer", boot.address()});
  a.await("step");
  auto& helper
      = s.join("helper", {"--role", "auxiliary", "--peer", boot.address()});
  helper.address();
  auto flood = lines(helper, 60, false);
  chunk_part part;
  part.group.bytes.fill(9);
  part.samples = 1;
  const auto large = frame_of(part, std::string(4u << 20, '\0'));
  check_newcomer_while(s, helper, {"--peer", boot.address()}, [&] {
    for (auto& x : flood)
      x->write(large);
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  });
}
