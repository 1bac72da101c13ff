#include "messages/codec.hpp"

#include "messages/check.hpp"
#include "messages/limits.hpp"
#include "messages/schema/envelope_generated.h"
#include "messages/schema/expert_hosts_generated.h"

namespace potluck {

namespace {

namespace fb = flatbuffers;
using builder = fb::FlatBufferBuilder;

// ---- pieces of messages ----------------------------------------------------

/// An id as the struct of the same bytes, to be copied by the builder.
template <class Wire, class Id>
const Wire* raw(const Id& x) {
  static_assert(sizeof(Wire) == Id::size && alignof(Wire) == 1);
  return reinterpret_cast<const Wire*>(x.bytes.data());
}

/// As above; absent for "none".
template <class Wire, class Id>
const Wire* raw_or_none(const Id& x) {
  return x.empty() ? nullptr : raw<Wire>(x);
}

fb::Offset<fb::String> put(builder& b, const std::string& x) {
  return x.empty() ? 0 : b.CreateString(x);
}

fb::Offset<fb::String> put_sentence(builder& b, const std::string& x) {
  return put(b, tidy(x, max_sentence_bytes));
}

fb::Offset<fb::Vector<std::uint8_t>> put_bytes(builder& b,
                                               const std::string& x) {
  if (x.empty())
    return 0;
  return b.CreateVector(reinterpret_cast<const std::uint8_t*>(x.data()),
                        x.size());
}

template <class Number>
fb::Offset<fb::Vector<Number>> put_numbers(builder& b,
                                           const std::vector<Number>& xs) {
  return xs.empty() ? 0 : b.CreateVector(xs);
}

fb::Offset<fb::Vector<const wire::SlowPair*>>
put(builder& b, const std::vector<slow_pair>& xs) {
  if (xs.empty())
    return 0;
  std::vector<wire::SlowPair> pairs;
  for (const auto& x : xs)
    pairs.emplace_back(*raw<wire::PeerId>(x.to), x.bytes_per_second);
  return b.CreateVectorOfStructs(pairs);
}

auto put(builder& b, const address& x) {
  auto host = put(b, x.host);
  return wire::CreateAddress(b, host, x.port);
}

auto put(builder& b, const contact& x) {
  return wire::CreateContact(b, raw<wire::PeerId>(x.id), put(b, x.where));
}

/// As above; absent for nobody's.
fb::Offset<wire::Contact> put_or_none(builder& b, const contact& x) {
  return x.id.empty() ? 0 : put(b, x);
}

auto put(builder& b, const setting& x) {
  auto name = b.CreateString(x.name);
  return wire::CreateSetting(b, name, put(b, x.value));
}

auto put(builder& b, const dht_record& x) {
  auto subkey = put_bytes(b, x.subkey);
  auto value = put_bytes(b, x.value);
  return wire::CreateRecord(b, raw<wire::RecordKey>(x.key), subkey, value,
                            x.lives_ms);
}

wire::CellSummary raw_summary(const cell_summary& x) {
  return {x.samples_per_second, x.contributors, x.apart,
          x.upload_bytes_per_second, x.download_bytes_per_second};
}

auto put(builder& b, const group_member& x) {
  auto pairs = put(b, x.slow_pairs);
  auto cell = raw_summary(x.cell);
  auto host = put(b, x.who.where.host);
  return wire::CreateGroupMember(
      b, raw<wire::PeerId>(x.who.id), host, x.who.where.port,
      wire::Role(x.role), x.samples, x.loss_sum, x.upload_bytes_per_second,
      x.download_bytes_per_second, pairs, &cell);
}

template <class T>
auto put(builder& b, const std::vector<T>& xs) {
  std::vector<decltype(put(b, xs.front()))> offsets;
  offsets.reserve(xs.size());
  for (auto& x : xs)
    offsets.push_back(put(b, x));
  return b.CreateVector(offsets);
}

// ---- messages, in the order of the variant ---------------------------------

auto write(builder& b, const hello& x) {
  auto run = put(b, x.run);
  auto settings = put(b, x.settings);
  auto seen_host = put(b, x.seen_host);
  return wire::CreateHello(
      b, x.version, raw<wire::PeerId>(x.id), wire::Role(x.role), run,
      x.listen_port, raw_or_none<wire::Digest>(x.charter), settings, seen_host);
}

auto write(builder& b, const refusal& x) {
  // Not put_sentence: the field is required, even when it is empty.
  return wire::CreateRefusal(
      b, b.CreateString(tidy(x.sentence, max_sentence_bytes)));
}

auto write(builder& b, const goodbye& x) {
  return wire::CreateGoodbye(b, put_sentence(b, x.reason));
}

auto write(builder& b, const heartbeat& x) {
  return wire::CreateHeartbeat(b, x.token);
}

auto write(builder& b, const heartbeat_reply& x) {
  return wire::CreateHeartbeatReply(b, x.token);
}

auto write(builder& b, const routing_ping& x) {
  return wire::CreateRoutingPing(b, x.token);
}

auto write(builder& b, const routing_pong& x) {
  return wire::CreateRoutingPong(b, x.token);
}

auto write(builder& b, const find_nodes& x) {
  return wire::CreateFindNodes(b, x.token, raw<wire::RecordKey>(x.target),
                               b.CreateVector(x.known_nodes));
}

auto write(builder& b, const nodes_found& x) {
  return wire::CreateNodesFound(b, x.token, put(b, x.nodes));
}

auto write(builder& b, const store_records& x) {
  return wire::CreateStoreRecords(b, x.token, put(b, x.records));
}

auto write(builder& b, const records_stored& x) {
  return wire::CreateRecordsStored(b, x.token, x.accepted);
}

auto write(builder& b, const find_records& x) {
  auto nodes = b.CreateVector(x.known_nodes);
  return wire::CreateFindRecords(b, x.token, raw<wire::RecordKey>(x.key), nodes,
                                 b.CreateVector(x.known_records), x.most);
}

auto write(builder& b, const records_found& x) {
  auto records = put(b, x.records);
  return wire::CreateRecordsFound(b, x.token, records, put(b, x.nodes),
                                  x.stored);
}

auto write(builder& b, const progress_report& x) {
  auto pairs = put(b, x.slow_pairs);
  return wire::CreateProgressReport(
      b, raw<wire::PeerId>(x.id), put(b, x.where), wire::Role(x.role),
      wire::Phase(x.phase), raw_or_none<wire::Digest>(x.charter), x.step,
      x.history_samples, raw_or_none<wire::Digest>(x.state), x.samples,
      x.samples_per_second, x.upload_bytes_per_second,
      x.download_bytes_per_second, x.loss, x.contributes,
      raw_or_none<wire::PeerId>(x.sponsor), x.contributors, x.members, pairs,
      x.apart, x.redraws_from);
}

auto write(builder& b, const group_invite& x) {
  return wire::CreateGroupInvite(b, raw<wire::GroupId>(x.group), x.step,
                                 raw<wire::Digest>(x.state));
}

auto write(builder& b, const group_answer& x) {
  auto reason = put_sentence(b, x.reason);
  auto avoid = x.avoid.empty()
                   ? fb::Offset<fb::Vector<const wire::PeerId*>>{}
                   : b.CreateVectorOfStructs(raw<wire::PeerId>(x.avoid.front()),
                                             x.avoid.size());
  auto pairs = put(b, x.slow_pairs);
  auto cell = raw_summary(x.cell);
  return wire::CreateGroupAnswer(
      b, raw<wire::GroupId>(x.group), x.accepted, reason, x.samples, x.loss_sum,
      x.upload_bytes_per_second, x.download_bytes_per_second, avoid, pairs,
      &cell);
}

auto write(builder& b, const group_start& start) {
  auto& x = start.contract;
  auto contract = wire::CreateGroupContract(
      b, raw<wire::GroupId>(x.group), x.step, x.gradient_values, x.chunk_values,
      x.patience_ms, put(b, x.members), raw<wire::Digest>(x.plan),
      x.least_samples, x.computing_ms);
  return wire::CreateGroupStart(b, contract);
}

auto write(builder& b, const group_cancel& x) {
  return wire::CreateGroupCancel(b, raw<wire::GroupId>(x.group),
                                 put_sentence(b, x.reason));
}

auto write(builder& b, const chunk_part& x) {
  return wire::CreateChunkPart(b, raw<wire::GroupId>(x.group), x.chunk,
                               x.samples, wire::Packing(x.packing));
}

auto put(builder& b, const std::vector<digest>& xs) {
  return xs.empty() ? fb::Offset<fb::Vector<const wire::Digest*>>{}
                    : b.CreateVectorOfStructs(raw<wire::Digest>(xs.front()),
                                              xs.size());
}

auto write(builder& b, const chunk_mean& x) {
  auto left_out = put_numbers(b, x.left_out);
  return wire::CreateChunkMean(b, raw<wire::GroupId>(x.group), x.chunk,
                               x.samples, wire::Packing(x.packing), x.version,
                               left_out, raw_or_none<wire::Digest>(x.seal));
}

auto write(builder& b, const contribution_request& x) {
  auto nearer = put_or_none(b, x.nearer);
  auto better = put_or_none(b, x.better);
  return wire::CreateContributionRequest(
      b, x.number, x.step, raw<wire::Digest>(x.state), wire::Packing(x.packing),
      nearer, raw_or_none<wire::PeerId>(x.farther), better);
}

auto write(builder& b, const contribution_part& x) {
  return wire::CreateContributionPart(b, x.number, x.chunk, x.samples,
                                      x.loss_sum, wire::Packing(x.packing));
}

auto write(builder& b, const contribution_answer& x) {
  return wire::CreateContributionAnswer(b, x.number, x.accepted,
                                        put_sentence(b, x.reason));
}

auto write(builder& b, const expert_request& x) {
  auto uid = b.CreateString(x.uid);
  return wire::CreateExpertRequest(b, x.number, uid, wire::ExpertPass(x.pass),
                                   x.samples, x.values, x.patience_ms,
                                   wire::Packing(x.packing), x.gradients);
}

auto write(builder& b, const expert_answer& x) {
  return wire::CreateExpertAnswer(
      b, x.number, wire::ExpertOutcome(x.outcome), put_sentence(b, x.sentence),
      x.samples, x.values, x.version, wire::Packing(x.packing));
}

auto write(builder& b, const expert_announcement& x) {
  return wire::CreateExpertAnnouncement(b, put(b, x.host), x.inputs, x.outputs,
                                        x.version, x.term);
}

auto write(builder& b, const expert_host_notice& x) {
  return wire::CreateExpertHostNotice(b, put(b, x.host),
                                      raw<wire::Digest>(x.kind), x.spare);
}

auto write(builder& b, const replica_offer& x) {
  auto uid = b.CreateString(x.uid);
  return wire::CreateReplicaOffer(
      b, uid, x.term, x.version, x.bytes, raw<wire::Digest>(x.sum),
      raw<wire::Digest>(x.kind), put(b, x.owner), x.hand_over);
}

auto write(builder& b, const replica_reply& x) {
  auto uid = b.CreateString(x.uid);
  return wire::CreateReplicaReply(b, uid, x.term, x.version,
                                  wire::ReplicaStanding(x.standing), x.offset,
                                  x.length);
}

auto write(builder& b, const replica_chunk& x) {
  auto uid = b.CreateString(x.uid);
  return wire::CreateReplicaChunk(b, uid, x.term, x.version, x.offset);
}

auto write(builder& b, const line_probe&) {
  return wire::CreateLineProbe(b);
}

auto write(builder& b, const reach_request& x) {
  return wire::CreateReachRequest(b, x.port);
}

auto write(builder& b, const reach_answer& x) {
  return wire::CreateReachAnswer(b, x.reached);
}

auto write(builder& b, const mean_request& x) {
  return wire::CreateMeanRequest(b, raw<wire::GroupId>(x.group), x.chunk,
                                 x.version);
}

auto write(builder& b, const round_prepared& x) {
  return wire::CreateRoundPrepared(b, raw<wire::GroupId>(x.group),
                                   raw<wire::Digest>(x.mean), x.epoch,
                                   x.least_samples, x.most_samples);
}

auto write(builder& b, const round_settle& x) {
  return wire::CreateRoundSettle(b, raw<wire::GroupId>(x.group), x.epoch);
}

auto write(builder& b, const round_standing& x) {
  std::vector<std::uint32_t> versions;
  std::vector<std::uint64_t> samples;
  for (auto& chunk : x.chunks) {
    versions.push_back(chunk.version);
    samples.push_back(chunk.samples);
  }
  auto versions_at = put_numbers(b, versions);
  return wire::CreateRoundStanding(
      b, raw<wire::GroupId>(x.group), x.epoch, wire::Standing(x.standing),
      raw_or_none<wire::Digest>(x.mean), x.least_samples, x.most_samples,
      versions_at, put_numbers(b, samples), x.ruled);
}

auto write(builder& b, const round_verdict& x) {
  return wire::CreateRoundVerdict(b, raw<wire::GroupId>(x.group), x.epoch,
                                  x.commit, raw_or_none<wire::Digest>(x.mean),
                                  raw_or_none<wire::PeerId>(x.holder),
                                  x.least_samples, x.most_samples);
}

auto write(builder& b, const round_heal& x) {
  std::vector<std::uint8_t> sources;
  std::vector<std::uint32_t> versions;
  for (auto& chunk : x.chunks) {
    sources.push_back(chunk.member);
    versions.push_back(chunk.version);
  }
  auto alive = b.CreateVector(x.alive);
  auto sources_at = b.CreateVector(sources);
  return wire::CreateRoundHeal(b, raw<wire::GroupId>(x.group), x.epoch, alive,
                               sources_at, b.CreateVector(versions));
}

auto write(builder& b, const round_findings& x) {
  return wire::CreateRoundFindings(b, raw<wire::GroupId>(x.group),
                                   put(b, x.owners));
}

auto write(builder& b, const part_request& x) {
  return wire::CreatePartRequest(b, raw<wire::GroupId>(x.group), x.chunk);
}

auto write(builder& b, const part_digests& x) {
  return wire::CreatePartDigests(b, raw<wire::GroupId>(x.group), x.chunk,
                                 put(b, x.parts));
}

auto write(builder& b, const mean_challenge& x) {
  return wire::CreateMeanChallenge(b, raw<wire::GroupId>(x.group), x.chunk);
}

auto write(builder& b, const charter_request& x) {
  return wire::CreateCharterRequest(b, x.token);
}

auto write(builder& b, const charter_reply& x) {
  return wire::CreateCharterReply(b, x.token);
}

auto write(builder& b, const state_request& x) {
  return wire::CreateStateRequest(b, x.token, x.step,
                                  raw_or_none<wire::Digest>(x.state),
                                  x.means_only, x.lists_only);
}

auto write(builder& b, const state_manifest& x) {
  auto recent = put(b, x.recent);
  auto pieces = put(b, x.pieces);
  return wire::CreateStateManifest(
      b, x.token, x.available, x.step, x.history_samples,
      raw_or_none<wire::Digest>(x.state), x.bytes, x.piece_bytes, recent,
      x.mean, x.samples, pieces, x.offered, x.retry_ms);
}

auto write(builder& b, const piece_request& x) {
  return wire::CreatePieceRequest(b, raw<wire::Digest>(x.state), x.piece,
                                  x.mean, x.arrived);
}

auto write(builder& b, const state_piece& x) {
  return wire::CreateStatePiece(b, raw<wire::Digest>(x.state), x.piece, x.mean);
}

auto write(builder& b, const state_done&) {
  return wire::CreateStateDone(b);
}

template <class Wire>
void finish(builder& b, fb::Offset<Wire> x) {
  auto type = wire::MessageTraits<Wire>::enum_value;
  wire::FinishEnvelopeBuffer(b, wire::CreateEnvelope(b, type, x.Union()));
}

} // namespace

std::vector<std::uint8_t> encode(const message& x) {
  builder b{512}; // Holds all but lists without growing.
  std::visit([&](const auto& m) { finish(b, write(b, m)); }, x);
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

std::string encode_announcement(const expert_announcement& x) {
  builder b{256};
  wire::FinishExpertAnnouncementBuffer(b, write(b, x));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

std::string encode_notice(const expert_host_notice& x) {
  builder b{256};
  wire::FinishExpertHostNoticeBuffer(b, write(b, x));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

std::string encode_progress(const progress_report& x) {
  builder b{512};
  wire::FinishProgressReportBuffer(b, write(b, x));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

} // namespace potluck
