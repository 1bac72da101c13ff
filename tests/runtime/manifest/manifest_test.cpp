#include "runtime/manifest/manifest.hpp"

#include <doctest/doctest.h>

#include "runtime/identity/sha256.hpp"
#include "runtime/manifest/byte_reader.hpp"

using namespace potluck;

namespace {

const key_pair& organiser() {
  static const auto key = key_pair::generate();
  return key;
}

manifest poems(const key_pair& key = organiser()) {
  auto x = manifest::sign(
      "poems", {{"model", "layers=4\n"}, {"data", ""}, {"tokenizer", "abc"}},
      key);
  REQUIRE(x);
  return *x;
}

/// What somebody might write and sign who does not use `manifest::sign`.
struct handmade {
  struct section {
    std::string name;
    std::string bytes;
    std::uint32_t size;
  };
  std::string name = "poems";
  std::vector<section> sections = {{"model", "layers=4\n", 9}};
  std::uint8_t count = 1;
  std::string more = {}; ///< Behind all.

  std::string bytes() const {
    std::string head;
    append_id(head, organiser().public_half());
    append_text(head, name);
    head += static_cast<char>(count);
    std::string rest;
    for (auto& x : sections) {
      append_text(head, x.name);
      append_little_endian(head, x.size);
      append_id(head, sha256(x.bytes));
      rest += x.bytes;
    }
    std::string covered = "potluck manifest\n";
    append_id(covered, sha256("potluck run\n" + head));
    std::string all = "PLKMANIF";
    append_little_endian(all, std::uint32_t{1});
    append_little_endian(all, static_cast<std::uint32_t>(head.size()));
    append_id(all, organiser().sign(covered));
    return all + head + rest + more;
  }
};

bool is_read(const std::string& bytes) {
  return static_cast<bool>(manifest::read(bytes));
}

} // namespace

TEST_CASE("a manifest comes back as it was signed, in one form") {
  const auto x = poems();
  const auto bytes = x.to_bytes();
  auto back = manifest::read(bytes, x.id());
  REQUIRE(back);
  CHECK(back->name() == "poems");
  CHECK(back->id() == x.id());
  CHECK(back->run() == run_key("poems", x.id()));
  CHECK(back->organiser() == organiser().public_half());
  REQUIRE(back->sections().size() == 3);
  CHECK(back->sections()[0].name == "model");
  CHECK(back->sections()[0].bytes == "layers=4\n");
  CHECK(back->sections()[1].bytes == "");
  CHECK(back->sections()[2].bytes == "abc");
  CHECK(back->to_bytes() == bytes);
  CHECK(poems().to_bytes() == bytes);
  CHECK(handmade{}.bytes().size() > 0);
  CHECK(is_read(handmade{}.bytes()));
}

TEST_CASE("two organisers' runs of one name are two, and so are two contents") {
  const auto x = poems();
  const auto other = poems(key_pair::generate());
  CHECK(other.id() != x.id());
  auto refused = manifest::read(other.to_bytes(), x.id());
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == "is the manifest of another run");
  auto changed
      = manifest::sign("poems", {{"model", "layers=5\n"}}, organiser());
  REQUIRE(changed);
  CHECK(changed->id() != x.id());
}

TEST_CASE("one bit more or less, and it is no manifest") {
  const auto bytes = poems().to_bytes();
  for (std::size_t i = 0; i < 8 * bytes.size(); ++i) {
    auto changed = bytes;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ 1 << i % 8);
    CAPTURE(i);
    CHECK_FALSE(is_read(changed));
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(is_read(bytes.substr(0, size)));
  CHECK_FALSE(is_read(bytes + "x"));
  CHECK_FALSE(is_read(std::string(manifest::most_bytes + 1, 'x')));
  auto damaged = bytes;
  damaged.back() = 'x';
  CHECK(manifest::read(damaged).error()
        == "is a manifest whose section 'tokenizer' was changed");
}

TEST_CASE("another's signature does not make it this organiser's") {
  const auto bytes = poems().to_bytes();
  const auto other = poems(key_pair::generate()).to_bytes();
  auto forged = bytes;
  forged.replace(16, signature::size, other, 16, signature::size);
  CHECK(manifest::read(forged).error()
        == "is a manifest that its organiser has not signed");
}

TEST_CASE("what an organiser signs is held within bounds all the same") {
  handmade x;
  for (const auto& name : {std::string{"a\u202eb"}, std::string{"a\x1b[2J"},
                           std::string{"a\u0085"}, std::string{},
                           std::string(65, 'x'), std::string{"a/b"}}) {
    x = {};
    x.name = name;
    CHECK_FALSE(is_read(x.bytes()));
    x = {};
    x.sections[0].name = name;
    CHECK_FALSE(is_read(x.bytes()));
    CHECK_FALSE(manifest::sign(name, {}, organiser()));
    CHECK_FALSE(manifest::sign("poems", {{name, ""}}, organiser()));
  }
  x = {};
  x.sections.push_back(x.sections[0]); // Twice.
  x.count = 2;
  CHECK_FALSE(is_read(x.bytes()));
  x = {};
  x.count = 0;
  CHECK_FALSE(is_read(x.bytes()));
  x.count = 255;
  CHECK_FALSE(is_read(x.bytes()));
  x = {};
  x.sections[0].size = 0xffffffff;
  CHECK_FALSE(is_read(x.bytes()));
  x.sections[0].size = 8;
  CHECK_FALSE(is_read(x.bytes()));
  x = {};
  x.more = "more";
  CHECK_FALSE(is_read(x.bytes()));
  x = {};
  x.sections.clear();
  for (int i = 0; i < 33; ++i)
    x.sections.push_back({"s" + std::to_string(i), "", 0});
  x.count = 33;
  CHECK_FALSE(is_read(x.bytes()));
  CHECK_FALSE(manifest::sign(
      "poems", {{"big", std::string(manifest::most_bytes, 'x')}}, organiser()));
}
