/// Images and labels as MNIST is handed out: IDX files (LeCun, Cortes and
/// Burges, *The MNIST database*), compressed by gzip or not.
#pragma once

#include <cstdint>
#include <string>

#include "messages/expected.hpp"
#include "models/images/image_set.hpp"

namespace potluck {

/// Of one file, uncompressed.
constexpr std::uint64_t max_idx_bytes = std::uint64_t{1} << 30;

/// Reads a file of images [n, rows, columns] and the file of their n labels,
/// all of unsigned bytes. Fails with a sentence when a file is not there, not
/// IDX, shorter or longer than it says, larger than `limit`, empty, or when the
/// two do not belong together.
expected<image_set> read_idx(const std::string& images_path,
                             const std::string& labels_path,
                             std::uint64_t limit = max_idx_bytes);

} // namespace potluck
