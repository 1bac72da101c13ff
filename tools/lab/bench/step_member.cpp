#include "tools/lab/bench/step_member.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "actors/peer.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tools/lab/bench/process_memory.hpp"
#include "tools/lab/bench/workload.hpp"

namespace potluck::bench {

namespace {

constexpr std::uint64_t tensor_values = 4'000'000;

/// Where trainers wait until their peer knows all the others: a founder alone
/// would have made some steps by then.
class meeting {
public:
  explicit meeting(std::uint32_t missing) : missing_(missing) {
  }
  void somebody_came() {
    std::lock_guard<std::mutex> guard{mutex_};
    missing_ -= std::min(missing_, 1u);
    changed_.notify_all();
  }
  void wait(const std::atomic<bool>& cancelled) {
    std::unique_lock<std::mutex> lock{mutex_};
    while (missing_ > 0 && !cancelled)
      changed_.wait_for(lock, std::chrono::milliseconds{50});
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t missing_;
};

/// Sleeps, and adds something to the gradient: as much of it for a sample as a
/// local step has samples, so that every local step touches all of it once.
class sleeping_trainer : public trainer {
public:
  sleeping_trainer(const step_member_config& config,
                   std::shared_ptr<meeting> others)
      : others_(std::move(others)), batch_(config.batch),
        sample_(config.batch_seconds / config.batch) {
    for (std::uint64_t done = 0; done < config.values; done += tensor_values)
      layout_.add("tensor " + std::to_string(done / tensor_values),
                  {static_cast<std::int64_t>(
                      std::min(tensor_values, config.values - done))},
                  true, 0, 0.02f);
  }

  const model_layout& layout() const override {
    return layout_;
  }
  std::uint32_t usual_request() const override {
    return batch_;
  }

  batch_result accumulate(const batch_request& request, const float*,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override {
    others_->wait(cancelled);
    auto end = std::chrono::steady_clock::now() + request.samples * sample_;
    batch_result result;
    if (cancelled)
      return result;
    auto values = layout_.values();
    auto stretch = (values + batch_ - 1) / batch_;
    for (std::uint32_t i = 0; i < request.samples; ++i) {
      auto number = request.first_sample + i;
      auto first = std::min(values, number % batch_ * stretch);
      auto last = std::min(values, first + stretch);
      for (auto k = first; k < last; ++k)
        gradient[k] += 0.01f;
    }
    std::this_thread::sleep_until(end);
    result.samples = request.samples;
    result.loss_sum = request.samples;
    return result;
  }

  evaluation evaluate(const float*, std::uint64_t, std::uint64_t) override {
    return {};
  }

private:
  model_layout layout_;
  std::shared_ptr<meeting> others_;
  std::uint32_t batch_;
  std::chrono::duration<double> sample_;
};

/// What the peer tells its user, for the thread that waits for its end.
class observed {
public:
  observed(std::ostream& out, std::shared_ptr<meeting> others)
      : out_(out), others_(std::move(others)),
        idle_bytes_(memory_row("RssAnon")) {
  }

  void told(const event& x) {
    auto now = std::chrono::steady_clock::now();
    if (x.name == "listening")
      say({"listening", {{"address", text(x, "address")}}}, now);
    else if (x.name == "fault")
      say(x, now);
    else if (x.name == "charter")
      say({"ready", {}}, now);
    else if (x.name == "join")
      others_->somebody_came();
    else if (x.name == "round")
      round_ = x;
    else if (x.name == "step")
      stepped(x, now);
    else if (x.name == "finished")
      digest_ = text(x, "digest");
  }

  void ended(const peer_over& x) {
    say({"over",
         {{"problem", x.problem},
          {"cpu_seconds", cpu_after_},
          {"peak_bytes", peak_memory()},
          {"idle_bytes", idle_bytes_},
          {"digest", digest_}}},
        std::chrono::steady_clock::now());
    std::lock_guard<std::mutex> guard{mutex_};
    over_ = true;
    well_ = x.problem.empty();
    changed_.notify_all();
  }

  /// Waits for the end; returns whether it was a good one.
  bool wait() {
    std::unique_lock<std::mutex> lock{mutex_};
    changed_.wait(lock, [this] { return over_; });
    return well_;
  }

private:
  template <class T>
  static T field(const event& x, const std::string& name) {
    for (auto& [key, value] : x.fields)
      if (key == name)
        if (auto found = std::get_if<T>(&value))
          return *found;
    return {};
  }
  static std::string text(const event& x, const std::string& name) {
    return field<std::string>(x, name);
  }

  void stepped(const event& x, std::chrono::steady_clock::time_point now) {
    say({"round",
         {{"round", field<std::uint64_t>(x, "step")},
          {"averaging", field<double>(round_, "seconds")},
          {"sent", field<std::uint64_t>(round_, "bytes_sent")},
          {"samples", field<std::uint64_t>(x, "samples")},
          {"peers", field<std::uint64_t>(x, "peers")}}},
        now);
    cpu_after_ = cpu_seconds();
  }

  void say(const event& x, std::chrono::steady_clock::time_point now) {
    out_ << to_json(x, seconds(now)) << std::endl;
  }

  std::ostream& out_;
  std::shared_ptr<meeting> others_;
  std::uint64_t idle_bytes_;
  event round_;
  std::string digest_;
  double cpu_after_ = 0; ///< The last step.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool well_ = false;
};

observer_actor::behavior_type listener(observer_actor::pointer, observed* to) {
  return {[to](const event& x) { to->told(x); }, [](const run_status&) {},
          [to](const peer_over& x) { to->ended(x); }};
}

} // namespace

bool train(caf::actor_system& system, step_member_config config,
           std::ostream& out) {
  auto others = std::make_shared<meeting>(config.members - 1);
  observed seen{out, others};
  auto key = key_pair::generate();
  peer_config peer;
  peer.self = key.id();
  peer.signs = signatures_of(key);
  peer.wall_clock = wall_clock_ms;
  peer.run = config.settings.run;
  peer.listen = {"127.0.0.1", 0};
  peer.seeds = config.seeds;
  peer.make_transport = [key, insecure = config.insecure] {
    uv_transport_options how;
    how.key = key;
    how.insecure = insecure;
    return make_uv_transport(how);
  };
  peer.micro_batch = 0; // As the trainer likes.
  peer.threads = config.threads;
  std::memcpy(&peer.seed, peer.self.bytes.data(), sizeof(peer.seed));
  peer.seed |= 1;
  peer.propose = [settings = config.settings] { return charter{settings, ""}; };
  peer.make_trainer = [config, others](const charter&) {
    return std::make_unique<sleeping_trainer>(config, others);
  };
  auto eyes = system.spawn(listener, &seen);
  auto whole = spawn_peer(system, std::move(peer), eyes);
  auto well = seen.wait();
  caf::anon_send(whole, leave_run{"all steps are done"});
  caf::scoped_actor main{system};
  main->wait_for(whole);
  caf::anon_send_exit(eyes, caf::exit_reason::user_shutdown);
  main->wait_for(eyes);
  return well;
}

} // namespace potluck::bench
