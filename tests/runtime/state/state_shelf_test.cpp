/// A hub that keeps the state for joiners, in virtual time: members, whose
/// uplinks are thin, report what they hold and go on training; joiners hear of
/// them, and have a line of their own to the hub alone.
#include "runtime/state/state_shelf.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/runtime/state/steps.hpp"
#include "tools/lab/sim/memory_pieces.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 100'000;
constexpr double state_size = 12 * values + 64;
constexpr double mean_size = 4 * values;
constexpr double thin = 125e3; ///< Bytes a second of a home's uplink.
constexpr double wide = 100e6;
constexpr std::size_t hub = 100; ///< The first joiner is the next one.

struct world {
  struct member {
    waiting_donor donor{usual_donor()};
    training_state own;
    bool alive = true;
    bool lies = false;
  };
  struct joiner {
    explicit joiner(std::size_t number)
        : keeper(id_of(number), usual_joiner()) {
    }
    waiting_joiner keeper;
    training_state own;
    bool there = false;
  };

  explicit world(std::size_t count, piece_store* where)
      : members(count), shelf(id_of(hub), bounds(), where) {
    const auto first = state_of(values, 10);
    for (std::size_t i = 0; i < count; ++i) {
      members[i].own = first;
      members[i].donor.holds(first.step, first.recent.front(), now());
    }
    report();
  }
  static state_shelf::bounds bounds() {
    return {{limits::shelf_joiners, limits::joiner_bytes_in_flight, 0,
             limits::joiner_silence, 0},
            usual_joiner().plan,
            limits::donors_at_once};
  }

  time_point now() const {
    return time_point{1s} + time;
  }
  const training_state& newest() const {
    return members.back().own;
  }

