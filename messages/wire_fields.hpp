/// Plain structs as FlatBuffers tables, and back: the fields of
/// `codec_fields.hpp` by flatc's static reflection of the schema. Knows no
/// message; only the codec includes it.
#pragma once

#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include "messages/check.hpp"
#include "messages/codec_fields.hpp"
#include "messages/limits.hpp"

namespace potluck::wire_fields {

namespace fb = flatbuffers;
using builder = fb::FlatBufferBuilder;

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

inline auto put(builder& b, as<const fb::String*>, const std::string& x) {
  return b.CreateString(x);
}

inline auto put(builder& b, as<const fb::String*>, const sentence_field& x) {
  return b.CreateString(tidy(x.text, max_sentence_bytes));
}

inline auto put(builder& b, as<const fb::Vector<std::uint8_t>*>,
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

// ---- reading ----------------------------------------------------------------
// Verified before: required fields are there, everything lies in the buffer.
// But many fields may refer to the same bytes, each of which is a copy here.

/// Bytes that may still be copied: no writer refers to any twice.
struct allowance {
  std::size_t left = 0;
  bool exceeded = false;

  bool spend(std::size_t bytes) {
    exceeded = exceeded || bytes > left;
    left -= exceeded ? 0 : bytes;
    return !exceeded;
  }
};

template <class T, class Wire, std::size_t... I>
void read(T& out, const Wire& x, allowance& may, std::index_sequence<I...>);
template <class Field, class Wire>
void take_field(Field& out, Wire x, allowance& may);

/// A number, an enum, a table or a struct.
template <class T, class Wire>
void take(T& out, const Wire& x, allowance& may) {
  if constexpr (std::is_class_v<T>)
    read(out, x, may, all_fields<Wire>);
  else
    out = static_cast<T>(x);
}

template <class Tag, std::size_t Size, class Wire>
void take(identifier<Tag, Size>& out, const Wire& x, allowance&) {
  static_assert(sizeof(Wire) == Size);
  std::memcpy(out.bytes.data(), x.bytes()->Data(), Size);
}

inline void take(std::string& out, const fb::String& x, allowance& may) {
  if (may.spend(x.size()))
    out.assign(x.data(), x.size());
}

inline void take(sentence_field& out, const fb::String& x, allowance& may) {
  take(out.text, x, may);
}

inline void take(std::string& out, const fb::Vector<std::uint8_t>& x,
                 allowance& may) {
  if (may.spend(x.size()))
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
void take(std::vector<T>& out, const fb::Vector<fb::Offset<Wire>>& xs,
          allowance& may) {
  if (!may.spend(xs.size() * sizeof(fb::Offset<Wire>)))
    return;
  out.resize(xs.size());
  for (fb::uoffset_t i = 0; i < xs.size(); ++i)
    take_field(out[i], xs.Get(i), may);
}

template <class T, class Wire>
void take(std::vector<T>& out, const fb::Vector<Wire>& xs, allowance& may) {
  using kind = std::remove_const_t<std::remove_pointer_t<Wire>>;
  if (!may.spend(xs.size() * sizeof(kind)))
    return;
  out.resize(xs.size());
  for (fb::uoffset_t i = 0; i < xs.size(); ++i)
    take_field(out[i], element<kind>(xs, i), may);
}

template <class Row, class Number>
void take(column_field<Row, Number>& out, const fb::Vector<Number>& xs,
          allowance& may) {
  if (!may.spend(xs.size() * sizeof(Number)))
    return;
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
void take_field(Field& out, Wire x, allowance& may) {
  if constexpr (!std::is_pointer_v<Wire>)
    take(out, x, may);
  else if (x != nullptr)
    take(out, *x, may);
}

template <class Field, class Wire>
void take_field(maybe_field<Field>& out, Wire x, allowance& may) {
  take_field(out.value, x, may);
}

template <class T, class Wire, std::size_t... I>
void read(T& out, [[maybe_unused]] const Wire& x,
          [[maybe_unused]] allowance& may, std::index_sequence<I...>) {
  [[maybe_unused]] auto list = fields(out);
  static_assert(std::tuple_size_v<decltype(list)> == sizeof...(I));
  (take_field(std::get<I>(list), x.template get_field<I>(), may), ...);
}

// ---- whole tables -----------------------------------------------------------

/// `x` as a table, whose place the builder gives.
template <class Table, class T>
fb::Offset<Table> write(builder& b, const T& x) {
  return write<Table>(b, x, all_fields<Table>);
}

/// What a verified table holds. @param out New. @param size Of all bytes that
/// it lies in.
/// @returns False where it refers to some of them twice: `out` lacks something.
template <class T, class Table>
bool read(T& out, const Table& x, std::size_t size) {
  allowance may{size};
  read(out, x, may, all_fields<Table>);
  return !may.exceeded;
}

} // namespace potluck::wire_fields
