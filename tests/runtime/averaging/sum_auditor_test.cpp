#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/averaging/sum_auditor.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t values = 50; ///< Of a chunk.

template <class Order>
std::vector<Order> all_of(const round_orders& orders) {
  std::vector<Order> result;
  for (auto& x : orders)
    if (auto y = std::get_if<Order>(&x))
      result.push_back(*y);
  return result;
}

using members = std::vector<std::size_t>;

/// Four trainers and a hub, member 4, that averages all six chunks. What they
/// do is changed by the functions before the first commits.
struct one_round {
  static constexpr std::size_t trainers = 4;
  static constexpr std::size_t hub = 4;

  one_round() {
    for (std::size_t i = 0; i <= hub; ++i) {
      group_member x;
      x.who.id.bytes[0] = static_cast<std::uint8_t>(i + 1);
      x.role = i < hub ? role::trainer : role::auxiliary;
      x.samples = i < hub ? i + 1 : 0;
      contract.members.push_back(x);
      known.push_back(std::make_shared<denials>());
    }
    contract.group.bytes[0] = 1;
    random_stream chance{5};
    for (std::size_t i = 0; i < trainers; ++i)
      for (std::size_t k = 0; k < map.gradient_values(); ++k)
        gradients[i].push_back(static_cast<float>(chance.uniform01() - 0.5));
    begin();
  }

  void begin() {
    it.clear();
    orders.assign(hub + 1, {});
    for (std::size_t i = 0; i <= hub; ++i) {
      it.push_back(std::make_unique<sum_auditor>(contract, map, i,
                                                 averaging_rule{}, known[i]));
      it.back()->at(now);
    }
    mean.resize(map.gradient_values());
    for (std::uint32_t c = 0; c < map.chunk_count(); ++c) {
      chunk_average sum{values, {1, 2, 3, 4, 0}};
      for (std::size_t i = 0; i < trainers; ++i)
        sum.offer(i, i + 1, gradients[i].data() + c * values, values);
      std::copy(sum.mean().begin(), sum.mean().end(),
                mean.begin() + c * values);
    }
  }

  part_source::part part(std::size_t member, std::uint32_t chunk) const {
    chunk_part head;
    head.group = contract.group;
    head.chunk = chunk;
    head.samples = member + 1;
    const auto* data = gradients[member].data() + chunk * values;
    return {head,
            {nullptr, reinterpret_cast<const std::uint8_t*>(data),
             values * sizeof(float)}};
  }
  std::optional<mean_evidence> evidence(std::size_t of, std::uint32_t chunk) {
    mean_evidence result;
    result.values = mean.data() + chunk * values;
    result.length = values;
    if (of == fetched)
      result.values = nullptr;
    if (of < trainers)
      result.own = part(of, chunk);
    else
      for (std::size_t i = 0; i <= hub; ++i)
        result.parts.push_back(i < trainers ? digest_of(part(i, chunk).second)
                                            : digest{});
    return result;
  }
  auto source(std::size_t of) {
    return [this, of](std::uint32_t chunk) { return evidence(of, chunk); };
  }

  /// Somebody draws, all commit, and all letters arrive.
  void run(std::size_t drawer = 0) {
    random_stream chance{1};
    while (!drew) { // On average every fourth time.
      sum_auditor fresh{contract, map, drawer, {}, known[drawer]};
      fresh.at(now);
      fresh.draw(chance, 77);
      auto out = fresh.committed(source(drawer));
      drew = !out.empty();
      if (!drew)
        continue;
      *it[drawer] = std::move(fresh);
      take(drawer, std::move(out));
    }
    for (std::size_t i = 0; i < trainers; ++i)
      if (i != drawer)
        take(i, it[i]->committed(source(i)));
    deliver();
  }
  void take(std::size_t from, round_orders out) {
    for (auto& x : out)
      if (auto mail = std::get_if<round_mail>(&x)) {
        if (!letter || letter(from, mail->to, mail->content))
          letters.push_back({from, *mail});
      } else {
        orders[from].push_back(x);
      }
  }
  void deliver() {
    while (!letters.empty()) {
      auto [from, mail] = letters.front();
      letters.pop_front();
      const auto to = mail.to;
      if (auto ask = std::get_if<part_request>(&mail.content)) {
        auto [head, body] = part(to, ask->chunk);
        if (shows && shows(to))
          take(from, it[from]->shown(to, head, body));
        continue;
      }
      take(to, it[to]->receive(from, mail.content, source(to)));
    }
  }
  /// Of whom the member's groups do without from now on.
  members doubted_by(std::size_t i) const {
    std::set<std::size_t> result;
    for (auto& x : all_of<members_in_doubt>(orders[i]))
      result.insert(x.members.begin(), x.members.end());
    return {result.begin(), result.end()};
  }
  bool accuses(std::size_t i) const {
    return !all_of<member_accused>(orders[i]).empty();
  }
  void bend() {
    for (auto& x : mean)
      x += 0.01f;
  }

