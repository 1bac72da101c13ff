#include "messages/codec.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "messages/check.hpp"
#include "messages/codec_fields.hpp"
#include "messages/limits.hpp"
#include "messages/schema/envelope_generated.h"
#include "messages/schema/expert_hosts_generated.h"

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

/// Says what a field is on the wire: a number, an enum, or a pointer to
/// something else, as flatc's static reflection has it.
template <class Wire>
struct as {};

template <class Wire>
constexpr auto all_fields
    = std::make_index_sequence<Wire::Traits::fields_number>{};
template <class Wire, std::size_t I>
using field_type = typename Wire::Traits::template FieldType<I>;

// ---- writing ----------------------------------------------------------------

/// A struct's value, to be copied by the builder.
template <class Wire>
struct held {
  Wire value;
  operator const Wire*() const {
    return &value;
  }
};

/// An id as the struct of the same bytes.
template <class Wire, class Tag, std::size_t Size>
const Wire& raw(const identifier<Tag, Size>& x) {
  static_assert(sizeof(Wire) == Size && alignof(Wire) == 1);
  return *reinterpret_cast<const Wire*>(x.bytes.data());
}

/// The list of fields is made for reading, too.
template <class T>
auto fields_of(const T& x) {
  return fields(const_cast<T&>(x));
}

template <class Table, class T, std::size_t... I>
fb::Offset<Table> write(builder& b, const T& x, std::index_sequence<I...>);

template <class Wire, class T, std::size_t... I>
Wire whole(builder& b, const T& x, std::index_sequence<I...>) {
  auto list = fields_of(x);
  return Wire{put(b, as<field_type<Wire, I>>{}, std::get<I>(list))...};
}

/// A number, an enum, or an id inside a struct.
template <class Wire, class T>
decltype(auto) put(builder&, as<Wire>, const T& x) {
  if constexpr (std::is_class_v<T>)
    return raw<Wire>(x);
  else
    return static_cast<Wire>(x);
}

template <class Wire, class T>
auto put(builder& b, as<const Wire*>, const T& x) {
  if constexpr (std::is_base_of_v<fb::Table, Wire>)
    return write<Wire>(b, x, all_fields<Wire>);
  else
    return held<Wire>{whole<Wire>(b, x, all_fields<Wire>)};
}

template <class Wire, class Tag, std::size_t Size>
const Wire* put(builder&, as<const Wire*>, const identifier<Tag, Size>& x) {
  return &raw<Wire>(x);
}

auto put(builder& b, as<const fb::String*>, const std::string& x) {
  return b.CreateString(x);
}

auto put(builder& b, as<const fb::String*>, const sentence_field& x) {
  return b.CreateString(tidy(x.text, max_sentence_bytes));
}

auto put(builder& b, as<const fb::Vector<std::uint8_t>*>,
         const std::string& x) {
  return b.CreateVector(reinterpret_cast<const std::uint8_t*>(x.data()),
                        x.size());
}

template <class Number>
auto put(builder& b, as<const fb::Vector<Number>*>,
         const std::vector<Number>& xs) {
  return b.CreateVector(xs);
}

template <class Row, class Number>
auto put(builder& b, as<const fb::Vector<Number>*>,
         const column_field<Row, Number>& x) {
  std::vector<Number> numbers;
  numbers.reserve(x.rows.size());
  for (const auto& row : x.rows)
    numbers.push_back(row.*x.member);
  return b.CreateVector(numbers);
}

template <class Wire, class Tag, std::size_t Size>
auto put(builder& b, as<const fb::Vector<const Wire*>*>,
         const std::vector<identifier<Tag, Size>>& xs) {
  return b.CreateVectorOfStructs(xs.empty() ? nullptr : &raw<Wire>(xs.front()),
                                 xs.size());
}

template <class Wire, class T>
auto put(builder& b, as<const fb::Vector<const Wire*>*>,
         const std::vector<T>& xs) {
  std::vector<Wire> structs;
  structs.reserve(xs.size());
  for (const auto& x : xs)
    structs.push_back(whole<Wire>(b, x, all_fields<Wire>));
  return b.CreateVectorOfStructs(structs);
}

template <class Table, class T>
auto put(builder& b, as<const fb::Vector<fb::Offset<Table>>*>,
         const std::vector<T>& xs) {
  std::vector<fb::Offset<Table>> offsets;
  offsets.reserve(xs.size());
  for (const auto& x : xs)
    offsets.push_back(write<Table>(b, x, all_fields<Table>));
  return b.CreateVector(offsets);
}

template <class Wire, class Field>
auto put_field(builder& b, as<Wire> wire, const Field& x) {
  return put(b, wire, x);
}

template <class Wire, class Field>
auto put_field(builder& b, as<Wire> wire, const maybe_field<Field>& x) {
  using offset_or_pointer = decltype(put(b, wire, x.value));
  return x.empty() ? offset_or_pointer{} : put(b, wire, x.value);
}

