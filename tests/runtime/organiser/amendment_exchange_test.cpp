#include "runtime/organiser/amendment_exchange.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "tests/runtime/organiser/signed_amendments.hpp"

using namespace potluck;
using namespace potluck::amendments;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1000s};

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

amendment_exchange fresh() {
  return {"poems", {run(), {organiser().public_half()}}, start};
}

amendments_reply reply(std::uint64_t token, std::vector<std::string> all) {
  amendments_reply x{token, "poems", {}};
  for (auto& one : all)
    x.amendments.push_back({std::move(one)});
  return x;
}

std::vector<peer_id> asked(const amendment_exchange::outcome& x) {
  std::vector<peer_id> result;
  for (const auto& letter : x.letters)
    if (std::holds_alternative<amendments_request>(letter.what))
      result.push_back(letter.to);
  return result;
}

std::vector<peer_id> given(const amendment_exchange::outcome& x) {
  std::vector<peer_id> result;
  for (const auto& letter : x.letters)
    if (std::holds_alternative<amendments_reply>(letter.what))
      result.push_back(letter.to);
  return result;
}

using peers = std::vector<peer_id>;

} // namespace

TEST_CASE("who connects is asked, and what is new goes on to all others") {
  auto x = fresh();
  CHECK(asked(x.joined(peer(1), start)) == peers{peer(1)});
  CHECK(asked(x.joined(peer(2), start)) == peers{peer(2)});
  x.joined(peer(3), start);
  const auto pause = bytes(of(1, pause_run{}, 5));
  const auto news = x.told(peer(2), reply(1, {pause}), start);
  CHECK(news.news.size() == 1);
  CHECK(given(news) == peers{peer(1), peer(3)});
  // What is known goes nowhere: no amendment runs in circles.
  const auto again = x.told(peer(1), reply(0, {pause}), start);
  CHECK(again.letters.empty());
  CHECK(again.news.empty());
  // A visitor gets its answer, and is told nothing later.
  const auto answer = x.asked(peer(9), {4, "poems", 0}, start);
  CHECK(given(answer) == peers{peer(9)});
  CHECK(std::get<amendments_reply>(answer.letters[0].what).token == 4);
  CHECK(given(x.told(peer(9), reply(0, {bytes(of(2, resume_run{}))}), start))
        == peers{peer(1), peer(2), peer(3)});
}

TEST_CASE("who knows more is asked for it") {
  auto x = fresh();
  x.joined(peer(1), start);
  const auto later = start + 1s;
  // A gap.
  CHECK(asked(x.told(peer(1), reply(0, {bytes(of(2, resume_run{}))}), later))
        == peers{peer(1)});
  // A question for what is behind something that is not here.
  CHECK(asked(x.asked(peer(1), {1, "poems", 7}, later + 1s)) == peers{peer(1)});
  // But nobody has itself asked as often as it likes.
  CHECK(asked(x.asked(peer(1), {1, "poems", 7}, later + 1s)).empty());
  CHECK(asked(x.look(later + 2s)) == peers{peer(1)}); // It was put off.
}

TEST_CASE("a neighbour that says nothing hides nothing") {
  auto x = fresh();
  for (std::uint8_t i = 1; i <= 8; ++i)
    x.joined(peer(i), start);
  std::set<peer_id> met;
  for (int round = 1; round <= 4; ++round)
    for (auto& id : asked(x.look(start + round * amendment_exchange::pause)))
      met.insert(id);
  CHECK(met.size() == 8);
  CHECK(asked(x.look(start + 4 * amendment_exchange::pause)).empty());
}

TEST_CASE("what nobody has signed costs its sender, and goes no further") {
  auto x = fresh();
  x.joined(peer(1), start);
  x.joined(peer(2), start);
  const auto forged = bytes(of(1, finish_run{}), key_pair::generate());
  const auto sound = bytes(of(1, pause_run{}, 5));
  for (unsigned i = 0; i < amendment_exchange::most_wrong; ++i) {
    const auto out = x.told(peer(1), reply(0, {forged, sound}), start);
    CHECK(out.offence);
    CHECK(out.letters.empty());
    CHECK(out.news.empty());
  }
  const auto ignored = x.told(peer(1), reply(0, {sound}), start);
  CHECK_FALSE(ignored.offence);
  CHECK(ignored.news.empty());
  CHECK(x.told(peer(2), reply(0, {sound}), start).news.size() == 1);
}

TEST_CASE("the organiser's second word under one number is said, once") {
  auto x = fresh();
  x.told(peer(1), reply(0, {bytes(of(1, pause_run{}, 5))}), start);
  const auto other = reply(0, {bytes(of(1, finish_run{}, 5))});
  const auto first = x.told(peer(1), other, start);
  CHECK(first.complaints.size() == 1);
  CHECK_FALSE(first.offence);
  CHECK(x.told(peer(2), other, start).complaints.empty());
}

TEST_CASE("a newcomer waits for its neighbours' answers, and not for ever") {
  auto x = fresh();
  CHECK(x.settled(start)); // Nobody is there.
  x.joined(peer(1), start);
  x.joined(peer(2), start);
  CHECK_FALSE(x.settled(start));
  x.told(peer(1), reply(1, {}), start);
  CHECK_FALSE(x.settled(start));
  x.told(peer(2), reply(0, {}), start); // News are no answer.
  CHECK_FALSE(x.settled(start));
  CHECK(x.settled(start + amendment_exchange::patience));
  x.left(peer(2));
  CHECK(x.settled(start));
}

TEST_CASE("more than a message takes is asked for at once") {
  amendment_book full{run(), {organiser().public_half()}};
  for (std::uint64_t i = 1; i <= max_amendments + 1; ++i)
    full.take(bytes(of(i, pause_run{}, i)));
  amendment_exchange giver{"poems", full, start};
  auto x = fresh();
  x.joined(peer(1), start);
  const auto later = start + 1s;
  auto answer = giver.asked(peer(2), {1, "poems", 0}, later);
  auto more = x.told(
      peer(1), std::get<amendments_reply>(answer.letters.at(0).what), later);
  REQUIRE(asked(more) == peers{peer(1)});
  answer = giver.asked(
      peer(2), std::get<amendments_request>(more.letters.back().what), later);
  x.told(peer(1), std::get<amendments_reply>(answer.letters.at(0).what), later);
  CHECK(x.book().latest() == max_amendments + 1);
}
