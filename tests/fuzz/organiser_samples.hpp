/// Sound inputs of `fuzz_organiser` that random bytes hardly come to.
#pragma once

#include "runtime/manifest/byte_reader.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::organiser_samples {

/// Of a charter: its bytes, and what a manifest says of it.
inline fuzz_samples of(const charter& x) {
  fuzz_samples result{'\3' + x.to_bytes()};
  static const auto organiser = key_pair::generate();
  if (const auto made = sign_charter(x, organiser)) {
    std::string sections = "\2";
    append_text(sections, made->name());
    for (const auto& section : made->sections()) {
      append_text(sections, section.name);
      append_little_endian(sections,
                           static_cast<std::uint16_t>(section.bytes.size()));
      sections += section.bytes;
    }
    result.push_back(sections);
  }
  return result;
}

inline fuzz_samples all() {
  run_settings plain;
  auto other = plain;
  other.run = "poems";
  other.model = "mnist-ffn";
  other.reserve = 7;
  other.aggregator = "centered-clip";
  other.packing = "auto";
  other.averaging_method = "moshpit";
  other.own["model"] = {{"layers", "7"}, {"width", "8"}};
  other.own["data"] = {{"words", "a = b"}};
  fuzz_samples result;
  for (const auto& x : {charter{plain, ""}, charter{plain, "tokenizer"},
                        charter{other, "tokens"},
                        charter{other, charter_files{{"a", "1"}, {"b", "2"}}}})
    for (auto& sample : of(x))
      result.push_back(std::move(sample));
  return result;
}

} // namespace potluck::organiser_samples
