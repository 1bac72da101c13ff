/// Numbers of a scenario as people write them: "20ms", "10mbit", "5%". Private
/// to this folder and lines/.
#pragma once

#include <string>

#include "messages/expected.hpp"

namespace potluck {

/// What a number measures, and so which units may follow it.
enum class measure {
  plain,   ///< None.
  seconds, ///< us, ms, s, min, h, d.
  rate,    ///< kbit, mbit, gbit, B, kB, MB, GB: inside, bytes per second.
  share,   ///< %.
};

/// How a value of this measure is written, for help and complaints: "20ms".
std::string example_of(measure x);

/// The number that `text` means. Fails with a sentence.
expected<double> read_measure(measure kind, const std::string& text);

/// A text that reads back as the same number, in the unit that a person would
/// take; empty when a bare number does it best.
std::string print_measure(measure kind, double x);

/// The shortest decimal that reads back as the same number.
std::string print_number(double x);

} // namespace potluck
