#include "runtime/experts/call_desk.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/experts/call_values.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t n) {
  peer_id x;
  x.bytes[31] = n;
  return x;
}

/// A host with "ffn.1", of 2 inputs and 3 outputs, and "ffn.2", which is being
/// made.
struct host {
  host() {
    experts.add(*parse_expert_uid("ffn.1"), false);
    experts.made("ffn.1", {2, 3}, 0, 1);
    experts.add(*parse_expert_uid("ffn.2"), false);
  }

  expert_request request(expert_pass pass = expert_pass::forward,
                         std::uint32_t samples = 1) {
    expert_request x;
    x.number = ++number;
    x.uid = "ffn.1";
    x.pass = pass;
    x.samples = samples;
    x.gradients = pass == expert_pass::backward ? 3 : 0;
    x.values = 2 + x.gradients;
    x.patience_ms = 1000;
    return x;
  }
  std::optional<call_desk::reply>
  take(const expert_request& x, std::uint8_t from = 7, float value = 1.5f) {
    auto values = std::make_shared<std::vector<float>>(
        std::size_t{x.samples} * x.values, value);
    auto body = body_of(x.packing, values, values->data(), size_of(x));
    return desk.take(peer(from), x, body, experts, now);
  }
  /// Why it is refused; `done` when it waits.
  expert_outcome outcome(const expert_request& x, std::uint8_t from = 7,
                         float value = 1.5f) {
    auto refusal = take(x, from, value);
    if (!refusal)
      return expert_outcome::done;
    CHECK(refusal->to == peer(from));
    CHECK(refusal->what.number == x.number);
    CHECK_FALSE(refusal->what.sentence.empty());
    return refusal->what.outcome;
  }
  call_desk::replies compute(const call_desk::job& job, float value = 4) {
    auto values = std::make_shared<float_array>();
    auto width = job.batch->pass == expert_pass::forward ? 3u : 2u;
    values->resize(std::size_t{job.batch->samples()} * width);
    std::fill(values->begin(), values->end(), value);
    return desk.computed({job.number, values, width, 5});
  }

  batch_queue::bounds bounds;
  call_desk desk{[this] {
    bounds.pool.waiting_calls = 3;
    bounds.pool.most_samples = 8;
    return bounds;
  }()};
  hosted_experts experts;
  std::uint64_t number = 0;
  time_point now{1h};
};

} // namespace

TEST_CASE("calls wait, are computed as one batch, and are answered each") {
  host h;
  auto packed = h.request(expert_pass::forward, 2);
  packed.packing = packing::float16;
  CHECK_FALSE(h.take(packed, 7));
  CHECK_FALSE(h.take(h.request(), 8));
  CHECK(h.desk.waiting() == 2);
  auto job = h.desk.next(h.now);
  REQUIRE(job);
  CHECK(h.desk.runs(job->number));
  CHECK(job->batch->samples() == 3);
  CHECK_FALSE(h.desk.next(h.now)); // The device is busy.
  auto replies = h.compute(*job);
  CHECK_FALSE(h.desk.runs(job->number));
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].to == peer(7));
  CHECK(replies[0].what.outcome == expert_outcome::done);
  CHECK(replies[0].what.samples == 2);
  CHECK(replies[0].what.values == 3);
  CHECK(replies[0].what.version == 5);
  CHECK(replies[0].what.packing == packing::float16);
  CHECK(replies[0].body.size == 2 * 3 * 2 + 4);
  CHECK(replies[1].to == peer(8));
  CHECK(replies[1].body.size == 3 * 4);
  CHECK(h.desk.so_far().calls == 2);
  CHECK(h.desk.so_far().samples == 3);
  CHECK(h.desk.so_far().batches == 1);
}

TEST_CASE("a call that comes twice is computed once and refused never") {
  host h;
  auto x = h.request();
  CHECK_FALSE(h.take(x));
  CHECK_FALSE(h.take(x));
  CHECK(h.desk.waiting() == 1);
  h.desk.forget(peer(7));
  CHECK(h.desk.waiting() == 0);
}

