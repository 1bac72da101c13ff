#include "runtime/averaging/round/round_report.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

using members = std::vector<std::size_t>;

constexpr auto start = time_point{1min};

/// A member of two trainers and an auxiliary, which average a chunk each.
struct scene {
  explicit scene(std::size_t self)
      : what{terms_of(setting, self)}, lines{what.contract},
        agreement{what.contract, setting.map(), what.self},
        bulk{what.contract, what.plan,      self,
             what.usual,    value_pool{10}, std::make_shared<round_intake>(1),
             [] {}},
        owed{what.contract, bulk.map(), lines, self, 1, start},
        it{what, bulk.map()}, out{lines, self} {
    for (std::size_t i = 0; i < 3; ++i)
      if (i != self)
        watch.joined(i);
  }
  static round_terms terms_of(const round_setting& setting, std::size_t self) {
    round_terms result;
    result.contract = contract_of(setting);
    result.contract.patience_ms = 2000;
    result.plan.chunks = {1, 1, 1};
    result.plan.predicted_seconds = 1;
    result.self = peer(self);
    return result;
  }
  round_outcome outcome(bool commit) const {
    return it.outcome({commit, commit ? mean_number(1) : digest{},
                       commit ? std::uint64_t{2} : 0},
                      agreement, bulk, watch, owed, out);
  }

  const round_setting setting{2, 1, {1, 1, 1}};
  const round_terms what;
  const direct_lines lines;
  round_agreement agreement;
  round_bulk bulk;
  member_watch watch{3, start};
  bulk_watch owed;
  round_report it;
  round_outbox out;
};

} // namespace

TEST_CASE("a trainer is given the mean of a round that counts, and no other") {
  scene x{0};
  const auto counts = x.outcome(true);
  CHECK(counts.committed);
  CHECK(counts.samples == 2);
  CHECK(counts.mean == x.bulk.places().whole());
  CHECK_FALSE(counts.healed);
  const auto aborted = x.outcome(false);
  CHECK_FALSE(aborted.committed);
  CHECK(aborted.samples == 0);
  CHECK_FALSE(aborted.mean);
}

TEST_CASE("a round that counts tells whose parts are not in every mean") {
  scene x{0};
  chunk_mean lacking;
  lacking.chunk = 1;
  lacking.samples = 1;
  lacking.left_out = {0};
  x.agreement.mean_here(lacking);
  CHECK(x.outcome(true).left_out == std::vector<std::uint8_t>{0});
  CHECK(x.outcome(false).left_out.empty());
}

TEST_CASE("an auxiliary is given no mean, and judges no other auxiliary") {
  scene x{2};
  x.it.mean_here(0, 1s);
  x.it.mean_here(1, 1s);
  x.watch.lose_patience(false);
  CHECK_FALSE(x.outcome(true).mean);
  CHECK(x.outcome(false).stalled.empty());
}

TEST_CASE("helpers are held against the trainers whose means have come") {
  scene x{0};
  x.it.mean_here(0, 1s);
  x.it.mean_here(1, 1s);
  SUBCASE("one that has sent none has stalled, if it was waited for") {
    CHECK(x.outcome(false).stalled.empty());
    x.watch.lose_patience(false);
    CHECK(x.outcome(false).stalled == members{2});
  }
  SUBCASE("one that came long after them was late") {
    x.it.mean_here(2, 1min);
    CHECK(x.outcome(true).stalled == members{2});
  }
  SUBCASE("one that came with them was not") {
    x.it.mean_here(2, 1s);
    CHECK(x.outcome(true).stalled.empty());
  }
}

TEST_CASE("who kept silent, how long it took, and what passed") {
  scene x{0};
  x.watch.at(start + 1s);
  CHECK_FALSE(x.outcome(false).watched);
  CHECK(x.outcome(false).silent.empty());
  x.watch.at(start + 2s); // The contract's patience.
  x.out.received(100);
  auto part = std::make_shared<float>(1.0F);
  x.out.send(
      round_mail{1,
                 chunk_part{},
                 {part, reinterpret_cast<const std::uint8_t*>(part.get()), 4}});
  const auto news = x.outcome(false);
  CHECK(news.watched);
  CHECK(news.silent == members{1});
  CHECK(news.taken == 2s);
  CHECK(news.bytes_received == 100);
  CHECK(news.bytes_sent == 4);
  x.owed.part_came(1, 0, start); // Which this member averages.
  CHECK(x.outcome(false).silent.empty());
}
