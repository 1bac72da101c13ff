#include "tools/lab/judge/run_judge.hpp"

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

template <class... Promise>
std::tuple<Promise...> make(const std::tuple<Promise...>*, ledger& all,
                            const terms& run) {
  return {Promise{all, run}...};
}

template <class Promises, class Deed>
void each(Promises& all, Deed deed) {
  std::apply([&](auto&... x) { (deed(x), ...); }, all);
}

} // namespace

run_judge::run_judge(const terms& run)
    : run_(run),
      promises_(make(static_cast<promises*>(nullptr), ledger_, run)) {
}

void run_judge::told(const teller& who, duration at, const event& x) {
  if (x.name == "step" || x.name == "state_download")
    holders_.insert(who.peer);
  each(promises_, [&](promise& p) { p.told(who, at, x); });
  course_.told(at, x);
}

void run_judge::resumed(std::size_t peer, duration at, std::uint64_t step,
                        std::uint64_t history_samples,
                        const std::string& digest) {
  holders_.insert(peer);
  of<steps_in_order>().resumed(peer, step, history_samples);
  of<sound_checkpoints>().resumed(peer, at, step, digest);
}

void run_judge::ended(const teller& who) {
  each(promises_, [&](promise& p) { p.ended(who); });
  if (holders_.erase(who.peer) == 0 || !holders_.empty())
    return;
  each(promises_, [](promise& p) { p.history_gone(); });
  course_.history_gone();
}

void run_judge::close(duration at) {
  each(promises_, [&](promise& p) { p.close(at); });
  const auto& expects = run_.expects;
  auto percent = readable(course_.first_try() * 100, 3) + " %";
  auto& tries = of<looked_at<commits_at_once>>();
  if (expects.first_try > 0) {
    tries.note(percent);
    tries.check(course_.first_try() >= expects.first_try, at, [&] {
      return "only " + percent
             + " of the steps were committed at the first try";
    });
  }
  auto& loss = of<looked_at<learns>>();
  if (expects.final_loss) {
    loss.note("it was " + readable(course_.last_loss()));
    loss.check(course_.highest_step() > 0
                   && course_.last_loss() <= *expects.final_loss,
               at,
               [&] { return "the loss is " + readable(course_.last_loss()); });
  }
}

std::vector<finding> run_judge::findings() const {
  std::vector<finding> result;
  each(promises_, [&](const promise& p) {
    if (!p.seen().empty() || !p.problem().empty())
      result.push_back({p.demand(), p.problem(), p.seen()});
  });
  return result;
}

} // namespace potluck
