#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

#include "messages/check.hpp"
#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "tests/messages/samples.hpp"

using namespace potluck;

namespace {

/// The sample of type T.
template <class T>
T sample() {
  for (auto& x : samples::all())
    if (auto* found = std::get_if<T>(&x))
      return *found;
  throw std::logic_error("no sample of this type");
}

/// The sample is accepted, and refused over the wire once `spoil` changed it.
template <class T>
void refused(const std::function<void(T&)>& spoil) {
  auto x = sample<T>();
  CHECK(problem_with(message{x}, samples::body_size(x)).empty());
  spoil(x);
  CHECK_FALSE(problem_with(message{x}, samples::body_size(x)).empty());
  auto head = encode(x);
  CHECK_FALSE(decode(head.data(), head.size(), samples::body_size(x)));
}

/// Still accepted after `change`.
template <class T>
void accepted(const std::function<void(T&)>& change) {
  auto x = sample<T>();
  change(x);
  auto head = encode(x);
  auto back = decode(head.data(), head.size(), samples::body_size(x));
  CHECK_MESSAGE(back, back.error());
}

constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Applies each value that no rate may have.
template <class T>
void real_refused(double T::*field) {
  for (double bad : {-1.0, infinity, -infinity, not_a_number, 2e18})
    refused<T>([&](T& x) { x.*field = bad; });
  accepted<T>([&](T& x) { x.*field = 0; });
}

/// Likewise of losses: some are logarithms of densities, or rewards.
template <class T>
void loss_refused(double T::*field) {
  for (double bad : {infinity, -infinity, not_a_number, 2e18, -2e18})
    refused<T>([&](T& x) { x.*field = bad; });
  for (double good : {0.0, -0.5, -1e18})
    accepted<T>([&](T& x) { x.*field = good; });
}

template <class T>
void group_refused() {
  refused<T>([](T& x) { x.group = {}; });
}

} // namespace

TEST_CASE("a hello names its sender and stays within its limits") {
  refused<hello>([](auto& x) { x.id = {}; });
  refused<hello>([](auto& x) { x.role = role(4); });
  refused<hello>([](auto& x) { x.run.assign(max_run_bytes + 1, 'r'); });
  refused<hello>([](auto& x) { x.run = "two\nlines"; });
  refused<hello>([](auto& x) {
    x.settings.resize(max_settings + 1, {"name", "value"});
  });
  accepted<hello>([](auto& x) {
    x.settings.resize(max_settings, {"name", "value"});
  });
  refused<hello>([](auto& x) { x.settings[0].name.clear(); });
  refused<hello>([](auto& x) { x.settings[0].name.assign(65, 'n'); });
  refused<hello>([](auto& x) { x.settings[0].value.assign(256, 'v'); });
  refused<hello>([](auto& x) { x.settings[0].value = "\xc3("; });
  accepted<hello>([](auto& x) { x.settings[0].value.clear(); });
}

TEST_CASE("another version's hello is readable, so that it can be refused") {
  accepted<hello>([](auto& x) { x.version = protocol_version + 1; });
}

TEST_CASE("a refusal says why") {
  refused<refusal>([](auto& x) { x.sentence.clear(); });
}

TEST_CASE("sentences beyond the limit are a problem of their own") {
  std::string long_text(max_sentence_bytes + 1, 'x');
  CHECK_FALSE(problem_with(message{refusal{long_text}}, 0).empty());
  CHECK_FALSE(problem_with(message{goodbye{long_text}}, 0).empty());
  CHECK_FALSE(problem_with(message{goodbye{"\x1b"}}, 0).empty());
  auto group = samples::id<group_id>(1);
  CHECK_FALSE(problem_with(message{group_cancel{group, long_text}}, 0).empty());
  group_answer answer;
  answer.group = group;
  answer.reason = long_text;
  CHECK_FALSE(problem_with(message{answer}, 0).empty());
}

TEST_CASE("answers hold at most a bucket of contacts") {
  auto fill = [](std::size_t n) {
    return std::vector<contact>(n, samples::somebody(1));
  };
  accepted<nodes_found>([&](auto& x) { x.nodes = fill(max_contacts); });
  refused<nodes_found>([&](auto& x) { x.nodes = fill(max_contacts + 1); });
  refused<records_found>([&](auto& x) { x.nodes = fill(max_contacts + 1); });
  accepted<find_nodes>([](auto& x) { x.known_nodes.resize(max_known); });
  refused<find_nodes>([](auto& x) { x.known_nodes.resize(max_known + 1); });
  refused<find_records>([](auto& x) { x.known_nodes.resize(max_known + 1); });
  refused<find_records>([](auto& x) { x.known_records.resize(max_known + 1); });
  accepted<find_records>([](auto& x) { x.most = max_records; });
  refused<find_records>([](auto& x) { x.most = max_records + 1; });
  refused<records_found>([](auto& x) { x.stored = max_stored + 1; });
  refused<nodes_found>([](auto& x) { x.nodes[1].id = {}; });
  refused<nodes_found>([](auto& x) { x.nodes[0].where.host.assign(256, 'h'); });
  refused<nodes_found>([](auto& x) { x.nodes[0].where.host = "a b"; });
  refused<nodes_found>([](auto& x) { x.nodes[0].where.host = "h\xc3\xb6st"; });
  accepted<nodes_found>([](auto& x) { x.nodes[0].where = {}; });
}

