/// A fetch and its donors in virtual time, without an actor or a disk.
#include "runtime/artifacts/artifact_fetch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <queue>

#include "runtime/artifacts/artifact_donor.hpp"
#include "runtime/artifacts/limits.hpp"
#include "runtime/state/limits.hpp"
#include "tests/runtime/artifacts/made_artifact.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id somebody(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

serving_budget::bounds usual_serving(std::size_t places) {
  return {places, limits::joiner_bytes_in_flight, 0, limits::joiner_silence, 0};
}

/// A donor with all artifacts, and how it behaves.
struct giver {
  giver(const std::vector<made_artifact>& all, std::size_t places = 4)
      : donor(
          usual_serving(places),
          [all](const artifact& of, std::uint32_t piece, const sha256_digest&) {
            for (const auto& x : all)
              if (x.it.content == of.content)
                return shared(x.piece(piece));
            return shared_bytes{};
          }) {
    for (const auto& x : all)
      donor.offers(x.it, x.sums);
  }
  artifact_donor donor;
  duration delay = 20ms;
  bool lies = false;      ///< Its pieces are wrong, its lists are not.
  bool is_silent = false; ///< It answers nothing.
  std::size_t answers = 0;
  std::size_t wrong = 0; ///< Of these.
};

/// One that fetches, and its disk.
struct scene {
  scene(std::vector<made_artifact> all, std::size_t donors = 8)
      : artifacts(std::move(all)),
        fetch(me, {{4u << 20, 1s, 10s, 128u << 10}, donors}, lists()) {
    carry_out(fetch.look(now));
  }
  artifact_list lists() const {
    artifact_list result;
    for (const auto& x : artifacts)
      result.push_back(x.it);
    return result;
  }
  giver& add(std::uint8_t number, const std::vector<made_artifact>& what,
             std::size_t places = 4) {
    auto& x
        = *(givers[somebody(number)] = std::make_unique<giver>(what, places));
    carry_out(fetch.met(somebody(number), now));
    return x;
  }
  void remove(std::uint8_t number) {
    givers.erase(somebody(number));
    carry_out(fetch.lost(somebody(number), now));
  }

  void carry_out(const artifact_actions& xs) {
    for (const auto& x : xs)
      if (auto letter = std::get_if<state_letter>(&x)) {
        const auto wish = std::get<artifact_request>(letter->content);
        over += wish.over;
        at(now + 20ms, [this, to = letter->to, wish] { asked(to, wish); });
      } else if (auto look = std::get_if<look_for_pieces>(&x)) {
        at(now, [this, of = look->of] {
          auto here = on_disk[of.name];
          here.resize(of.piece_count());
          carry_out(fetch.found(of, here, now));
        });
      } else if (auto kept = std::get_if<keep_piece>(&x)) {
        ++pieces_kept;
        auto& file = files[kept->of.name];
        file.resize(kept->of.bytes);
        std::memcpy(file.data()
                        + std::size_t{kept->piece} * artifact_piece_bytes,
                    kept->bytes.data, kept->bytes.size);
      } else if (auto done = std::get_if<finish_artifact>(&x)) {
        finished.push_back(done->of.name);
      } else if (auto fault = std::get_if<fetch_fault>(&x)) {
        faults.push_back(*fault);
      } else if (auto again = std::get_if<look_again>(&x)) {
        at(again->at, [this] { carry_out(fetch.look(now)); });
      }
  }
  void asked(const peer_id& who, const artifact_request& wish) {
    const auto x = givers.find(who);
    if (x == givers.end() || x->second->is_silent)
      return;
    answer(who, x->second->donor.read(me, wish, now));
  }
  void answer(const peer_id& who, const artifact_actions& xs) {
    auto& x = *givers.at(who);
    for (const auto& action : xs)
      if (auto letter = std::get_if<state_letter>(&action)) {
        const auto piece = std::get<artifact_piece>(letter->content);
        auto body = letter->body;
        ++x.answers;
        if (x.lies && body.size == artifact_piece_bytes) {
          ++x.wrong;
          body = shared(std::string(body.size, 'x'));
        }
        at(now + x.delay, [this, who, piece, body] {
          if (givers.count(who) != 0)
            carry_out(fetch.read(who, piece, body, now));
        });
      } else if (auto again = std::get_if<look_again>(&action)) {
        at(again->at, [this, who] {
          if (givers.count(who) != 0)
            answer(who, givers.at(who)->donor.look(now));
        });
      }
  }
  void at(time_point when, std::function<void()> what) {
    events[{when, ++count}] = std::move(what);
  }
  bool run_until(const std::function<bool()>& enough, duration patience) {
    const auto end = now + patience;
    while (!enough()) {
      if (events.empty() || events.begin()->first.first > end)
        return false;
      auto next = events.extract(events.begin());
      now = std::max(now, next.key().first);
      next.mapped()();
    }
    return true;
  }
  bool finish(duration patience) {
    const bool done = run_until([this] { return fetch.complete(); }, patience);
    for (const auto& x : artifacts)
      if (done && on_disk.count(x.it.name) == 0)
        CHECK(files[x.it.name] == x.bytes);
    return done;
  }

