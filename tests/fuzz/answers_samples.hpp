/// Sound inputs of `fuzz_answers`.
#pragma once

#include "models/script/script_protocol.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::answers_samples {

inline std::string numbers(std::initializer_list<double> all) {
  std::string result;
  for (const double x : all)
    result.append(reinterpret_cast<const char*>(&x), sizeof x);
  return result;
}

/// Arguments and layout, of ten values.
inline std::string opened() {
  std::string result;
  scripting::append_part(result, "tokens,labels");
  scripting::append_part(
      result, "first.weight 2x3 decays\nbias 3 fixed\nmean scalar buffer\n");
  return result;
}

inline std::string described() {
  auto result = opened();
  scripting::append_part(result, "a file");
  for (float x = 0; x < 10; ++x)
    result.append(reinterpret_cast<const char*>(&x), sizeof x);
  return result;
}

inline std::string outcome() {
  auto result = numbers({2.5});
  for (const auto* name : {"accuracy", "top/all"}) {
    scripting::append_part(result, name);
    result += numbers({0.5});
  }
  return result;
}

inline std::string tokens() {
  std::string result;
  for (std::uint32_t i = 0; i < 20; ++i)
    append_little_endian(result, i * 7 % 60);
  return result;
}

inline fuzz_samples all() {
  return {'\0' + described(),
          '\1' + opened(),
          '\2' + outcome(),
          '\2' + numbers({1}),
          '\3' + tokens().substr(8, 4),
          '\4' + std::string{60} + tokens()};
}

} // namespace potluck::answers_samples
