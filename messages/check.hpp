/// What a message MUST be, beyond its shape: the schema's rules on plain
/// values. Knows neither FlatBuffers nor what the receiver expects at the
/// moment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "messages/message.hpp"

namespace potluck {

/// The first rule that `x`, with a body of `body_size` bytes, breaks, as a
/// sentence for the log; empty when it keeps them all.
std::string problem_with(const message& x, std::size_t body_size);

/// Same for a report that comes alone, as a DHT record's value.
std::string problem_with(const progress_report& x);
std::string problem_with(const expert_announcement& x);
std::string problem_with(const expert_host_notice& x);

/// True for valid UTF-8 without control characters: safe to print and to log.
bool is_text(std::string_view x);

/// `x` as text of at most `limit` bytes: what is not text becomes '?', line
/// breaks and other control characters become blanks.
std::string tidy(std::string_view x, std::size_t limit);

} // namespace potluck
