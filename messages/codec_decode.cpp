#include "messages/codec.hpp"

#include <cstring>
#include <optional>
#include <type_traits>

#include "messages/check.hpp"
#include "messages/limits.hpp"
#include "messages/schema/envelope_generated.h"
#include "messages/schema/expert_hosts_generated.h"

namespace potluck {

namespace {

namespace fb = flatbuffers;

// ---- pieces of messages ----------------------------------------------------
// Verified before: required fields are there, everything lies in the buffer.

template <class Id, class Wire>
void take(Id& out, const Wire* x) {
  static_assert(sizeof(Wire) == Id::size);
  if (x != nullptr)
    std::memcpy(out.bytes.data(), x->bytes()->Data(), Id::size);
}

void take(std::string& out, const fb::String* x) {
  if (x != nullptr)
    out.assign(x->data(), x->size());
}

void take(std::string& out, const fb::Vector<std::uint8_t>* x) {
  if (x != nullptr)
    out.assign(reinterpret_cast<const char*>(x->data()), x->size());
}

void take(std::vector<std::uint32_t>& out,
          const fb::Vector<std::uint32_t>* xs) {
  if (xs != nullptr)
    out.assign(xs->begin(), xs->end());
}

void take(address& out, const wire::Address* x) {
  take(out.host, x->host());
  out.port = x->port();
}

void take(contact& out, const wire::Contact* x) {
  take(out.id, x->id());
  take(out.where, x->where());
}

void take_if_any(contact& out, const wire::Contact* x) {
  if (x != nullptr)
    take(out, x);
}

void take(slow_pair& out, const wire::SlowPair* x) {
  take(out.to, &x->to());
  out.bytes_per_second = x->bytes_per_second();
}

void take(setting& out, const wire::Setting* x) {
  take(out.name, x->name());
  take(out.value, x->value());
}

void take(dht_record& out, const wire::Record* x) {
  take(out.key, x->key());
  take(out.subkey, x->subkey());
  take(out.value, x->value());
  out.lives_ms = x->lives_ms();
}

template <class T, class Wire>
void take(std::vector<T>& out, const fb::Vector<Wire>* xs);

void take(cell_summary& out, const wire::CellSummary* x) {
  if (x == nullptr)
    return;
  out.samples_per_second = x->samples_per_second();
  out.contributors = x->contributors();
  out.apart = x->apart();
  out.upload_bytes_per_second = x->upload_bytes_per_second();
  out.download_bytes_per_second = x->download_bytes_per_second();
}

void take(group_member& out, const wire::GroupMember* x) {
  take(out.who.id, x->id());
  take(out.who.where.host, x->host());
  out.who.where.port = x->port();
  out.role = role(x->role());
  out.samples = x->samples();
  out.loss_sum = x->loss_sum();
  out.upload_bytes_per_second = x->upload_bytes_per_second();
  out.download_bytes_per_second = x->download_bytes_per_second();
  take(out.slow_pairs, x->slow_pairs());
  take(out.cell, x->cell());
}

template <class T, class Wire>
void take(std::vector<T>& out, const fb::Vector<Wire>* xs) {
  if (xs == nullptr)
    return;
  out.resize(xs->size());
  for (fb::uoffset_t i = 0; i < xs->size(); ++i)
    take(out[i], xs->Get(i));
}

template <class Number>
void take_numbers(std::vector<Number>& out, const fb::Vector<Number>* xs) {
  if (xs == nullptr)
    return;
  out.reserve(xs->size());
  for (fb::uoffset_t i = 0; i < xs->size(); ++i)
    out.push_back(xs->Get(i));
}

// ---- messages, in the order of the variant ---------------------------------

hello read(const wire::Hello& x) {
  hello out;
  out.version = x.version();
  take(out.id, x.id());
  out.role = role(x.role());
  take(out.run, x.run());
  out.listen_port = x.listen_port();
  take(out.charter, x.charter());
  take(out.settings, x.settings());
  take(out.seen_host, x.seen_host());
  return out;
}

refusal read(const wire::Refusal& x) {
  refusal out;
  take(out.sentence, x.sentence());
  return out;
}

goodbye read(const wire::Goodbye& x) {
  goodbye out;
  take(out.reason, x.reason());
  return out;
}

heartbeat read(const wire::Heartbeat& x) {
  return {x.token()};
}

heartbeat_reply read(const wire::HeartbeatReply& x) {
  return {x.token()};
}

routing_ping read(const wire::RoutingPing& x) {
  return {x.token()};
}

routing_pong read(const wire::RoutingPong& x) {
  return {x.token()};
}

find_nodes read(const wire::FindNodes& x) {
  find_nodes out;
  out.token = x.token();
  take(out.target, x.target());
  take(out.known_nodes, x.known_nodes());
  return out;
}

nodes_found read(const wire::NodesFound& x) {
  nodes_found out;
  out.token = x.token();
  take(out.nodes, x.nodes());
  return out;
}

store_records read(const wire::StoreRecords& x) {
  store_records out;
  out.token = x.token();
  take(out.records, x.records());
  return out;
}

records_stored read(const wire::RecordsStored& x) {
  return {x.token(), x.accepted()};
}

find_records read(const wire::FindRecords& x) {
  find_records out;
  out.token = x.token();
  take(out.key, x.key());
  take(out.known_nodes, x.known_nodes());
  take(out.known_records, x.known_records());
  out.most = x.most();
  return out;
}

records_found read(const wire::RecordsFound& x) {
  records_found out;
  out.token = x.token();
  take(out.records, x.records());
  take(out.nodes, x.nodes());
  out.stored = x.stored();
  return out;
}

progress_report read(const wire::ProgressReport& x) {
  progress_report out;
  take(out.id, x.id());
  take(out.where, x.where());
  out.role = role(x.role());
  out.phase = phase(x.phase());
  take(out.charter, x.charter());
  out.step = x.step();
  out.history_samples = x.history_samples();
  take(out.state, x.state());
  out.samples = x.samples();
  out.samples_per_second = x.samples_per_second();
  out.upload_bytes_per_second = x.upload_bytes_per_second();
  out.download_bytes_per_second = x.download_bytes_per_second();
  out.loss = x.loss();
  out.contributes = x.contributes();
  take(out.sponsor, x.sponsor());
  out.contributors = x.contributors();
  out.members = x.members();
  take(out.slow_pairs, x.slow_pairs());
  out.apart = x.apart();
  out.redraws_from = x.redraws_from();
  return out;
}

group_invite read(const wire::GroupInvite& x) {
  group_invite out;
  take(out.group, x.group());
  out.step = x.step();
  take(out.state, x.state());
  return out;
}

group_answer read(const wire::GroupAnswer& x) {
  group_answer out;
  take(out.group, x.group());
  out.accepted = x.accepted();
  take(out.reason, x.reason());
  out.samples = x.samples();
  out.loss_sum = x.loss_sum();
  out.upload_bytes_per_second = x.upload_bytes_per_second();
  out.download_bytes_per_second = x.download_bytes_per_second();
  take(out.avoid, x.avoid());
  take(out.slow_pairs, x.slow_pairs());
  take(out.cell, x.cell());
  return out;
}

group_start read(const wire::GroupStart& start) {
  group_start result;
  auto& x = *start.contract();
  auto& out = result.contract;
  take(out.group, x.group());
  out.step = x.step();
  out.gradient_values = x.gradient_values();
  out.chunk_values = x.chunk_values();
  out.patience_ms = x.patience_ms();
  take(out.members, x.members());
  take(out.plan, x.plan());
  out.least_samples = x.least_samples();
  out.computing_ms = x.computing_ms();
  return result;
}

group_cancel read(const wire::GroupCancel& x) {
  group_cancel out;
  take(out.group, x.group());
  take(out.reason, x.reason());
  return out;
}

/// Of what is about one chunk of a round.
template <class Message, class Wire>
Message read_about_chunk(const Wire& x) {
  Message out;
  take(out.group, x.group());
  out.chunk = x.chunk();
  return out;
}

template <class Chunk, class Wire>
Chunk read_chunk(const Wire& x) {
  auto out = read_about_chunk<Chunk>(x);
  out.samples = x.samples();
  out.packing = packing(x.packing());
  return out;
}

chunk_part read(const wire::ChunkPart& x) {
  return read_chunk<chunk_part>(x);
}

chunk_mean read(const wire::ChunkMean& x) {
  auto out = read_chunk<chunk_mean>(x);
  out.version = x.version();
  take_numbers(out.left_out, x.left_out());
  take(out.seal, x.seal());
  return out;
}

contribution_request read(const wire::ContributionRequest& x) {
  contribution_request out;
  out.number = x.number();
  out.step = x.step();
  take(out.state, x.state());
  out.packing = packing(x.packing());
  take_if_any(out.nearer, x.nearer());
  take(out.farther, x.farther());
  take_if_any(out.better, x.better());
  return out;
}

contribution_part read(const wire::ContributionPart& x) {
  contribution_part out;
  out.number = x.number();
  out.chunk = x.chunk();
  out.samples = x.samples();
  out.loss_sum = x.loss_sum();
  out.packing = packing(x.packing());
  return out;
}

contribution_answer read(const wire::ContributionAnswer& x) {
  contribution_answer out;
  out.number = x.number();
  out.accepted = x.accepted();
  take(out.reason, x.reason());
  return out;
}

expert_request read(const wire::ExpertRequest& x) {
  expert_request out;
  out.number = x.number();
  take(out.uid, x.uid());
  out.pass = expert_pass(x.pass());
  out.samples = x.samples();
  out.values = x.values();
  out.patience_ms = x.patience_ms();
  out.packing = packing(x.packing());
  out.gradients = x.gradients();
  return out;
}

expert_answer read(const wire::ExpertAnswer& x) {
  expert_answer out;
  out.number = x.number();
  out.outcome = expert_outcome(x.outcome());
  take(out.sentence, x.sentence());
  out.samples = x.samples();
  out.values = x.values();
  out.version = x.version();
  out.packing = packing(x.packing());
  return out;
}

expert_announcement read(const wire::ExpertAnnouncement& x) {
  expert_announcement out;
  take(out.host, x.host());
  out.inputs = x.inputs();
  out.outputs = x.outputs();
  out.version = x.version();
  out.term = x.term();
  return out;
}

expert_host_notice read(const wire::ExpertHostNotice& x) {
  expert_host_notice out;
  take(out.host, x.host());
  take(out.kind, x.kind());
  out.spare = x.spare();
  return out;
}

replica_offer read(const wire::ReplicaOffer& x) {
  replica_offer out;
  take(out.uid, x.uid());
  out.term = x.term();
  out.version = x.version();
  out.bytes = x.bytes();
  take(out.sum, x.sum());
  take(out.kind, x.kind());
  take(out.owner, x.owner());
  out.hand_over = x.hand_over();
  return out;
}

replica_reply read(const wire::ReplicaReply& x) {
  replica_reply out;
  take(out.uid, x.uid());
  out.term = x.term();
  out.version = x.version();
  out.standing = replica_standing(x.standing());
  out.offset = x.offset();
  out.length = x.length();
  return out;
}

replica_chunk read(const wire::ReplicaChunk& x) {
  replica_chunk out;
  take(out.uid, x.uid());
  out.term = x.term();
  out.version = x.version();
  out.offset = x.offset();
  return out;
}

line_probe read(const wire::LineProbe&) {
  return {};
}

reach_request read(const wire::ReachRequest& x) {
  return {x.port()};
}

reach_answer read(const wire::ReachAnswer& x) {
  return {x.reached()};
}

mean_request read(const wire::MeanRequest& x) {
  auto out = read_about_chunk<mean_request>(x);
  out.version = x.version();
  return out;
}

round_prepared read(const wire::RoundPrepared& x) {
  round_prepared out;
  take(out.group, x.group());
  take(out.mean, x.mean());
  out.epoch = x.epoch();
  out.least_samples = x.least_samples();
  out.most_samples = x.most_samples();
  return out;
}

round_settle read(const wire::RoundSettle& x) {
  round_settle out;
  take(out.group, x.group());
  out.epoch = x.epoch();
  return out;
}

round_standing read(const wire::RoundStanding& x) {
  round_standing out;
  take(out.group, x.group());
  out.epoch = x.epoch();
  out.standing = standing(x.standing());
  take(out.mean, x.mean());
  out.least_samples = x.least_samples();
  out.most_samples = x.most_samples();
  out.ruled = x.ruled();
  // Where one list is shorter, the check refuses what stands in its place.
  std::vector<std::uint32_t> versions;
  std::vector<std::uint64_t> samples;
  take_numbers(versions, x.versions());
  take_numbers(samples, x.samples());
  out.chunks.resize(std::max(versions.size(), samples.size()),
                    chunk_standing{UINT32_MAX, UINT64_MAX});
  for (std::size_t i = 0; i < versions.size(); ++i)
    out.chunks[i].version = versions[i];
  for (std::size_t i = 0; i < samples.size(); ++i)
    out.chunks[i].samples = samples[i];
  return out;
}

round_verdict read(const wire::RoundVerdict& x) {
  round_verdict out;
  take(out.group, x.group());
  out.epoch = x.epoch();
  out.commit = x.commit();
  take(out.mean, x.mean());
  take(out.holder, x.holder());
  out.least_samples = x.least_samples();
  out.most_samples = x.most_samples();
  return out;
}

round_heal read(const wire::RoundHeal& x) {
  round_heal out;
  take(out.group, x.group());
  out.epoch = x.epoch();
  take_numbers(out.alive, x.alive());
  auto& sources = *x.sources();
  auto& versions = *x.versions();
  // As above: the version zero is refused.
  out.chunks.resize(std::max(sources.size(), versions.size()));
  for (fb::uoffset_t i = 0; i < std::min(sources.size(), versions.size()); ++i)
    out.chunks[i] = {sources.Get(i), versions.Get(i)};
  return out;
}

round_findings read(const wire::RoundFindings& x) {
  round_findings out;
  take(out.group, x.group());
  take(out.owners, x.owners());
  return out;
}

part_request read(const wire::PartRequest& x) {
  return read_about_chunk<part_request>(x);
}

part_digests read(const wire::PartDigests& x) {
  auto out = read_about_chunk<part_digests>(x);
  take(out.parts, x.parts());
  return out;
}

mean_challenge read(const wire::MeanChallenge& x) {
  return read_about_chunk<mean_challenge>(x);
}

charter_request read(const wire::CharterRequest& x) {
  return {x.token()};
}

charter_reply read(const wire::CharterReply& x) {
  return {x.token()};
}

state_request read(const wire::StateRequest& x) {
  state_request out;
  out.token = x.token();
  out.step = x.step();
  take(out.state, x.state());
  out.means_only = x.means_only();
  out.lists_only = x.lists_only();
  return out;
}

state_manifest read(const wire::StateManifest& x) {
  state_manifest out;
  out.token = x.token();
  out.available = x.available();
  out.step = x.step();
  out.history_samples = x.history_samples();
  take(out.state, x.state());
  out.bytes = x.bytes();
  out.piece_bytes = x.piece_bytes();
  take(out.recent, x.recent());
  out.mean = x.mean();
  out.samples = x.samples();
  take(out.pieces, x.pieces());
  out.offered = x.offered();
  out.retry_ms = x.retry_ms();
  return out;
}

piece_request read(const wire::PieceRequest& x) {
  piece_request out;
  take(out.state, x.state());
  out.piece = x.piece();
  out.mean = x.mean();
  out.arrived = x.arrived();
  return out;
}

state_piece read(const wire::StatePiece& x) {
  state_piece out;
  take(out.state, x.state());
  out.piece = x.piece();
  out.mean = x.mean();
  return out;
}

state_done read(const wire::StateDone&) {
  return {};
}

// ---- verification
// ------------------------------------------------------------

/// An envelope, a message, a setting or a contact, its address: 4 deep. 256
/// members or records are the most, and 20 contacts of two tables each.
fb::Verifier::Options verifier_limits() {
  fb::Verifier::Options limits;
  limits.max_depth = 8;
  limits.max_tables = 2 * max_members;
  return limits;
}

/// Wide reads from an odd address are undefined: such bytes are copied first.
class aligned_bytes {
public:
  aligned_bytes(const void* data, std::size_t size)
      : data_(static_cast<const std::uint8_t*>(data)) {
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::uint64_t) != 0) {
      copy_.assign(data_, data_ + size);
      data_ = copy_.data();
    }
  }
  const std::uint8_t* data() const {
    return data_;
  }

private:
  const std::uint8_t* data_;
  std::vector<std::uint8_t> copy_;
};