TEST_CASE("records are bounded in number and size, and alive") {
  auto fill = [](std::size_t n) {
    return std::vector<dht_record>(n, samples::record(1));
  };
  refused<store_records>([](auto& x) { x.records.clear(); });
  accepted<store_records>([&](auto& x) { x.records = fill(max_records); });
  refused<store_records>([&](auto& x) { x.records = fill(max_records + 1); });
  refused<records_found>([&](auto& x) { x.records = fill(max_records + 1); });
  accepted<records_found>([](auto& x) { x.records.clear(); });
  accepted<store_records>([](auto& x) { x.records[0].key = {}; });
  refused<store_records>([](auto& x) { x.records[1].lives_ms = 0; });
  refused<store_records>(
      [](auto& x) { x.records[1].lives_ms = x.records[1].seal.life_ms + 1; });
  accepted<store_records>(
      [](auto& x) { x.records[1].lives_ms = x.records[1].seal.life_ms; });
  refused<store_records>(
      [](auto& x) { x.records[0].seal.life_ms = max_record_life_ms + 1; });
  refused<store_records>([](auto& x) { x.records[0].seal.signer = {}; });
  refused<store_records>(
      [](auto& x) { x.records[0].kind = record_kind::none; });
  refused<records_found>([](auto& x) {
    x.records[0].kind
        = static_cast<record_kind>(int(record_kind::coordinates) + 1);
  });
  accepted<store_records>(
      [](auto& x) { x.records[0].value.assign(max_record_value_bytes, 'v'); });
  refused<store_records>([](auto& x) {
    x.records[0].value.assign(max_record_value_bytes + 1, 'v');
  });
  refused<records_stored>([](auto& x) { x.accepted = max_records + 1; });
}

TEST_CASE("a progress report holds sane numbers") {
  refused<progress_report>([](auto& x) { x.id = {}; });
  refused<progress_report>([](auto& x) { x.where.host.assign(256, 'h'); });
  refused<progress_report>([](auto& x) { x.role = role(4); });
  refused<progress_report>([](auto& x) { x.phase = phase(7); });
  accepted<progress_report>([](auto& x) { x.phase = phase::founding; });
  refused<progress_report>([](auto& x) { x.step = max_step + 1; });
  refused<progress_report>([](auto& x) { x.samples = max_samples + 1; });
  refused<progress_report>(
      [](auto& x) { x.history_samples = max_history_samples + 1; });
  real_refused(&progress_report::samples_per_second);
  real_refused(&progress_report::upload_bytes_per_second);
  real_refused(&progress_report::download_bytes_per_second);
  loss_refused(&progress_report::loss);
  refused<progress_report>(
      [](auto& x) { x.contributors = max_contributors + 1; });
  refused<progress_report>([](auto& x) { x.members = max_members + 1; });
  refused<progress_report>([](auto& x) { x.contributes = false; });
  accepted<progress_report>([](auto& x) { x.sponsor = {}; });
}

TEST_CASE("a contribution is asked for, handed over whole, and answered") {
  refused<contribution_request>([](auto& x) { x.step = max_step + 1; });
  refused<contribution_request>([](auto& x) { x.state = {}; });
  refused<contribution_part>([](auto& x) { x.samples = 0; });
  refused<contribution_part>([](auto& x) { x.samples = max_samples + 1; });
  refused<contribution_part>([](auto& x) { x.chunk = 1u << 24; });
  refused<contribution_part>([](auto& x) { x.packing = packing(4); });
  refused<contribution_request>([](auto& x) { x.packing = packing(4); });
  accepted<contribution_request>([](auto& x) { x.farther = {}; });
  accepted<contribution_request>([](auto& x) { x.nearer = {}; });
  refused<contribution_request>([](auto& x) { x.farther = x.nearer.id; });
  auto unnamed = sample<contribution_request>();
  unnamed.nearer.id = {};
  CHECK_FALSE(problem_with(message{unnamed}, 0).empty());
  accepted<contribution_request>([](auto& x) { x.better = {}; });
  unnamed = sample<contribution_request>();
  unnamed.better.id = {};
  CHECK_FALSE(problem_with(message{unnamed}, 0).empty());
  loss_refused(&contribution_part::loss_sum);
  message part = sample<contribution_part>();
  CHECK_FALSE(problem_with(part, 0).empty());
  CHECK_FALSE(problem_with(part, 1201).empty());
  CHECK(problem_with(part, max_body_bytes).empty());
}

TEST_CASE("a call names an expert and holds as many values as it says") {
  refused<expert_request>([](auto& x) { x.uid.clear(); });
  refused<expert_request>(
      [](auto& x) { x.uid.assign(max_uid_bytes + 1, 'a'); });
  refused<expert_request>([](auto& x) { x.uid = "ffn\n"; });
  refused<expert_request>([](auto& x) { x.pass = expert_pass(2); });
  refused<expert_request>([](auto& x) { x.samples = 0; });
  refused<expert_request>([](auto& x) { x.values = 0; });
  // A product that would overflow 32 bits to the body's size.
  refused<expert_request>([](auto& x) {
    x.samples = 1u << 31;
    x.values = 2;
  });
  refused<expert_request>([](auto& x) { x.patience_ms = 0; });
  refused<expert_request>([](auto& x) { x.patience_ms = max_patience_ms + 1; });
  refused<expert_request>([](auto& x) { x.packing = packing(4); });
  refused<expert_request>([](auto& x) { x.gradients = 0; });
  refused<expert_request>([](auto& x) { x.gradients = x.values; });
  refused<expert_request>([](auto& x) { x.gradients = x.values + 1; });
  refused<expert_request>([](auto& x) { x.pass = expert_pass::forward; });
  accepted<expert_request>([](auto& x) {
    x.pass = expert_pass::forward;
    x.gradients = 0;
  });
  accepted<expert_request>([](auto& x) { x.samples = 75; });
  message call = sample<expert_request>();
  CHECK_FALSE(problem_with(call, 0).empty());
  CHECK_FALSE(problem_with(call, samples::body_size(call) + 4).empty());
}