  void report() {
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto& x = members[i];
      if (!x.alive)
        continue;
      note(shelf.heard(id_of(i), x.own.step, x.own.recent.front(), now()));
      for (auto& [number, y] : joiners)
        y.keeper.heard(id_of(i), x.own.step, x.own.recent.front(), now());
    }
  }
  void step() {
    auto mean = some_mean(values, newest().step);
    for (auto& x : members) {
      const auto before = x.own.recent.front();
      lay_on(x.own, *mean);
      x.donor.holds(x.own.step, x.own.recent.front(), now());
      x.donor.passed({x.own.step, 64, x.own.history_samples, before,
                      x.own.recent.front(), mean},
                     now());
    }
    ++steps;
    report();
  }

  /// Begins to fetch what members hold now.
  void join(std::size_t number, bool knows_hub = true) {
    auto& x = joiners.try_emplace(hub + number, hub + number).first->second;
    fetch_goal goal;
    goal.step = newest().step;
    goal.state = newest().recent.front();
    goal.values = values;
    for (std::size_t i = 0; i < members.size(); ++i)
      if (members[i].alive)
        goal.donors.push_back(id_of(i));
    x.keeper.begin(goal, now(), knows_hub ? id_of(hub) : peer_id{});
  }

  void note(state_actions xs) {
    for (auto& x : xs)
      if (auto letter = std::get_if<state_letter>(&x))
        send(hub, std::move(*letter));
      else if (auto fault = std::get_if<fetch_fault>(&x))
        faults.push_back(fault->peer);
  }

  void send(std::size_t from, state_letter x) {
    auto& free = busy_until[from];
    if (from < hub) {
      (std::holds_alternative<state_piece>(x.content) ? sent : listed)
          += static_cast<double>(x.body.size);
      if (members[from].lies && x.body.size > 0) {
        auto copy = std::make_shared<std::vector<std::uint8_t>>(
            x.body.data, x.body.data + x.body.size);
        copy->back() ^= 1;
        x.body = {copy, copy->data(), copy->size()};
      }
    }
    const auto takes
        = static_cast<double>(x.body.size + 100) / (from == hub ? wide : thin);
    free = std::max(free, time)
           + std::chrono::duration_cast<duration>(
               std::chrono::duration<double>(takes));
    due.emplace(free + 20ms,
                [this, from, x = std::move(x)] { receive(from, x); });
  }

  void receive(std::size_t from, const state_letter& x) {
    const std::size_t to = x.to.bytes[0] - 1u;
    const auto sender = id_of(from);
    auto read_as_donor = [&](auto& donor) {
      if (auto r = std::get_if<state_request>(&x.content))
        donor(*r);
      if (auto r = std::get_if<piece_request>(&x.content))
        donor(*r);
      if (auto r = std::get_if<state_done>(&x.content))
        donor(*r);
    };
    auto read_as_joiner = [&](auto& joiner) {
      if (auto r = std::get_if<state_manifest>(&x.content))
        joiner(*r);
      if (auto r = std::get_if<state_piece>(&x.content))
        joiner(*r, x.body);
    };
    if (to == hub) {
      if (!hub_alive)
        return;
      auto read
          = [&](auto&&... what) { note(shelf.read(sender, what..., now())); };
      auto with_body = [&](auto&&... what) { read(what...); };
      read_as_donor(read);
      read_as_joiner(with_body);
    } else if (to < hub) {
      if (!members[to].alive)
        return;
      if (auto wish = std::get_if<state_request>(&x.content);
          wish && !wish->lists_only)
        askers.insert(sender);
      auto read
          = [&](auto& what) { members[to].donor.read(sender, what, now()); };
      read_as_donor(read);
    } else if (auto found = joiners.find(to); found != joiners.end()) {
      if (from == hub && !hub_alive)
        return;
      auto read = [&](auto&&... what) {
        found->second.keeper.read(sender, what..., now());
      };
      read_as_joiner(read);
    }
  }

  void work() {
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto& x = members[i];
      if (x.donor.wants_copy())
        x.donor.copied(std::make_shared<training_state>(x.own), now());
      for (auto& m : x.donor.take_letters())
        if (x.alive)
          send(i, std::move(m));
    }
    for (auto& [number, x] : joiners) {
      if (auto state = x.keeper.take_state()) {
        x.own = *state;
        x.keeper.applied(x.own.step, x.own.recent.front(), now());
      }
      while (auto job = x.keeper.take_one<mean_job>()) {
        lay_on(x.own, *job->values);
        x.keeper.applied(x.own.step, x.own.recent.front(), now());
      }
      for (auto& fault : x.keeper.take<fetch_fault>())
        faults.push_back(fault.peer);
      if (x.keeper.take_one<fetch_result>()) {
        x.there = true;
        CHECK(x.own.step + 1 >= newest().step);
      }
      if (auto failed = x.keeper.take_one<fetch_failure>())
        FAIL_CHECK(failed->reason);
      for (auto& m : x.keeper.take_letters())
        send(number, std::move(m));
    }
  }

  void pass(duration how_long, duration step_every = 0s) {
    for (auto end = time + how_long; time < end; time += 5ms) {
      while (!due.empty() && due.begin()->first <= time) {
        auto what = std::move(due.begin()->second);
        due.erase(due.begin());
        what();
      }
      if (step_every > 0s && time > 0s && time % step_every == 0s)
        step();
      if (time % duration{limits::fetch_interval} == duration{0}) {
        if (hub_alive)
          note(shelf.look(now()));
        for (auto& x : members)
          x.donor.look(now());
        for (auto& [number, x] : joiners)
          x.keeper.look(now());
      }
      if (time % duration{1s} == duration{0})
        report();
      work();
    }
  }

  bool all_there() const {
    return std::all_of(joiners.begin(), joiners.end(),
                       [](auto& x) { return x.second.there; });
  }
  /// Until all have what is newest then, or for `patience`.
  void run(duration patience, duration step_every = 0s) {
    for (auto end = time + patience; time < end && !all_there();)
      pass(100ms, step_every);
    for (auto& [number, x] : joiners) {
      const auto shown = number;
      CAPTURE(shown);
      CHECK(x.there);
    }
  }
  bool blamed(std::size_t who) const {
    return std::count(faults.begin(), faults.end(), id_of(who)) > 0;
  }

  std::vector<member> members;
  state_shelf shelf;
  bool hub_alive = true;
  std::map<std::size_t, joiner> joiners;
  std::map<std::size_t, duration> busy_until; ///< Their uplinks.
  std::multimap<duration, std::function<void()>> due;
  duration time{0};
  double sent = 0, listed = 0; ///< Bytes of pieces, by members.
  std::size_t steps = 0;
  std::set<peer_id> askers; ///< For pieces, of members.
  std::vector<peer_id> faults;
};

} // namespace