  const peer_id me = somebody(200);
  std::vector<made_artifact> artifacts;
  time_point now{1h};
  artifact_fetch fetch;
  std::map<peer_id, std::unique_ptr<giver>> givers;
  std::map<std::pair<time_point, std::uint64_t>, std::function<void()>> events;
  std::uint64_t count = 0;
  std::map<std::string, std::vector<bool>> on_disk;
  std::map<std::string, std::string> files;
  std::vector<std::string> finished;
  std::vector<fetch_fault> faults;
  std::size_t pieces_kept = 0;
  std::size_t over = 0; ///< Donors that were told that nothing is needed.
};

std::vector<made_artifact> two() {
  return {{"model", 40 * artifact_piece_bytes + 5, 1},
          {"words", artifact_piece_bytes, 2}};
}

} // namespace

TEST_CASE("artifacts come from several donors at once") {
  scene x{two()};
  for (std::uint8_t i : {1, 2, 3})
    x.add(i, x.artifacts);
  REQUIRE(x.finish(30s));
  CHECK(x.finished.size() == 2);
  for (auto& [id, giver] : x.givers)
    CHECK(giver->answers > 5);
  CHECK(x.faults.empty());
  CHECK(x.fetch.bytes_here() == x.fetch.bytes_wanted());
  CHECK(x.over == 3);
}

TEST_CASE("a liar among three is left, and its pieces come from the others") {
  scene x{two()};
  x.add(1, x.artifacts);
  auto& liar = x.add(2, x.artifacts);
  liar.lies = true;
  liar.delay = 1ms; // It would get most of the requests.
  x.add(3, x.artifacts);
  REQUIRE(x.finish(30s));
  REQUIRE(x.faults.size() == 1);
  CHECK(x.faults[0].peer == somebody(2));
  CHECK(x.faults[0].what.find("artifact model") != std::string::npos);
  // Those that were on their way, and none when it comes again.
  const auto wrong = liar.wrong;
  CHECK(wrong <= 3);
}

TEST_CASE("a liar that comes again is not asked") {
  scene x{two()};
  x.add(1, x.artifacts).lies = true;
  REQUIRE(x.run_until([&] { return !x.faults.empty(); }, 10s));
  x.remove(1);
  auto& again = x.add(1, x.artifacts);
  x.run_until([] { return false; }, 1min);
  CHECK(again.answers == 0);
  x.add(2, x.artifacts);
  CHECK(x.finish(30s));
}

TEST_CASE("of liars without number the last ones are remembered") {
  const auto all = two();
  artifact_fetch fetch{
      somebody(200), {{4u << 20, 1s, 10s, 128u << 10}, 8}, {all[0].it}};
  const auto now = time_point{1h};
  const auto nth = [](std::size_t i) {
    peer_id x;
    std::memcpy(x.bytes.data(), &i, sizeof i);
    return x;
  };
  const auto is_asked = [](const artifact_actions& xs) {
    return std::any_of(xs.begin(), xs.end(), [](auto& x) {
      return std::holds_alternative<state_letter>(x);
    });
  };
  for (std::size_t i = 1; i <= limits::artifact_liars + 1; ++i) {
    CHECK(is_asked(fetch.met(nth(i), now)));
    artifact_piece lie;
    lie.content = all[0].it.pieces;
    fetch.read(nth(i), lie, shared("wrong"), now);
    fetch.lost(nth(i), now);
  }
  CHECK_FALSE(is_asked(fetch.met(nth(2), now)));
  CHECK(is_asked(fetch.met(nth(1), now)));
}

TEST_CASE("a wrong list of pieces is a lie, too") {
  scene x{two()};
  auto other = two();
  other[0] = made_artifact{"model", other[0].bytes.size(), 9};
  other[0].it.pieces = x.artifacts[0].it.pieces;
  x.add(1, other);
  REQUIRE(x.run_until([&] { return !x.faults.empty(); }, 10s));
  CHECK(x.faults[0].what.find("list of the pieces") != std::string::npos);
}

TEST_CASE("when a donor leaves, the others are asked for what it owes") {
  scene x{two()};
  for (std::uint8_t i : {1, 2, 3})
    x.add(i, x.artifacts);
  REQUIRE(x.run_until([&] { return x.pieces_kept > 6; }, 10s));
  x.remove(1);
  CHECK(x.finish(30s));
}

TEST_CASE("all donors gone, it goes on with the next one where it was") {
  scene x{two()};
  x.add(1, x.artifacts);
  REQUIRE(x.run_until([&] { return x.pieces_kept > 6; }, 10s));
  x.remove(1);
  x.run_until([] { return false; }, 2min);
  const auto before = x.pieces_kept;
  x.add(2, x.artifacts);
  REQUIRE(x.finish(30s));
  CHECK(x.pieces_kept == 42);
  CHECK(before > 6);
}