TEST_CASE("what cannot be computed is refused at once, with the reason") {
  host h;
  auto x = h.request();
  x.uid = "ffn.3";
  CHECK(h.outcome(x) == expert_outcome::not_here);
  x = h.request();
  x.uid = "ffn.2";
  CHECK(h.outcome(x) == expert_outcome::busy); // It is being made.
  x = h.request();
  x.values = 3;
  CHECK(h.outcome(x) == expert_outcome::wrong_shape);
  x = h.request(expert_pass::backward);
  x.gradients = 2;
  CHECK(h.outcome(x) == expert_outcome::wrong_shape);
  CHECK(h.outcome(h.request(expert_pass::forward, 9))
        == expert_outcome::wrong_shape);
  CHECK(h.outcome(h.request(), 7, NAN) == expert_outcome::wrong_values);
  CHECK(h.desk.so_far().busy == 0);
  for (int i = 0; i < 3; ++i)
    CHECK(h.outcome(h.request()) == expert_outcome::done);
  CHECK(h.outcome(h.request()) == expert_outcome::busy);
  CHECK(h.desk.so_far().busy == 1);
}

TEST_CASE("a host that leaves teaches nothing more, and computes what is not "
          "handed over") {
  host h;
  h.experts.leave();
  CHECK(h.outcome(h.request(expert_pass::backward)) == expert_outcome::busy);
  CHECK(h.outcome(h.request()) == expert_outcome::done);
  h.experts.handed_over("ffn.1");
  CHECK(h.outcome(h.request()) == expert_outcome::busy);
}

TEST_CASE("values that are not finite are never sent, and cost no other call") {
  host h;
  h.take(h.request(), 7);
  h.take(h.request(), 8);
  auto job = h.desk.next(h.now);
  REQUIRE(job);
  auto values = std::make_shared<float_array>();
  for (float x : {1.f, INFINITY, 1.f, 4.f, 4.f, 4.f})
    values->push_back(x);
  auto replies = h.desk.computed({job->number, values, 3, 0});
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].what.outcome == expert_outcome::failed);
  CHECK(replies[0].body.size == 0);
  CHECK(replies[1].what.outcome == expert_outcome::done);
  CHECK(h.desk.so_far().failed == 1);
}

TEST_CASE("the calls of an expert that is lost are refused: those that wait, "
          "and those with the device") {
  host h;
  h.take(h.request(expert_pass::backward), 7);
  auto job = h.desk.next(h.now);
  REQUIRE(job);
  CHECK(h.desk.learning() == "ffn.1");
  h.take(h.request(), 8);
  CHECK(h.desk.refuse_running("ffn.2", expert_outcome::failed, "no").empty());
  auto lost
      = h.desk.refuse_running("ffn.1", expert_outcome::failed, "it threw");
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].to == peer(7));
  CHECK(lost[0].what.sentence == "it threw");
  CHECK_FALSE(h.desk.runs(job->number)); // What comes of it comes too late.
  CHECK(h.desk.learning().empty());
  CHECK(h.desk.waiting() == 1);
  CHECK(h.desk.refuse_waiting("ffn.1", expert_outcome::not_here, "gone").size()
        == 1);
  CHECK(h.desk.waiting() == 0);
  CHECK(h.desk.so_far().failed == 1);
}

TEST_CASE("who waits for company is looked at again in time, each time told "
          "once") {
  host h;
  auto bounds = h.bounds;
  bounds.pool.least_samples = 2;
  bounds.pool.linger = 100ms;
  h.desk = call_desk{bounds};
  CHECK_FALSE(h.desk.wake());
  h.take(h.request());
  CHECK_FALSE(h.desk.next(h.now));
  CHECK(h.desk.wake() == h.now + 100ms);
  CHECK_FALSE(h.desk.wake());
  h.now += 100ms;
  CHECK(h.desk.next(h.now));
  CHECK_FALSE(h.desk.wake());
}