  group_contract contract;
  chunk_map map{6 * values, values, {0, 0, 0, 0, 6}};
  std::vector<std::shared_ptr<denials>> known;
  std::vector<float> gradients[trainers];
  std::vector<float> mean;
  time_point now{1s};
  std::vector<std::unique_ptr<sum_auditor>> it;
  std::deque<std::pair<std::size_t, round_mail>> letters;
  std::vector<round_orders> orders;
  bool drew = false;
  /// Has got the means from another trainer.
  std::size_t fetched = SIZE_MAX;
  /// Whether a letter is sent; may change it.
  std::function<bool(std::size_t, std::size_t, message&)> letter;
  std::function<bool(std::size_t)> shows = [](std::size_t) { return true; };
};

/// The member tells another projection to all that `to` is true of.
auto liar(std::size_t who, std::function<bool(std::size_t)> to) {
  return [=](std::size_t from, std::size_t at, message& x) {
    if (auto said = std::get_if<part_projections>(&x);
        said && from == who && to(at))
      for (auto& part : said->parts)
        part.value += 0.5 * part.norm;
    return true;
  };
}

bool anybody(std::size_t) {
  return true;
}

/// The hub says of the member's part what makes its sum fit.
auto blaming(one_round& x, std::size_t victim) {
  return [&x, victim](std::size_t from, std::size_t, message& what) {
    auto said = std::get_if<sum_account>(&what);
    if (!said || from != one_round::hub)
      return true;
    const auto along = project(said->seed, said->chunk,
                               x.mean.data() + said->chunk * values, values);
    said->parts[victim].value = 10 * along.value;
    for (std::size_t i = 0; i < one_round::trainers; ++i)
      if (i != victim)
        said->parts[victim].value -= said->parts[i].value;
    return true;
  };
}

} // namespace

TEST_CASE("who got the means elsewhere says what its parts were all the same") {
  one_round x;
  x.fetched = 2;
  x.run();
  for (std::size_t i = 0; i <= one_round::hub; ++i) {
    CHECK(x.doubted_by(i).empty());
    CHECK_FALSE(x.accuses(i));
  }
}

TEST_CASE("an honest hub's sums fit everybody's projections") {
  one_round x;
  x.run();
  for (std::size_t i = 0; i < x.trainers; ++i) {
    auto checked = all_of<mean_checked>(x.orders[i]);
    REQUIRE(checked.size() == 1);
    CHECK(checked[0].outcome == "sums fit");
    CHECK(x.doubted_by(i).empty());
  }
}

TEST_CASE("a hub that bends means is named by all its trainers") {
  one_round x;
  x.bend();
  x.run();
  for (std::size_t i = 0; i < x.trainers; ++i) {
    CHECK(x.accuses(i));
    CHECK(x.doubted_by(i) == members{x.hub});
  }
}

TEST_CASE("a hub that does not answer is doubted by all, and once") {
  one_round x;
  x.bend();
  x.letter = [](std::size_t from, std::size_t, const message&) {
    return from != one_round::hub;
  };
  x.run();
  for (std::size_t i = 0; i < x.trainers; ++i) {
    CHECK(x.doubted_by(i).empty());
    const auto chunk = all_of<audit_reminder>(x.orders[i]).at(0).chunk.value();
    x.it[i]->at(x.now + limits::account_patience - 1ms);
    CHECK(x.it[i]->waited_for(chunk).empty());
    x.it[i]->at(x.now + limits::account_patience);
    x.take(i, x.it[i]->waited_for(chunk));
    CHECK(x.doubted_by(i) == members{x.hub});
    CHECK_FALSE(x.accuses(i));
    CHECK(x.it[i]->waited_for(chunk).empty());
  }
}

TEST_CASE("a hub that always leaves its answer to the next round is doubted") {
  one_round x;
  x.letter = [](std::size_t from, std::size_t, const message&) {
    return from != one_round::hub;
  };
  for (bool first : {true, false}) {
    x.begin();
    x.bend();
    x.drew = false;
    x.run();
    auto out = x.it[0]->give_up();
    CHECK(all_of<members_in_doubt>(out).empty() == first); // Once may be.
  }
}

TEST_CASE("a trainer that lies loses itself, and nobody its hub") {
  one_round x;
  x.letter = liar(2, anybody);
  x.run();
  for (std::size_t i : {0, 1, 3, 4}) {
    CHECK(x.doubted_by(i) == members{2});
    CHECK_FALSE(x.accuses(i));
  }
}

TEST_CASE("who tells two members different things is found by the hub's word") {
  one_round x;
  x.letter = liar(2, [](std::size_t to) { return to == 1; });
  x.run();
  CHECK(x.doubted_by(1) == members{2});
  for (std::size_t i : {0, 3, 4})
    CHECK(x.doubted_by(i).empty());
}

