/// How machines take turns, alone or at the same time.
#include <algorithm>
#include <atomic>

#include "tools/simulation/world.hpp"

namespace potluck::simulation {

namespace {

/// Fewer turns than this are not worth waking others for.
constexpr std::size_t few_turns = 8;

} // namespace

void world::note(std::size_t number, std::function<void()> deed) {
  network_.note(number, std::move(deed));
}

void world::wake_those_due() {
  while (!alarms_.empty() && alarms_.top().first <= until_) {
    auto [due, number] = alarms_.top();
    alarms_.pop();
    if (lives_[number].alarm != due)
      continue; // Its machine has other plans by now.
    lives_[number].alarm.reset();
    touch(number);
  }
}

void world::take_turn(std::size_t number) {
  auto& x = lives_[number];
  auto& box = *x.box;
  x.handled = 0;
  network_.begin_turn(number);
  for (auto at = turns_from_;;) {
    network_.deliver(number, at);
    x.handled += box.run(at);
    x.wake = box.wake();
    if (x.wake)
      x.wake = std::max(*x.wake, at + duration{1});
    auto next = network_.mail(number).value_or(duration::max());
    next = std::min(next, x.wake.value_or(duration::max()));
    if (next > until_)
      break;
    at = next;
  }
  x.left_over = box.left_over();
  network_.end_turn(number);
}

void world::take_turns(const std::vector<std::size_t>& numbers) {
  if (crew_.size() == 1 || numbers.size() < few_turns) {
    for (auto number : numbers)
      take_turn(number);
  } else {
    std::atomic<std::size_t> next{0};
    crew_.run([&](unsigned) {
      for (auto i = next++; i < numbers.size(); i = next++)
        take_turn(numbers[i]);
      machine::leave_thread();
    });
  }
  auto began = now_;
  network_.settle(numbers, [this](duration at) { now_ = at; });
  now_ = began;
}

void world::work(duration stop) {
  until_ = now_;
  turns_from_ = now_;
  if (in_spans_ && stop > now_)
    until_ = std::max(now_, std::min(now_ + shortest_way_, stop) - duration{1});
  wake_those_due();
  auto before = [this](sim_network::host_number host) { touch(host); };
  do {
    network_.run_until(until_, before);
    while (!ready_.empty()) {
      std::vector<std::size_t> numbers(ready_.begin(), ready_.end());
      ready_.clear();
      take_turns(numbers);
      turns_from_ = until_;
      for (auto number : numbers) {
        auto& life = lives_[number];
        messages_ += life.handled;
        if (life.wake && life.wake != life.alarm)
          alarms_.push({*life.wake, number});
        life.alarm = life.wake;
        if (life.left_over) {
          checks_->check(*life.left_over == 0, until_,
                         std::to_string(*life.left_over) + " actors of peer "
                             + std::to_string(number) + " outlived it");
          end_process(life, false);
        }
      }
    }
    auto ended = std::move(ended_);
    ended_.clear();
    for (auto number : ended)
      retire(number, "finished");
  } while (!ready_.empty()
           || network_.next().value_or(until_ + duration{1}) <= until_);
  now_ = until_;
}

} // namespace potluck::simulation
