#include "runtime/state/piece_folder.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

struct piece {
  explicit piece(const std::string& text)
      : bytes(std::make_shared<std::string>(text)),
        name(digest_of(text.data(), text.size())) {
  }
  shared_bytes shared() const {
    return {bytes, reinterpret_cast<const std::uint8_t*>(bytes->data()),
            bytes->size()};
  }
  std::shared_ptr<std::string> bytes;
  digest name;
};

std::string text_of(const shared_bytes& x) {
  return {reinterpret_cast<const char*>(x.data), x.size};
}

std::shared_ptr<piece_folder> open(const std::string& path,
                                   std::uint64_t most) {
  auto result = piece_folder::open(path, most);
  REQUIRE(result);
  return *result;
}

const piece one{"one piece"}, two{"two piece"}, three{"3rd piece"};

} // namespace

TEST_CASE("a piece is there after a restart") {
  scratch_directory where;
  const auto path = where.file("pieces/of a run");
  {
    auto x = open(path, 100);
    CHECK_FALSE(x->has(one.name));
    CHECK(x->put(one.name, one.shared()));
    CHECK(x->put(one.name, one.shared()));
    CHECK(x->bytes() == 9);
  }
  write_all(path + "/partial", "of a piece");
  auto x = open(path, 100);
  CHECK(x->has(one.name));
  CHECK(text_of(x->get(one.name)) == "one piece");
  CHECK(x->bytes() == 9);
  CHECK(read_all(path + "/partial").empty());
}

TEST_CASE("a folder is bounded: what was used last stays") {
  scratch_directory where;
  auto x = open(where.path(), 20);
  CHECK(x->bound() == 20);
  x->put(one.name, one.shared());
  x->put(two.name, two.shared());
  x->get(one.name);
  CHECK(x->put(three.name, three.shared()));
  CHECK(x->bytes() == 18);
  CHECK(x->has(one.name));
  CHECK_FALSE(x->has(two.name));
  CHECK(read_all(where.file(to_string(two.name))).empty());
  CHECK_FALSE(x->put(piece{std::string(21, 'x')}.name,
                     piece{std::string(21, 'x')}.shared()));
  // As does another start's smaller one.
  CHECK(open(where.path(), 10)->bytes() == 9);
}

TEST_CASE("a damaged piece is found by its digest, and dropped") {
  scratch_directory where;
  auto x = open(where.path(), 100);
  x->put(one.name, one.shared());
  x->put(two.name, two.shared());
  write_all(where.file(to_string(one.name)), "one peace");
  write_all(where.file(to_string(two.name)), "");
  for (auto& name : {one.name, two.name}) {
    CHECK(x->get(name).size == 0);
    CHECK_FALSE(x->has(name));
  }
  CHECK(x->bytes() == 0);
  CHECK(x->put(one.name, one.shared()));
  CHECK(text_of(x->get(one.name)) == "one piece");
}

TEST_CASE("a disk that takes nothing says so") {
  scratch_directory where;
  auto x = open(where.file("pieces"), 100);
  std::filesystem::remove_all(where.file("pieces"));
  CHECK_FALSE(x->put(one.name, one.shared()));
  CHECK_FALSE(x->has(one.name));
  write_all(where.file("file"), "in the way");
  CHECK_FALSE(piece_folder::open(where.file("file"), 100));
}