TEST_CASE("calls and answers are as long as their packing makes them") {
  auto call = sample<expert_request>();  // 4 samples of 40 and 35 values.
  auto answer = sample<expert_answer>(); // 5 samples of 60 values.
  const std::pair<packing, std::size_t> calls[]
      = {{packing::float32, 4 * 300},
         {packing::float16, 4 + 2 * 160 + 4 + 2 * 140},
         {packing::bfloat16, 2 * 300},
         {packing::int8, 4 + 160 + 4 + 140}};
  for (auto [how, bytes] : calls) {
    const auto shown = int(how);
    CAPTURE(shown);
    call.packing = how;
    CHECK(problem_with(message{call}, bytes) == "");
    CHECK_FALSE(problem_with(message{call}, bytes - 1).empty());
    CHECK_FALSE(problem_with(message{call}, bytes + 4).empty());
    answer.packing = how;
    auto values = packed_bytes(how, 300);
    CHECK(problem_with(message{answer}, values) == "");
    CHECK_FALSE(problem_with(message{answer}, values + 1).empty());
  }
}

TEST_CASE("an answer holds values when the call is done, and a reason if not") {
  refused<expert_answer>([](auto& x) { x.outcome = expert_outcome(6); });
  refused<expert_answer>([](auto& x) { x.samples = 0; });
  refused<expert_answer>([](auto& x) { x.packing = packing(4); });
  message answer = sample<expert_answer>();
  CHECK_FALSE(problem_with(answer, 0).empty());
  CHECK_FALSE(problem_with(answer, samples::body_size(answer) - 4).empty());
  expert_answer no{1, expert_outcome::busy, "too much is waiting"};
  CHECK(problem_with(message{no}, 0).empty());
  CHECK_FALSE(problem_with(message{no}, 4).empty());
  auto empty = no;
  empty.sentence.clear();
  CHECK_FALSE(problem_with(message{empty}, 0).empty());
  auto full = no;
  full.samples = 1;
  CHECK_FALSE(problem_with(message{full}, 0).empty());
}

TEST_CASE("a replica is offered with its bytes, and asked for in parts") {
  refused<replica_offer>([](auto& x) { x.uid.clear(); });
  refused<replica_offer>([](auto& x) { x.uid.assign(max_uid_bytes + 1, 'a'); });
  refused<replica_offer>([](auto& x) { x.term = 0; });
  refused<replica_offer>([](auto& x) { x.term = max_term + 1; });
  refused<replica_offer>([](auto& x) { x.bytes = 0; });
  refused<replica_offer>([](auto& x) { x.bytes = max_replica_bytes + 1; });
  refused<replica_offer>([](auto& x) { x.sum = {}; });
  refused<replica_offer>([](auto& x) { x.kind = {}; });
  refused<replica_offer>([](auto& x) { x.owner.id = {}; });
  accepted<replica_offer>([](auto& x) { x.bytes = max_replica_bytes; });
  refused<replica_reply>([](auto& x) { x.uid.clear(); });
  refused<replica_reply>([](auto& x) { x.term = 0; });
  refused<replica_reply>([](auto& x) { x.standing = replica_standing(4); });
  refused<replica_reply>([](auto& x) { x.length = 0; });
  refused<replica_reply>([](auto& x) { x.length = replica_window_bytes + 1; });
  refused<replica_reply>([](auto& x) { x.offset = max_replica_bytes; });
  refused<replica_reply>([](auto& x) { x.standing = replica_standing::held; });
  accepted<replica_reply>([](auto& x) {
    x.standing = replica_standing::serving;
    x.offset = 0;
    x.length = 0;
  });
  refused<replica_chunk>([](auto& x) { x.uid.clear(); });
  refused<replica_chunk>([](auto& x) { x.term = 0; });
  refused<replica_chunk>([](auto& x) { x.offset = max_replica_bytes; });
  message chunk = sample<replica_chunk>();
  CHECK(problem_with(chunk, replica_chunk_bytes).empty());
  CHECK_FALSE(problem_with(chunk, replica_chunk_bytes + 1).empty());
  CHECK_FALSE(problem_with(chunk, 0).empty());
}

TEST_CASE("a host's sign of life names it and what it hosts") {
  auto good = samples::notice();
  CHECK(problem_with(good).empty());
  auto bad = [&](auto spoil) {
    auto x = good;
    spoil(x);
    CHECK_FALSE(problem_with(x).empty());
    CHECK(!decode_notice(encode_notice(x)));
  };
  bad([](auto& x) { x.host.id = {}; });
  bad([](auto& x) { x.kind = {}; });
  bad([](auto& x) { x.spare = max_spare + 1; });
}

