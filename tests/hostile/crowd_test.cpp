/// Strangers that only take places: who comes then finds one all the same.
#include <doctest/doctest.h>

#include "tests/hostile/stranger.hpp"

using namespace potluck;
using namespace potluck::hostile;

TEST_CASE("300 idle sockets keep no newcomer out") {
  scene s;
  auto& boot = s.bootstrap();
  auto& a
      = s.join("a", tiny_run(64, 1000000) + words{"--peer", boot.address()});
  a.await("step");
  std::vector<std::unique_ptr<raw_socket>> idle;
  for (auto* victim : {&boot, &a})
    for (int i = 0; i < 300; ++i)
      idle.push_back(std::make_unique<raw_socket>(victim->port(), line::plain));
  auto& late = s.join("late", {"--peer", boot.address()});
  late.await("step");
  a.await_step(a.last_step() + 3);
  CHECK(boot.process.running());
}

TEST_CASE("1,024 identities keep no newcomer out") {
  scene s;
  auto& boot = s.bootstrap();
  auto& a
      = s.join("a", tiny_run(64, 1000000) + words{"--peer", boot.address()});
  a.await("step");
  allow_many_sockets();
  raw_socket::manner elsewhere;
  for (const std::string from : {"127.0.0.1", "127.7.0.1"}) {
    CAPTURE(from);
    elsewhere.from = from;
    std::vector<std::unique_ptr<raw_socket>> crowd;
    std::size_t open = 0;
    for (int i = 0; i < 1024; ++i) {
      const auto who = key_pair::generate();
      auto x = std::make_unique<raw_socket>(boot.port(), line::encrypted, who,
                                            elsewhere);
      if (x->open() && x->write(frame_of(greeting(who)))) {
        ++open;
        crowd.push_back(std::move(x));
      }
    }
    CHECK(open > 200); // Or nobody tried to fill it.
    auto& late = s.join("late-" + from, {"--peer", boot.address()});
    late.await("step");
    CHECK(boot.process.running());
    crowd.clear();
  }
  a.await_step(a.last_step() + 3);
}
