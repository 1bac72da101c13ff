#include "actors/compute.hpp"

#include <chrono>
#include <utility>

#include "actors/behavior.hpp"
#include "actors/compute_workshop.hpp"
#include "runtime/optimizer/run_optimizer.hpp"

namespace potluck {

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
    const auto& layout = shop.model->layout();
    shop.optimize = std::make_unique<optimizer>(
        unwrap(make_optimizer(settings, layout, shop.config.threads)));
    auto& state = shop.config.vault->state;
    if (!state)
      state = std::make_shared<training_state>(shop.first_state());
    if (!shop.fits(*state))
      throw std::runtime_error(
          "The training state does not fit the model; remove the checkpoint or "
          "use the settings that it was made with.");
    if (state->recent.empty())
      remember_digest(*state);
    shop.lacks_state = !shop.holds_the_runs();
    shop.room.emplace(2 * layout.values());
    shop.clear_gradient();
    shop.show_parameters();
    shop.show_state();
    caf::anon_send(outbox, shop.describe());
  });
}

compute_state::~compute_state() {
  cancelled_->store(true);
}

void compute_state::on(const compute_handles& w) {
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
      [x, cancelled = cancelled_, &clock = self_->clock(),
       takes = batch_time_](workshop& shop, const compute_actor& outbox) {
        auto begin = clock.now();
        batch_done done;
        done.step = x.step;
        done.number = x.number;
        done.result = shop.compute(x, *cancelled);
        auto taken = takes ? takes(done.result.samples) : clock.now() - begin;
        done.seconds = done.result.seconds > 0
                           ? done.result.seconds
                           : std::chrono::duration<double>(taken).count();
        if (takes)
          caf::delayed_anon_send(outbox, taken, done);
        else
          caf::anon_send(outbox, done);
      },
      reads_vault, true);
}

void compute_state::on(const batch_done& x) {
  self_->send(wired_.conductor, x);
  batch_lasts_ = false;
  while (!waiting_.empty() && !batch_lasts_) {
    auto [job, is_batch] = std::move(waiting_.front());
    waiting_.pop_front();
    hand_to_worker(std::move(job), is_batch);
  }
}

void compute_state::on(const lend_gradient& x) {
  gradient_borrower borrower = wired_.averager;
  if (x.round.empty())
    borrower = wired_.conductor;
  post(
      [x, borrower](workshop& shop, const compute_actor&) {
        gradient_lent lent{x.aside ? shop.aside : shop.whole(), x.round};
        if (x.computed > 0 && x.samples != x.computed)
          lent.gradient = shop.weighed(*lent.gradient, x.samples, x.computed);
        if (x.with_parameters)
          lent.gradient = shop.with_parameters(*lent.gradient, x.samples);
        caf::anon_send(borrower, lent);
      },
      x.with_parameters);
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
    auto problem = shop.apply(x);
    shop.show_parameters();
    shop.show_state();
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
    auto state = x.state ? x.state
                         : std::make_shared<training_state>(shop.first_state());
    if (!shop.fits(*state))
      throw std::runtime_error("the downloaded state does not fit the model");
    if (state->recent.empty())
      remember_digest(*state);
    shop.config.vault->state = state;
    shop.lacks_state = false;
    shop.clear_gradient();
    shop.show_parameters();
    shop.show_state();
    caf::anon_send(outbox, shop.describe());
  });
}

void compute_state::on(const add_gradient& x) {
  post([x](workshop& shop, const compute_actor&) {
    const auto& more = x.what->gradient;
    auto& sum = x.aside ? shop.aside : shop.gradient;
    if (x.what->step != shop.state().step || !sum || more.size() != sum->size())
      return;
    auto& to = x.aside ? workshop::alone(sum) : shop.written();
    add_to(to.data(), more.data(), more.size());
  });
}

void compute_state::on(const take_snapshot&) {
  post_beside(
      [keeper = wired_.state_keeper](workshop& shop, const compute_actor&) {
        if (keeper)
          caf::anon_send(keeper, snapshot_taken{shop.config.vault->state});
      });
}

void compute_state::on(const terms_known& x) {
  // Where the next step is taken, so that it is taken by them.
  post_beside(
      [x](workshop& shop, const compute_actor&) { shop.terms = x.terms; });
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