TEST_CASE("an announcement names a host and the values of a sample") {
  auto good = samples::announcement();
  CHECK(problem_with(good).empty());
  auto bad = [&](auto spoil) {
    auto x = good;
    spoil(x);
    CHECK_FALSE(problem_with(x).empty());
    CHECK(!decode_announcement(encode_announcement(x)));
  };
  bad([](auto& x) { x.host.id = {}; });
  bad([](auto& x) { x.host.where.host = "a b"; });
  bad([](auto& x) { x.inputs = 0; });
  bad([](auto& x) { x.outputs = 0; });
  bad([](auto& x) { x.inputs = max_sample_values + 1; });
  bad([](auto& x) { x.outputs = max_sample_values + 1; });
  bad([](auto& x) { x.term = 0; });
  bad([](auto& x) { x.term = max_term + 1; });
}

TEST_CASE("invitations and answers name their group") {
  group_refused<group_invite>();
  group_refused<group_answer>();
  group_refused<group_cancel>();
  refused<group_invite>([](auto& x) { x.state = {}; });
  refused<group_invite>([](auto& x) { x.step = max_step + 1; });
  refused<group_answer>([](auto& x) { x.samples = max_samples + 1; });
  accepted<group_answer>([](auto& x) { x.samples = 0; });
  loss_refused(&group_answer::loss_sum);
  real_refused(&group_answer::upload_bytes_per_second);
  real_refused(&group_answer::download_bytes_per_second);
}

TEST_CASE("a contract lists each member once, and a plan can follow from it") {
  auto bad = [](const std::function<void(group_contract&)>& spoil) {
    refused<group_start>([&](auto& x) { spoil(x.contract); });
  };
  bad([](auto& c) { c.group = {}; });
  bad([](auto& c) { c.plan = {}; });
  bad([](auto& c) { c.step = max_step + 1; });
  bad([](auto& c) { c.gradient_values = 0; });
  bad([](auto& c) { c.gradient_values = max_gradient_values + 1; });
  bad([](auto& c) { c.chunk_values = 0; });
  bad([](auto& c) { c.chunk_values = max_chunk_values + 1; });
  bad([](auto& c) { c.gradient_values = c.chunk_values * max_chunks + 1; });
  bad([](auto& c) { c.patience_ms = 0; });
  bad([](auto& c) { c.patience_ms = max_patience_ms + 1; });
  bad([](auto& c) { c.members.clear(); });
  bad([](auto& c) { c.members.push_back(c.members[0]); });
  bad([](auto& c) { c.members[1].who.id = {}; });
  bad([](auto& c) { c.members[1].who.where.host = " "; });
  bad([](auto& c) { c.members[1].role = role::bootstrap; });
  bad([](auto& c) { c.members[1].role = role(4); });
  bad([](auto& c) { c.members[1].role = role::expert; });
  bad([](auto& c) { c.members[1].samples = max_samples + 1; });
  bad([](auto& c) { c.members[0].samples = 0; });
  bad([](auto& c) { c.least_samples = 0; });
  bad([](auto& c) { c.least_samples = 11; });
  accepted<group_start>([](auto& x) { x.contract.least_samples = 10; });
  for (double x : {infinity, not_a_number, 2e18, -2e18})
    bad([&](auto& c) { c.members[0].loss_sum = x; });
  for (double x : {-1.0, infinity, not_a_number, 2e18}) {
    bad([&](auto& c) { c.members[0].upload_bytes_per_second = x; });
    bad([&](auto& c) { c.members[0].download_bytes_per_second = x; });
  }
}

TEST_CASE("a group has at most 256 members") {
  auto with = [](std::size_t n) {
    auto x = sample<group_start>();
    x.contract.members.resize(1);
    while (x.contract.members.size() < n) {
      auto m = x.contract.members[0];
      m.who.id.bytes[30]
          = static_cast<std::uint8_t>(x.contract.members.size() / 256 + 1);
      m.who.id.bytes[31] = static_cast<std::uint8_t>(x.contract.members.size());
      x.contract.members.push_back(m);
    }
    return problem_with(message{x}, 0);
  };
  CHECK(with(max_members).empty());
  CHECK_FALSE(with(max_members + 1).empty());
}

TEST_CASE("chunks carry samples and whole values") {
  group_refused<chunk_part>();
  group_refused<chunk_mean>();
  group_refused<mean_request>();
  refused<chunk_part>([](auto& x) { x.samples = 0; });
  refused<chunk_part>([](auto& x) { x.samples = max_samples + 1; });
  refused<chunk_mean>([](auto& x) { x.samples = 0; });
  refused<chunk_mean>([](auto& x) { x.samples = max_group_samples + 1; });
  accepted<chunk_mean>([](auto& x) { x.samples = max_group_samples; });
  refused<chunk_part>([](auto& x) { x.chunk = 1u << 24; });
  refused<chunk_mean>([](auto& x) { x.chunk = 1u << 24; });
  refused<mean_request>([](auto& x) { x.chunk = 1u << 24; });
  refused<chunk_mean>([](auto& x) { x.version = 0; });
  refused<chunk_mean>([](auto& x) { x.version = max_epochs + 2; });
  accepted<chunk_mean>([](auto& x) { x.version = max_epochs + 1; });
  refused<chunk_mean>([](auto& x) { x.left_out = {1, 1}; });
  refused<chunk_mean>([](auto& x) { x.left_out = {2, 1}; });
  accepted<chunk_mean>([](auto& x) { x.left_out.clear(); });
  refused<mean_request>([](auto& x) { x.version = max_epochs + 2; });
  accepted<mean_request>([](auto& x) { x.version = 0; });
  accepted<chunk_mean>([](auto& x) { x.seal = {}; });
  refused<chunk_part>([](auto& x) { x.packing = packing(4); });
  refused<chunk_mean>([](auto& x) { x.packing = packing(4); });
  for (message x :
       {message{sample<chunk_part>()}, message{sample<chunk_mean>()}}) {
    CHECK_FALSE(problem_with(x, 0).empty());
    CHECK_FALSE(problem_with(x, 1201).empty());
    CHECK_FALSE(problem_with(x, max_body_bytes + 4).empty());
    CHECK(problem_with(x, 4).empty());
    CHECK(problem_with(x, max_body_bytes).empty());
  }
}

