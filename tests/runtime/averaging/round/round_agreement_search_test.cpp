#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;

namespace {

struct digest_hash {
  std::size_t operator()(const digest& x) const {
    std::size_t result;
    std::memcpy(&result, x.bytes.data(), sizeof(result));
    return result;
  }
};

/// Visits every state that some order of deliveries, crashes and notices can
/// reach, and keeps the first path that breaks a promise.
class search {
public:
  /// How members are lost.
  enum class loss {
    crash,   ///< Their lines break.
    silence, ///< They do nothing more, and only deadlines tell.
    pause,   ///< They do nothing for a while, and may come back at any time.
    line,    ///< Nobody is: a line breaks between two that live.
    flicker, ///< Likewise, and it comes back for the next round.
    quit,    ///< They give the round up of themselves, and tell its leader.
  };

  search(const round_setting& setting, std::size_t losses, loss how)
      : setting_{setting}, losses_{losses}, how_{how} {
    visit(round_world{setting_});
  }

  std::size_t states() const {
    return seen_.size();
  }
  bool saw_commit() const {
    return saw_commit_;
  }
  bool saw_abort() const {
    return saw_abort_;
  }
  bool saw_healed() const {
    return saw_healed_;
  }
  const std::string& problem() const {
    return problem_;
  }

private:
  /// Everybody alive has decided.
  bool finished(const round_world& at) {
    for (std::size_t i = 0; i < setting_.size(); ++i)
      if (at.alive(i) && !at.decided(i))
        return false;
    return true;
  }

  /// What is wrong with this end of a round; empty when nothing is.
  std::string look_at_end(const round_world& at) {
    for (std::size_t i = 0; i < setting_.trainers; ++i) {
      if (!at.alive(i) || at.was_away(i))
        continue;
      auto& x = at.outcome(i);
      saw_commit_ = saw_commit_ || x.commit;
      saw_abort_ = saw_abort_ || !x.commit;
      saw_healed_ = saw_healed_
                    || (x.commit && at.losses() > 0
                        && at.of(i).ledger().source(0).version > 1);
      bool enough = at.samples_alive() >= setting_.least_samples
                    && setting_.odd >= setting_.trainers
                    && (how_ != loss::quit || most_stay(at));
      if (!x.commit && enough && how_ != loss::pause && how_ != loss::line
          && how_ != loss::flicker)
        return "a round was dropped that the survivors could complete";
    }
    return {};
  }

  /// Those that gave the round up are fewer than the rest.
  bool most_stay(const round_world& at) const {
    std::size_t stay = 0;
    for (std::size_t i = 0; i < setting_.trainers; ++i)
      stay += !at.was_away(i);
    return 2 * stay > setting_.trainers;
  }

  void visit(const round_world& at) {
    auto key = at.key();
    if (!seen_.insert(digest_of(key.data(), key.size())).second)
      return;
    auto trouble = at.disagreement();
    auto steps = at.inevitable();
    if (steps.empty()) {
      if (finished(at)) {
        trouble += look_at_end(at);
      } else {
        if (how_ == loss::crash || at.expiries() > 4 * setting_.size())
          trouble += "somebody waits for ever";
        steps.push_back({step::expire, 0, 0});
      }
    }
    if (!trouble.empty()) {
      problem_ = trouble + " after " + to_string(path_);
      return;
    }
    for (std::size_t i = 0; i < setting_.size(); ++i) {
      if (how_ == loss::line || how_ == loss::flicker) {
        for (std::size_t j = 0; j < i; ++j)
          if (!at.severed(i, j) && at.losses() < losses_)
            steps.push_back({step::sever, i, j});
          else if (how_ == loss::flicker && at.out_of_touch(i, j)
                   && !at.returned())
            steps.push_back({step::reunite, i, j});
        continue;
      }
      if (how_ == loss::quit) {
        if (i != 0 && !at.decided(i) && at.losses() < losses_)
          steps.push_back({step::quit, i, i});
        continue;
      }
      if (at.alive(i) && at.losses() < losses_)
        steps.push_back({how_ == loss::crash ? step::crash : step::hang, i, i});
      if (how_ == loss::pause && at.hung(i))
        steps.push_back({step::wake, i, i});
    }
    for (const auto& x : steps) {
      path_.push_back(x);
      auto next = at;
      try {
        next.take(x);
        visit(next);
      } catch (const std::logic_error& error) {
        problem_ = std::string{error.what()} + " after " + to_string(path_);
      }
      path_.pop_back();
      if (!problem_.empty())
        return;
    }
  }