TEST_CASE("ten joiners cost the members one state") {
  memory_pieces store;
  world x{6, &store};
  for (std::size_t i = 1; i <= 10; ++i)
    x.join(i);
  x.run(60s);
  CHECK(x.sent < 1.1 * state_size);
  CHECK(x.askers == std::set<peer_id>{id_of(hub)});
  CHECK(x.faults.empty());
  for (auto& [number, joiner] : x.joiners)
    CHECK(joiner.own.recent.front() == x.newest().recent.front());
  // Without the hub:
  world y{6, nullptr};
  for (std::size_t i = 1; i <= 10; ++i)
    y.join(i, false);
  y.run(200s);
  CHECK(y.sent > 9.9 * state_size);
  CHECK(y.time > 3 * x.time);
}

TEST_CASE("the run goes on meanwhile: each mean leaves the members once, too") {
  memory_pieces store;
  world x{6, &store};
  for (std::size_t i = 1; i <= 10; ++i)
    x.join(i);
  x.run(60s, 1500ms);
  CHECK(x.steps > 0);
  CHECK(x.sent < 1.1 * (state_size + static_cast<double>(x.steps) * mean_size));
  CHECK(x.faults.empty());
}

TEST_CASE("who comes later takes the version that is there") {
  memory_pieces store;
  world x{6, &store};
  for (std::size_t i = 1; i <= 10; ++i) {
    x.join(i);
    x.pass(900ms, 2s);
  }
  x.run(60s, 2s);
  CHECK(x.steps >= 3);
  CHECK(x.askers == std::set<peer_id>{id_of(hub)});
  CHECK(x.sent < 1.2 * (state_size + static_cast<double>(x.steps) * mean_size));
}

TEST_CASE("what is too old is fetched anew, and nothing is kept in vain") {
  memory_pieces store;
  world x{6, &store};
  x.join(1);
  x.run(60s);
  x.pass(10s);
  for (int i = 0; i < 5; ++i)
    x.step();
  x.join(2);
  x.run(60s);
  // These steps change parameters alone: the other pieces are here.
  CHECK(x.sent > 1.3 * state_size);
  CHECK(x.joiners.at(hub + 2).own.step == 15);
  x.pass(40s);
  for (auto& member : x.members)
    CHECK_FALSE(member.donor.budget().serves(id_of(hub)));
}

TEST_CASE("a hub that keeps nothing says so at once") {
  world x{3, nullptr};
  x.join(1);
  x.run(60s);
  CHECK(x.sent == state_size);
  CHECK(x.faults.empty());
  memory_pieces small{static_cast<std::uint64_t>(state_size) - 1};
  world y{3, &small};
  y.join(1);
  y.run(60s);
  CHECK(y.faults.empty());
}

TEST_CASE("a hub whose disk is full lets joiners ask elsewhere") {
  memory_pieces store;
  store.full = true;
  world x{3, &store};
  x.join(1);
  x.join(2);
  x.run(60s);
  // One window of each member was in vain.
  CHECK(x.sent < 2.7 * state_size);
  CHECK(x.faults.empty());
}

TEST_CASE("a hub that sends something else is left alone") {
  memory_pieces store;
  store.bends = true;
  world x{3, &store};
  x.join(1);
  x.run(60s);
  CHECK(x.blamed(hub));
  CHECK(x.faults.size() == 1);
}

TEST_CASE("a hub that dies costs its joiners some seconds") {
  memory_pieces store;
  world x{6, &store};
  x.join(1);
  x.join(2);
  x.pass(1s);
  x.hub_alive = false;
  SUBCASE("and says so") {
    for (auto& [number, joiner] : x.joiners)
      joiner.keeper.lost(id_of(hub), x.now());
    for (auto& member : x.members)
      member.donor.lost(id_of(hub), x.now());
    x.run(60s);
    CHECK(x.time < 40s);
  }
  SUBCASE("or is silent") {
    x.run(90s);
  }
}

TEST_CASE("a member that sends the hub something wrong is named") {
  memory_pieces store;
  world x{6, &store};
  x.members[2].lies = true;
  x.join(1);
  x.join(2);
  x.run(60s);
  CHECK(x.blamed(2));
  CHECK(x.faults.size() == 1);
}

