/// What the tests of models/ share: a scratch folder, a toy language, and small
/// models of it. Torch-free, as the tests are.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <stdlib.h>

#include "models/catalogue.hpp"
#include "runtime/random.hpp"

namespace potluck::test {

/// A folder that vanishes with the object.
class scratch_folder {
public:
  scratch_folder() {
    auto name
        = (std::filesystem::temp_directory_path() / "potluck-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot make a folder for the test");
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  /// Writes a file, and the folders above it; returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }

private:
  std::filesystem::path path_;
};

/// Sentences of a language with eight letters; the same for the same seed.
inline std::string toy_text(std::uint64_t seed, unsigned sentences) {
  random_stream chance(seed);
  std::string text;
  for (unsigned i = 0; i < sentences; ++i) {
    for (auto words = 4 + chance.below(6); words > 0; --words) {
      for (auto syllables = 1 + chance.below(3); syllables > 0; --syllables) {
        text += "mnst"[chance.below(4)];
        text += "aeiu"[chance.below(4)];
      }
      text += words == 1 ? '\n' : ' ';
    }
  }
  return text;
}

/// A run of this model with these settings of it; the others are as usual.
inline run_settings settings_of(const std::string& model,
                                const std::vector<setting>& own) {
  run_settings x;
  x.model = model;
  if (auto done = assign(x, own, known_families()); !done)
    throw std::runtime_error(done.error());
  complete(x, known_families());
  return x;
}

/// The same run with another value, which need not be one that is allowed.
inline run_settings with(run_settings x, const std::string& section,
                         const std::string& name, const std::string& value) {
  x.own[section][name] = value;
  return x;
}

/// What a setting of the model or its data says.
inline double number_in(const run_settings& x, const std::string& name) {
  for (const auto& line : to_table(x))
    if (line.name == name)
      return std::stod(line.value);
  throw std::logic_error("no setting " + name);
}

/// Some hundred parameters, of a model of text.
inline run_settings tiny_settings(const std::string& model = "albert") {
  std::vector<setting> own{{"vocabulary", "32"}, {"sequence-length", "10"},
                           {"hidden-size", "6"}, {"intermediate-size", "8"},
                           {"layers", "2"},      {"heads", "2"}};
  if (model == "albert") {
    own.push_back({"embedding-size", "4"});
    own.push_back({"mask-probability", "0.25"});
  }
  return settings_of(model, own);
}

/// A trainer on a text that stays on disk as long as it does.
struct small_run {
  scratch_folder folder;
  charter agreed;
  std::unique_ptr<trainer> model;

  explicit small_run(const run_settings& settings, const std::string& text,
                     std::uint32_t micro_batch = 0,
                     const std::string& precision = "float32",
                     const std::string& device = "cpu") {
    const auto path = folder.write("text", text);
    auto proposed = propose_charter(settings, path);
    if (!proposed)
      throw std::runtime_error(proposed.error());
    agreed = *proposed;
    trainer_options options;
    options.data_path = path;
    options.device = device;
    options.threads = 1;
    options.micro_batch = micro_batch;
    options.precision = precision;
    model = make_trainer_factory(options)(agreed);
  }
};

/// Parameters as the layout asks for, with all deviations times `scale` and
/// `spread` more noise for every value.
inline std::vector<float> draw_parameters(const model_layout& layout,
                                          std::uint64_t seed, double scale = 1,
                                          double spread = 0) {
  random_stream chance(seed);
  std::vector<float> result;
  for (const auto& entry : layout.entries())
    for (std::uint64_t i = 0; i < entry.values; ++i) {
      // Uniform noise of the wanted deviation: its shape does not matter here.
      const auto noise = (chance.uniform01() - 0.5) * 3.4641016;
      result.push_back(static_cast<float>(
          entry.initial_mean
          + (entry.initial_deviation * scale + spread) * noise));
    }
  return result;
}

} // namespace potluck::test
