/// A loop of libuv that a test turns itself.
#pragma once

#include <chrono>

#include <doctest/doctest.h>

#include "runtime/uv/handles.hpp"

namespace potluck {

struct test_loop {
  test_loop() {
    uv_loop_init(&uv);
  }
  ~test_loop() {
    uv_run(&uv, UV_RUN_DEFAULT); // Until all handles are closed.
    CHECK(uv_loop_close(&uv) == 0);
  }
  template <class Condition>
  bool run_until(Condition condition) {
    const auto end
        = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!condition() && std::chrono::steady_clock::now() < end)
      uv_run(&uv, UV_RUN_NOWAIT);
    return condition();
  }
  uv_loop_t uv{};
};

} // namespace potluck
