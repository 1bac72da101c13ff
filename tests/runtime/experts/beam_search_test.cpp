#include "runtime/experts/beam_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "runtime/experts/expert_uid.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

using place = std::vector<std::uint32_t>;
using verdict = beam_search::verdict;

/// A grid of which some places are alive.
struct garden {
  std::vector<std::uint32_t> grid;
  std::set<place> alive;

  /// What a DHT would say.
  std::vector<std::uint32_t> after(const std::string& prefix) const {
    std::set<std::uint32_t> next;
    place stem;
    if (prefix != "x")
      stem = parse_expert_uid(prefix)->place;
    for (const auto& y : alive)
      if (std::equal(stem.begin(), stem.end(), y.begin()))
        next.insert(y[stem.size()]);
    return {next.begin(), next.end()};
  }
};

void each_place(const std::vector<std::uint32_t>& grid,
                const std::function<void(const place&)>& then) {
  place x(grid.size());
  for (;;) {
    then(x);
    auto i = grid.size();
    while (i > 0 && ++x[i - 1] == grid[i - 1])
      x[--i] = 0;
    if (i == 0)
      return;
  }
}

garden draw_garden(random_stream& chance, double living) {
  garden g;
  auto dimensions = 1 + chance.below(4);
  for (std::uint64_t i = 0; i < dimensions; ++i)
    g.grid.push_back(static_cast<std::uint32_t>(1 + chance.below(7)));
  each_place(g.grid, [&](const place& x) {
    if (chance.uniform01() < living)
      g.alive.insert(x);
  });
  return g;
}

std::vector<float> draw_scores(random_stream& chance, std::size_t count) {
  std::vector<float> scores;
  for (std::size_t i = 0; i < count; ++i)
    scores.push_back(static_cast<float>(chance.uniform01() * 8 - 4));
  return scores;
}

/// Answers all questions; in an order of `chance`'s.
void run(beam_search& search, const garden& g, random_stream& chance) {
  std::vector<std::string> open;
  std::set<std::string> asked;
  while (!search.done()) {
    for (auto& x : search.next()) {
      REQUIRE(asked.insert(x).second); // Nothing is looked up twice.
      open.push_back(x);
    }
    REQUIRE(!open.empty());
    auto i = chance.below(open.size());
    auto prefix = open[i];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    REQUIRE(search.answered(prefix, g.after(prefix)) == verdict::taken);
    REQUIRE(search.answered(prefix, g.after(prefix)) == verdict::unasked);
  }
  CHECK(open.empty());
  CHECK(search.next().empty());
  CHECK(search.asked() == asked.size());
}

/// The k best by looking at every living place.
std::vector<beam_search::choice> brute(const garden& g, const float* row,
                                       std::size_t k) {
  product_key grid{g.grid};
  std::vector<beam_search::choice> all;
  for (const auto& x : g.alive)
    all.push_back({x, grid.score(row, x)});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.score > b.score;
  });
  all.resize(std::min(k, all.size()));
  return all;
}

void check_equal(const std::vector<beam_search::choice>& found,
                 const std::vector<beam_search::choice>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].place == wanted[i].place);
    CHECK(found[i].score == wanted[i].score);
  }
}

} // namespace

TEST_CASE("a beam as wide as the grid finds exactly the best living experts") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    auto g = draw_garden(chance, chance.uniform01());
    auto samples = 1 + chance.below(5);
    auto k = 1 + chance.below(6);
    product_key grid{g.grid};
    auto scores = draw_scores(chance, samples * grid.scores());
    beam_search search{{"x", g.grid, k, grid.experts()}, samples, scores};
    run(search, g, chance);
    for (std::size_t i = 0; i < samples; ++i)
      check_equal(search.best(i),
                  brute(g, scores.data() + i * grid.scores(), k));
  }
}

