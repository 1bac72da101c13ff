/// The images that a trainer learns from, and those that it is tested on.
#pragma once

#include <string>

#include "messages/expected.hpp"
#include "models/images/image_set.hpp"

namespace potluck {

struct image_data {
  image_set training;
  image_set evaluation;
};

/// The name, in place of a path, of digits that are drawn instead of read.
constexpr char drawn_digits[] = "digits";

/// Reads MNIST, or what has its form, from a folder: the files
/// `train-images-idx3-ubyte` and `train-labels-idx1-ubyte` to learn from,
/// `t10k-...` to be tested on, each with or without `.gz`. Where only one of
/// the pairs is there, every tenth of its images is for tests. `path` may also
/// be `drawn_digits`.
///
/// Fails with a sentence when neither pair is there, when one is damaged, when
/// images are not `rows` by `columns`, or a label is not below `classes`.
expected<image_data> read_images(const std::string& path, std::uint32_t rows,
                                 std::uint32_t columns, std::uint32_t classes);

} // namespace potluck
