#include "tools/lab/sim/crew.hpp"

#include <algorithm>
#include <chrono>

namespace potluck::simulation {

namespace {

/// For so long a thread looks before it sleeps: longer than most turns take,
/// and than what the caller does between two of them.
constexpr auto wakeful = std::chrono::microseconds{200};

} // namespace

crew::crew(unsigned size) : problems_(std::max(size, 1u)) {
  for (unsigned i = 1; i < problems_.size(); ++i)
    others_.emplace_back([this, i] { serve(i); });
}

crew::~crew() {
  over_ = true;
  tell(begin_);
  for (auto& x : others_)
    x.join();
}

template <class Reached>
void crew::await(std::condition_variable& moved, Reached reached) {
  const auto enough = std::chrono::steady_clock::now() + wakeful;
  while (!reached()) {
    if (std::chrono::steady_clock::now() < enough) {
      std::this_thread::yield();
      continue;
    }
    std::unique_lock guard{mutex_};
    ++asleep_; // Before the last look: whoever changes it now sees it.
    moved.wait(guard, reached);
    --asleep_;
  }
}

void crew::tell(std::condition_variable& moved) {
  if (asleep_ == 0)
    return;
  { std::lock_guard guard{mutex_}; }
  moved.notify_all();
}

void crew::attempt(unsigned number) {
  problems_[number] = nullptr;
  try {
    (*work_)(number);
  } catch (...) {
    problems_[number] = std::current_exception();
  }
}

void crew::run(const std::function<void(unsigned)>& work) {
  work_ = &work;
  busy_ = static_cast<unsigned>(others_.size());
  ++turn_;
  tell(begin_);
  attempt(0);
  await(end_, [this] { return busy_ == 0; });
  for (auto& x : problems_)
    if (x)
      std::rethrow_exception(x);
}

void crew::serve(unsigned number) {
  for (std::uint64_t served = 0;;) {
    await(begin_, [&] { return over_ || turn_ != served; });
    if (over_)
      return;
    served = turn_;
    attempt(number);
    if (--busy_ == 0)
      tell(end_);
  }
}

} // namespace potluck::simulation