TEST_CASE("no joiner has the hub fetch what members do not report") {
  memory_pieces store;
  world x{3, &store};
  state_request wish;
  wish.token = 1;
  wish.step = 10;
  wish.state.bytes[0] = 7;
  x.note(x.shelf.read(id_of(hub + 9), wish, x.now()));
  wish.token = 2;
  wish.step = 99;
  x.note(x.shelf.read(id_of(hub + 9), wish, x.now()));
  x.pass(5s);
  CHECK(x.askers.empty());
  x.join(1);
  x.run(60s);
  CHECK(x.askers == std::set<peer_id>{id_of(hub)});
  // Nor does it lose what others fetch.
  x.join(2);
  x.pass(1s);
  wish.token = 3;
  x.note(x.shelf.read(id_of(hub + 9), wish, x.now()));
  x.run(60s);
  CHECK(x.sent < 1.1 * state_size);
}

TEST_CASE("newcomers that have made no step are no reason against a version") {
  memory_pieces store;
  world x{3, &store};
  for (std::size_t i = 1; i <= 5; ++i)
    x.note(x.shelf.heard(id_of(hub + i), 0, digest{}, x.now()));
  x.join(1);
  x.run(60s);
  CHECK(x.askers == std::set<peer_id>{id_of(hub)});
}

TEST_CASE("a damaged piece is fetched again") {
  memory_pieces store;
  world x{3, &store};
  x.join(1);
  x.run(60s);
  state_snapshot kept{std::make_shared<training_state>(x.newest())};
  for (auto& piece : kept.manifest(0).pieces)
    store.lose(piece);
  x.join(2);
  x.run(60s);
  CHECK(x.sent > 1.9 * state_size);
  CHECK(x.faults.empty());
}

TEST_CASE("who waits for a piece of a list that left with its lister is told "
          "that it is gone") {
  constexpr std::uint64_t few = 256;
  memory_pieces store;
  state_shelf shelf{id_of(hub), world::bounds(), &store};
  const auto now = time_point{1s};
  const auto joiner = id_of(hub + 1), leaver = id_of(0), stayer = id_of(1);
  const auto first = state_of(few, 10);
  const auto before = first.recent.front();
  const state_snapshot snapshot{std::make_shared<training_state>(first)};
  to_do said;
  said.note(shelf.heard(leaver, 10, before, now));
  said.note(shelf.heard(stayer, 10, before, now));
  state_request wish;
  wish.token = 1;
  wish.step = 10;
  wish.state = before;
  said.note(shelf.read(joiner, wish, now));
  std::map<peer_id, std::uint64_t> tokens;
  for (auto& x : said.take<state_letter>())
    if (auto request = std::get_if<state_request>(&x.content)) {
      tokens[x.to] = request->token;
      said.note(shelf.read(x.to, snapshot.manifest(request->token), now));
    }
  REQUIRE(tokens.size() == 2);

  // Two means whose only piece is the same.
  const auto values = some_mean(few, 7);
  const auto after = digest_of("after", 5), later = digest_of("later", 5);
  const passed_mean eleven{11, 64, 64, before, after, values};
  const passed_mean twelve{12, 64, 128, after, later, values};
  auto list = [&](const peer_id& by, const passed_mean& mean) {
    auto manifest = manifest_of(mean);
    manifest.token = tokens.at(by);
    said.note(shelf.read(by, manifest, now));
  };
  list(leaver, eleven);
  list(stayer, twelve);
  piece_request ask;
  ask.state = after;
  ask.mean = true;
  said.note(shelf.read(joiner, ask, now));
  said.note(shelf.lost(leaver, now));

  std::size_t gone = 0;
  for (auto all = said.take<state_letter>(); !all.empty();
       all = said.take<state_letter>())
    for (auto& x : all) {
      auto wanted = std::get_if<piece_request>(&x.content);
      auto piece = std::get_if<state_piece>(&x.content);
      if (wanted && x.to == stayer)
        said.note(shelf.read(
            stayer, state_piece{wanted->state, wanted->piece, wanted->mean},
            wanted->mean ? piece_of(twelve, wanted->piece)
                         : snapshot.piece(wanted->piece),
            now));
      gone += piece && x.to == joiner && piece->state == after && piece->mean
              && x.body.size == 0;
    }
  CHECK(store.has(manifest_of(twelve).pieces.front()));
  CHECK(gone == 1);
}
