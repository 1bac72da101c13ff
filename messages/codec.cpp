#include "messages/codec.hpp"

#include <array>
#include <cstring>

#include "messages/check.hpp"
#include "messages/limits.hpp"
#include "messages/schema/envelope_generated.h"
#include "messages/schema/expert_hosts_generated.h"
#include "messages/wire_fields.hpp"

namespace potluck {

namespace {

namespace fb = flatbuffers;
using builder = fb::FlatBufferBuilder;

/// The table of each message, in the order of the variant and of the union.
using tables = std::tuple<
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
    wire::ReachRequest, wire::ReachAnswer, wire::PartDigests, wire::ReachErrand,
    wire::ReachProof, wire::CircuitOpen, wire::CircuitData, wire::CircuitCredit,
    wire::CircuitClose, wire::HoleConnect, wire::HoleSync, wire::LineSwitch,
    wire::PartProjections, wire::SumDispute, wire::SumAccount,
    wire::AmendmentsRequest, wire::AmendmentsReply, wire::AdmissionRequest,
    wire::AdmissionReply, wire::AdmissionShown, wire::HistoryRequest,
    wire::HistoryReply, wire::ArtifactRequest, wire::ArtifactPiece>;
template <std::size_t I>
using table = std::tuple_element_t<I, tables>;

template <std::size_t I>
void write_envelope(builder& b, const message& x) {
  constexpr auto type = wire::MessageTraits<table<I>>::enum_value;
  static_assert(static_cast<std::size_t>(type) == I + 1);
  auto content = wire_fields::write<table<I>>(b, std::get<I>(x));
  wire::FinishEnvelopeBuffer(b, wire::CreateEnvelope(b, type, content.Union()));
}

template <std::size_t I>
bool read_envelope(message& out, const wire::Envelope& x, std::size_t size) {
  return wire_fields::read(out.emplace<I>(),
                           *static_cast<const table<I>*>(x.message()), size);
}

/// An envelope, a message, a setting or a contact, its address: 4 deep. 256
/// members or records are the most, and 20 contacts of two tables each.
fb::Verifier::Options verifier_limits() {
  fb::Verifier::Options limits;
  limits.max_depth = 8;
  limits.max_tables = 2 * max_members;
  return limits;
}

/// Wide reads from an odd address are undefined: such bytes are read from
/// `copy`.
const std::uint8_t* aligned(const void* data, std::size_t size,
                            std::vector<std::uint8_t>& copy) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::uint64_t) == 0)
    return bytes;
  copy.assign(bytes, bytes + size);
  return copy.data();
}

// ---- records ----------------------------------------------------------------

/// `x` as a DHT record's value, which `finish` of its schema makes of a table.
template <class Table, class T>
std::string encode_value(const T& x,
                         void (*finish)(builder&, fb::Offset<Table>)) {
  builder b{512};
  finish(b, wire_fields::write<Table>(b, x));
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

/// The value that `verify` of its schema accepts.
template <class T, class Table>
expected<T> decode_value(const std::string& text, const char* what,
                         bool (*verify)(fb::Verifier&),
                         const Table* (*get)(const void*)) {
  if (text.size() > max_record_value_bytes)
    return failure{std::string{what} + " is too long for a record"};
  std::vector<std::uint8_t> copy;
  const auto* bytes = aligned(text.data(), text.size(), copy);
  fb::Verifier verifier{bytes, text.size(), verifier_limits()};
  if (!verify(verifier))
    return failure{"the record does not hold " + std::string{what}};
  T result;
  if (!wire_fields::read(result, *get(bytes), text.size()))
    return failure{std::string{what} + " names the same bytes twice"};
  auto problem = problem_with(result);
  if (!problem.empty())
    return failure{std::move(problem)};
  return result;
}

struct message_codec {
  void (*write)(builder&, const message&);
  bool (*read)(message&, const wire::Envelope&, std::size_t);
};

template <std::size_t... I>
constexpr std::array<message_codec, sizeof...(I)>
codecs_of(std::index_sequence<I...>) {
  return {{{write_envelope<I>, read_envelope<I>}...}};
}

constexpr auto codecs
    = codecs_of(std::make_index_sequence<std::variant_size_v<any_message>>{});
static_assert(codecs.size() == std::tuple_size_v<tables>);

} // namespace

std::vector<std::uint8_t> encode(const message& x) {
  builder b{512}; // Holds all but lists without growing.
  codecs[x.index()].write(b, x);
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

expected<message> decode(const std::uint8_t* head, std::size_t head_size,
                         std::size_t body_size) {
  if (head_size > max_head_bytes)
    return failure{"a head of " + std::to_string(head_size)
                   + " bytes is too large"};
  std::vector<std::uint8_t> copy;
  const auto* bytes = aligned(head, head_size, copy);
  fb::Verifier verifier{bytes, head_size, verifier_limits()};
  if (!wire::VerifyEnvelopeBuffer(verifier))
    return failure{"the head is not a well-formed message"};
  const auto& envelope = *wire::GetEnvelope(bytes);
  const auto type = static_cast<std::size_t>(envelope.message_type());
  if (type < 1 || type > codecs.size())
    return failure{"the message is of a type that this version does not know"};
  message result;
  if (!codecs[type - 1].read(result, envelope, head_size))
    return failure{"the head names the same bytes twice"};
  auto problem = problem_with(result, body_size);
  if (!problem.empty())
    return failure{std::move(problem)};
  return result;
}

std::size_t likely_index(const std::uint8_t* head, std::size_t head_size) {
  // The root's place, its table's vtable before or behind it, and there the
  // place of the first field, the type.
  auto read = [&](auto& into, std::int64_t at) {
    const auto size = static_cast<std::int64_t>(sizeof(into));
    if (at < 0 || at + size > static_cast<std::int64_t>(head_size))
      return false;
    std::memcpy(&into, head + at, sizeof(into));
    return true;
  };
  std::uint32_t root = 0;
  std::int32_t back = 0;
  std::uint16_t size = 0;
  std::uint16_t field = 0;
  std::uint8_t type = 0;
  const bool found = read(root, 0) && read(back, root)
                     && read(size, std::int64_t{root} - back) && size >= 6
                     && read(field, std::int64_t{root} - back + 4) && field != 0
                     && read(type, std::int64_t{root} + field);
  return found && type > 0 && type <= codecs.size() ? type - 1u
                                                    : std::variant_npos;
}

std::string encode_progress(const progress_report& x) {
  return encode_value(x, wire::FinishProgressReportBuffer);
}

expected<progress_report> decode_progress(const std::string& text) {
  return decode_value<progress_report>(text, "a well-formed progress report",
                                       wire::VerifyProgressReportBuffer,
                                       wire::GetProgressReport);
}

std::string encode_announcement(const expert_announcement& x) {
  return encode_value(x, wire::FinishExpertAnnouncementBuffer);
}

expected<expert_announcement> decode_announcement(const std::string& text) {
  return decode_value<expert_announcement>(
      text, "a well-formed announcement of an expert",
      wire::VerifyExpertAnnouncementBuffer, wire::GetExpertAnnouncement);
}

std::string encode_notice(const expert_host_notice& x) {
  return encode_value(x, wire::FinishExpertHostNoticeBuffer);
}

expected<expert_host_notice> decode_notice(const std::string& text) {
  return decode_value<expert_host_notice>(
      text, "a well-formed sign of life of a host",
      wire::VerifyExpertHostNoticeBuffer, wire::GetExpertHostNotice);
}

} // namespace potluck