/// A type that the union numbers but this list lacks is refused as unknown.
template <class... Tables>
struct table_list {};
using tables = table_list<
    wire::Hello, wire::Refusal, wire::Goodbye, wire::Heartbeat,
    wire::HeartbeatReply, wire::RoutingPing, wire::RoutingPong, wire::FindNodes,
    wire::NodesFound, wire::StoreRecords, wire::RecordsStored,
    wire::FindRecords, wire::RecordsFound, wire::ProgressReport,
    wire::GroupInvite, wire::GroupAnswer, wire::GroupStart, wire::GroupCancel,
    wire::ChunkPart, wire::ChunkMean, wire::MeanRequest, wire::RoundPrepared,
    wire::RoundSettle, wire::RoundStanding, wire::RoundVerdict,
    wire::CharterRequest, wire::CharterReply, wire::StateRequest,
    wire::StateManifest, wire::PieceRequest, wire::StatePiece, wire::StateDone,
    wire::RoundHeal, wire::ContributionRequest, wire::ContributionPart,
    wire::ContributionAnswer, wire::RoundFindings, wire::PartRequest,
    wire::MeanChallenge, wire::ExpertRequest, wire::ExpertAnswer,
    wire::ReplicaOffer, wire::ReplicaReply, wire::ReplicaChunk, wire::LineProbe,
    wire::ReachRequest, wire::ReachAnswer, wire::PartDigests>;

