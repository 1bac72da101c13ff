/// Donors and what they bring, without a joiner: who lies, leaves or has
/// nothing is left out of all of it.
#include "runtime/state/donor_swarm.hpp"

#include <doctest/doctest.h>

#include "runtime/state/pieces.hpp"
#include "runtime/state/state_snapshot.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 40000;
const time_point now{100s};

donor_swarm::bounds usual_swarm() {
  const auto x = usual_joiner();
  return {x.plan, x.donors, x.mean_bytes, x.means};
}

/// So many donors at step 7, of which the first has number 0.
struct scene {
  explicit scene(std::size_t donors, preferred_relay relay = {},
                 donor_swarm::bounds most = usual_swarm())
      : held{std::make_shared<training_state>(state_of(values, 7))},
        swarm{id_of(200), most} {
    goal.step = 7;
    goal.state = held.digest();
    goal.values = values;
    for (std::size_t i = 0; i < donors; ++i)
      goal.donors.push_back(id_of(i));
    swarm.begin(goal, relay, now);
  }

  void ask(bool means_only = false) {
    todo.note(swarm.ask_for(7, goal.state, means_only, now));
  }
  /// All donors have it, and say so.
  void all_serve(const state_manifest& list) {
    ask();
    for (auto& id : goal.donors) {
      swarm.find(id)->said = donor_panel::answer::serves;
      todo.note(swarm.name(id, list, now));
    }
    todo.note(swarm.look(0s, now));
    todo.take<state_letter>();
  }
  /// Pieces that are to be asked for, and of whom.
  std::vector<std::pair<peer_id, piece_request>> requests() {
    std::vector<std::pair<peer_id, piece_request>> result;
    todo.note(swarm.request_pieces(now));
    for (auto& x : todo.take<state_letter>())
      if (auto request = std::get_if<piece_request>(&x.content))
        result.push_back({x.to, *request});
    return result;
  }
  /// Until the whole state is here, by a list that says that it is `state`.
  void bring_all(const digest& state) {
    for (int i = 0; i < 100 && !swarm.download().complete(version); ++i)
      for (auto& [id, request] : requests()) {
        CHECK(request.state == state);
        todo.note(swarm
                      .read(id, {state, request.piece},
                            held.piece(request.piece), now)
                      .actions);
      }
    REQUIRE(swarm.download().complete(version));
  }
  /// Whether `who` was told that nothing more is needed of it.
  bool dismissed(const peer_id& who) {
    for (auto& x : todo.take<state_letter>())
      if (x.to == who && std::holds_alternative<state_done>(x.content))
        return true;
    return false;
  }

  const blob_key version{true, 7};
  state_snapshot held;
  fetch_goal goal;
  donor_swarm swarm;
  to_do todo;
};

state_manifest mean_after(std::uint64_t step) {
  const auto before = step - 1;
  return manifest_of({step, 64, 64 * step, digest_of(&before, sizeof(before)),
                      digest_of(&step, sizeof(step)), some_mean(values, step)});
}

} // namespace

TEST_CASE("a state is handed out when all its pieces are here") {
  scene x{3};
  x.all_serve(x.held.manifest(1));
  x.bring_all(x.held.digest());
  auto came = x.swarm.take_state(x.version, now);
  REQUIRE(came.state);
  CHECK(came.state->step == 7);
  CHECK(came.list.state == x.held.digest());
  CHECK(came.actions.empty());
  CHECK_FALSE(x.swarm.download().lists().knows(x.version));
}

TEST_CASE("who sends a wrong piece loses its place, its say and its pieces") {
  scene x{3};
  x.all_serve(x.held.manifest(1));
  const auto [liar, request] = x.requests().at(0);
  const auto good = x.held.piece(request.piece);
  auto copy = std::make_shared<std::vector<std::uint8_t>>(
      good.data, good.data + good.size);
  copy->back() ^= 1;
  auto came = x.swarm.read(liar, {request.state, request.piece},
                           {copy, copy->data(), copy->size()}, now);
  CHECK(came.what == blob_download::verdict::wrong);
  x.todo.note(std::move(came.actions));
  const auto fault = x.todo.take_one<fetch_fault>();
  REQUIRE(fault);
  CHECK(fault->peer == liar);
  CHECK(x.dismissed(liar));
  CHECK_FALSE(x.swarm.find(liar));
  CHECK(x.swarm.panel().distrusts(liar));
  const auto* list = x.swarm.download().lists().chosen(x.version);
  REQUIRE(list);
  CHECK(list->donors.size() == 2);
  CHECK(list->donors.count(liar) == 0);
  for (auto& [id, other] : x.requests())
    CHECK(id != liar);
  // Nor is it asked first in the next fetch.
  x.swarm.begin(x.goal, {liar, true}, now + 1s);
  CHECK(x.swarm.relay().id().empty());
}