TEST_CASE("a round's messages name group, epoch and the mean they speak of") {
  group_refused<round_prepared>();
  group_refused<round_settle>();
  group_refused<round_standing>();
  group_refused<round_verdict>();
  refused<round_prepared>([](auto& x) { x.mean = {}; });
  refused<round_settle>([](auto& x) { x.epoch = max_epochs; });
  refused<round_standing>([](auto& x) { x.epoch = max_epochs; });
  refused<round_verdict>([](auto& x) { x.epoch = max_epochs; });
  refused<round_standing>([](auto& x) { x.standing = standing(5); });
  refused<round_standing>([](auto& x) { x.mean = {}; });
  for (auto s :
       {standing::incomplete, standing::aborted, standing::spectator}) {
    refused<round_standing>([&](auto& x) { x.standing = s; });
    accepted<round_standing>([&](auto& x) { x = {x.group, 1, s, {}}; });
    refused<round_standing>([&](auto& x) {
      x = {x.group, 1, s, {}};
      x.most_samples = 1;
    });
    refused<round_standing>([&](auto& x) {
      x = {x.group, 1, s, {}};
      x.ruled = 1;
    });
  }
  refused<round_standing>([](auto& x) { x.least_samples = 0; });
  refused<round_standing>([](auto& x) { x.most_samples = 29; });
  refused<round_standing>([](auto& x) { x.ruled = x.epoch + 2; });
  refused<round_standing>([](auto& x) { x.most_samples = 1ull << 50; });
  refused<round_standing>([](auto& x) { x.chunks[0].version = 1u << 17; });
  refused<round_standing>([](auto& x) { x.chunks[0].samples = 1ull << 50; });
  refused<round_standing>(
      [](auto& x) { x.chunks.resize(max_heal_chunks + 1); });
  accepted<round_standing>([](auto& x) { x.chunks.clear(); });
  refused<round_prepared>([](auto& x) { x.epoch = max_epochs; });
  refused<round_prepared>([](auto& x) { x.least_samples = 0; });
  refused<round_prepared>([](auto& x) { x.least_samples = 41; });
  refused<round_prepared>([](auto& x) { x.most_samples = 1ull << 50; });
  accepted<round_standing>([](auto& x) { x.standing = standing::committed; });
  refused<round_verdict>([](auto& x) { x.commit = false; });
  refused<round_verdict>([](auto& x) { x.mean = {}; });
  accepted<round_verdict>([](auto& x) { x.holder = {}; });
  refused<round_verdict>([](auto& x) { x.least_samples = 0; });
  refused<round_verdict>([](auto& x) { x.least_samples = 41; });
  accepted<round_verdict>([](auto& x) { x = {x.group, 1, false, {}, {}}; });
}

TEST_CASE("an inquiry's messages name group, chunk and what was found") {
  group_refused<round_findings>();
  group_refused<part_request>();
  group_refused<mean_challenge>();
  refused<round_findings>([](auto& x) { x.owners.clear(); });
  refused<round_findings>([](auto& x) { x.owners.resize(max_members + 1); });
  accepted<round_findings>([](auto& x) { x.owners.resize(max_members); });
  refused<part_request>([](auto& x) { x.chunk = 1u << 24; });
  refused<mean_challenge>([](auto& x) { x.chunk = 1u << 24; });
  group_refused<part_digests>();
  refused<part_digests>([](auto& x) { x.chunk = 1u << 24; });
  refused<part_digests>([](auto& x) { x.parts.clear(); });
  refused<part_digests>([](auto& x) { x.parts.resize(max_members + 1); });
  accepted<part_digests>([](auto& x) { x.parts.resize(max_members); });
}

