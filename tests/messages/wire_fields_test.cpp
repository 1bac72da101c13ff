/// Structs as tables and back, without an envelope and its checks.
#include "messages/wire_fields.hpp"

#include <doctest/doctest.h>

#include "messages/schema/envelope_generated.h"
#include "tests/messages/samples.hpp"

using namespace potluck;
namespace fb = flatbuffers;

namespace {

template <class Table, class T>
const Table& table_of(fb::FlatBufferBuilder& b, const T& x) {
  b.Finish(wire_fields::write<Table>(b, x));
  fb::Verifier verifier{b.GetBufferPointer(), b.GetSize()};
  REQUIRE(verifier.VerifyBuffer<Table>());
  return *fb::GetRoot<Table>(b.GetBufferPointer());
}

template <class T, class Table>
T read_from(const Table& x) {
  T result;
  REQUIRE(wire_fields::read(result, x, std::size_t{1} << 20));
  return result;
}

} // namespace

TEST_CASE("what a table was made of is read back") {
  fb::FlatBufferBuilder b;
  const nodes_found written{7, {samples::somebody(1)}};
  const auto& table = table_of<wire::NodesFound>(b, written);
  CHECK(table.token() == 7);
  const auto back = read_from<nodes_found>(table);
  CHECK(back.token == 7);
  REQUIRE(back.nodes.size() == 1);
  CHECK(back.nodes[0].id == samples::somebody(1).id);
  CHECK(back.nodes[0].where == samples::somebody(1).where);
}

TEST_CASE("an empty field takes no room where it may be absent") {
  fb::FlatBufferBuilder b, c;
  CHECK(table_of<wire::Goodbye>(b, goodbye{""}).reason() == nullptr);
  CHECK(table_of<wire::Refusal>(c, refusal{""}).sentence() != nullptr);
}

TEST_CASE("sentences for people are cut") {
  fb::FlatBufferBuilder b;
  const std::string tale(3 * max_sentence_bytes, 'x');
  CHECK(table_of<wire::Goodbye>(b, goodbye{tale}).reason()->size()
        == max_sentence_bytes);
}

TEST_CASE("columns are read as rows, and of unequal ones as what no check "
          "lets pass") {
  const auto read = [](std::vector<double> values, std::vector<float> norms) {
    fb::FlatBufferBuilder b;
    const wire::GroupId group;
    b.Finish(
        wire::CreatePartProjectionsDirect(b, &group, 0, 0, &values, &norms));
    return read_from<part_projections>(
        *fb::GetRoot<wire::PartProjections>(b.GetBufferPointer()));
  };
  const auto equal = read({1, 2}, {3, 4});
  REQUIRE(equal.parts.size() == 2);
  CHECK(equal.parts[1].value == 2);
  CHECK(equal.parts[1].norm == 4);
  const auto other = read({1, 2}, {3});
  REQUIRE(other.parts.size() == 1);
  CHECK(other.parts[0].norm == std::numeric_limits<float>::max());
}

TEST_CASE("a head whose fields share their bytes is refused before they are "
          "copied") {
  // A stranger's hello of a megabyte would be half a gigabyte.
  const std::string long_text(100'000, 'x');
  fb::FlatBufferBuilder b;
  const auto text = b.CreateString(long_text);
  const auto one = wire::CreateSetting(b, text, text);
  const std::vector<fb::Offset<wire::Setting>> many(400, one);
  const auto all = b.CreateVector(many);
  const wire::PeerId id;
  wire::HelloBuilder hello{b};
  hello.add_id(&id);
  hello.add_settings(all);
  b.Finish(hello.Finish());
  potluck::hello out;
  CHECK_FALSE(wire_fields::read(
      out, *fb::GetRoot<wire::Hello>(b.GetBufferPointer()), b.GetSize()));
  std::size_t copied = 0;
  for (const auto& x : out.settings)
    copied += x.name.size() + x.value.size();
  CHECK(copied <= b.GetSize());
}
