#include "tools/lab/judge/run_record.hpp"

#include <algorithm>
#include <map>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using how = life_record::how;

teller teller_of(const run_record& record, std::size_t i) {
  const auto& life = record.lives[i];
  return {i, life.name, life.log_has_gaps, life.end == how::by_itself,
          life.role == "trainer"};
}

/// Tells all events of all lives in the order of their times, and that a life
/// ended behind its last one.
void tell_all(const run_record& record, run_judge& judge) {
  struct moment {
    double time = 0;
    std::size_t life = 0;
    const logged_event* what = nullptr; ///< Null: it ended.
  };
  std::vector<moment> moments;
  for (std::size_t i = 0; i < record.lives.size(); ++i) {
    double last = 0;
    for (const auto& x : record.lives[i].events) {
      last = std::max(last, x.time); // A clock that was set back.
      moments.push_back({last, i, &x});
    }
    moments.push_back({last, i, nullptr});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const auto& a, const auto& b) {
                     return std::pair(a.time, a.what == nullptr)
                            < std::pair(b.time, b.what == nullptr);
                   });
  for (const auto& x : moments) {
    const auto who = teller_of(record, x.life);
    if (x.what)
      judge.told(who, to_duration(x.time), *x.what);
    else
      judge.ended(who);
  }
}

void look_at_ends(const run_record& record, run_judge& judge, duration at) {
  auto& ends = judge.of<looked_at<ends_well>>();
  ends.check(record.trouble.empty(), at, [&] { return record.trouble; });
  std::size_t there = 0;
  auto& finish = judge.of<all_finish>();
  for (std::size_t i = 0; i < record.lives.size(); ++i) {
    const auto& life = record.lives[i];
    ends.check(life.trouble.empty(), at,
               [&] { return life.name + " " + life.trouble; });
    if (life.role != "trainer" || life.end != how::by_itself
        || !record.run.expects.finishes)
      continue;
    ++there;
    finish.check(finish.has_finished(i), at,
                 [&] { return life.name + " did not finish"; });
  }
  ends.note(std::to_string(record.lives.size()) + " processes");
  if (record.run.expects.finishes)
    finish.check(there > 0, at, [] { return "nobody was there to finish"; });
}

void look_at_memory(const run_record& record, run_judge& judge, duration at) {
  auto& bounds = judge.of<looked_at<stays_in_bounds>>();
  std::uint64_t most = 0;
  for (const auto& life : record.lives) {
    if (life.peak_bytes == 0)
      continue;
    auto held
        = life.name + " held " + std::to_string(life.peak_bytes >> 20) + " MiB";
    bounds.check(life.peak_bytes <= most_memory, at, [&] {
      return held + " of " + std::to_string(most_memory >> 20);
    });
    if (life.peak_bytes >= most)
      bounds.note(held + " at most");
    most = std::max(most, life.peak_bytes);
  }
}

} // namespace

std::vector<finding> judge(const run_record& record) {
  auto run = record.run;
  run.all_honest = !run.expects.may_ban;
  run_judge judge{run};
  tell_all(record, judge);
  duration end{0};
  for (const auto& life : record.lives)
    if (!life.events.empty())
      end = std::max(end, to_duration(life.events.back().time));
  look_at_ends(record, judge, end);
  if (record.longest_pause) {
    const auto pause = readable(*record.longest_pause, 2) + " s";
    auto& steady = judge.of<looked_at<goes_on>>();
    steady.note("the longest pause outside of faults was " + pause);
    steady.check(*record.longest_pause
                     <= to_seconds(run.expects.recovers_within),
                 end, [&] { return "no step for " + pause; });
  }
  look_at_memory(record, judge, end);
  auto& tidy = judge.of<looked_at<leaves_nothing>>();
  tidy.note(counted(record.left_behind.size(), "leftover"));
  tidy.check(record.left_behind.empty(), end,
             [&] { return record.left_behind.front(); });
  judge.close(end);
  return judge.findings();
}

std::vector<curve_point> losses_of(const run_record& record) {
  std::map<std::uint64_t, double> losses;
  for (const auto& life : record.lives)
    for (const auto& x : life.events)
      if (x.name == "step" && has(x, "loss"))
        losses.emplace(x.count("step"), x.number("loss"));
  std::vector<curve_point> result;
  for (const auto& [step, loss] : losses)
    result.push_back({static_cast<double>(step), loss});
  return result;
}

} // namespace potluck::tools