TEST_CASE("whose list is not that of the state that it brings has lied") {
  scene x{1};
  auto list = x.held.manifest(1);
  list.state = digest_of("another", 7);
  list.recent = {list.state};
  x.goal.state = list.state;
  x.swarm.begin(x.goal, {}, now);
  x.all_serve(list);
  x.bring_all(list.state);
  auto came = x.swarm.take_state(x.version, now);
  CHECK_FALSE(came.state);
  x.todo.note(std::move(came.actions));
  CHECK(x.todo.take<fetch_fault>().size() == 1);
  CHECK_FALSE(x.swarm.find(id_of(0)));
}

TEST_CASE("who has a piece of the state no more declines") {
  scene x{1};
  x.all_serve(x.held.manifest(1));
  const auto [id, request] = x.requests().at(0);
  const auto came = x.swarm.read(id, {request.state, request.piece}, {}, now);
  CHECK(came.what == blob_download::verdict::gone);
  CHECK(came.actions.empty());
  CHECK(x.swarm.find(id)->said == donor_panel::answer::declines);
  CHECK(x.requests().empty());
}

TEST_CASE("who names many means that others do not know of is left out") {
  scene x{3};
  x.all_serve(x.held.manifest(1));
  // The shape of a list is what matters here: one mean's is taken for all.
  auto list = mean_after(8);
  for (std::size_t i = 0; i < limits::means_of_one_donor; ++i, ++list.step) {
    list.state = digest_of(&list.step, sizeof(list.step));
    x.todo.note(x.swarm.name(id_of(0), list, now));
  }
  CHECK(x.todo.take<fetch_fault>().empty());
  list.state = digest_of(&list.step, sizeof(list.step));
  x.todo.note(x.swarm.name(id_of(0), list, now));
  const auto faults = x.todo.take<fetch_fault>();
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].peer == id_of(0));
  CHECK(x.swarm.download().means_known() == 0);
}

TEST_CASE("a mean is passed on where means are all that is fetched") {
  for (const bool means_only : {true, false}) {
    CAPTURE(means_only);
    scene x{1};
    x.ask(means_only);
    x.todo.note(x.swarm.name(id_of(0), mean_after(8), now));
    CHECK(x.todo.take<coming_mean>().size() == (means_only ? 1u : 0u));
  }
}

TEST_CASE("the way goes on by what donors name and may yet name") {
  auto most = usual_swarm();
  most.means = 2;
  scene x{1, {}, most};
  x.ask();
  CHECK(x.swarm.behind(7).asked);
  CHECK_FALSE(x.swarm.behind(7).listed);
  x.swarm.find(id_of(0))->said = donor_panel::answer::serves;
  CHECK_FALSE(x.swarm.behind(7).asked);
  x.swarm.name(id_of(0), mean_after(8), now);
  CHECK(x.swarm.behind(7).listed);
  CHECK_FALSE(x.swarm.behind(7).complete);
  CHECK_FALSE(x.swarm.behind(7).later);
  x.swarm.name(id_of(0), mean_after(9), now);
  CHECK(x.swarm.behind(7).later);
  CHECK_FALSE(x.swarm.has_too_many_means());
  x.swarm.name(id_of(0), mean_after(10), now);
  CHECK(x.swarm.has_too_many_means());
}

TEST_CASE("however large means are, as many as the state has bytes are few") {
  auto most = usual_swarm();
  most.mean_bytes = 1;
  scene x{1, {}, most};
  x.ask();
  x.swarm.find(id_of(0))->said = donor_panel::answer::serves;
  for (std::uint64_t i = 1; i <= limits::means_of_a_state; ++i)
    x.swarm.name(id_of(0), mean_after(7 + i), now);
  CHECK_FALSE(x.swarm.has_too_many_means());
  x.swarm.name(id_of(0), mean_after(8 + limits::means_of_a_state), now);
  CHECK(x.swarm.has_too_many_means());
}

TEST_CASE("without the relay the others are asked for pieces") {
  scene x{3, {id_of(5), false}};
  x.ask();
  std::size_t for_pieces = 0, for_lists = 0;
  const auto count = [&] {
    for_pieces = for_lists = 0;
    for (auto& letter : x.todo.take<state_letter>())
      if (auto wish = std::get_if<state_request>(&letter.content))
        ++(wish->lists_only ? for_lists : for_pieces);
  };
  count();
  CHECK(for_pieces == 1);
  CHECK(for_lists == 3);
  x.todo.note(x.swarm.do_without_relay());
  CHECK(x.dismissed(id_of(5)));
  CHECK_FALSE(x.swarm.find(id_of(5)));
  CHECK(x.swarm.do_without_relay().empty());
  x.todo.note(x.swarm.look(0s, now));
  count();
  CHECK(for_pieces == 3);
  CHECK(for_lists == 0);
}

TEST_CASE("all that were asked hear that a fetch is over") {
  scene x{3};
  x.all_serve(x.held.manifest(1));
  x.todo.note(x.swarm.dismiss());
  CHECK(x.todo.take<state_letter>().size() == 3);
  CHECK(x.swarm.panel().size() == 0);
  // The list stays, for the next fetch.
  CHECK(x.swarm.download().lists().chosen(x.version));
  x.swarm.clear();
  CHECK_FALSE(x.swarm.download().lists().chosen(x.version));
}
