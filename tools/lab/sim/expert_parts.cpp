#include "tools/lab/sim/expert_parts.hpp"

#include "actors/behavior.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck::simulation {

namespace {

using namespace std::chrono_literals;

/// A call's number, which a float must hold exactly, and a weight.
constexpr std::uint32_t width = 2;
constexpr auto between_calls = 500ms;
constexpr auto patience = 5s;
constexpr auto batch_time = 10ms;

/// Outputs are inputs times the version; the first input of every sample names
/// its call.
class simulated_expert : public expert_module {
public:
  simulated_expert(std::string uid,
                   std::shared_ptr<const expert_witness> witness)
      : uid_(std::move(uid)), witness_(std::move(witness)) {
  }

  const expert_shape& shape() const override {
    return shape_;
  }
  void forward(std::uint32_t samples, const float* in, float* out) override {
    scale(samples, in, out);
  }
  void backward(std::uint32_t samples, const float* in, const float* grad_out,
                float* grad_in) override {
    scale(samples, grad_out, grad_in);
    std::vector<std::uint64_t> calls;
    for (std::uint32_t i = 0; i < samples; ++i)
      calls.push_back(static_cast<std::uint64_t>(in[i * width]));
    ++updates_;
    witness_->applied(uid_, calls, updates_);
  }
  std::uint64_t updates() const override {
    return updates_;
  }
  std::vector<std::uint8_t> save() const override {
    std::vector<std::uint8_t> bytes(sizeof(updates_));
    put_little_endian(bytes.data(), updates_);
    return bytes;
  }
  void load(const std::vector<std::uint8_t>& bytes) override {
    if (bytes.size() != sizeof(updates_))
      throw std::runtime_error("these are not an expert's bytes");
    updates_ = get_little_endian<std::uint64_t>(bytes.data());
    witness_->made(uid_, updates_);
  }

private:
  void scale(std::uint32_t samples, const float* from, float* to) const {
    for (std::size_t i = 0; i < samples * width; ++i)
      to[i] = from[i] * static_cast<float>(1 + updates_ % 7);
  }

  expert_shape shape_{width, width};
  std::string uid_;
  std::shared_ptr<const expert_witness> witness_;
  std::uint64_t updates_ = 0;
};

expert_uid uid_of(std::size_t host, std::size_t i) {
  return {
      "e",
      {static_cast<std::uint32_t>(host % 256), static_cast<std::uint32_t>(i)}};
}

using caller_actor = caf::typed_actor<caf::reacts_to<tick>>;

class caller_state {
public:
  struct config {
    std::shared_ptr<expert_client> client;
    std::vector<std::size_t> hosts;
    random_stream chance{0};
    std::shared_ptr<std::uint64_t> next_call;
    std::function<void(const std::string& uid)> answered;
  };

  void init(caller_actor::pointer self, config what) {
    self_ = self;
    what_ = std::move(what);
    self_->delayed_send(self_, between_calls, tick{});
  }

  void on(const tick&) {
    auto host = what_.hosts[what_.chance.below(what_.hosts.size())];
    auto uid = to_string(uid_of(host, what_.chance.below(experts_of_a_host)));
    expert_call x;
    x.uid = uid;
    x.samples = 1;
    x.patience = patience;
    auto number = static_cast<float>((*what_.next_call)++);
    if (what_.chance.below(3) == 0) {
      x.values = std::make_shared<const float_array>(float_array{number, 1});
    } else {
      x.pass = expert_pass::backward;
      x.values
          = std::make_shared<const float_array>(float_array{number, 1, 1, 1});
    }
    what_.client->call(
        x, [uid, answered = what_.answered](expected<expert_reply> y) {
          if (y)
            answered(uid);
        });
    self_->delayed_send(self_, between_calls, tick{});
  }

private:
  caller_actor::pointer self_ = nullptr;
  config what_;
};

caller_actor::behavior_type
caller(caller_actor::stateful_pointer<caller_state> self,
       caller_state::config what) {
  return behave<caller_actor, caller_state>(self, std::move(what));
}

} // namespace

expert_hosting simulated_hosting(std::size_t number,
                                 std::shared_ptr<const expert_witness> witness,
                                 expert_shelves shelves) {
  expert_hosting h;
  h.kind.layer = "simulated";
  h.kind.hidden = width;
  for (std::size_t i = 0; i < experts_of_a_host; ++i)
    h.uids.push_back(uid_of(number, i));
  h.make
      = [witness](const expert_kind&, const std::string& uid, std::uint64_t) {
          return std::make_unique<simulated_expert>(uid, witness);
        };
  h.shelves = std::move(shelves);
  h.spare = 4 * experts_of_a_host;
  h.save_every = expert_save_every;
  h.batch_time = [](std::uint32_t) { return duration{batch_time}; };
  return h;
}

caf::actor
spawn_simulated_caller(caf::actor_system& system,
                       std::shared_ptr<expert_client> client,
                       std::vector<std::size_t> hosts, std::uint64_t seed,
                       std::shared_ptr<std::uint64_t> next_call,
                       std::function<void(const std::string& uid)> answered) {
  return caf::actor_cast<caf::actor>(system.spawn(
      caller, caller_state::config{std::move(client), std::move(hosts),
                                   random_stream{seed}, std::move(next_call),
                                   std::move(answered)}));
}

} // namespace potluck::simulation
