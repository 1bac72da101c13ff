#include "actors/compute.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/behavior.hpp"
#include "runtime/averaging/value_pool.hpp"

namespace potluck {

namespace {

void advance(training_state& state, std::uint64_t samples,
             const state_digests& digests) {
  ++state.step;
  state.history_samples += samples;
  remember_digest(state, digests);
}

} // namespace

struct compute_state::workshop {
  compute_config config;
  bool delayed = false; ///< The run's updates.
  std::unique_ptr<trainer> model;
  std::unique_ptr<optimizer> optimize;
  std::uint64_t tenancy = 0; ///< Our number in the vault, from the first job.

  // The first thread's.
  std::shared_ptr<std::vector<float>> gradient;
  std::shared_ptr<std::vector<float>> aside; ///< Null: nothing was set aside.

  /// Where gradients and copies of parameters come from, and back to.
  std::optional<value_pool> room;

  // What both threads touch, if there are two.
  std::mutex desk;
  /// What batches read: those of a step that was the newest a moment ago.
  std::shared_ptr<const std::vector<float>> parameters;
  std::uint64_t parameters_step = 0;
  std::shared_ptr<std::vector<float>> empty; ///< For the next gradient.

  training_state& state() {
    return *config.vault->state;
  }

  std::shared_ptr<std::vector<float>> zeros() {
    auto result = room->take(model->layout().values());
    std::fill(result->begin(), result->end(), 0.0f);
    return result;
  }

  /// The gradient, ours alone: a round may still be sending the old one.
  static std::vector<float>&
  alone(std::shared_ptr<std::vector<float>>& gradient) {
    if (gradient.use_count() > 1)
      gradient = std::make_shared<std::vector<float>>(*gradient);
    return *gradient;
  }

  void clear_gradient() {
    aside.reset();
    if (gradient && gradient.use_count() == 1)
      std::fill(gradient->begin(), gradient->end(), 0.0f);
    else
      gradient = zeros();
  }

  void set_aside() {
    aside = std::move(gradient);
    {
      std::lock_guard<std::mutex> guard{desk};
      gradient = std::move(empty);
    }
    if (!gradient)
      gradient = zeros();
  }

  void take_back(bool with_newer) {
    if (!aside)
      return;
    auto newer = std::exchange(gradient, std::move(aside));
    if (with_newer)
      add(alone(gradient), *newer);
  }

  static void add(std::vector<float>& sum, const std::vector<float>& more) {
    for (std::size_t i = 0; i < more.size(); ++i)
      sum[i] += more[i];
  }

  /// With the vault: batches that begin from here on see the present state.
  void show_parameters() {
    if (!delayed)
      return;
    const auto& present = state().parameters;
    auto copy = room->take(present.size());
    std::copy(present.begin(), present.end(), copy->begin());
    std::lock_guard<std::mutex> guard{desk};
    parameters = std::move(copy);
    parameters_step = state().step;
  }

  /// Makes room for the gradient of the step after the next.
  void clean_up() {
    auto next = zeros();
    std::lock_guard<std::mutex> guard{desk};
    empty = std::move(next);
  }

  batch_result compute(const compute_batch& x,
                       const std::atomic<bool>& cancelled) {
    if (!delayed)
      return x.step == state().step
                 ? model->accumulate(x.request, state().parameters.data(),
                                     alone(gradient).data(), cancelled)
                 : batch_result{};
    std::unique_lock<std::mutex> lock{desk};
    auto here = parameters;
    // The step may have been made since the batch was asked for.
    auto known = x.step == parameters_step || x.step + 1 == parameters_step;
    lock.unlock();
    return known ? model->accumulate(x.request, here->data(),
                                     alone(gradient).data(), cancelled)
                 : batch_result{};
  }

