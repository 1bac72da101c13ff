#include "tools/lab/sim/turns.hpp"

#include <algorithm>
#include <atomic>

namespace potluck::simulation {

namespace {

/// Fewer turns than this are not worth waking others for.
constexpr std::size_t few_turns = 8;

} // namespace

turns::turns(sim_network& network, bool spans, unsigned threads)
    : network_{network}, spans_{spans}, crew_{threads} {
  network_.take_turns();
}

void turns::add(machine& x) {
  seats_.emplace_back();
  seats_.back().box = &x;
}

void turns::advance(duration latest) {
  auto next = latest;
  if (auto x = network_.next())
    next = std::min(next, *x);
  if (!alarms_.empty())
    next = std::min(next, alarms_.top().first);
  now_ = std::max(now_, next);
}

void turns::wake_those_due() {
  while (!alarms_.empty() && alarms_.top().first <= until_) {
    auto [due, number] = alarms_.top();
    alarms_.pop();
    if (seats_[number].alarm != due)
      continue; // Its machine has other plans by now.
    seats_[number].alarm.reset();
    touch(number);
  }
}

void turns::take(std::size_t number) {
  auto& x = seats_[number];
  auto& box = *x.box;
  auto& host = network_.at(number);
  x.handled = 0;
  host.begin_turn(from_);
  auto next_after = [&](duration earliest) {
    x.wake = box.wake();
    if (x.wake)
      x.wake = std::max(*x.wake, earliest);
    return std::min(host.mail().value_or(duration::max()),
                    x.wake.value_or(duration::max()));
  };
  auto at = from_;
  if (box.idle()) // Else it was told to do something at once.
    at = std::max(at, next_after(at));
  while (at <= until_) {
    host.deliver(at);
    x.handled += box.run(at);
    at = next_after(at + duration{1});
  }
  x.left_over = box.left_over();
  host.end_turn();
}

void turns::take_some(const std::vector<std::size_t>& numbers, std::size_t at,
                      std::size_t end) {
  for (; at < end; ++at)
    take(numbers[at]);
}

void turns::take_all(const std::vector<std::size_t>& numbers) {
  const auto size = numbers.size();
  if (crew_.size() == 1 || size < few_turns) {
    take_some(numbers, 0, size);
  } else {
    // Many in a row at first, so that a thread knows what it does next; then
    // fewer and fewer, so that all end at the same time.
    std::atomic<std::size_t> next{0};
    crew_.run([&](unsigned) {
      for (auto at = next.load(); at < size;) {
        auto end = at + 1 + (size - at) / (2 * crew_.size());
        if (next.compare_exchange_weak(at, end)) {
          take_some(numbers, at, std::min(end, size));
          at = next.load();
        }
      }
      machine::leave_thread();
    });
  }
  auto began = now_;
  network_.settle(numbers, [this](duration at) { now_ = at; });
  now_ = began;
}

void turns::conclude(std::size_t number, const listener& to) {
  auto& x = seats_[number];
  messages_ += x.handled;
  if (x.wake && x.wake != x.alarm)
    alarms_.push({*x.wake, number});
  x.alarm = x.wake;
  if (x.left_over)
    to.ended(number, *x.left_over);
}

void turns::work(duration stop, const listener& to) {
  until_ = now_;
  from_ = now_;
  if (spans_ && stop > now_)
    until_ = std::max(now_, std::min(now_ + shortest_way_, stop) - duration{1});
  wake_those_due();
  auto before = [this](sim_network::host_number host) { touch(host); };
  do {
    network_.run_until(until_, before);
    while (!ready_.empty()) {
      std::vector<std::size_t> numbers(ready_.begin(), ready_.end());
      ready_.clear();
      take_all(numbers);
      from_ = until_;
      for (auto number : numbers)
        conclude(number, to);
    }
    to.rested();
  } while (!ready_.empty()
           || network_.next().value_or(until_ + duration{1}) <= until_);
  now_ = until_;
}

} // namespace potluck::simulation