TEST_CASE("projections are finite numbers, a few in a letter") {
  group_refused<part_projections>();
  group_refused<sum_dispute>();
  group_refused<sum_account>();
  for (double bad : {2 * max_projection, infinity, -infinity, not_a_number}) {
    refused<part_projections>([&](auto& x) { x.parts[1].value = bad; });
    refused<sum_account>([&](auto& x) { x.parts[1].value = bad; });
    refused<part_projections>(
        [&](auto& x) { x.parts[0].norm = static_cast<float>(bad); });
  }
  refused<sum_account>([](auto& x) { x.parts[2].norm = -1; });
  accepted<part_projections>(
      [](auto& x) { x.parts[0].value = -max_projection; });
  refused<part_projections>([](auto& x) { x.parts.clear(); });
  accepted<part_projections>([](auto& x) { x.parts.resize(max_projections); });
  refused<part_projections>(
      [](auto& x) { x.parts.resize(max_projections + 1); });
  refused<sum_dispute>([](auto& x) { x.chunk = 1u << 24; });
  refused<sum_account>([](auto& x) { x.chunk = 1u << 24; });
  refused<sum_account>([](auto& x) { x.parts.clear(); });
  accepted<sum_account>([](auto& x) { x.parts.resize(max_members); });
  refused<sum_account>([](auto& x) { x.parts.resize(max_members + 1); });
  refused<sum_account>([](auto& x) { x.unshown = {2, 1}; });
  accepted<sum_account>([](auto& x) { x.unshown.clear(); });
}

TEST_CASE("a heal names members that take part, and a source of each chunk") {
  group_refused<round_heal>();
  refused<round_heal>([](auto& x) { x.epoch = max_epochs; });
  refused<round_heal>([](auto& x) { x.alive.clear(); });
  refused<round_heal>([](auto& x) { x.alive = {0, 2, 2, 255}; });
  refused<round_heal>([](auto& x) { x.alive = {2, 0, 255}; });
  refused<round_heal>([](auto& x) { x.chunks.clear(); });
  refused<round_heal>([](auto& x) {
    x.chunks.resize(max_heal_chunks + 1, {2, 1});
  });
  refused<round_heal>([](auto& x) { x.chunks[1].member = 1; });
  refused<round_heal>([](auto& x) { x.chunks[1].version = 0; });
  refused<round_heal>([](auto& x) { x.chunks[1].version = 6; });
}

TEST_CASE("lists that belong together are equally long") {
  auto spoil = [](message x, std::uint32_t length) {
    auto head = encode(x);
    CHECK(decode(head.data(), head.size(), 0));
    // A list's length stands before it, followed here by its first items.
    const std::uint8_t list[] = {2, 0, 0, 0, 0xee, 0xee};
    auto at = std::search(head.begin(), head.end(), list, list + 6);
    REQUIRE(at != head.end());
    *at = static_cast<std::uint8_t>(length);
    CHECK_FALSE(decode(head.data(), head.size(), 0));
  };
  auto group = samples::id<group_id>(1);
  round_standing said{group, 1, standing::incomplete, {}};
  said.chunks.assign(2, {0xeeee, 3});
  spoil(said, 1);
  said.chunks.assign(2, {3, 0xeeee});
  spoil(said, 1);
  spoil(round_heal{group, 1, {0xee}, {{0xee, 1}, {0xee, 1}}}, 1);
}

TEST_CASE("a manifest that offers a state describes it") {
  refused<state_manifest>([](auto& x) { x.state = {}; });
  refused<state_manifest>([](auto& x) { x.bytes = 0; });
  refused<state_manifest>([](auto& x) { x.piece_bytes = 0; });
  refused<state_manifest>([](auto& x) { x.piece_bytes = max_body_bytes + 1; });
  refused<state_manifest>([](auto& x) { x.bytes = max_state_bytes + 1; });
  refused<state_manifest>(
      [](auto& x) { x.bytes = x.piece_bytes * max_pieces + 1; });
  refused<state_manifest>([](auto& x) { x.step = max_step + 1; });
  refused<state_manifest>(
      [](auto& x) { x.history_samples = max_history_samples + 1; });
  refused<state_manifest>(
      [](auto& x) { x.recent.resize(max_recent_digests + 1, x.state); });
  accepted<state_manifest>([](auto& x) { x = state_manifest{}; });
  refused<state_manifest>([](auto& x) { x.pieces.pop_back(); });
  refused<state_manifest>([](auto& x) { x.samples = 0; });
  refused<state_manifest>([](auto& x) { x.bytes = 999; });
  refused<state_manifest>([](auto& x) { x.samples = max_group_samples + 1; });
  refused<state_manifest>([](auto& x) { x.offered = 1; });
  refused<state_manifest>([](auto& x) { x.retry_ms = 1; });
  refused<state_manifest>([](auto& x) {
    x = state_manifest{};
    x.retry_ms = max_patience_ms + 1;
  });
  refused<state_manifest>([](auto& x) {
    x = state_manifest{};
    x.offered = max_step + 1;
  });
  refused<state_manifest>([](auto& x) {
    x = state_manifest{};
    x.pieces.resize(max_pieces + 1);
  });
  refused<state_request>([](auto& x) { x.step = max_step + 1; });
  refused<state_request>([](auto& x) { x.state = {}; });
  accepted<state_request>([](auto& x) { x.means_only = false; });
  accepted<state_request>([](auto& x) { x.lists_only = false; });
  refused<piece_request>([](auto& x) { x.state = {}; });
  refused<piece_request>([](auto& x) { x.piece = 1u << 15; });
  refused<state_piece>([](auto& x) { x.state = {}; });
  refused<state_piece>([](auto& x) { x.piece = 1u << 15; });
  refused<artifact_request>([](auto& x) { x.content = {}; });
  refused<artifact_request>([](auto& x) { x.piece = 1u << 15; });
  refused<artifact_piece>([](auto& x) { x.content = {}; });
  refused<artifact_piece>([](auto& x) { x.piece = 1u << 15; });
  refused<artifact_piece>([](auto& x) { x.retry_ms = 3600u * 1000u + 1; });
}

