#include "tools/lab/judge/chaos_verdict.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using pair_list = std::vector<std::pair<std::uint64_t, std::string>>;
using pair_set = std::set<std::pair<std::uint64_t, std::string>>;
using how = life_record::how;

std::string counted(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// Steps and digests that a life reports, in order.
pair_list reports_of(const life_record& life) {
  pair_list result;
  for (const auto& x : life.events)
    if (x.name == "step")
      result.push_back({x.count("step"), x.text("digest")});
  return result;
}

class judgement {
public:
  explicit judgement(const chaos_record& record) : record_(record) {
  }

  std::vector<chaos_finding> all() {
    check_ends();
    if (record_.redrawn)
      check_groups();
    else
      check_digests();
    check_finish();
    check_batches();
    check_order();
    check_pauses();
    check_refusals();
    check_first_try();
    check_loss();
    check_memory();
    check_leftovers();
    return std::move(findings_);
  }

private:
  void find(const std::string& invariant, const std::string& problem,
            const std::string& detail) {
    findings_.push_back({invariant, problem, detail});
  }

  void check_ends() {
    std::string problem = record_.trouble;
    for (const auto& life : record_.lives)
      if (problem.empty() && !life.trouble.empty())
        problem = life.name + " " + life.trouble;
    find("the run gets through, and every process ends as it should", problem,
         "processes: " + std::to_string(record_.lives.size()));
  }

  /// What `life` gave up at its event `i`: what it reported before, back to the
  /// last step that it shares with the donor, but for those that the donor gave
  /// up itself, which are `lost`.
  pair_list given_up(const life_record& life, std::size_t i,
                     const pair_set& lost) const {
    pair_set shared;
    for (const auto& other : record_.lives)
      if (&other != &life && is_called(other, life.events[i].text("donor")))
        for (auto& x : reports_of(other))
          if (lost.count(x) == 0)
            shared.insert(x);
    pair_list result;
    while (i-- > 0) {
      const auto& x = life.events[i];
      if (x.name != "step")
        continue;
      std::pair<std::uint64_t, std::string> report{x.count("step"),
                                                   x.text("digest")};
      if (shared.count(report))
        break;
      result.push_back(report);
    }
    return result;
  }

  /// Steps taken alone that a download at event `i` replaced: nobody else ever
  /// counted on them.
  static pair_list replaced(const life_record& life, std::size_t i) {
    pair_list result;
    while (i-- > 0 && life.events[i].name != "state_download") {
      const auto& x = life.events[i];
      if (x.name == "step" && x.count("peers") != 1)
        break;
      if (x.name == "step")
        result.push_back({x.count("step"), x.text("digest")});
    }
    return result;
  }

  /// Whatever anybody gave up. Who gives steps up for those of a peer that had
  /// held the same ones, and gave them up before, is found once that is known.
  pair_set all_given_up() const {
    pair_set lost;
    for (std::size_t known = 1; known != lost.size();) {
      known = lost.size();
      for (const auto& life : record_.lives)
        for (std::size_t i = 0; i < life.events.size(); ++i)
          if (life.events[i].name == "island")
            for (auto& x : given_up(life, i, lost))
              lost.insert(x);
          else if (life.events[i].name == "state_download")
            for (auto& x : replaced(life, i))
              lost.insert(x);
    }
    return lost;
  }

  static bool is_called(const life_record& life, const std::string& short_id) {
    return std::any_of(
        life.events.begin(), life.events.end(), [&](const auto& x) {
          return x.name == "listening" && x.text("peer") == short_id;
        });
  }

  void check_digests() {
    const auto lost = all_given_up();
    std::map<std::uint64_t, std::map<std::string, std::vector<std::string>>>
        held;
    pair_set survived, certain;
    for (const auto& life : record_.lives) {
      for (auto& x : reports_of(life)) {
        held[x.first][x.second].push_back(life.name);
        if (!life.log_has_gaps)
          certain.insert(x);
        if (life.end == how::by_itself)
          survived.insert(x);
      }
    }
    std::string problem;
    std::size_t compared = 0, alone = 0;
    for (const auto& life : record_.lives)
      for (const auto& x : life.events)
        alone += x.name == "step" && x.count("peers") == 1;
    for (auto& [step, digests] : held) {
      for (auto i = digests.begin(); i != digests.end();) {
        std::pair<std::uint64_t, std::string> x{step, i->first};
        // A side of a partition may be killed before it hears of the other, and
        // a full disk may have swallowed that a step was given up.
        auto excused = lost.count(x) > 0 || certain.count(x) == 0
                       || (record_.may_part && survived.count(x) == 0);
        i = excused && digests.size() > 1 ? digests.erase(i) : std::next(i);
      }
      compared += digests.size() == 1 && digests.begin()->second.size() > 1;
      if (digests.size() > 1 && problem.empty())
        problem = "at step " + std::to_string(step) + " "
                  + digests.begin()->second.front() + " had "
                  + digests.begin()->first.substr(0, 8) + " and "
                  + std::next(digests.begin())->second.front() + " "
                  + std::next(digests.begin())->first.substr(0, 8);
    }
    if (problem.empty() && compared == 0)
      problem = "no two peers reported one step, so there is nothing to "
                "compare";
    find("peers that report one step have one digest", problem,
         counted(compared, "step") + " compared, "
             + counted(lost.size(), "report")
             + " set aside for longer histories, " + counted(alone, "step")
             + " taken alone");
  }

  void check_groups() {
    std::map<std::string, std::pair<std::string, std::string>> begun;
    std::string problem;
    std::size_t compared = 0;
    for (const auto& life : record_.lives) {
      std::string group;
      std::uint64_t step = 0;
      for (const auto& x : life.events) {
        if (x.name == "round" && x.text("outcome") == "committed") {
          group = x.text("group");
          step = x.count("step");
        } else if (x.name == "step" && x.count("step") == step) {
          auto [first, fresh] = begun.emplace(
              group, std::make_pair(x.text("averaged"), life.name));
          compared += !fresh;
          if (first->second.first != x.text("averaged") && problem.empty())
            problem = "at step " + std::to_string(step) + " " + life.name
                      + " and " + first->second.second
                      + " began with other parameters";
        }
      }
    }
    if (problem.empty() && compared == 0)
      problem
          = "no two peers were in one round, so there is nothing to compare";
    find("the members of a round begin their step with the same parameters",
         problem,
         counted(compared, "report") + " compared, "
             + counted(begun.size(), "round"));
  }

  void check_finish() {
    if (!record_.expects.finishes)
      return;
    std::set<std::string> digests;
    std::size_t finished = 0;
    std::string problem;
    for (const auto& life : record_.lives) {
      if (life.role != "trainer" || life.end != how::by_itself)
        continue;
      auto end
          = std::find_if(life.events.rbegin(), life.events.rend(),
                         [](const auto& x) { return x.name == "finished"; });
      if (end == life.events.rend()) {
        if (problem.empty())
          problem = life.name + " did not finish";
        continue;
      }
      ++finished;
      digests.insert(end->text("digest"));
      if (end->count("step") != record_.steps && problem.empty())
        problem = life.name + " finished at step "
                  + std::to_string(end->count("step"));
    }
    if (problem.empty() && finished == 0)
      problem = "nobody was there to finish";
    if (problem.empty() && digests.size() > 1 && !record_.redrawn)
      problem = counted(digests.size(), "digest") + " at the end";
    find("all who are there finish step " + std::to_string(record_.steps)
             + (record_.redrawn ? "" : " with one digest"),
         problem,
         counted(finished, "trainer")
             + (digests.size() == 1 ? " with " + digests.begin()->substr(0, 8)
                                    : ""));
  }

  void check_batches() {
    const auto wanted
        = record_.redrawn ? std::uint64_t{1} : record_.target_batch;
    std::string problem;
    std::uint64_t least = 0;
    for (const auto& life : record_.lives)
      for (const auto& x : life.events)
        if (x.name == "step") {
          auto samples = x.count("samples");
          least = least == 0 ? samples : std::min(least, samples);
          if (samples < wanted && problem.empty())
            problem = "step " + std::to_string(x.count("step")) + " of "
                      + life.name + " counted " + std::to_string(samples);
        }
    find("every step counts at least " + counted(wanted, "sample"), problem,
         "the least was " + std::to_string(least));
  }

  void check_order() {
    std::string problem;
    std::size_t steps = 0;
    for (const auto& life : record_.lives) {
      std::uint64_t last = 0;
      for (const auto& x : life.events) {
        if (x.name == "state_download") {
          last = x.count("step");
        } else if (x.name == "step") {
          ++steps;
          if (x.count("step") <= last && problem.empty() && !life.log_has_gaps)
            problem = life.name + " took step "
                      + std::to_string(x.count("step")) + " when it had "
                      + std::to_string(last);
          last = x.count("step");
        }
      }
    }
    find("no peer counts a step twice", problem,
         counted(steps, "step") + " of all peers");
  }

  void check_pauses() {
    auto bound = to_seconds(record_.expects.recovers_within);
    auto seen = "the longest pause outside of faults was "
                + readable(record_.longest_pause, 2) + " s";
    find("steps go on within " + readable_seconds(bound)
             + " after the last fault",
         record_.longest_pause > bound ? seen : "", seen);
  }

  void check_refusals() {
    std::size_t count = 0, malformed = 0, itself = 0;
    std::string first;
    for (const auto& life : record_.lives)
      for (const auto& x : life.events) {
        if (x.name != "fault")
          continue;
        auto what = x.text("what");
        malformed += what == "malformed frame";
        if (what.rfind("refused", 0) != 0 && what.rfind("banned", 0) != 0
            && what != "bad data")
          continue;
        // Whoever dials itself, by an address that another identity of its had,
        // refuses itself.
        if (x.text("detail").rfind("This is the same identity", 0) == 0) {
          ++itself;
          continue;
        }
        if (++count == 1)
          first = life.name + ": " + x.text("peer") + " " + what + ": "
                  + x.text("detail");
      }
    find("nobody is refused, for nobody is hostile",
         count > 0 && !record_.expects.may_ban ? first : "",
         counted(count, "refusal") + ", " + counted(malformed, "frame")
             + " malformed, " + counted(itself / 2, "dial")
             + " of a peer's own address");
  }

  void check_first_try() {
    std::set<std::uint64_t> tried, failed;
    for (const auto& life : record_.lives)
      for (const auto& x : life.events)
        if (x.name == "round") {
          tried.insert(x.count("step"));
          if (x.text("outcome") != "committed")
            failed.insert(x.count("step"));
        }
    if (record_.expects.first_try <= 0 || tried.empty())
      return;
    auto share = 1
                 - static_cast<double>(failed.size())
                       / static_cast<double>(tried.size());
    auto seen
        = readable(100 * share, 3) + " % of " + counted(tried.size(), "step");
    find("the first round tried commits "
             + readable(100 * record_.expects.first_try, 3)
             + " % of the steps at least",
         share < record_.expects.first_try ? seen : "", seen);
  }

  void check_loss() {
    if (!record_.expects.final_loss)
      return;
    std::uint64_t step = 0;
    double loss = 0;
    for (const auto& life : record_.lives)
      for (const auto& x : life.events)
        if (x.name == "step" && x.count("step") >= step) {
          step = x.count("step");
          loss = x.number("loss");
        }
    auto seen = "it was " + readable(loss) + " at step " + std::to_string(step);
    find("the last loss is " + readable(*record_.expects.final_loss)
             + " at most",
         step == 0 || !(loss <= *record_.expects.final_loss) ? seen : "", seen);
  }

  void check_memory() {
    const life_record* most = nullptr;
    for (const auto& life : record_.lives)
      if (most == nullptr || life.peak_bytes > most->peak_bytes)
        most = &life;
    if (most == nullptr)
      return;
    auto seen = most->name + " held " + std::to_string(most->peak_bytes >> 20)
                + " MiB";
    find("no process holds more than " + std::to_string(most_memory >> 20)
             + " MiB",
         most->peak_bytes > most_memory ? seen : "", seen + " at most");
  }

  void check_leftovers() {
    find("no process and no file is left behind",
         record_.left_behind.empty() ? "" : record_.left_behind.front(),
         counted(record_.left_behind.size(), "leftover"));
  }

  const chaos_record& record_;
  std::vector<chaos_finding> findings_;
};

} // namespace

std::vector<chaos_finding> judge(const chaos_record& record) {
  return judgement{record}.all();
}

} // namespace potluck::tools
