/// Messages to FlatBuffers heads and back. The only place that knows generated
/// code; deliberately ignorant of sockets and of who the sender is.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/expected.hpp"
#include "messages/message.hpp"

namespace potluck {

/// The head of a frame for `x`. The body travels beside it, untouched.
std::vector<std::uint8_t> encode(const message& x);

/// Verifies and reads a head that came with a body of `body_size` bytes. Every
/// MUST of the schema is checked; what fails is a sentence for the log.
expected<message> decode(const std::uint8_t* head, std::size_t head_size,
                         std::size_t body_size);

/// Which of the alternatives of `message` a head may hold, at a glance and
/// unverified; `std::variant_npos` when it is none. For whoever looks at every
/// frame for a few kinds of messages.
std::size_t likely_index(const std::uint8_t* head, std::size_t head_size);

/// A progress report as a DHT record's value, and back.
std::string encode_progress(const progress_report& x);
expected<progress_report> decode_progress(const std::string& bytes);

/// Likewise an expert's announcement.
std::string encode_announcement(const expert_announcement& x);
expected<expert_announcement> decode_announcement(const std::string& bytes);

/// Likewise a host's sign of life.
std::string encode_notice(const expert_host_notice& x);
expected<expert_host_notice> decode_notice(const std::string& bytes);

} // namespace potluck
