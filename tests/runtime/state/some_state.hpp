/// Small states and directories for the tests of runtime/state.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>
#include <string>

#include "runtime/random.hpp"
#include "runtime/state/training_state.hpp"

inline potluck::model_layout some_layout() {
  potluck::model_layout layout;
  layout.add("embeddings.weight", {20, 3}, true, 0, 0.02f);
  layout.add("dense.bias", {7}, false, 0, 0);
  layout.add("norm.weight", {3}, false, 1, 0);
  return layout;
}

inline potluck::training_state
some_state(std::size_t values, std::uint64_t seed, unsigned moments = 2) {
  potluck::random_stream chance(seed);
  potluck::training_state state;
  state.step = 12;
  state.history_samples = 3456;
  for (auto* part :
       {&state.parameters, &state.first_moment, &state.second_moment}) {
    part->resize(values);
    for (float& x : *part)
      x = static_cast<float>(chance.uniform01());
  }
  potluck::remember_digest(state);
  potluck::set_moments(state, moments);
  return state;
}

/// All of its bytes.
inline std::string to_bytes(const potluck::training_state& state) {
  std::string bytes(potluck::state_bytes(state), '\0');
  potluck::read_state_bytes(
      state, 0, reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
  return bytes;
}

/// A directory of its own, removed with everything in it.
class scratch_directory {
public:
  scratch_directory() {
    auto pattern
        = (std::filesystem::temp_directory_path() / "potluck-test-XXXXXX")
              .string();
    if (!mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  std::string file(const std::string& name) const {
    return path_ + "/" + name;
  }
  const std::string& path() const {
    return path_;
  }

private:
  std::string path_;
};

inline std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_all(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
