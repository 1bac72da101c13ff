#include "messages/message.hpp"

namespace potluck {

static_assert(
    std::is_nothrow_move_constructible_v<
        any_message> && std::is_nothrow_move_assignable_v<any_message>);

message::message() = default;
message::message(const message&) = default;
message::message(message&&) noexcept = default;
message& message::operator=(const message&) = default;
message& message::operator=(message&&) noexcept = default;
message::~message() = default;

} // namespace potluck
