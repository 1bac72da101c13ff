#include "models/images/idx.hpp"

#include <doctest/doctest.h>

#include <zlib.h>

#include "tests/models/fixture.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

/// The header of an IDX file of unsigned bytes, and `values` behind it.
std::string idx_bytes(const std::vector<std::uint32_t>& shape,
                      const std::string& values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  for (auto extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(extent >> shift & 0xFF);
  return bytes + values;
}

std::string gzip(const std::string& bytes, const std::string& path) {
  auto file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()))
          == static_cast<int>(bytes.size()));
  gzclose(file);
  return path;
}

/// Two images of two by three pixels.
const std::string two_images = idx_bytes({2, 2, 3}, "abcdefghijkl");
const std::string two_labels = idx_bytes({2}, "\x07\x01");

std::string refused(const std::string& images, const std::string& labels,
                    std::uint64_t limit = max_idx_bytes) {
  scratch_folder folder;
  auto read = read_idx(folder.write("images", images),
                       folder.write("labels", labels), limit);
  return read ? "" : read.error();
}

bool mentions(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("images and labels are read, compressed or not") {
  scratch_folder folder;
  const auto plain = read_idx(folder.write("images", two_images),
                              folder.write("labels", two_labels));
  const auto packed = read_idx(gzip(two_images, folder.path("images.gz")),
                               gzip(two_labels, folder.path("labels.gz")));
  for (const auto* x : {&plain, &packed}) {
    REQUIRE_MESSAGE(*x, x->error());
    const auto& images = **x;
    CHECK(images.size() == 2);
    CHECK(images.rows == 2);
    CHECK(images.columns == 3);
    CHECK(images.image(1)[0] == 'g');
    CHECK(images.labels == std::vector<std::uint8_t>{7, 1});
  }
}

TEST_CASE("what is no IDX file is refused in a sentence") {
  CHECK(refused(two_images, two_labels) == "");
  CHECK(mentions(read_idx("/nowhere/images", "/nowhere/labels").error(),
                 "cannot open"));
  CHECK(mentions(refused("", two_labels), "no IDX"));
  CHECK(mentions(refused("PK\x03\x04 and more", two_labels), "no IDX"));
  CHECK(mentions(refused(two_labels, two_labels), "3 dimensions"));
  CHECK(mentions(refused(two_images, two_images), "1 dimensions"));
  CHECK(mentions(refused(two_images + "x", two_labels), "header says"));
  CHECK(mentions(refused(two_images.substr(0, 20), two_labels), "header says"));
  CHECK(mentions(refused(two_images, idx_bytes({3}, "abc")), "3 labels"));
  CHECK(mentions(refused(idx_bytes({0, 2, 3}, ""), two_labels), "empty"));
  CHECK(
      mentions(refused(idx_bytes({0xFFFFFFFF, 0xFFFFFFFF, 1}, ""), two_labels),
               "larger"));
  CHECK(mentions(refused(two_images, two_labels, 20), "more than 20"));
  auto floats = two_images;
  floats[2] = 0x0D;
  CHECK(mentions(refused(floats, two_labels), "unsigned bytes"));
}

TEST_CASE("a compressed file that is cut off or damaged is refused") {
  scratch_folder folder;
  std::string many(100'000, '\0');
  random_stream chance(1);
  for (auto& x : many)
    x = static_cast<char>(chance.below(256));
  const auto whole
      = gzip(idx_bytes({1000, 10, 10}, many), folder.path("images.gz"));
  std::string bytes;
  {
    std::ifstream in(whole, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto labels
      = folder.write("labels", idx_bytes({1000}, std::string(1000, '\1')));
  CHECK(read_idx(whole, labels));
  CHECK_FALSE(read_idx(
      folder.write("short.gz", bytes.substr(0, bytes.size() / 2)), labels));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  CHECK_FALSE(read_idx(folder.write("flipped.gz", bytes), labels));
}
