/// A run that an organiser created: nobody founds it, and its charter is the
/// manifest that the run's key names.
#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include "runtime/membership/founding.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/membership/kept_charters.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

manifest created_by_somebody() {
  return unwrap(sign_charter(tiny_charter(10, 64), key_pair::generate()));
}

/// Two runs that are both called soup.
const manifest& soup() {
  static const auto x = created_by_somebody();
  return x;
}
const manifest& other_soup() {
  static const auto x = created_by_somebody();
  return x;
}

bool has(const kept_charters::answer& x) {
  return x.what != nullptr;
}

digest digest_of_soup() {
  return unwrap(charter_of(soup())).digest();
}

/// A trainer with an invitation to soup, and a line to bootstrap 9.
struct guest {
  explicit guest(std::string manifest = "", bool named = true) {
    founding::settings how;
    how.self = peer(5);
    how.run = soup().run();
    how.manifest = std::move(manifest);
    how.names_others = named;
    it.emplace(how, std::nullopt, now);
    it->begin(now);
    if (named)
      it->joined({peer(9), {"nine", 1}}, role::bootstrap, {}, false, now);
  }
  /// Time passes, with a look-up that finds these in every third of a second.
  void pass(duration time, const std::vector<progress_report>& records = {}) {
    for (auto until = now + time; now < until;) {
      now += 100ms;
      if ((now.time_since_epoch() / 100ms) % 3 == 0) {
        for (auto& x : records)
          it->heard(x, now);
        it->looked_up();
      }
      take(it->look(now));
    }
  }
  void take(const founding::actions& all) {
    for (auto& x : all)
      if (auto said = std::get_if<say_of_founding>(&x))
        sentences += said->sentence + "\n";
      else if (auto asks = std::get_if<ask_for_charter>(&x))
        answer(asks->whom);
      else if (std::holds_alternative<begin_proposal>(x))
        founds = true;
      else if (auto taken = std::get_if<take_charter>(&x))
        run = taken->what.settings().run;
  }
  void answer(const peer_id& from) {
    take(it->answered(from, bootstrap_has, now));
  }
  bool said(const std::string& what) const {
    return sentences.find(what) != std::string::npos;
  }

  time_point now{1h};
  std::optional<founding> it;
  std::string bootstrap_has;
  std::string sentences;
  std::string run; ///< Taken.
  bool founds = false;
};

/// A trainer that nobody reaches, and that says to have the charter.
progress_report record(std::uint8_t number, const digest& has) {
  progress_report x;
  x.id = peer(number);
  x.where = {"elsewhere", 7000};
  x.charter = has;
  return x;
}

} // namespace

TEST_CASE("who is invited founds nothing, waits, and says what for") {
  guest a;
  a.pass(30min);
  CHECK_FALSE(a.founds);
  CHECK(a.run == "");
  CHECK(a.said("nobody who is connected has the manifest of run "
               + shown_run(soup().run())));
  CHECK(a.it->waiting() == "waits for the manifest");
  CHECK(a.it->answer("") == "");
  a.bootstrap_has = soup().to_bytes();
  a.pass(run_witnesses::longest_again + 1s);
  CHECK(a.run == soup().run());
  CHECK(a.it->answer("") == soup().to_bytes());
  CHECK(a.it->answer(soup().run()) == soup().to_bytes());
  CHECK(a.it->answer(other_soup().run()) == "");
  CHECK(a.it->manifest() == soup().to_bytes());
}

TEST_CASE("a manifest from a bootstrap is taken as soon as others are known") {
  guest a;
  a.bootstrap_has = soup().to_bytes();
  a.pass(3s);
  CHECK(a.run == soup().run());
  CHECK(a.sentences == "");
}

TEST_CASE("another's run of the same name is not taken, whoever gives it") {
  guest a;
  for (auto& bytes :
       {other_soup().to_bytes(), tiny_charter(10, 64).to_bytes(),
        unwrap(charter_of(soup())).to_bytes(), std::string{"rubbish"}}) {
    a.bootstrap_has = bytes;
    a.pass(2s);
    CHECK(a.run == "");
    CHECK(a.said("sent a charter that is not the one of run"));
    a.sentences.clear();
    a.it->left(peer(9), true); // It may come back with the right one.
    a.it->joined({peer(9), {"nine", 1}}, role::bootstrap, {}, false, a.now);
  }
}