TEST_CASE(
    "a liar that does not show its part again is the one that is denied") {
  one_round x;
  x.letter = liar(2, anybody);
  x.shows = [](std::size_t by) { return by != 2; };
  x.run();
  CHECK(x.doubted_by(0).empty());
  for (std::uint32_t chunk = 0; chunk < 6; ++chunk)
    x.take(x.hub, x.it[x.hub]->waited_for(chunk));
  x.deliver();
  for (std::size_t i : {0, 1, 3, 4})
    CHECK(x.doubted_by(i) == members{2});
}

TEST_CASE("a hub can blame one honest trainer, which knows better, not two") {
  one_round x;
  x.bend();
  x.letter = blaming(x, 1);
  x.run();
  CHECK(x.doubted_by(1) == members{x.hub});
  for (std::size_t i : {0, 2, 3})
    CHECK(x.doubted_by(i) == members{1});
  x.begin();
  x.bend();
  x.letter = blaming(x, 2);
  x.drew = false;
  x.run();
  for (std::size_t i : {0, 3})
    CHECK(x.doubted_by(i) == members{2, x.hub});
}

TEST_CASE("a trainer that does not tell leaves the sums unchecked") {
  one_round x;
  x.bend();
  x.letter
      = [](std::size_t from, std::size_t, const message&) { return from != 3; };
  x.run();
  CHECK(all_of<mean_checked>(x.orders[0]).empty());
  CHECK(x.doubted_by(0).empty());
}

TEST_CASE("nobody answers before its own commit, or twice") {
  one_round x;
  part_projections asked{x.contract.group, 0, 9, {{1, 1}}};
  CHECK(x.it[1]->receive(0, asked, x.source(1)).empty());
  auto out = x.it[1]->committed(x.source(1));
  CHECK(all_of<round_mail>(out).size() == 4);
  CHECK(x.it[1]->receive(0, asked, x.source(1)).empty());
  asked.seed = 10;
  CHECK(x.it[1]->receive(0, asked, x.source(1)).empty());
  // Others say what they want of it; it is their own word that counts.
  asked.drawn_by = 2;
  CHECK(x.it[1]->receive(0, asked, x.source(1)).empty());
  asked.drawn_by = 9;
  CHECK(x.it[1]->receive(0, asked, x.source(1)).empty());
}

TEST_CASE("one in four draws, and nobody under a robust rule or of two") {
  one_round x;
  auto draws = [&](group_contract contract, averaging_rule rule) {
    random_stream chance{3};
    int result = 0;
    for (int i = 0; i < 1000; ++i) {
      sum_auditor it{contract, x.map, 0, rule, x.known[0]};
      it.draw(chance, 5);
      result += !it.committed(x.source(0)).empty();
    }
    return result;
  };
  CHECK(draws(x.contract, {}) == doctest::Approx(250).epsilon(0.2));
  averaging_rule robust;
  robust.how = aggregator::median;
  CHECK(draws(x.contract, robust) == 0);
  auto two = x.contract;
  two.members.resize(2);
  CHECK(draws(two, {}) == 0);
}

TEST_CASE("nobody is doubted twice in a round, however many checks find it") {
  one_round x;
  x.bend();
  x.run();
  for (std::size_t i = 0; i < x.trainers; ++i) {
    CHECK(all_of<mean_checked>(x.orders[i]).size() == 6); // All chunks.
    CHECK(all_of<members_in_doubt>(x.orders[i]).size() == 1);
    CHECK(all_of<member_accused>(x.orders[i]).size() == 1);
  }
}

TEST_CASE("an answer under another direction is none") {
  one_round x;
  x.bend();
  x.letter = [](std::size_t, std::size_t, message& what) {
    if (auto said = std::get_if<sum_account>(&what))
      ++said->seed;
    return true;
  };
  x.run();
  const auto chunk = all_of<audit_reminder>(x.orders[1]).at(0).chunk.value();
  x.it[1]->at(x.now + limits::account_patience);
  x.take(1, x.it[1]->waited_for(chunk));
  CHECK(x.doubted_by(1) == members{x.hub});
  CHECK_FALSE(x.accuses(1));
}

TEST_CASE("an answer that comes before the others' words is kept") {
  one_round x;
  x.bend();
  std::vector<std::pair<std::size_t, message>> late;
  x.letter = [&](std::size_t from, std::size_t to, message& what) {
    const bool waits = to == 1 && (from == 2 || from == 3)
                       && std::holds_alternative<part_projections>(what);
    if (waits)
      late.emplace_back(from, what);
    return !waits;
  };
  x.run();
  CHECK(x.doubted_by(1).empty());
  for (auto& [from, what] : late)
    x.take(1, x.it[1]->receive(from, what, x.source(1)));
  CHECK(x.accuses(1));
}