template <class Table, class T, std::size_t... I>
fb::Offset<Table> write(builder& b, const T& x, std::index_sequence<I...>) {
  [[maybe_unused]] auto list = fields_of(x);
  static_assert(std::tuple_size_v<decltype(list)> == sizeof...(I));
  // Braces: what tables refer to is written first, in this order.
  const std::tuple parts{
      put_field(b, as<field_type<Table, I>>{}, std::get<I>(list))...};
  return Table::Traits::Create(b, std::get<I>(parts)...);
}

template <std::size_t I>
void write_envelope(builder& b, const message& x) {
  constexpr auto type = wire::MessageTraits<table<I>>::enum_value;
  static_assert(static_cast<std::size_t>(type) == I + 1);
  auto content = write<table<I>>(b, std::get<I>(x), all_fields<table<I>>);
  wire::FinishEnvelopeBuffer(b, wire::CreateEnvelope(b, type, content.Union()));
}

// ---- reading ----------------------------------------------------------------
// Verified before: required fields are there, everything lies in the buffer.

template <class T, class Wire, std::size_t... I>
void read(T& out, const Wire& x, std::index_sequence<I...>);
template <class Field, class Wire>
void take_field(Field& out, Wire x);

/// A number, an enum, a table or a struct.
template <class T, class Wire>
void take(T& out, const Wire& x) {
  if constexpr (std::is_class_v<T>)
    read(out, x, all_fields<Wire>);
  else
    out = static_cast<T>(x);
}

template <class Tag, std::size_t Size, class Wire>
void take(identifier<Tag, Size>& out, const Wire& x) {
  static_assert(sizeof(Wire) == Size);
  std::memcpy(out.bytes.data(), x.bytes()->Data(), Size);
}

void take(std::string& out, const fb::String& x) {
  out.assign(x.data(), x.size());
}

void take(sentence_field& out, const fb::String& x) {
  take(out.text, x);
}

void take(std::string& out, const fb::Vector<std::uint8_t>& x) {
  out.assign(reinterpret_cast<const char*>(x.data()), x.size());
}

/// A copy of a number or a struct: the verifier aligns the length of a vector,
/// but not its elements, so that one of eight bytes may lie at any fourth.
template <class Element, class Wire>
Element element(const fb::Vector<Wire>& xs, fb::uoffset_t i) {
  Element copy;
  std::memcpy(&copy, xs.Data() + i * sizeof copy, sizeof copy);
  if constexpr (std::is_arithmetic_v<Element>)
    copy = fb::EndianScalar(copy);
  return copy;
}

template <class T, class Wire>
void take(std::vector<T>& out, const fb::Vector<fb::Offset<Wire>>& xs) {
  out.resize(xs.size());
  for (fb::uoffset_t i = 0; i < xs.size(); ++i)
    take_field(out[i], xs.Get(i));
}

template <class T, class Wire>
void take(std::vector<T>& out, const fb::Vector<Wire>& xs) {
  using kind = std::remove_const_t<std::remove_pointer_t<Wire>>;
  out.resize(xs.size());
  for (fb::uoffset_t i = 0; i < xs.size(); ++i)
    take_field(out[i], element<kind>(xs, i));
}

template <class Row, class Number>
void take(column_field<Row, Number>& out, const fb::Vector<Number>& xs) {
  if (out.first)
    out.rows.resize(xs.size());
  if (out.rows.size() != xs.size()) {
    out.rows.assign(1, {});
    out.rows[0].*out.member = std::numeric_limits<Number>::max();
    return;
  }
  for (fb::uoffset_t i = 0; i < xs.size(); ++i)
    out.rows[i].*out.member = element<Number>(xs, i);
}

template <class Field, class Wire>
void take_field(Field& out, Wire x) {
  if constexpr (!std::is_pointer_v<Wire>)
    take(out, x);
  else if (x != nullptr)
    take(out, *x);
}

template <class Field, class Wire>
void take_field(maybe_field<Field>& out, Wire x) {
  take_field(out.value, x);
}

template <class T, class Wire, std::size_t... I>
void read(T& out, [[maybe_unused]] const Wire& x, std::index_sequence<I...>) {
  [[maybe_unused]] auto list = fields(out);
  static_assert(std::tuple_size_v<decltype(list)> == sizeof...(I));
  (take_field(std::get<I>(list), x.template get_field<I>()), ...);
}

template <std::size_t I>
void read_envelope(message& out, const wire::Envelope& x) {
  read(out.emplace<I>(), *static_cast<const table<I>*>(x.message()),
       all_fields<table<I>>);
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
  finish(b, write<Table>(b, x, all_fields<Table>));
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
  read(result, *get(bytes), all_fields<Table>);
  auto problem = problem_with(result);
  if (!problem.empty())
    return failure{std::move(problem)};
  return result;
}

struct message_codec {
  void (*write)(builder&, const message&);
  void (*read)(message&, const wire::Envelope&);
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
  codecs[type - 1].read(result, envelope);
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
