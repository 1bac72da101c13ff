#include "tools/lab/bench/averaging_trial.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>

#include "tools/lab/judge/logged_event.hpp"

namespace potluck::bench {

namespace {

/// Between two looks at the reports.
constexpr timespec look_interval{0, 5'000'000};
/// Without any news: longer than any round on a machine that can hold it.
constexpr double longest_silence = 90;

double now() {
  timespec x{};
  clock_gettime(CLOCK_MONOTONIC, &x);
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_nsec) / 1e9;
}

/// A member's process and what it has said.
struct member {
  tools::child_process process;
  tools::log_tail tail;
  std::string address{};
  double ready = 0;
  std::vector<double> ends{};
  std::vector<double> averaging{};
  std::vector<double> samples{};
  std::vector<double> peers{};
  std::uint64_t sent = 0;
  double cpu = 0;
  std::uint64_t peak = 0;
  std::uint64_t idle = 0;
  std::string digest{};
  std::string fault{};
  bool over = false;
  std::string problem{};
};

class gathering {
public:
  gathering(const tools::child_group& family, const averaging_trial& what)
      : family_(family), what_(what) {
  }

  expected<averaging_figures> run() {
    auto first = start(0, "");
    if (!first)
      return failure{first.error()};
    if (what_.contact_option.empty()) {
      auto rest = start_others("");
      if (!rest)
        return failure{rest.error()};
    }
    heard_ = now();
    while (!over()) {
      auto well = look();
      if (!well)
        return failure{well.error()};
      nanosleep(&look_interval, nullptr);
    }
    return figures();
  }

private:
  expected<bool> start(std::size_t i, const std::string& contact) {
    auto words = what_.commands[i];
    if (!contact.empty())
      words.push_back(what_.contact_option + contact);
    auto path = what_.directory + "/" + what_.name + "-" + std::to_string(i);
    auto child = family_.start(words, path);
    if (!child)
      return failure{child.error()};
    members_.push_back({std::move(*child), tools::log_tail{path}});
    return true;
  }

  expected<bool> start_others(const std::string& contact) {
    for (std::size_t i = 1; i < what_.commands.size(); ++i) {
      auto done = start(i, contact);
      if (!done)
        return done;
    }
    return true;
  }

  expected<bool> look() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      auto& m = members_[i];
      // Before its reports are read: then nothing can follow.
      auto ended = m.process.end();
      for (auto& x : m.tail.news()) {
        heard_ = now();
        hear(m, x);
      }
      if (m.over)
        count_missed(m);
      auto who = what_.name + " " + std::to_string(i);
      if (!m.problem.empty())
        return failure{who + ": " + m.problem
                       + (m.fault.empty() ? "" : " (" + m.fault + ")") + "."};
      if (ended && !m.over)
        return failure{who + " " + to_string(*ended) + "; its output is in "
                       + what_.directory + "."};
    }
    if (now() - heard_ > longest_silence)
      return failure{"No round was completed for "
                     + std::to_string(static_cast<int>(longest_silence))
                     + " seconds; try fewer megabytes or fewer peers."};
    if (members_.size() < what_.commands.size()
        && !members_.front().address.empty())
      return start_others(members_.front().address);
    return true;
  }

  static void hear(member& m, const tools::logged_event& x) {
    if (x.name == "listening")
      m.address = x.text("address");
    else if (x.name == "ready")
      m.ready = x.time;
    else if (x.name == "fault")
      m.fault = x.text("what") + ": " + x.text("detail");
    else if (x.name == "round") {
      m.ends.push_back(x.time);
      m.averaging.push_back(x.number("averaging"));
      m.samples.push_back(x.number("samples"));
      m.peers.push_back(x.number("peers"));
      m.sent += x.count("sent");
    } else if (x.name == "over") {
      m.over = true;
      m.problem = x.text("problem");
      m.cpu = x.number("cpu_seconds");
      m.peak = x.count("peak_bytes");
      m.idle = x.count("idle_bytes");
      m.digest = x.text("digest");
    }
  }

  /// Who came too late for the first rounds had no part in them.
  void count_missed(member& m) const {
    auto missed = what_.rounds - std::min(what_.rounds, m.ends.size());
    if (missed <= what_.may_miss)
      for (auto* x : {&m.ends, &m.averaging, &m.samples, &m.peers})
        x->insert(x->begin(), missed, 0.0);
  }

  bool over() {
    return members_.size() == what_.commands.size()
           && std::all_of(members_.begin(), members_.end(),
                          [](auto& m) { return m.over && m.process.end(); });
  }

  expected<averaging_figures> figures() const {
    averaging_figures result;
    double before = 0;
    result.digests_equal = true;
    for (auto& m : members_) {
      if (m.ends.size() != what_.rounds)
        return failure{what_.name + ": a member reported "
                       + std::to_string(m.ends.size()) + " rounds instead of "
                       + std::to_string(what_.rounds) + "."};
      before = std::max(before, m.ready);
      result.cpu_seconds += m.cpu;
      result.bytes_sent += m.sent;
      result.peak_bytes += m.peak;
      result.idle_bytes += m.idle;
      result.digests_equal &= m.digest == members_.front().digest;
    }
    for (std::uint64_t i = 0; i < what_.rounds; ++i) {
      double end = 0;
      double averaging = 0;
      for (auto& m : members_) {
        end = std::max(end, m.ends[i]);
        averaging = std::max(averaging, m.averaging[i]);
      }
      if (i == 0) {
        result.first_seconds = end - before;
      } else {
        result.seconds.push_back(end - before);
        result.averaging_seconds.push_back(averaging);
        result.samples.push_back(members_.front().samples[i]);
        result.peers.push_back(members_.front().peers[i]);
      }
      before = end;
    }
    return result;
  }

  const tools::child_group& family_;
  const averaging_trial& what_;
  std::deque<member> members_; ///< None moves when one is added.
  double heard_ = 0;
};

} // namespace

expected<averaging_figures> run(const tools::child_group& family,
                                const averaging_trial& what) {
  return gathering{family, what}.run();
}

double quantile(std::vector<double> x, double share) {
  std::sort(x.begin(), x.end());
  auto place = share * static_cast<double>(x.size() - 1);
  auto below = static_cast<std::size_t>(std::floor(place));
  auto above = std::min(below + 1, x.size() - 1);
  return x[below]
         + (x[above] - x[below]) * (place - static_cast<double>(below));
}

} // namespace potluck::bench
