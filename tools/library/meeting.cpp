#include "tools/library/meeting.hpp"

#include <algorithm>
#include <limits>

namespace potluck::library {

namespace {

using namespace std::chrono_literals;

/// Between two looks at `cancelled`, of which nobody is told.
constexpr auto look_at_cancelled = 50ms;
/// Longer is not waited in one call: arithmetic on times stays far from
/// overflow.
constexpr duration longest_call = std::chrono::hours{24};

} // namespace

void meeting::begins(bool delayed) {
  std::lock_guard<std::mutex> lock{mutex_};
  const auto samples = account_.samples();
  const auto stale = account_.stale();
  had_parameters_ = had_parameters_ || account_.has_parameters();
  account_ = loop_account{delayed};
  account_.carries(samples, stale);
  delayed_ = delayed;
}

batch_result meeting::await(const batch_request& request,
                            const float* parameters, float* sum,
                            const std::atomic<bool>& cancelled) {
  window here{parameters, sum, request.begins};
  std::unique_lock<std::mutex> lock{mutex_};
  account_.shows(request.step, request.state);
  here.opened = clock::now();
  stay_open(here);
  open_ = &here;
  changed_.notify_all();
  const auto is_over = [&] {
    return here.result.samples > 0 || over_ || cancelled
           || (pauses_ > 0 && !delayed_);
  };
  while (here.used || (!is_over() && clock::now() < here.until))
    changed_.wait_until(lock,
                        std::min(here.until, clock::now() + look_at_cancelled));
  open_ = nullptr;
  return here.result;
}

void meeting::stay_open(window& x) {
  const auto now = clock::now();
  x.until = std::max(x.until, std::min(now + account_.patience(now),
                                       x.opened + limits::loop_wait));
}

void meeting::ends() {
  std::lock_guard<std::mutex> lock{mutex_};
  over_ = true;
  changed_.notify_all();
}

meeting::window* meeting::wait_for(std::unique_lock<std::mutex>& lock,
                                   duration patience) {
  const auto is_free
      = [&] { return open_ && !open_->used && open_->result.samples == 0; };
  changed_.wait_until(lock, clock::now() + std::min(patience, longest_call),
                      [&] { return over_ || is_free(); });
  return !over_ && is_free() ? open_ : nullptr;
}

void meeting::use(std::unique_lock<std::mutex>& lock, window& where,
                  const std::function<void()>& job) {
  where.used = true;
  lock.unlock();
  const auto done = [&] {
    lock.lock();
    where.used = false;
    changed_.notify_all();
  };
  try {
    job();
  } catch (...) {
    done();
    throw;
  }
  done();
}

meeting::outcome meeting::add(std::uint64_t samples, double loss_sum,
                              duration patience,
                              const std::function<void(float*, bool)>& add_to) {
  std::unique_lock<std::mutex> lock{mutex_};
  auto* where = wait_for(lock, patience);
  if (!where)
    return over_ ? outcome::over : outcome::late;
  if (!account_.counts()) {
    account_.dropped(samples, clock::now());
    return outcome::stale;
  }
  const auto came = clock::now();
  use(lock, *where, [&] { add_to(where->sum, where->begins); });
  const auto seconds = account_.added(samples, came);
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  where->result = {static_cast<std::uint32_t>(std::min(samples, most)),
                   loss_sum, seconds};
  changed_.notify_all();
  return outcome::done;
}

meeting::outcome meeting::take(duration patience,
                               const std::function<void(const float*)>& copy) {
  std::unique_lock<std::mutex> lock{mutex_};
  auto* where = wait_for(lock, patience);
  if (!where)
    return over_ ? outcome::over : outcome::late;
  if (!account_.is_new()) {
    account_.goes_on(clock::now());
    stay_open(*where);
    return outcome::same;
  }
  use(lock, *where, [&] { copy(where->parameters); });
  account_.takes(clock::now());
  stay_open(*where);
  return outcome::done;
}

void meeting::took_last(std::uint64_t step) {
  std::lock_guard<std::mutex> lock{mutex_};
  last_step_ = step;
}

meeting::figures meeting::look() const {
  std::lock_guard<std::mutex> lock{mutex_};
  return {account_.samples(), account_.stale(),
          std::max(account_.taken(), last_step_),
          had_parameters_ || account_.has_parameters() || last_step_ > 0};
}

meeting::pause::pause(meeting& of) : of_(of) {
  std::lock_guard<std::mutex> lock{of_.mutex_};
  ++of_.pauses_;
  of_.changed_.notify_all();
}

meeting::pause::~pause() {
  std::lock_guard<std::mutex> lock{of_.mutex_};
  --of_.pauses_;
}

} // namespace potluck::library