TEST_CASE("a piece of an artifact is there, or put off") {
  artifact_piece x;
  x.content.bytes[0] = 1;
  CHECK(problem_with(x, 100).empty());
  CHECK(problem_with(x, 0).empty());
  x.retry_ms = 1000;
  CHECK(problem_with(x, 0).empty());
  CHECK_FALSE(problem_with(x, 100).empty());
}

TEST_CASE("only the types that have a body may come with one") {
  for (auto& x : samples::all()) {
    CAPTURE(x.index());
    bool any = std::holds_alternative<charter_reply>(x)
               || std::holds_alternative<state_piece>(x)
               || std::holds_alternative<line_probe>(x)
               || std::holds_alternative<replica_chunk>(x);
    bool bytes = std::holds_alternative<circuit_data>(x);
    bool values = samples::body_size(x) != 0;
    CHECK(problem_with(x, 0).empty() == !values);
    if (samples::counts_its_values(x))
      continue; // These say how large it is.
    CHECK(problem_with(x, 8).empty() == (any || values));
    CHECK(problem_with(x, 7).empty() == (any || bytes));
    CHECK_FALSE(problem_with(x, std::size_t{max_body_bytes} + 8).empty());
  }
}

TEST_CASE("slow pairs name a peer and a rate, and are few") {
  auto check = [](auto spoil) {
    refused<progress_report>([&](auto& x) { spoil(x.slow_pairs); });
    refused<group_answer>([&](auto& x) { spoil(x.slow_pairs); });
    refused<group_start>(
        [&](auto& x) { spoil(x.contract.members[0].slow_pairs); });
  };
  using pairs = std::vector<slow_pair>;
  check([](pairs& x) { x.resize(max_slow_pairs + 1, x.front()); });
  check([](pairs& x) { x[0].to = {}; });
  for (double bad : {0.0, -1.0, infinity, not_a_number, 2e18})
    check([bad](pairs& x) { x[0].bytes_per_second = bad; });
  accepted<group_answer>(
      [](auto& x) { x.slow_pairs.resize(max_slow_pairs, x.slow_pairs[0]); });
}

TEST_CASE("a report names three hubs at most, and a reach that is known") {
  using report = progress_report;
  refused<report>([](auto& x) { x.hubs.resize(max_hubs + 1, x.hubs[0]); });
  accepted<report>([](auto& x) { x.hubs.resize(max_hubs, x.hubs[0]); });
  refused<report>([](auto& x) { x.hubs[0].id = {}; });
  refused<report>([](auto& x) { x.reach = static_cast<reach>(5); });
}

TEST_CASE("a member is relayed to as many as a group has") {
  auto check = [](auto spoil) {
    refused<group_answer>([&](auto& x) { spoil(x.relayed, 1); });
    accepted<group_answer>([&](auto& x) { spoil(x.relayed, 0); });
    refused<group_start>(
        [&](auto& x) { spoil(x.contract.members[0].relayed, 1); });
  };
  check([](auto& x, std::size_t more) {
    x.resize(max_members + more, x.front());
  });
}

TEST_CASE("a circuit's bytes and credit are bounded, its end is named") {
  CHECK(problem_with(circuit_data{1, true}, 1).empty());
  CHECK(problem_with(circuit_data{1, true}, max_circuit_bytes).empty());
  CHECK_FALSE(problem_with(circuit_data{1, true}, 0).empty());
  CHECK_FALSE(
      problem_with(circuit_data{1, true}, max_circuit_bytes + 1).empty());
  refused<circuit_open>([](auto& x) { x.peer = {}; });
  refused<circuit_open>([](auto& x) { x.host = "no host"; });
  accepted<circuit_open>([](auto& x) { x.host = ""; });
  refused<circuit_credit>([](auto& x) { x.bytes = 0; });
  refused<circuit_credit>([](auto& x) { x.bytes = max_circuit_credit + 1; });
  accepted<circuit_credit>([](auto& x) { x.bytes = max_circuit_credit; });
}

TEST_CASE("where a hole is made has a host and a port") {
  using hole = hole_connect;
  for (auto list : {&hole::seen, &hole::local}) {
    refused<hole>([&](auto& x) { (x.*list)[0].port = 0; });
    refused<hole>([&](auto& x) { (x.*list)[0].host = ""; });
    refused<hole>([&](auto& x) {
      (x.*list).resize(max_own_addresses + 1, (x.*list)[0]);
    });
    accepted<hole>([&](auto& x) { (x.*list).clear(); });
  }
}

TEST_CASE("an errand is paid for, and says whom to dial") {
  refused<reach_errand>([](auto& x) { x.who.id = {}; });
  refused<reach_errand>([](auto& x) { x.who.where.host = ""; });
  refused<reach_errand>([](auto& x) { x.who.where.port = 0; });
  CHECK(problem_with(reach_request{1, 2, true}, errand_bytes).empty());
  CHECK_FALSE(problem_with(reach_request{1, 2, true}, 0).empty());
  CHECK_FALSE(problem_with(reach_request{1, 2, false}, errand_bytes).empty());
  CHECK_FALSE(problem_with(reach_errand{1, samples::somebody(7)}, 0).empty());
}

