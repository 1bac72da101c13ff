/// `potluck bench checkpoint`: what writing a checkpoint costs those that
/// compute meanwhile, and how fast one is loaded, next to reading the file.

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "actors/compute.hpp"
#include "actors/state_keeper.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/file_descriptor.hpp"
#include "runtime/state/state_copy.hpp"
#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

/// Of the time between two checkpoints, what may be lost. A state of a GB is
/// that of a model of 80 M parameters, whose hundred steps take far longer.
constexpr double between_checkpoints = 60;
/// A step of such a model, whose mean of 333 MB takes longer than that over a
/// line of 500 Mbit/s. The state that is written is the one that training goes
/// on from; if the next step comes before it is on the disk, it is copied.
constexpr double step_seconds = 5;
constexpr double lost_goal = 0.01;
constexpr double loading_goal = 1.5;

double since(clock::time_point begin) {
  return seconds(clock::now() - begin).count();
}

/// Threads that compute all the time, as a trainer's do.
class computing {
public:
  explicit computing(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i)
      all_.emplace_back([this] { run(); });
  }
  ~computing() {
    ends_ = true;
    for (auto& x : all_)
      x.join();
  }
  computing(const computing&) = delete;
  computing& operator=(const computing&) = delete;

  /// Passes so far, of all.
  std::uint64_t done() const {
    return done_;
  }
  /// Passes a second.
  double rate(std::chrono::milliseconds window) const {
    const auto begin = clock::now();
    const auto before = done();
    std::this_thread::sleep_for(window);
    return static_cast<double>(done() - before) / since(begin);
  }

private:
  void run() {
    const auto self = static_cast<id_t>(::syscall(SYS_gettid));
    ::setpriority(PRIO_PROCESS, self, compute_config{}.niceness);
    // More than a processor's own caches hold, so that a writer that needs the
    // memory's bandwidth is felt, too.
    std::vector<float> values(1 << 20, 1.0f);
    while (!ends_) {
      for (auto& x : values)
        for (int i = 0; i < 4; ++i)
          x = x * 0.999f + 0.001f;
      ++done_;
    }
  }

  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> ends_{false};
  std::vector<std::thread> all_;
};

struct cost {
  double copying = 0; ///< Seconds, during which nothing is computed.
  double writing = 0;
  double processor = 0; ///< Of that, what a processor spent on it.
  double lost = 0;      ///< Seconds of computing, in all.
};

/// Of this thread, so far.
double processor_seconds() {
  struct rusage used {};
  ::getrusage(RUSAGE_THREAD, &used);
  const auto in = [](const timeval& x) {
    return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_usec) / 1e6;
  };
  return in(used.ru_utime) + in(used.ru_stime);
}

cost write_one(const std::string& path, const charter& agreed,
               const training_state& state, unsigned threads) {
  cost result;
  const auto began = clock::now();
  copy_of(state, threads);
  result.copying = since(began);
  const computing others{threads};
  constexpr std::chrono::milliseconds window{1500};
  const auto before = others.rate(window);
  std::uint64_t passes = 0;
  expected<bool> saved = true;
  std::thread writer{[&] {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)),
                  writing_niceness);
    const auto from = others.done();
    const auto begin = clock::now();
    saved = save_checkpoint(path, agreed, state);
    result.writing = since(begin);
    result.processor = processor_seconds();
    passes = others.done() - from;
  }};
  writer.join();
  unwrap(saved);
  const auto usual = (before + others.rate(window)) / 2;
  result.lost
      = std::max(0.0, result.writing - static_cast<double>(passes) / usual);
  if (result.writing > step_seconds)
    result.lost += result.copying;
  return result;
}

double read_whole(const std::string& path) {
  const auto begin = clock::now();
  const file_descriptor fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto size = std::filesystem::file_size(path);
  const std::unique_ptr<char[]> memory{new char[size]};
  std::size_t at = 0;
  while (at < size) {
    const auto count = ::read(fd.get(), memory.get() + at, size - at);
    if (count <= 0)
      throw std::runtime_error("cannot read " + path);
    at += static_cast<std::size_t>(count);
  }
  return since(begin);
}

double load_whole(const std::string& path) {
  const auto begin = clock::now();
  unwrap(load_checkpoint(path));
  return since(begin);
}

} // namespace

int bench_checkpoint(cli::command_line& options) {
  const auto values = static_cast<std::size_t>(options.real("megabytes") * 1e6
                                               / sizeof(float));
  auto threads = static_cast<unsigned>(options.integer("threads"));
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  try {
    auto folder = make_work_directory(options, "keep", "potluck-bench");
    if (!folder)
      return complain(folder.error());
    const auto path = *folder + "/checkpoint";
    run_settings settings;
    const charter agreed{settings, ""};
    model_layout layout;
    layout.add("all", {static_cast<std::int64_t>(values)}, true, 0, 1);
    auto state = initial_state(layout, 1);
    state.step = 1;
    remember_digest(state);
    std::vector<double> copying, writing, processor, lost, ratios, reading,
        loading;
    for (std::int64_t i = 0; i <= options.integer("rounds"); ++i) {
      const auto x = write_one(path, agreed, state, threads);
      read_whole(path); // Into the system's cache, whoever is first.
      const auto first = i % 2 == 0 ? read_whole(path) : 0;
      const auto load = load_whole(path);
      const auto read = i % 2 == 0 ? first : read_whole(path);
      if (i == 0)
        continue;
      copying.push_back(x.copying);
      writing.push_back(x.writing);
      processor.push_back(x.processor);
      lost.push_back(x.lost / between_checkpoints);
      reading.push_back(read);
      loading.push_back(load);
      ratios.push_back(load / read);
    }
    const auto bytes = std::filesystem::file_size(path);
    if (options.text("keep").empty())
      std::filesystem::remove_all(*folder);
    const auto middle
        = [](std::vector<double>& x) { return bench::quantile(x, 0.5); };
    const auto share = middle(lost);
    const auto ratio = middle(ratios);
    return report(options,
                  {{"megabytes", static_cast<double>(bytes) / 1e6},
                   {"threads_that_compute", threads},
                   {"copy_seconds", middle(copying)},
                   {"write_seconds", middle(writing)},
                   {"write_processor_seconds", middle(processor)},
                   {"lost_of_a_minute", share},
                   {"lost_goal", lost_goal},
                   {"read_seconds", middle(reading)},
                   {"load_seconds", middle(loading)},
                   {"load_ratio", ratio},
                   {"load_goal", loading_goal},
                   {"met", share <= lost_goal && ratio <= loading_goal}},
                  share <= lost_goal && ratio <= loading_goal);
  } catch (const std::exception& e) {
    return complain(e.what(), failed);
  }
}

} // namespace potluck::tools
