#include "tools/lab/network/forgery.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/dht/notary.hpp"
#include "runtime/membership/believable.hpp"
#include "tools/lab/network/made_up_signatures.hpp"
#include "tools/lab/scenario/scenario.hpp"

using namespace potluck;

namespace {

group_id some_group() {
  group_id x;
  x.bytes.fill(3);
  return x;
}

outgoing_frame frame_of(const message& x, std::vector<float> values = {}) {
  auto kept = std::make_shared<std::vector<float>>(std::move(values));
  return {encode(x),
          {kept, reinterpret_cast<const std::uint8_t*>(kept->data()),
           kept->size() * sizeof(float)}};
}

outgoing_frame part(std::vector<float> values) {
  chunk_part x;
  x.group = some_group();
  x.samples = 2;
  return frame_of(x, std::move(values));
}

outgoing_frame mean(std::vector<float> values) {
  chunk_mean x;
  x.group = some_group();
  x.samples = 2;
  return frame_of(x, std::move(values));
}

std::vector<float> values_of(const outgoing_frame& x) {
  std::vector<float> result(x.body.size / sizeof(float));
  std::memcpy(result.data(), x.body.data, x.body.size);
  return result;
}

progress_report report_of(std::uint8_t id) {
  progress_report x;
  x.id.bytes.fill(id);
  x.charter.bytes.fill(1);
  x.state.bytes.fill(2);
  x.where = {"10.0.0.1", 7};
  return x;
}

} // namespace

TEST_CASE("every manner of misbehaviour has a forger, others are refused") {
  for (auto& manner : misbehaviours()) {
    CAPTURE(manner);
    CHECK(make_forger(manner, 1));
  }
  CHECK_THROWS(make_forger("kindness", 1));
}

TEST_CASE("a frame that is no message goes out as it is") {
  for (auto& manner : misbehaviours()) {
    CAPTURE(manner);
    auto out = make_forger(manner, 1)("b", {{1, 2, 3}, {}});
    REQUIRE(out.size() == 1);
    CHECK(out[0].head == std::vector<std::uint8_t>{1, 2, 3});
  }
}

TEST_CASE("wrong_sums changes parts and means, not the sender's own memory") {
  auto forge = make_forger("wrong_sums", 1);
  auto x = part({1, 2});
  auto out = forge("b", x);
  CHECK(values_of(out.at(0)) == std::vector<float>{-3, -6});
  CHECK(values_of(x) == std::vector<float>{1, 2});
  CHECK(values_of(forge("b", mean({1, 2})).at(0)) == std::vector<float>{2, 3});
}

TEST_CASE("nan puts one into parts and means") {
  auto forge = make_forger("nan", 1);
  CHECK(std::isnan(values_of(forge("b", part({1, 2})).at(0))[0]));
  CHECK(std::isnan(values_of(forge("b", mean({1, 2})).at(0))[0]));
}

TEST_CASE("stale sends the first part of that length again and again") {
  auto forge = make_forger("stale", 1);
  forge("b", part({1, 2}));
  CHECK(values_of(forge("b", part({3, 4})).at(0)) == std::vector<float>{1, 2});
  CHECK(values_of(forge("b", part({5})).at(0)) == std::vector<float>{5});
}

TEST_CASE("equivocate tells every peer another mean, each always the same") {
  auto forge = make_forger("equivocate", 1);
  auto b = values_of(forge("b", mean({1})).at(0));
  auto c = values_of(forge("c", mean({1})).at(0));
  CHECK(b != c);
  CHECK(values_of(forge("c", mean({1})).at(0)) == c);
}

TEST_CASE("flood multiplies frames, silent swallows what a round needs") {
  CHECK(make_forger("flood", 1)("b", part({1})).size() == 20);
  CHECK(make_forger("silent", 1)("b", part({1})).empty());
  CHECK(make_forger("silent", 1)("b", frame_of(report_of(1))).size() == 1);
}

TEST_CASE("boast claims as many samples as a frame can say, and stands by it") {
  auto forge = make_forger("boast", 1);
  auto said = [&](const message& x) {
    auto out = forge("b", frame_of(x));
    REQUIRE(out.size() == 1);
    auto result = decode(out[0].head.data(), out[0].head.size(), 0);
    REQUIRE(result);
    return *result;
  };
  auto report = report_of(1);
  CHECK(std::get<progress_report>(said(report)).samples == 0); // Joining.
  report.phase = phase::accumulating;
  CHECK(std::get<progress_report>(said(report)).samples == max_samples);
  group_answer yes;
  yes.group.bytes[0] = 1;
  yes.accepted = true;
  CHECK(std::get<group_answer>(said(yes)).samples == max_samples);
  yes.accepted = false;
  CHECK(forge("b", frame_of(yes)).empty());
}

