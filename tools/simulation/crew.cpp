#include "tools/simulation/crew.hpp"

#include <algorithm>

namespace potluck::simulation {

crew::crew(unsigned size) : problems_(std::max(size, 1u)) {
  for (unsigned i = 1; i < problems_.size(); ++i)
    others_.emplace_back([this, i] { serve(i); });
}

crew::~crew() {
  {
    std::lock_guard guard{mutex_};
    over_ = true;
  }
  begin_.notify_all();
  for (auto& x : others_)
    x.join();
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
  {
    std::lock_guard guard{mutex_};
    work_ = &work;
    busy_ = static_cast<unsigned>(others_.size());
    ++turn_;
  }
  begin_.notify_all();
  attempt(0);
  std::unique_lock guard{mutex_};
  end_.wait(guard, [this] { return busy_ == 0; });
  for (auto& x : problems_)
    if (x)
      std::rethrow_exception(x);
}

void crew::serve(unsigned number) {
  std::uint64_t served = 0;
  std::unique_lock guard{mutex_};
  for (;;) {
    begin_.wait(guard, [&] { return over_ || turn_ != served; });
    if (over_)
      return;
    served = turn_;
    guard.unlock();
    attempt(number);
    guard.lock();
    if (--busy_ == 0)
      end_.notify_one();
  }
}

} // namespace potluck::simulation