TEST_CASE("with all experts alive a beam of k is exact, and costs no more than "
          "1 + (d - 1) k look-ups a sample") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    auto g = draw_garden(chance, 2);
    product_key grid{g.grid};
    auto k = 1 + chance.below(6);
    auto scores = draw_scores(chance, grid.scores());
    beam_search search{{"x", g.grid, k, 0}, 1, scores};
    run(search, g, chance);
    check_equal(search.best(0), brute(g, scores.data(), k));
    if (grid.experts() >= k)
      CHECK(search.asked() <= 1 + (grid.dimensions() - 1) * k);
  }
}

TEST_CASE("samples share look-ups, and each gets what it would get alone") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    auto g = draw_garden(chance, 0.5);
    product_key grid{g.grid};
    const std::size_t samples = 12;
    auto scores = draw_scores(chance, samples * grid.scores());
    beam_search together{{"x", g.grid, 3, 2}, samples, scores};
    run(together, g, chance);
    std::size_t asked_alone = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      auto row = scores.data() + i * grid.scores();
      beam_search alone{{"x", g.grid, 3, 2}, 1, {row, row + grid.scores()}};
      run(alone, g, chance);
      check_equal(together.best(i), alone.best(0));
      asked_alone += alone.asked();
    }
    CHECK(together.asked() <= asked_alone - (samples - 1));
  }
}

TEST_CASE("the only living expert of a grid is found behind empty rows") {
  // Other rows score better; they are announced, but their experts are gone.
  beam_search search{{"x", {8, 4}, 2, 2},
                     1,
                     std::vector<float>{8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0}};
  CHECK(search.next() == std::vector<std::string>{"x"});
  search.answered("x", {0, 1, 2, 3, 4, 5, 6, 7});
  while (!search.done())
    for (auto& x : search.next())
      search.answered(x, x == "x.7" ? place{2} : place{});
  REQUIRE(search.best(0).size() == 1);
  CHECK(search.best(0)[0].place == place{7, 2});
  CHECK(search.alive(0).size() == 8);
  CHECK(search.alive(1) == std::set<std::uint32_t>{2});
}

TEST_CASE("announcements that lead nowhere cost a bounded number of look-ups") {
  const std::size_t beam = 2;
  std::vector<float> scores(3 * 256);
  beam_search search{{"x", {256, 256, 256}, 1, beam}, 1, scores};
  std::vector<std::uint32_t> all(256);
  for (std::uint32_t i = 0; i < 256; ++i)
    all[i] = i;
  while (!search.done())
    for (auto& x : search.next())
      search.answered(x, std::count(x.begin(), x.end(), '.') < 2
                             ? all
                             : std::vector<std::uint32_t>{});
  CHECK(search.best(0).empty());
  CHECK(search.asked() <= 1 + (2 + limits::expert_search_returns) * beam);
}

TEST_CASE("coordinates outside the grid are ignored, and so is what nobody "
          "asked for") {
  beam_search search{{"x", {2, 2}, 4, 4}, 1, std::vector<float>(4)};
  CHECK(search.answered("x", {0}) == verdict::unasked);
  search.next();
  CHECK(search.answered("x.1", {0}) == verdict::unasked);
  CHECK(search.answered("x", {1, 7, 4000000000u, 1}) == verdict::taken);
  CHECK(search.next() == std::vector<std::string>{"x.1"});
  search.answered("x.1", {2, 0, 256});
  CHECK(search.done());
  REQUIRE(search.best(0).size() == 1);
  CHECK(search.best(0)[0].place == place{1, 0});
}

TEST_CASE("a search without samples is done; a wrong one is refused") {
  CHECK(beam_search{{"x", {2}, 1, 0}, 0, {}}.done());
  using wrong = std::invalid_argument;
  CHECK_THROWS_AS((beam_search{{"x", {2}, 1, 0}, 1, {1}}), wrong);
  CHECK_THROWS_AS((beam_search{{"x", {2}, 0, 0}, 1, {1, 2}}), wrong);
  CHECK_THROWS_AS((beam_search{{"x", {}, 1, 0}, 1, {}}), wrong);
  CHECK_THROWS_AS((product_key{{2, 0}}), wrong);
  CHECK_THROWS_AS((product_key{{257}}), wrong);
  CHECK_THROWS_AS((product_key{{1, 1, 1, 1, 1}}), wrong);
}
