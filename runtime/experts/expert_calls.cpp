#include "runtime/experts/expert_calls.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

time_point now() {
  return std::chrono::steady_clock::now();
}

/// Answers on their way from the network's thread to the one that waits. They
/// share it, so answers that nobody waits for any more do no harm.
template <class T>
class inbox {
public:
  struct letter {
    std::size_t number;
    expected<T> content;
  };

  void put(std::size_t number, expected<T> content) {
    {
      std::lock_guard<std::mutex> guard{mutex_};
      if (closed_)
        return;
      letters_.push_back({number, std::move(content)});
    }
    news_.notify_one();
  }

  /// What has come; waits for some until `deadline`.
  std::vector<letter> take(time_point deadline) {
    std::unique_lock<std::mutex> lock{mutex_};
    news_.wait_until(lock, deadline, [&] { return !letters_.empty(); });
    return std::exchange(letters_, {});
  }

  void close() {
    std::lock_guard<std::mutex> guard{mutex_};
    closed_ = true;
    letters_.clear();
  }

private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<letter> letters_;
  bool closed_ = false;
};

} // namespace

std::string find_experts(expert_network& network, beam_search& search,
                         expert_memory& known,
                         std::chrono::milliseconds patience) {
  using coordinates = std::vector<std::uint32_t>;
  std::string problem;
  auto deadline = now() + patience;
  while (!search.done()) {
    std::vector<std::string> unknown;
    for (auto& prefix : search.next()) {
      if (auto found = known.find(prefix, now()))
        search.answered(prefix, *found);
      else
        unknown.push_back(prefix);
    }
    auto answers = std::make_shared<inbox<coordinates>>();
    for (std::size_t i = 0; i < unknown.size(); ++i)
      network.look_up(unknown[i], [answers, i](expected<coordinates> x) {
        answers->put(i, std::move(x));
      });
    std::vector<bool> told(unknown.size());
    for (auto open = unknown.size(); open > 0 && now() < deadline;) {
      for (auto& x : answers->take(deadline)) {
        told[x.number] = true;
        --open;
        if (x.content) {
          search.answered(unknown[x.number],
                          known.keep(unknown[x.number], *x.content, now()));
        } else {
          problem = x.content.error();
          search.answered(unknown[x.number], {});
        }
      }
    }
    answers->close();
    for (std::size_t i = 0; i < unknown.size(); ++i)
      if (!told[i]) {
        problem = "The look-up of " + unknown[i] + " took too long.";
        search.answered(unknown[i], {});
      }
  }
  return problem;
}

call_outcome call_together(expert_network& network,
                           std::vector<wanted_call> calls, std::size_t samples,
                           quorum::settings how, expert_memory* known) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (auto& x : calls)
    groups.push_back(std::move(x.samples));
  quorum count{how, samples, std::move(groups), now()};
  auto answers = std::make_shared<inbox<expert_reply>>();
  for (std::size_t i = 0; i < calls.size(); ++i)
    network.call(calls[i].what, [answers, i](expected<expert_reply> x) {
      answers->put(i, std::move(x));
    });
  call_outcome result;
  result.answers.resize(calls.size());
  while (!count.done(now())) {
    for (auto& x : answers->take(count.deadline())) {
      const auto& call = calls[x.number];
      if (!x.content)
        result.problem = x.content.error();
      else if (x.content->values.size() != call.values)
        result.problem = "Expert " + call.what.uid
                         + " answered another number of values than there "
                           "should be.";
      else if (!all_finite(x.content->values.data(), call.values))
        result.problem = "Expert " + call.what.uid
                         + " answered values that are not finite.";
      else {
        if (count.answered(x.number, now()) == quorum::verdict::taken)
          result.answers[x.number] = std::move(x.content->values);
        if (known)
          known->answered(call.what.uid);
        continue;
      }
      count.failed(x.number);
      if (known)
        known->failed(call.what.uid, now());
    }
  }
  answers->close();
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (result.answers[i].empty() && result.problem.empty())
      result.problem = "Expert " + calls[i].what.uid + " took too long.";
  for (std::size_t i = 0; i < samples; ++i)
    result.enough.push_back(count.enough(i));
  return result;
}

} // namespace potluck
