#include "tools/lab/sim/strangers/overheard.hpp"

#include <doctest/doctest.h>

#include "messages/codec.hpp"

using namespace potluck;
using simulation::overheard;

namespace {

peer_id peer(std::size_t number) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(number);
  x.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  x.bytes[2] = 1; // None is empty.
  return x;
}

progress_report report(std::size_t number, std::uint64_t samples) {
  progress_report x;
  x.id = peer(number);
  x.where = {"11.0.0.1", 31337};
  x.charter.bytes.fill(9);
  x.phase = phase::accumulating;
  x.step = 12;
  x.history_samples = samples;
  x.contributes = true;
  return x;
}

hello greeting(std::uint8_t charter, const std::string& admission = "") {
  hello x;
  x.id = peer(1);
  if (charter != 0)
    x.charter.bytes.fill(charter);
  x.settings = {{"charter", std::to_string(charter)}};
  x.admission = admission;
  return x;
}

} // namespace

TEST_CASE("a report counts only from the one whom it is about") {
  overheard x;
  x.learn(peer(2), report(1, 10));
  x.learn({}, report(1, 10)); // Before any hello.
  CHECK(x.reports().empty());
  x.learn(peer(1), report(1, 10));
  x.learn(peer(1), report(1, 20));
  REQUIRE(x.reports().size() == 1);
  CHECK(x.reports().at(peer(1)).history_samples == 20);
}

TEST_CASE("the first charter that is named stays") {
  overheard x;
  x.learn(peer(1), greeting(0));
  CHECK(x.charter().empty());
  CHECK(x.settings().empty());
  x.learn(peer(1), greeting(3));
  x.learn(peer(2), greeting(4));
  CHECK(x.charter() == greeting(3).charter);
  REQUIRE(x.settings().size() == 1);
  CHECK(x.settings()[0].value == "3");
}

TEST_CASE("records are kept by whom they are about, if they can be read") {
  overheard x;
  records_found found;
  found.records.resize(2);
  found.records[0].value = encode_progress(report(1, 10));
  found.records[1].value = "no report";
  x.learn(peer(2), found);
  REQUIRE(x.records().size() == 1);
  CHECK(x.records().begin()->first == peer(1));
  CHECK(x.reports().empty());
}

TEST_CASE("no more is remembered than there is room for") {
  overheard x;
  for (std::size_t i = 0; i < overheard::most_overheard + 2; ++i) {
    x.learn(peer(i), greeting(1, "let me in"));
    x.learn(peer(i), report(i, i));
  }
  x.learn(peer(0), greeting(1)); // Shows no admission.
  CHECK(x.admissions().size() == overheard::most_overheard);
  CHECK(x.reports().size() == overheard::most_overheard);
}

TEST_CASE("an imitation is like the best trainer's report, but another's") {
  overheard x;
  x.learn(peer(1), report(1, 30));
  x.learn(peer(2), report(2, 20));
  auto helper = report(3, 99);
  helper.role = role::auxiliary;
  x.learn(peer(3), helper);
  const auto it = x.imitation(peer(7), {"11.0.9.1", 1}, role::bootstrap);
  CHECK(it.id == peer(7));
  CHECK(it.where == address{"11.0.9.1", 1});
  CHECK(it.role == role::bootstrap);
  CHECK(it.history_samples == 30);
  CHECK(it.step == 12);
  CHECK(it.charter == report(1, 0).charter);
  CHECK(it.reach == reach::open);
  CHECK_FALSE(it.contributes);
}

TEST_CASE("an imitation without a model has the charter that was heard") {
  overheard x;
  x.learn(peer(1), greeting(5));
  const auto it = x.imitation(peer(7), {}, role::trainer);
  CHECK(it.charter == greeting(5).charter);
  CHECK(it.history_samples == 0);
  CHECK(it.step == 0);
}
