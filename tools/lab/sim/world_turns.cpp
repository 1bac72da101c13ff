/// How machines take turns, alone or at the same time.
#include <algorithm>
#include <atomic>

#include "tools/lab/network/prefetch.hpp"
#include "tools/lab/sim/world.hpp"

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
  auto next_after = [&](duration earliest) {
    x.wake = box.wake();
    if (x.wake)
      x.wake = std::max(*x.wake, earliest);
    return std::min(network_.mail(number).value_or(duration::max()),
                    x.wake.value_or(duration::max()));
  };
  auto at = turns_from_;
  if (box.idle()) // Else it was told to do something at once.
    at = std::max(at, next_after(at));
  while (at <= until_) {
    network_.deliver(number, at);
    x.handled += box.run(at);
    at = next_after(at + duration{1});
  }
  x.left_over = box.left_over();
  network_.end_turn(number);
}

void world::look_ahead(const std::vector<std::size_t>& numbers, std::size_t at,
                       std::size_t end) const {
  // The memory of a stage says where that of the next one is.
  auto due = at + machine::stages_ahead + 1;
  if (due < end)
    prefetch(&lives_[numbers[due]], sizeof(life));
  for (unsigned stage = 0; stage < machine::stages_ahead; ++stage)
    if (--due < end) {
      lives_[numbers[due]].box->look_ahead(stage);
      network_.look_ahead(numbers[due], stage);
    }
}

void world::take_some_turns(const std::vector<std::size_t>& numbers,
                            std::size_t at, std::size_t end) {
  for (; at < end; ++at) {
    look_ahead(numbers, at, end);
    take_turn(numbers[at]);
  }
}

void world::take_turns(const std::vector<std::size_t>& numbers) {
  const auto size = numbers.size();
  if (crew_.size() == 1 || size < few_turns) {
    take_some_turns(numbers, 0, size);
  } else {
    // Many in a row at first, so that a thread knows what it does next; then
    // fewer and fewer, so that all end at the same time.
    std::atomic<std::size_t> next{0};
    crew_.run([&](unsigned) {
      for (auto at = next.load(); at < size;) {
        auto end = at + 1 + (size - at) / (2 * crew_.size());
        if (next.compare_exchange_weak(at, end)) {
          take_some_turns(numbers, at, std::min(end, size));
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
          judge_->of<looked_at<leaves_nothing>>().check(
              *life.left_over == 0, until_, [&] {
                return std::to_string(*life.left_over) + " actors of peer "
                       + std::to_string(number) + " outlived it";
              });
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