TEST_CASE("pieces that an earlier try has left are not asked for") {
  auto all = two();
  all.pop_back();
  scene x{all};
  x.on_disk["model"] = std::vector<bool>(41, true);
  x.on_disk["model"][7] = false;
  auto& donor = x.add(1, all);
  REQUIRE(x.finish(10s));
  CHECK(donor.answers == 2); // The list and the piece.
  CHECK(x.pieces_kept == 1);
}

TEST_CASE("one that is whole on the disk needs its list alone") {
  auto all = two();
  scene x{all};
  x.on_disk["model"] = std::vector<bool>(41, true);
  x.on_disk["words"] = {true};
  x.add(1, all);
  REQUIRE(x.finish(10s));
  CHECK(x.pieces_kept == 0);
}

TEST_CASE("silent donors do not keep others from being asked") {
  scene x{two(), 2};
  x.add(1, x.artifacts).is_silent = true;
  x.add(2, x.artifacts).is_silent = true;
  x.run_until([] { return false; }, 5s);
  x.add(3, x.artifacts);
  CHECK(x.finish(2min));
}

TEST_CASE("donors that send one piece in many seconds make room for others") {
  scene x{two(), 2};
  x.add(1, x.artifacts).delay = 9s;
  x.add(2, x.artifacts).delay = 9s;
  x.run_until([] { return false; }, 5s);
  x.add(3, x.artifacts);
  CHECK(x.finish(2min));
}

TEST_CASE("peers without the artifacts are asked again, more and more rarely") {
  scene x{two()};
  auto& has_none = x.add(1, {});
  x.run_until([] { return false; }, 5min);
  CHECK(has_none.answers > 8);
  CHECK(has_none.answers < 60);
  // By now it has fetched them itself.
  x.givers[somebody(1)] = std::make_unique<giver>(x.artifacts);
  CHECK(x.finish(1min));
}

TEST_CASE("a donor with one of two artifacts gives that one") {
  scene x{two()};
  auto& first = x.add(1, {x.artifacts[0]});
  x.run_until([] { return false; }, 30s);
  CHECK(x.finished == std::vector<std::string>{"model"});
  CHECK(first.answers >= 42);
  x.add(2, {x.artifacts[1]});
  CHECK(x.finish(1min));
}

TEST_CASE("who begins anew is not held to what was on its way before") {
  std::vector<made_artifact> all;
  all.emplace_back("model", 200 * artifact_piece_bytes, 1);
  giver it{all};
  const auto now = time_point{1h};
  const auto sent = [&](std::uint64_t arrived, std::uint32_t pieces) {
    std::size_t result = 0;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      artifact_request wish;
      wish.content = all[0].it.content;
      wish.piece = i;
      wish.arrived = arrived;
      for (const auto& x : it.donor.read(somebody(5), wish, now))
        if (auto letter = std::get_if<state_letter>(&x))
          result += letter->body.size > 0;
    }
    return result;
  };
  CHECK(sent(0, 1) == 1);
  // 4 MiB may be in flight, beside the piece that has arrived.
  CHECK(sent(artifact_piece_bytes, 100) == 64);
  // Its connection or its keeper was lost, and all that with it.
  CHECK(sent(0, 10) == 10);
}

TEST_CASE("who finds all places taken waits, and gets one") {
  scene x{two()};
  auto& donor = x.add(1, x.artifacts, 1);
  // Somebody else has its only place, and is silent from then on.
  artifact_request wish;
  wish.content = x.artifacts[0].it.content;
  const auto served = donor.donor.read(somebody(99), wish, x.now);
  CHECK(served.size() == 2);
  x.run_until([] { return false; }, 5s);
  CHECK(x.pieces_kept == 0);
  CHECK(x.finish(1min));
}

TEST_CASE("who begins anew again and again has its place no longer for it") {
  scene x{two()};
  auto& donor = x.add(1, x.artifacts, 1);
  artifact_request wish;
  wish.content = x.artifacts[0].it.content;
  // It takes one piece, and says that it has not.
  for (auto now = x.now; now < x.now + 2 * limits::place_life; now += 5s) {
    wish.arrived = wish.arrived == 0 ? 1 : 0;
    x.at(now, [&, wish] { donor.donor.read(somebody(99), wish, x.now); });
  }
  CHECK(x.finish(limits::place_life + 2min));
}

TEST_CASE("one that sends what nobody asked of it is silent all the same") {
  scene x{two(), 1};
  x.add(1, x.artifacts).is_silent = true;
  const auto junk = shared(std::string(artifact_piece_bytes, 'x'));
  artifact_piece piece;
  piece.content = x.artifacts[0].it.content;
  piece.piece = 39;
  for (auto now = x.now; now < x.now + 3min; now += 5s)
    x.at(now, [&, piece, junk] {
      x.carry_out(x.fetch.read(somebody(1), piece, junk, x.now));
    });
  x.run_until([] { return false; }, 5s);
  x.add(2, x.artifacts);
  CHECK(x.finish(2min));
}
