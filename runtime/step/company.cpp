#include "runtime/step/company.hpp"

#include <algorithm>
#include <utility>

#include "runtime/step/step_news.hpp"

namespace potluck {

namespace {

std::string without_it(std::chrono::seconds wait) {
  return "groups form without it for " + std::to_string(wait.count()) + " s";
}

company::actions company_news(const std::optional<solitude::word>& x) {
  if (!x)
    return {};
  if (x->alone)
    return {fault_news(x->met ? "alone" : "perhaps alone", x->sentence)};
  return {event{"company", {{"detail", x->sentence}}}};
}

} // namespace

company::company(const peer_id& self, const run_settings& run, bool trains,
                 bool counts_unconnected)
    : trains_(trains),
      known_(self, run.target_batch + run.reserve, counts_unconnected),
      end_(run.steps) {
}

company::actions company::joined(const peer_joined& x, std::uint64_t step,
                                 time_point now) {
  solitude_.joined(x.who.id);
  lines_.joined(x);
  if (!known_.joined(x.who.id, now) || !trains_)
    return {};
  return {reunion_news(step)};
}

company::actions company::left(const peer_left& x, const progress_report& own,
                               time_point now) {
  solitude_.left(x.id, now);
  lines_.left(x.id);
  doubts_.left(x.id);
  auto last = known_.left(x.id);
  // Fellow contributors come and go with the sponsor's chains.
  if (x.orderly || !last || last->role != role::trainer
      || (own.contributes && last->contributes))
    return {};
  end_.lost_trainer(now);
  if (!last->contributes)
    known_.lost_company(x.id, now);
  if (!trains_)
    return {};
  auto split = known_.lost(x.id, now);
  if (!split)
    return {};
  return {split_news(*split, own.step)};
}

void company::averages_with(const peer_id& who) {
  if (known_.averages_with(who))
    end_.forget_strangers();
}

company::worth company::heard(const progress_report& x,
                              const progress_report& own, time_point now) {
  if (x.charter != own.charter)
    return worth::nothing; // Still joining, or of another run.
  if (own.contributes && known_.connected(own.sponsor))
    averages_with(own.sponsor);
  if (known_.is_believed(x.id))
    end_.heard(x);
  if (!known_.connected(x.id)) {
    known_.heard_of(x, !own.contributes, now);
    solitude_.heard_of(x, now);
    return worth::nothing;
  }
  if (doubts_.has(x.id, now)) {
    doubts_.heard(x, now);
    return worth::nothing;
  }
  known_.heard(x, now);
  if (x.role == role::trainer && trials_.out(x.id, now))
    known_.tracker().forget(x.id); // It may follow, and end like all others.
  return doubts_.forgive(x.id) ? worth::forgiven : worth::believed;
}

std::vector<const progress_report*>
company::doubted_trainers(time_point now) const {
  auto result = doubts_.reports(now);
  for (const auto& [id, x] : known_.reports())
    if (trials_.out(id, now))
      result.push_back(&x);
  result.erase(
      std::remove_if(result.begin(), result.end(),
                     [](const auto* x) { return !potluck::averages(*x); }),
      result.end());
  return result;
}

bool company::lets_go(const progress_report& own,
                      const std::function<bool(const progress_report&)>& counts,
                      time_point now) {
  std::map<peer_id, progress_report> all;
  for (const auto& x : known_.reports())
    if (counts(x.second))
      all.insert(x);
  return trains_ ? end_.may_go(all, own.state, now)
                 : end_.all_done(all, own.state);
}

company::actions company::stepped(time_point now) {
  const auto& all = known_.reports();
  const auto with = std::any_of(all.begin(), all.end(), [](const auto& x) {
    return x.second.role == role::trainer;
  });
  return company_news(solitude_.stepped(with, now));
}

company::actions company::caught_up() {
  return company_news(solitude_.fetched());
}

company::actions company::last_word() const {
  const auto word = solitude_.last_word();
  return company_news(word ? word : lines_.last_word());
}

company::actions company::look(time_point now) {
  return trains_ ? company_news(lines_.look(now)) : actions{};
}

void company::forget(const peer_id& who) {
  if (who != known_.self())
    known_.forget(who);
}

void company::begin_era() {
  std::vector<peer_id> all;
  for (const auto& [id, x] : known_.reports())
    all.push_back(id);
  for (const auto& id : all)
    forget(id);
  doubts_.forget_reports();
  end_.forget_strangers();
}

void company::held_up(const std::set<peer_id>& who, duration how_long,
                      time_point now) {
  trials_.held_up(who, how_long, now);
  for (const auto& [id, x] : known_.reports())
    if (x.role == role::trainer && trials_.out(id, now))
      known_.tracker().forget(id);
}

company::actions company::set_aside(const std::vector<doubts::verdict>& whom,
                                    const std::string& why) {
  actions out;
  for (const auto& [who, wait] : whom) {
    forget(who);
    // No proof of bad will, so no ban.
    out.emplace_back(fault_news(who, why, without_it(wait)));
  }
  return out;
}

company::actions company::silent(const round_over& x, duration held_up,
                                 time_point now) {
  auto who = std::exchange(stepped_back_, {});
  who.insert(x.silent.begin(), x.silent.end());
  this->held_up(who, held_up, now);
  return set_aside(doubts_.heard(x, now), "silent in rounds");
}

company::actions company::doubt(const members_doubted& x, time_point now) {
  if (x.held_up == duration::zero()) {
    stepped_back_.insert(x.who.begin(), x.who.end());
    return {};
  }
  if (x.held_up) {
    held_up({x.who.begin(), x.who.end()}, *x.held_up, now);
    return set_aside(doubts_.unanswered(x.who, now), "silent when invited");
  }
  actions out;
  for (auto& who : x.who) {
    // An auxiliary leads nobody: it is no reason to wait.
    const auto* known = known_.report(who);
    const bool leads = !x.own_fault && (!known || known->role == role::trainer);
    forget(who);
    if (x.for_so_long) {
      doubts_.set_aside(who, *x.for_so_long, now);
      continue;
    }
    auto wait = doubts_.set_aside_longer(who, now, leads);
    out.emplace_back(
        fault_news(who, "doubted", x.why + "; " + without_it(wait)));
  }
  return out;
}

company::actions company::doubt(const donor_distrusted& x, time_point now) {
  doubts_.set_aside_longer(x.donor, now);
  forget(x.donor);
  return {fault_news(x.donor, "bad donor", x.what)};
}

} // namespace potluck
