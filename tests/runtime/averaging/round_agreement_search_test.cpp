#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "tests/runtime/averaging/round_world.hpp"

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
  /// @param hangs Lost members fall silent, and only deadlines tell.
  search(const round_setting& setting, std::size_t losses, bool hangs)
      : setting_{setting}, losses_{losses}, hangs_{hangs} {
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
  const std::string& problem() const {
    return problem_;
  }

private:
  /// Everybody alive has decided.
  bool finished(const round_world& at) {
    bool result = true;
    for (std::size_t i = 0; i < setting_.size(); ++i) {
      if (!at.alive(i))
        continue;
      result = result && at.decided(i);
      auto how = at.of(i).standing();
      saw_commit_ = saw_commit_ || how == standing::committed;
      saw_abort_ = saw_abort_ || how == standing::aborted;
    }
    return result;
  }

  void visit(const round_world& at) {
    auto key = at.key();
    if (!seen_.insert(digest_of(key.data(), key.size())).second)
      return;
    auto trouble = at.disagreement();
    auto steps = at.inevitable();
    auto means = at.possible_means();
    // Without deadlines, nothing may depend on means that a crash took away.
    bool resting
        = steps.empty() && (means.empty() || at.losses() > 0 || hangs_);
    if (resting && !finished(at)) {
      if (!hangs_ || at.expiries() > 4 * setting_.size())
        trouble = "somebody waits for ever";
      steps.push_back({step::expire, 0, 0});
    }
    if (!trouble.empty()) {
      problem_ = trouble + " after " + to_string(path_);
      return;
    }
    steps.insert(steps.end(), means.begin(), means.end());
    if (at.losses() < losses_)
      for (std::size_t i = 0; i < setting_.size(); ++i)
        if (at.alive(i))
          steps.push_back({hangs_ ? step::hang : step::crash, i, i});
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

  const round_setting& setting_;
  std::size_t losses_;
  bool hangs_;
  std::unordered_set<digest, digest_hash> seen_;
  std::vector<step> path_;
  bool saw_commit_ = false;
  bool saw_abort_ = false;
  std::string problem_;
};

void explore(const round_setting& setting, std::size_t losses,
             bool hangs = false) {
  search all{setting, losses, hangs};
  INFO("trainers ", setting.trainers, ", auxiliaries ", setting.auxiliaries,
       ", losses ", losses, ", by silence ", hangs);
  CHECK(all.problem() == "");
  if (setting.means.empty())
    CHECK(all.saw_commit());
  if (losses > 0)
    CHECK(all.saw_abort());
  if (std::getenv("POTLUCK_COUNT_STATES"))
    MESSAGE(all.states(), " states");
}

} // namespace

TEST_CASE("two members agree in every order of events, whoever crashes") {
  for (std::size_t crashes : {0, 1, 2}) {
    explore({2, 0, {}}, crashes);
    explore({1, 1, {}}, crashes);
  }
}

TEST_CASE("three members agree in every order of events, whoever crashes") {
  for (std::size_t crashes : {0, 1, 2}) {
    explore({3, 0, {}}, crashes);
    explore({2, 1, {}}, crashes);
    explore({1, 2, {}}, crashes);
  }
}

TEST_CASE("four members agree in every order of events, whoever crashes") {
  for (std::size_t crashes : {0, 1, 2}) {
    explore({4, 0, {}}, crashes);
    explore({3, 1, {}}, crashes);
    explore({2, 2, {}}, crashes);
  }
  explore({3, 1, {}}, 3);
}

TEST_CASE("five members agree in every order of events, whoever crashes") {
  explore({4, 1, {}}, 1);
  explore({3, 2, {}}, 1);
}

TEST_CASE("members agree although one of them read different means") {
  for (std::size_t crashes : {0, 1, 2})
    for (std::size_t odd : {0, 1, 2}) {
      round_setting setting{3, 1, {0, 0, 0}};
      setting.means[odd] = 1;
      explore(setting, crashes);
    }
}

TEST_CASE("members that fall silent are found by deadlines, and the rest "
          "agree") {
  for (std::size_t hangs : {0, 1, 2}) {
    explore({2, 0, {}}, hangs, true);
    explore({2, 1, {}}, hangs, true);
    explore({3, 0, {}}, hangs, true);
    explore({3, 1, {}}, hangs, true);
  }
}
