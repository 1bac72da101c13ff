#include "models/images/idx.hpp"

#include <memory>
#include <vector>

#include <zlib.h>

namespace potluck {

namespace {

constexpr std::uint8_t unsigned_bytes = 0x08;
constexpr std::size_t longest_side = 4096;

struct idx_file {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint8_t> values;
};

/// zlib reads files that are not compressed as they are.
expected<std::vector<std::uint8_t>> read_whole(const std::string& path,
                                               std::uint64_t limit) {
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"),
                                                  gzclose);
  if (!file)
    return failure{"cannot open " + path};
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> block(std::size_t{1} << 20);
  for (;;) {
    const auto got
        = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    if (got < 0)
      return failure{path + " is damaged: it cannot be decompressed"};
    bytes.insert(bytes.end(), block.begin(), block.begin() + got);
    if (bytes.size() > limit)
      return failure{path + " holds more than " + std::to_string(limit)
                     + " bytes"};
    if (static_cast<std::size_t>(got) < block.size())
      break;
  }
  // A file that is cut off ends like any other, but for this.
  int state = Z_OK;
  gzerror(file.get(), &state);
  if (state != Z_OK && state != Z_STREAM_END)
    return failure{path + " is damaged: it ends too early"};
  return bytes;
}

expected<idx_file> read_file(const std::string& path, std::size_t dimensions,
                             std::uint64_t limit) {
  auto bytes = read_whole(path, limit);
  if (!bytes)
    return failure{bytes.error()};
  if (bytes->size() < 4 || (*bytes)[0] != 0 || (*bytes)[1] != 0)
    return failure{path + " is no IDX file"};
  if ((*bytes)[2] != unsigned_bytes || (*bytes)[3] != dimensions)
    return failure{path + " holds no unsigned bytes in "
                   + std::to_string(dimensions) + " dimensions"};
  const auto header = 4 + 4 * dimensions;
  if (bytes->size() < header)
    return failure{path + " ends within its header"};
  idx_file result;
  std::uint64_t values = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::uint32_t extent = 0;
    for (std::size_t k = 0; k < 4; ++k)
      extent = extent << 8 | (*bytes)[4 + 4 * i + k];
    if (i > 0 && extent > longest_side)
      return failure{path + " holds images larger than "
                     + std::to_string(longest_side) + " pixels a side"};
    result.shape.push_back(extent);
    values *= extent; // Below 2^32 * 2^12 * 2^12.
  }
  if (values != bytes->size() - header)
    return failure{path + " holds " + std::to_string(bytes->size() - header)
                   + " values where its header says " + std::to_string(values)};
  if (values == 0)
    return failure{path + " is empty"};
  bytes->erase(bytes->begin(),
               bytes->begin() + static_cast<std::ptrdiff_t>(header));
  result.values = std::move(*bytes);
  return result;
}

} // namespace

expected<image_set> read_idx(const std::string& images_path,
                             const std::string& labels_path,
                             std::uint64_t limit) {
  auto images = read_file(images_path, 3, limit);
  if (!images)
    return failure{images.error()};
  auto labels = read_file(labels_path, 1, limit);
  if (!labels)
    return failure{labels.error()};
  if (images->shape[0] != labels->shape[0])
    return failure{images_path + " holds " + std::to_string(images->shape[0])
                   + " images, but " + labels_path + " "
                   + std::to_string(labels->shape[0]) + " labels"};
  image_set result;
  result.rows = images->shape[1];
  result.columns = images->shape[2];
  result.pixels = std::move(images->values);
  result.labels = std::move(labels->values);
  return result;
}

} // namespace potluck
