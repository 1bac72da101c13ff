/// The promise that each call-back of other people's code is called exactly
/// once, on a thread for which no actor waits.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "actors/worker.hpp"
#include "messages/expected.hpp"

namespace potluck {

/// A call-back that is called exactly once: with what it is given, or with a
/// failure when this object ends before that.
template <class T>
class promised {
public:
  promised(std::function<void(expected<T>)> done, std::shared_ptr<worker> voice)
      : done_(std::move(done)), voice_(std::move(voice)) {
  }
  promised(promised&& other) noexcept
      : done_(std::exchange(other.done_, nullptr)),
        voice_(std::move(other.voice_)) {
  }
  promised& operator=(promised&&) = delete;
  ~promised() {
    keep(failure{"This peer does not run, or its expert caller was restarted; "
                 "try again."});
  }

  void keep(expected<T> x) {
    if (!done_)
      return;
    auto shared = std::make_shared<expected<T>>(std::move(x));
    voice_->post([done = std::exchange(done_, nullptr), shared] {
      done(std::move(*shared));
    });
  }

private:
  std::function<void(expected<T>)> done_;
  std::shared_ptr<worker> voice_;
};

} // namespace potluck