template <class... Tables>
std::optional<message> open(const wire::Envelope& x, table_list<Tables...>) {
  static_assert(sizeof...(Tables) == std::variant_size_v<message>);
  std::optional<message> result;
  auto try_type = [&](auto* table) {
    using type = std::remove_const_t<std::remove_pointer_t<decltype(table)>>;
    if (x.message_type() == wire::MessageTraits<type>::enum_value)
      result = read(*x.message_as<type>());
  };
  (try_type(static_cast<const Tables*>(nullptr)), ...);
  return result;
}

} // namespace

expected<message> decode(const std::uint8_t* head, std::size_t head_size,
                         std::size_t body_size) {
  if (head_size > max_head_bytes)
    return failure{"a head of " + std::to_string(head_size)
                   + " bytes is too large"};
  aligned_bytes bytes{head, head_size};
  fb::Verifier verifier{bytes.data(), head_size, verifier_limits()};
  if (!wire::VerifyEnvelopeBuffer(verifier))
    return failure{"the head is not a well-formed message"};
  auto result = open(*wire::GetEnvelope(bytes.data()), tables{});
  if (!result)
    return failure{"the message is of a type that this version does not know"};
  auto problem = problem_with(*result, body_size);
  if (!problem.empty())
    return failure{std::move(problem)};
  return std::move(*result);
}