  state_changed describe() const {
    const auto& s = *config.vault->state;
    state_changed x;
    x.step = s.step;
    x.history_samples = s.history_samples;
    x.state = s.recent.front();
    x.gradient_values = s.parameters.size();
    x.usual_request = model->usual_request();
    return x;
  }
};

template <class Job>
std::function<void()> compute_state::make(Job job, bool with_vault) {
  auto outbox = caf::actor_cast<compute_actor>(self_);
  return [job = std::move(job), shop = workshop_, outbox, with_vault] {
    auto& vault = *shop->config.vault;
    std::unique_lock<std::mutex> guard{vault.busy, std::defer_lock};
    if (with_vault) {
      guard.lock();
      if (shop->tenancy == 0)
        shop->tenancy = ++vault.tenant;
      else if (shop->tenancy != vault.tenant)
        return;
    }
    try {
      job(*shop, outbox);
    } catch (const std::exception& e) {
      caf::anon_send(outbox, work_failed{e.what()});
    } catch (...) {
      caf::anon_send(outbox, work_failed{"the trainer threw no exception of "
                                         "the standard library"});
    }
  };
}

template <class Job>
void compute_state::post(Job job, bool with_vault, bool is_batch) {
  auto whole = make(std::move(job), with_vault);
  if (batch_lasts_)
    waiting_.emplace_back(std::move(whole), is_batch);
  else
    hand_to_worker(std::move(whole), is_batch);
}

template <class Job>
void compute_state::post_beside(Job job) {
  // Before the first state there is nothing to be beside of.
  if (second_thread_ && last_state_)
    second_thread_->post(make(std::move(job), true));
  else
    post(std::move(job));
}

void compute_state::hand_to_worker(std::function<void()> job, bool is_batch) {
  batch_lasts_ = is_batch && batch_time_;
  thread_->post(std::move(job));
}

void compute_state::init(compute_actor::pointer self, compute_config config) {
  self_ = self;
  workshop_ = std::make_shared<workshop>();
  batch_time_ = config.batch_time;
  thread_ = std::make_unique<worker>(config.mode, config.niceness);
  workshop_->delayed = config.agreed.settings().delayed_updates();
  if (workshop_->delayed)
    second_thread_ = std::make_unique<worker>(config.mode, config.niceness);
  workshop_->config = std::move(config);
  post([](workshop& shop, const compute_actor& outbox) {
    const auto& settings = shop.config.agreed.settings();
    shop.model = shop.config.make_trainer(shop.config.agreed);
    shop.optimize = std::make_unique<optimizer>(settings, shop.config.threads);
    const auto& layout = shop.model->layout();
    auto& state = shop.config.vault->state;
    if (!state)
      state = std::make_shared<training_state>(
          initial_state(layout, settings.seed));
    if (state->parameters.size() != layout.values())
      throw std::runtime_error(
          "The training state does not fit the model; remove the checkpoint or "
          "use the settings that it was made with.");
    if (state->recent.empty())
      remember_digest(*state);
    shop.room.emplace(2 * layout.values());
    shop.clear_gradient();
    shop.show_parameters();
    caf::anon_send(outbox, shop.describe());
  });
}

compute_state::~compute_state() {
  cancelled_->store(true);
}

void compute_state::on(const wiring& w) {
  wired_ = w;
  if (!last_state_)
    return;
  // To whoever is new this is where we are, not a step that just happened.
  auto news = *last_state_;
  news.applied = false;
  news.problem.clear();
  tell(news);
}

void compute_state::on(const compute_batch& x) {
  auto reads_vault = !workshop_->delayed;
  post(
      [x, cancelled = cancelled_,
       &clock = self_->clock()](workshop& shop, const compute_actor& outbox) {
        auto begin = clock.now();
        batch_done done;
        done.step = x.step;
        done.number = x.number;
        done.result = shop.compute(x, *cancelled);
        done.seconds
            = std::chrono::duration<double>(clock.now() - begin).count();
        caf::anon_send(outbox, done);
      },
      reads_vault, true);
}

void compute_state::on(const batch_done& x) {
  if (batch_time_ && !lasting_) {
    auto taken = batch_time_(x.result.samples);
    lasting_ = x;
    lasting_->seconds = std::chrono::duration<double>(taken).count();
    self_->delayed_send(self_, taken, x);
    return;
  }
  self_->send(wired_.conductor, lasting_.value_or(x));
  lasting_.reset();
  batch_lasts_ = false;
  while (!waiting_.empty() && !batch_lasts_) {
    auto [job, is_batch] = std::move(waiting_.front());
    waiting_.pop_front();
    hand_to_worker(std::move(job), is_batch);
  }
}

void compute_state::on(const lend_gradient& x) {
  post(
      [x](workshop& shop, const compute_actor& outbox) {
        caf::anon_send(outbox,
                       gradient_lent{x.aside ? shop.aside : shop.gradient});
      },
      false);
}

void compute_state::on(const gradient_lent& x) {
  self_->send(wired_.conductor, x);
}

void compute_state::on(const drop_gradient& x) {
  post(
      [x](workshop& shop, const compute_actor&) {
        if (x.only_aside)
          shop.aside.reset();
        else
          shop.clear_gradient();
      },
      false);
}

void compute_state::on(const set_gradient_aside&) {
  post([](workshop& shop, const compute_actor&) { shop.set_aside(); }, false);
}

void compute_state::on(const take_gradient_back& x) {
  post([x](workshop& shop,
           const compute_actor&) { shop.take_back(x.with_newer); },
       false);
}

void compute_state::on(const apply_mean& x) {
  auto job = [x](workshop& shop, const compute_actor& outbox) {
    auto& state = shop.state();
    std::string problem;
    state_digests digests;
    if (x.step != state.step + 1 || x.mean->size() != state.parameters.size())
      problem = "the mean is for another step";
    else if (shop.optimize->apply(shop.model->layout(), state.parameters.data(),
                                  state.first_moment.data(),
                                  state.second_moment.data(), x.mean->data(),
                                  state.step + 1, &digests)
             != optimizer::verdict::applied)
      problem = "the mean gradient is not finite";
    else
      advance(state, x.samples, digests);
    shop.show_parameters();
    auto news = shop.describe();
    news.applied = problem.empty();
    news.problem = problem;
    caf::anon_send(outbox, news);
    // Whoever hears it has enough to say to others meanwhile.
    if (x.beside)
      shop.clean_up();
    else
      shop.clear_gradient();
  };
  if (x.beside)
    post_beside(job);
  else
    post(job);
}

void compute_state::on(const adopt_state& x) {
  post([x](workshop& shop, const compute_actor& outbox) {
    if (x.state->parameters.size() != shop.model->layout().values())
      throw std::runtime_error("the downloaded state does not fit the model");
    if (x.state->recent.empty())
      remember_digest(*x.state);
    shop.config.vault->state = x.state;
    shop.clear_gradient();
    shop.show_parameters();
    caf::anon_send(outbox, shop.describe());
  });
}

void compute_state::on(const add_gradient& x) {
  post([x](workshop& shop, const compute_actor&) {
    const auto& more = x.what->gradient;
    auto& sum = x.aside ? shop.aside : shop.gradient;
    if (x.what->step == shop.state().step && sum && more.size() == sum->size())
      workshop::add(workshop::alone(sum), more);
  });
}

void compute_state::on(const take_snapshot&) {
  post_beside([](workshop& shop, const compute_actor& outbox) {
    caf::anon_send(
        outbox, snapshot_taken{std::make_shared<training_state>(shop.state())});
  });
}

void compute_state::on(const snapshot_taken& x) {
  if (wired_.state_keeper)
    self_->send(wired_.state_keeper, x);
}

void compute_state::on(const state_changed& x) {
  last_state_ = x;
  tell(x);
}

void compute_state::tell(const state_changed& x) {
  if (wired_.conductor)
    self_->send(wired_.conductor, x);
  if (wired_.state_keeper)
    self_->send(wired_.state_keeper, x);
}

void compute_state::on(const work_failed& x) {
  self_->quit(caf::make_error(caf::sec::runtime_error, x.sentence));
}

compute_actor::behavior_type
compute(compute_actor::stateful_pointer<compute_state> self,
        compute_config config) {
  return behave<compute_actor, compute_state>(self, std::move(config));
}

} // namespace potluck