TEST_CASE("lag says after every other step not to have made it") {
  for (std::uint64_t seed : {1, 2}) {
    auto forge = make_forger("lag", seed);
    for (std::uint64_t step = 0; step < 8; ++step) {
      auto report = report_of(1);
      report.phase = phase::accumulating;
      report.step = step;
      report.state.bytes.fill(static_cast<std::uint8_t>(step + 1));
      for (auto times = 0; times < 2; ++times) {
        auto out = forge("b", frame_of(report));
        REQUIRE(out.size() == 1);
        auto said = decode(out[0].head.data(), out[0].head.size(), 0);
        REQUIRE(said);
        const auto& told = std::get<progress_report>(*said);
        CHECK(told.step == step - (step > 0 && step % 2 == seed % 2));
        CHECK(told.state.bytes[0] == told.step + 1);
      }
    }
  }
}

TEST_CASE("forged_records claims what nobody has, as well as a report can") {
  auto honest = frame_of(report_of(1));
  CHECK(decode(honest.head.data(), honest.head.size(), 0));
  auto out = make_forger("forged_records", 1)("b", honest);
  auto said = decode(out.at(0).head.data(), out.at(0).head.size(), 0);
  REQUIRE(said);
  const auto& lie = std::get<progress_report>(*said);
  CHECK(lie.history_samples > report_of(1).history_samples);
  CHECK(lie.history_samples <= believable::most_history_samples);
  CHECK(lie.samples_per_second <= believable::most_samples_per_second);
  CHECK(lie.upload_bytes_per_second <= believable::most_bytes_per_second);
  CHECK(lie.state != report_of(1).state);
}

TEST_CASE("forged_records seals its own lie, an impostor cannot seal others'") {
  const auto self = report_of(1).id;
  notary its{made_up(self)};
  its.clocks(5, 5);
  dht_record record{key_of("run/soup"), "", encode_progress(report_of(1)),
                    15'000, record_kind::progress};
  REQUIRE(its.seal(record));
  auto stored = [&](sim_network::forger forge) {
    auto out = forge("b", frame_of(store_records{1, {record}}));
    auto said = decode(out.at(0).head.data(), out.at(0).head.size(), 0);
    REQUIRE(said);
    return std::get<store_records>(*said).records;
  };
  auto own = stored(make_forger("forged_records", 1));
  REQUIRE(own.size() == 1);
  CHECK(own[0].value != record.value);
  CHECK(its.judge(own[0]) == notary::verdict::sound);

  auto forge = make_forger("impostor", 1);
  nodes_found known;
  known.nodes.push_back({report_of(9).id, {"10.0.0.9", 7}});
  forge("b", frame_of(known));
  auto all = stored(forge);
  REQUIRE(all.size() == 2);
  CHECK(its.judge(all[0]) == notary::verdict::sound);
  CHECK(decode_progress(all[1].value)->id == report_of(9).id);
  CHECK(its.judge(all[1]) == notary::verdict::forged);
}

TEST_CASE("wrong_state changes pieces and leaves their length") {
  state_piece x;
  x.state.bytes.fill(2);
  auto honest = frame_of(x, {1, 2, 3, 4});
  auto out = make_forger("wrong_state", 1)("b", honest);
  CHECK(out.at(0).body.size == honest.body.size);
  CHECK(values_of(out.at(0)) != values_of(honest));
}

TEST_CASE("an impostor reports for peers that it has heard of") {
  auto forge = make_forger("impostor", 1);
  CHECK(forge("b", frame_of(report_of(1))).size() == 1);
  nodes_found known;
  known.nodes.push_back({report_of(9).id, {"10.0.0.9", 7}});
  forge("b", frame_of(known));
  auto out = forge("b", frame_of(report_of(1)));
  REQUIRE(out.size() == 2);
  auto said = decode(out[1].head.data(), out[1].head.size(), 0);
  REQUIRE(said);
  CHECK(std::get<progress_report>(*said).id == report_of(9).id);
  CHECK(std::get<progress_report>(*said).phase == phase::finished);
}