namespace {

/// The table that `verify` and `get` of its schema find in a record's value.
template <class Verify, class Get>
auto decode_value(const std::string& text, const char* what, Verify verify,
                  Get get) -> expected<decltype(read(*get(text.data())))> {
  if (text.size() > max_record_value_bytes)
    return failure{std::string{what} + " is too long for a record"};
  aligned_bytes bytes{text.data(), text.size()};
  fb::Verifier verifier{bytes.data(), text.size(), verifier_limits()};
  if (!verify(verifier))
    return failure{"the record does not hold " + std::string{what}};
  auto result = read(*get(bytes.data()));
  auto problem = problem_with(result);
  if (!problem.empty())
    return failure{std::move(problem)};
  return result;
}

} // namespace

expected<progress_report> decode_progress(const std::string& text) {
  return decode_value(text, "a well-formed progress report",
                      wire::VerifyProgressReportBuffer,
                      wire::GetProgressReport);
}

expected<expert_announcement> decode_announcement(const std::string& text) {
  return decode_value(text, "a well-formed announcement of an expert",
                      wire::VerifyExpertAnnouncementBuffer,
                      wire::GetExpertAnnouncement);
}

expected<expert_host_notice> decode_notice(const std::string& text) {
  return decode_value(text, "a well-formed sign of life of a host",
                      wire::VerifyExpertHostNoticeBuffer,
                      wire::GetExpertHostNotice);
}

} // namespace potluck