  const round_setting setting_;
  std::size_t losses_;
  loss how_;
  std::unordered_set<digest, digest_hash> seen_;
  std::vector<step> path_;
  bool saw_commit_ = false;
  bool saw_abort_ = false;
  bool saw_healed_ = false;
  std::string problem_;
};

using loss = search::loss;

search explore(round_setting setting, std::size_t losses,
               loss how = loss::crash) {
  setting.suspicious = how == loss::quit; // A holder may quit, too.
  search all{setting, losses, how};
  INFO("trainers ", setting.trainers, ", auxiliaries ", setting.auxiliaries,
       ", least samples ", setting.least_samples, ", losses ", losses,
       " of kind ", static_cast<int>(how));
  CHECK(all.problem() == "");
  if (setting.odd >= setting.trainers)
    CHECK(all.saw_commit());
  if (std::getenv("POTLUCK_COUNT_STATES"))
    MESSAGE(all.states(), " states");
  return all;
}

} // namespace

TEST_CASE("two members agree in every order of events, whoever crashes") {
  for (std::size_t crashes : {0, 1, 2}) {
    explore({2, 0, {1, 1}}, crashes);
    explore({2, 0, {2, 0}}, crashes);
    explore({1, 1, {1, 1}}, crashes);
    explore({1, 1, {0, 2}}, crashes);
  }
}

TEST_CASE("three members agree in every order of events, whoever crashes") {
  for (std::size_t crashes : {0, 1, 2}) {
    explore({3, 0, {1, 1, 1}}, crashes);
    explore({2, 1, {1, 0, 1}}, crashes);
    explore({1, 2, {0, 1, 1}}, crashes);
  }
}

TEST_CASE(
    "rounds are healed in the search, and dropped when too few are left") {
  auto one = explore({3, 0, {1, 1, 1}}, 1);
  CHECK(one.saw_healed());
  CHECK_FALSE(one.saw_abort());
  for (std::uint64_t least : {2, 3}) {
    round_setting setting{3, 0, {1, 1, 1}};
    setting.least_samples = least;
    auto two = explore(setting, 2);
    CHECK(two.saw_abort());
    CHECK(two.saw_healed());
  }
  // The member that crashes may be the one without which it is not enough.
  round_setting uneven{3, 0, {1, 1, 1}};
  uneven.samples = {1, 2, 0};
  uneven.least_samples = 2;
  CHECK(explore(uneven, 2).saw_healed());
}

TEST_CASE("four members agree in every order of events, whoever crashes") {
  for (std::size_t crashes : {0, 1, 2, 3}) {
    explore({4, 0, {1}}, crashes);
    explore({3, 1, {0, 0, 0, 1}}, crashes);
    explore({2, 2, {0, 1, 0, 1}}, crashes);
  }
}

TEST_CASE("members agree although one of them read different means") {
  for (std::size_t crashes : {0, 1, 2})
    for (std::size_t odd : {0, 1, 2}) {
      round_setting setting{3, 0, {1, 1, 0}};
      setting.odd = odd;
      explore(setting, crashes);
    }
}

TEST_CASE("members that fall silent are found by deadlines, and the rest "
          "agree") {
  for (std::size_t losses : {1, 2}) {
    explore({2, 0, {1, 1}}, losses, loss::silence);
    explore({2, 1, {1, 0, 1}}, losses, loss::silence);
    explore({3, 0, {1, 1, 1}}, losses, loss::silence);
  }
}

TEST_CASE("members agree in every order of events, whichever line breaks") {
  for (auto how : {loss::line, loss::flicker}) {
    explore({3, 0, {1}}, 1, how);
    explore({3, 0, {1, 1}}, 1, how);
    explore({3, 0, {1, 1, 1}}, 1, how);
  }
}

TEST_CASE("the others go on without members that give the round up") {
  for (std::size_t losses : {1, 2}) {
    explore({3, 0, {1, 1, 1}}, losses, loss::quit);
    explore({3, 0, {0, 1, 1}}, losses, loss::quit);
    explore({2, 1, {1, 0, 1}}, losses, loss::quit);
  }
  CHECK(explore({3, 0, {1, 1, 1}}, 1, loss::quit).saw_healed());
  explore({4, 0, {1}}, 2, loss::quit);
}

TEST_CASE("members that were taken for lost may come back at any moment") {
  explore({2, 0, {1, 1}}, 1, loss::pause);
  explore({2, 1, {1, 0, 1}}, 1, loss::pause);
  explore({3, 0, {1, 0, 0}}, 1, loss::pause);
}
