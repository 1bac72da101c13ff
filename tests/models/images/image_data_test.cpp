#include "models/images/image_data.hpp"

#include <doctest/doctest.h>

#include "tests/models/fixture.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

/// `count` images of two by two pixels, whose pixels and labels are `value`.
void write_pair(const scratch_folder& folder, const std::string& name,
                unsigned char count, char value) {
  const std::string n{'\0', '\0', '\0', static_cast<char>(count)};
  const std::string two{'\0', '\0', '\0', '\2'};
  folder.write(name + "-images-idx3-ubyte",
               std::string{'\0', '\0', '\x08', '\3'} + n + two + two
                   + std::string(std::size_t{count} * 4, value));
  folder.write(name + "-labels-idx1-ubyte",
               std::string{'\0', '\0', '\x08', '\1'} + n
                   + std::string(count, value));
}

std::string refused(const scratch_folder& folder, unsigned classes) {
  auto read = read_images(folder.path(), 2, 2, classes);
  return read ? "" : read.error();
}

} // namespace

TEST_CASE("both pairs of files: one to learn from, one to be tested on") {
  scratch_folder folder;
  write_pair(folder, "train", 30, 1);
  write_pair(folder, "t10k", 7, 2);
  auto data = read_images(folder.path(), 2, 2, 10);
  REQUIRE_MESSAGE(data, data.error());
  CHECK(data->training.labels == std::vector<std::uint8_t>(30, 1));
  CHECK(data->evaluation.labels == std::vector<std::uint8_t>(7, 2));
}

TEST_CASE("of one pair every tenth image is for tests") {
  for (auto name : {"train", "t10k"}) {
    scratch_folder folder;
    write_pair(folder, name, 30, 1);
    auto data = read_images(folder.path(), 2, 2, 10);
    REQUIRE_MESSAGE(data, data.error());
    CHECK(data->training.size() == 27);
    CHECK(data->evaluation.size() == 3);
  }
}

TEST_CASE("images that do not suit are refused in a sentence") {
  scratch_folder empty;
  CHECK(refused(empty, 10).find("holds no MNIST") != std::string::npos);
  scratch_folder folder;
  write_pair(folder, "train", 30, 3);
  CHECK(refused(folder, 4) == "");
  CHECK(refused(folder, 3).find("label 3") != std::string::npos);
  auto larger = read_images(folder.path(), 28, 28, 10);
  CHECK(larger.error().find("28 by 28") != std::string::npos);
  scratch_folder few;
  write_pair(few, "train", 5, 1);
  CHECK(refused(few, 10).find("too few") != std::string::npos);
  CHECK_FALSE(read_images("/nowhere", 28, 28, 10));
}

TEST_CASE("drawn digits are there without a file") {
  auto data = read_images(drawn_digits, 28, 28, 10);
  REQUIRE_MESSAGE(data, data.error());
  CHECK(data->training.size() == 20'000);
  CHECK(data->evaluation.size() == 2'000);
  CHECK_FALSE(read_images(drawn_digits, 14, 14, 10));
}
