#include "models/images/image_data.hpp"

#include <filesystem>
#include <optional>

#include "models/images/digits.hpp"
#include "models/images/idx.hpp"

namespace potluck {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t drawn_for_training = 20'000;
constexpr std::size_t drawn_for_evaluation = 2'000;
constexpr std::uint64_t training_seed = 1;
constexpr std::uint64_t evaluation_seed = 2;
/// Where nothing else is there to be tested on.
constexpr std::size_t one_in = 10;

std::optional<std::string> find_file(const fs::path& folder,
                                     const std::string& start,
                                     const std::string& kind) {
  for (auto joint : {"-", "."})
    for (auto ending : {"", ".gz"}) {
      const auto path = folder / (start + joint + kind + ending);
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored))
        return path.string();
    }
  return std::nullopt;
}

/// Nothing when the files are not there.
expected<std::optional<image_set>> read_pair(const fs::path& folder,
                                             const std::string& name) {
  const auto images = find_file(folder, name + "-images", "idx3-ubyte");
  const auto labels = find_file(folder, name + "-labels", "idx1-ubyte");
  if (!images || !labels)
    return std::optional<image_set>{};
  auto both = read_idx(*images, *labels);
  if (!both)
    return failure{both.error() + "."};
  return std::optional<image_set>{std::move(*both)};
}

void append(image_set& to, const image_set& from, std::size_t i) {
  to.pixels.insert(to.pixels.end(), from.image(i),
                   from.image(i) + from.values());
  to.labels.push_back(from.labels[i]);
}

image_data divide(const image_set& all) {
  image_data result;
  for (auto* part : {&result.training, &result.evaluation}) {
    part->rows = all.rows;
    part->columns = all.columns;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    append(i % one_in == one_in - 1 ? result.evaluation : result.training, all,
           i);
  return result;
}

expected<image_data> read_folder(const std::string& path) {
  auto training = read_pair(path, "train");
  if (!training)
    return failure{training.error()};
  auto evaluation = read_pair(path, "t10k");
  if (!evaluation)
    return failure{evaluation.error()};
  if (*training && *evaluation)
    return image_data{std::move(**training), std::move(**evaluation)};
  if (!*training && !*evaluation)
    return failure{path
                   + " holds no MNIST: put train-images-idx3-ubyte.gz and "
                     "train-labels-idx1-ubyte.gz there, or use --data "
                   + drawn_digits + "."};
  return divide(*training ? **training : **evaluation);
}

} // namespace

expected<image_data> read_images(const std::string& path, std::uint32_t rows,
                                 std::uint32_t columns, std::uint32_t classes) {
  if (path == drawn_digits && rows == digit_side && columns == digit_side)
    return image_data{draw_digits(drawn_for_training, training_seed),
                      draw_digits(drawn_for_evaluation, evaluation_seed)};
  auto data = read_folder(path);
  if (!data)
    return data;
  for (const auto* part : {&data->training, &data->evaluation}) {
    if (part->rows != rows || part->columns != columns)
      return failure{path + " holds images of " + std::to_string(part->rows)
                     + " by " + std::to_string(part->columns)
                     + " pixels, but the model takes " + std::to_string(rows)
                     + " by " + std::to_string(columns) + "."};
    if (part->size() == 0)
      return failure{path + " holds too few images: ten are the least."};
    for (auto label : part->labels)
      if (label >= classes)
        return failure{path + " holds a label " + std::to_string(label)
                       + ", but the model knows " + std::to_string(classes)
                       + " classes."};
  }
  return data;
}

} // namespace potluck
