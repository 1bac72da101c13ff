#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/uv/read_credit.hpp"

using namespace potluck;

TEST_CASE(
    "reading pauses above the high mark and resumes once at the low one") {
  int resumed = 0;
  read_credit x{100, 50, [&] { ++resumed; }};
  x.take(100);
  CHECK_FALSE(x.exhausted());
  x.take(1);
  CHECK(x.exhausted());
  REQUIRE(x.pause());
  x.give_back(50);
  CHECK(resumed == 0);
  x.give_back(1);
  CHECK(resumed == 1);
  x.give_back(50);
  CHECK(resumed == 1);
}

TEST_CASE("credit that comes back before the pause is not lost") {
  int resumed = 0;
  read_credit x{100, 50, [&] { ++resumed; }};
  x.take(101);
  REQUIRE(x.exhausted());
  x.give_back(101); // Between the look and the pause.
  CHECK_FALSE(x.pause());
  CHECK(resumed == 0);
}

TEST_CASE("no wake-up is lost between two threads") {
  // A reader that pauses whenever it may, and a consumer that gives back at
  // once: with a lost wake-up the reader would wait for ever.
  std::mutex mutex;
  std::condition_variable changed;
  int unread = 0;
  bool paused = false;
  bool lost = false;
  read_credit x{2, 1, [&] {
                  std::lock_guard<std::mutex> lock{mutex};
                  paused = false;
                  changed.notify_all();
                }};
  constexpr int rounds = 20000;
  std::thread consumer{[&] {
    for (int i = 0; i < rounds; ++i) {
      {
        std::unique_lock<std::mutex> lock{mutex};
        changed.wait(lock, [&] { return unread > 0 || lost; });
        if (lost)
          return;
        --unread;
      }
      x.give_back(1);
    }
  }};
  for (int i = 0; i < rounds && !lost; ++i) {
    x.take(1);
    {
      std::lock_guard<std::mutex> lock{mutex};
      ++unread;
    }
    changed.notify_all();
    if (!x.exhausted())
      continue;
    {
      std::lock_guard<std::mutex> lock{mutex};
      paused = true;
    }
    if (!x.pause())
      continue;
    std::unique_lock<std::mutex> lock{mutex};
    lost = !changed.wait_for(lock, std::chrono::seconds{20},
                             [&] { return !paused; });
  }
  changed.notify_all();
  consumer.join();
  CHECK_FALSE(lost);
}
