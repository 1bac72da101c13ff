#include "actors/experts/expert.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "actors/behavior.hpp"

namespace potluck {

struct expert_state::workshop {
  expert_config config;
  std::unique_ptr<expert_module> module;
  std::uint64_t saved = 0; ///< Updates of what lies on the shelf.
  std::uint32_t term = 1;

  void make() {
    module = config.make(config.kind, config.uid, config.seed);
    auto kept = config.shelf->get(config.uid);
    if (!kept)
      throw std::runtime_error(kept.error());
    if (!kept->bytes.empty()) {
      module->load(kept->bytes);
      term = kept->term;
    }
    saved = module->updates();
    // What was never saved could not be kept by others either.
    if (kept->bytes.empty())
      put();
    caf::anon_send(config.host,
                   expert_made{config.uid, module->shape(), saved, term});
  }

  expected<bool> put() {
    return config.shelf->put(config.uid,
                             {term, module->updates(), module->save()});
  }

  void save() {
    expert_saved x{config.uid, module->updates(), ""};
    if (x.updates != saved) {
      auto done = put();
      if (done)
        saved = x.updates;
      else
        x.problem = done.error();
    }
    caf::anon_send(config.host, x);
  }

  /// One update for all calls. When that is impossible, one for each call: who
  /// sent what makes a gradient infinite costs nobody else anything.
  void teach(const batch_queue::batch& batch, const float* in,
             const float* gradients, float* out) {
    const auto& tasks = batch.tasks;
    try {
      module->backward(batch.samples(), in, gradients, out);
      return;
    } catch (const unusable_gradient&) {
    }
    std::size_t inputs = module->shape().inputs;
    std::size_t outputs = module->shape().outputs;
    for (auto& task : tasks) {
      try {
        if (tasks.size() == 1)
          throw unusable_gradient();
        module->backward(task.samples, in, gradients, out);
      } catch (const unusable_gradient&) {
        // The host refuses what is not finite.
        std::fill_n(out, task.samples * inputs,
                    std::numeric_limits<float>::quiet_NaN());
      }
      in += task.samples * inputs;
      gradients += task.samples * outputs;
      out += task.samples * inputs;
    }
  }

  /// The batch's inputs, and the outputs' gradients: of a single call as they
  /// lie there, of several put together in `room`.
  std::pair<const float*, const float*>
  gather(const std::vector<expert_task>& tasks, float_array& room) const {
    const std::size_t width = module->shape().inputs;
    std::size_t inputs = 0;
    std::size_t values = 0;
    for (auto& task : tasks) {
      inputs += task.samples * width;
      values += task.values.size();
    }
    if (tasks.size() == 1)
      return {tasks[0].values.data(), tasks[0].values.data() + inputs};
    room.resize(values);
    auto* in = room.data();
    auto* gradients = room.data() + inputs;
    for (auto& task : tasks) {
      const auto* first = task.values.data();
      const auto* middle = first + task.samples * width;
      in = std::copy(first, middle, in);
      gradients = std::copy(middle, first + task.values.size(), gradients);
    }
    return {room.data(), room.data() + inputs};
  }

  void run(const run_batch& x) {
    const auto& tasks = x.what.batch->tasks;
    bool forward = x.what.batch->pass == expert_pass::forward;
    std::size_t inputs = module->shape().inputs;
    std::size_t outputs = module->shape().outputs;
    auto samples = x.what.batch->samples();
    float_array room;
    auto [in, gradients] = gather(tasks, room);
    batch_computed done;
    done.uid = config.uid;
    auto& made = done.what;
    made.number = x.what.number;
    made.width = static_cast<std::uint32_t>(forward ? outputs : inputs);
    made.version = module->updates();
    auto out = std::make_shared<float_array>();
    out->resize(std::size_t{samples} * made.width);
    if (forward)
      module->forward(samples, in, out->data());
    else
      teach(*x.what.batch, in, gradients, out->data());
    made.values = std::move(out);
    done.updates = module->updates();
    caf::anon_send(config.host, done);
    if (done.updates - saved >= config.save_every)
      save();
  }
};

template <class Job>
void expert_state::post(Job job) {
  auto outbox = caf::actor_cast<expert_actor>(self_);
  device_->post([job = std::move(job), shop = workshop_, ended = ended_,
                 outbox] {
    if (*ended)
      return; // Its successor has what it had on the shelf.
    try {
      job(*shop);
    } catch (const std::exception& e) {
      *ended = true; // Nothing more of what it was told.
      caf::anon_send(outbox, work_failed{e.what()});
    } catch (...) {
      *ended = true;
      caf::anon_send(outbox, work_failed{"the expert threw no exception of the "
                                         "standard library"});
    }
  });
}

expert_state::~expert_state() {
  *ended_ = true;
}

void expert_state::init(expert_actor::pointer self, expert_config config) {
  self_ = self;
  device_ = config.device;
  config.device = nullptr; // Its own thread must not be what ends it.
  workshop_ = std::make_shared<workshop>();
  workshop_->config = std::move(config);
  post([](workshop& shop) { shop.make(); });
}

void expert_state::on(const run_batch& x) {
  post([x](workshop& shop) { shop.run(x); });
}

void expert_state::on(const save_expert&) {
  post([](workshop& shop) { shop.save(); });
}

void expert_state::on(const work_failed& x) {
  self_->quit(caf::make_error(caf::sec::runtime_error, x.sentence));
}

expert_actor::behavior_type
expert(expert_actor::stateful_pointer<expert_state> self,
       expert_config config) {
  return behave<expert_actor, expert_state>(self, std::move(config));
}

} // namespace potluck