TEST_CASE("a peer's manifest is taken at once, whatever digest it named") {
  guest a;
  a.it->joined({peer(3), {"three", 1}}, role::trainer,
               unwrap(charter_of(other_soup())).digest(), false, a.now);
  a.bootstrap_has = soup().to_bytes();
  a.answer(peer(3)); // It was not asked.
  CHECK(a.run == "");
  a.pass(3s);
  CHECK(a.run == soup().run());
}

TEST_CASE("who has the manifest waits for those that train already, or are "
          "about to") {
  for (const auto& has : {digest_of_soup(), digest{}})
    for (bool comes : {true, false}) {
      guest a{soup().to_bytes()};
      const auto apart = record(3, has);
      a.pass(founding::offer_rest - 1s, {apart});
      CHECK(a.run == "");
      if (comes)
        a.it->joined({peer(3), {"three", 1}}, role::trainer, digest_of_soup(),
                     false, a.now);
      a.pass(comes ? 200ms : 2s, {apart});
      CHECK(a.run == soup().run());
    }
  // What others have does not matter.
  guest b{soup().to_bytes()};
  b.pass(3s, {record(3, tiny_charter(10, 64).digest())});
  CHECK(b.run == soup().run());
}

TEST_CASE("an organiser who is alone begins at once with the manifest") {
  guest a{soup().to_bytes(), false};
  a.pass(200ms);
  CHECK(a.run == soup().run());
  CHECK(a.it->answer("") == soup().to_bytes());
  guest b{other_soup().to_bytes(), false}; // A wrong file is none.
  b.pass(1min);
  CHECK(b.run == "");
}

TEST_CASE("a stranger's record does not end a created run") {
  guest a{soup().to_bytes()};
  auto finished = record(3, digest_of_soup());
  finished.phase = phase::finished;
  a.pass(founding::offer_rest + 2s, {finished});
  CHECK(a.run == soup().run());
}

TEST_CASE("a bootstrap gives the manifest that it was given to its run") {
  kept_charters shelf;
  time_point now{1h};
  shelf.keep(soup().run(), soup().to_bytes());
  for (auto& [number, run] : {std::pair{std::uint8_t{1}, soup().run()},
                              {std::uint8_t{2}, other_soup().run()},
                              {std::uint8_t{3}, std::string{"soup"}}})
    CHECK(shelf.joined(peer(number), run, {}, now).empty());
  auto answer = shelf.requested(peer(1), soup().run(), now);
  REQUIRE(has(answer));
  CHECK(*answer.what == soup().to_bytes());
  CHECK(shelf.requested(peer(1), soup().run(), now).again);
  CHECK_FALSE(has(shelf.requested(peer(2), other_soup().run(), now)));
  CHECK_FALSE(has(shelf.requested(peer(2), soup().run(), now)));
  CHECK_FALSE(has(shelf.requested(peer(3), "soup", now)));
  // It needs nobody who has it, and outlives them.
  CHECK(shelf.joined(peer(4), soup().run(), digest_of_soup(), now).empty());
  shelf.left(peer(4));
  now += answer_pauses::pause;
  CHECK(has(shelf.requested(peer(1), soup().run(), now)));
}

TEST_CASE("a bootstrap keeps of a created run nothing but its manifest") {
  kept_charters shelf;
  time_point now{1h};
  const auto run = soup().run();
  for (std::uint8_t liar : {1, 2, 3})
    shelf.joined(peer(liar), run, tiny_charter(10, 64).digest(), now);
  CHECK(shelf.answered(peer(1), tiny_charter(10, 64).to_bytes(), now) != "");
  CHECK(shelf.answered(peer(2), other_soup().to_bytes(), now) != "");
  shelf.joined(peer(4), run, digest_of_soup(), now);
  CHECK(shelf.answered(peer(4), soup().to_bytes(), now) == "");
  shelf.joined(peer(5), run, {}, now);
  auto answer = shelf.requested(peer(5), run, now);
  REQUIRE(has(answer));
  CHECK(*answer.what == soup().to_bytes());
}

TEST_CASE("peers of two runs of one name do not work together") {
  hello ours, theirs;
  ours.id = peer(1);
  theirs.id = peer(2);
  ours.run = soup().run();
  theirs.run = soup().run();
  CHECK(objection(ours, theirs) == "");
  for (const auto& run : {other_soup().run(), std::string{"soup"}}) {
    theirs.run = run;
    CHECK(objection(ours, theirs).find("join with its invitation")
          != std::string::npos);
    CHECK(objection(theirs, ours) != "");
  }
}