TEST_CASE("a run's name in a request for its charter is text") {
  refused<charter_request>([](auto& x) { x.run = "a\nb"; });
  refused<charter_request>(
      [](auto& x) { x.run.assign(max_run_bytes + 1, 'x'); });
}

TEST_CASE("who asks to be reached says at which port") {
  CHECK(problem_with(reach_request{1}, 0).empty());
  CHECK_FALSE(problem_with(reach_request{0}, 0).empty());
}

TEST_CASE("a line probe has a body of 64 KiB at most") {
  CHECK(problem_with(line_probe{}, 0).empty());
  CHECK(problem_with(line_probe{}, max_probe_bytes).empty());
  CHECK_FALSE(problem_with(line_probe{}, max_probe_bytes + 1).empty());
}

TEST_CASE("amendments are few, short, and not empty") {
  refused<amendments_request>([](auto& x) { x.run = "a\nb"; });
  refused<amendments_reply>([](auto& x) { x.run = "a\nb"; });
  accepted<amendments_reply>([](auto& x) {
    x.amendments.resize(max_amendments,
                        {std::string(max_amendment_bytes, 'a')});
  });
  refused<amendments_reply>(
      [](auto& x) { x.amendments.resize(max_amendments + 1, {"a"}); });
  refused<amendments_reply>([](auto& x) { x.amendments[0].bytes.clear(); });
  refused<amendments_reply>([](auto& x) {
    x.amendments[0].bytes.assign(max_amendment_bytes + 1, 'a');
  });
}

TEST_CASE("what is shown of a history is few steps in order") {
  refused<history_request>([](auto& x) { x.run = "a\nb"; });
  using shown = history_reply;
  refused<shown>([](auto& x) { x.run = "a\nb"; });
  accepted<shown>([](auto& x) { x.steps.clear(); });
  refused<shown>([](auto& x) { x.steps[1].step = x.steps[0].step; });
  const auto many = [](std::size_t n) {
    return [n](history_reply& x) {
      x.steps.assign(n, x.steps[0]);
      for (std::size_t i = 0; i < n; ++i)
        x.steps[i].step = i + 1;
    };
  };
  accepted<shown>(many(max_shown_steps));
  refused<shown>(many(max_shown_steps + 1));
}

TEST_CASE("a signed step has digests, and makers with samples in order") {
  using shown = history_reply;
  refused<shown>([](auto& x) { x.steps[0].charter = {}; });
  refused<shown>([](auto& x) { x.steps[0].before = {}; });
  refused<shown>([](auto& x) { x.steps[0].after = {}; });
  refused<shown>([](auto& x) { x.steps[0].step = 0; });
  refused<shown>([](auto& x) { x.steps[1].step = max_step + 1; });
  refused<shown>(
      [](auto& x) { x.steps[0].history_samples = max_history_samples + 1; });
  refused<shown>([](auto& x) { x.steps[0].samples = max_group_samples + 1; });
  refused<shown>([](auto& x) { x.steps[0].makers.clear(); });
  refused<shown>([](auto& x) { x.steps[0].makers[0].id = {}; });
  refused<shown>([](auto& x) { x.steps[0].makers[0].samples = 0; });
  refused<shown>(
      [](auto& x) { x.steps[0].makers[0].samples = max_samples + 1; });
  refused<shown>(
      [](auto& x) { std::swap(x.steps[0].makers[0], x.steps[0].makers[1]); });
  refused<shown>([](auto& x) { x.steps[0].makers[1] = x.steps[0].makers[0]; });
  const auto many = [](std::size_t n) {
    return [n](history_reply& x) {
      auto& makers = x.steps[0].makers;
      makers.assign(n, makers[0]);
      for (std::size_t i = 0; i < n; ++i)
        makers[i].id.bytes[0] = static_cast<std::uint8_t>(i >> 8),
        makers[i].id.bytes[1] = static_cast<std::uint8_t>(i);
    };
  };
  accepted<shown>(many(max_members));
  refused<shown>(many(max_members + 1));
}

TEST_CASE("a report has a step's signature whole, or none") {
  using report = progress_report;
  accepted<report>([](auto& x) { x.step_proof = {}; });
  refused<report>([](auto& x) { x.step_proof.signer = {}; });
  refused<report>([](auto& x) { x.step_proof.proof = {}; });
}

TEST_CASE("a report's second address is whole, or none") {
  using report = progress_report;
  accepted<report>([](auto& x) { x.also = {"2001:db8::7", 4000}; });
  refused<report>([](auto& x) { x.also = {"2001:db8::7", 0}; });
  refused<report>([](auto& x) { x.also = {"a b", 4000}; });
}

TEST_CASE("an admission is short, and granted or refused") {
  refused<hello>(
      [](auto& x) { x.admission.assign(max_admission_bytes + 1, 'a'); });
  refused<admission_request>([](auto& x) { x.run = "a\nb"; });
  refused<admission_request>(
      [](auto& x) { x.claim.assign(max_claim_bytes + 1, 'a'); });
  accepted<admission_request>([](auto& x) { x.claim.clear(); });
  refused<admission_reply>(
      [](auto& x) { x.admission.assign(max_admission_bytes + 1, 'a'); });
  refused<admission_reply>([](auto& x) { x.sentence = "refused"; });
  refused<admission_shown>([](auto& x) { x.admission.clear(); });
  refused<admission_shown>(
      [](auto& x) { x.admission.assign(max_admission_bytes + 1, 'a'); });
}
