/// A charter's bytes as the body of a `charter_reply`, and back.
#pragma once

#include <memory>
#include <string>

#include "messages/message.hpp"

namespace potluck {

/// @param bytes Null or empty: there is none.
inline shared_bytes body_of(std::shared_ptr<const std::string> bytes) {
  shared_bytes body;
  if (!bytes)
    return body;
  body.data = reinterpret_cast<const std::uint8_t*>(bytes->data());
  body.size = bytes->size();
  body.owner = std::move(bytes);
  return body;
}
inline shared_bytes body_of(std::string bytes) {
  return body_of(std::make_shared<const std::string>(std::move(bytes)));
}

inline std::string text_of(const shared_bytes& body) {
  return {reinterpret_cast<const char*>(body.data), body.size};
}

} // namespace potluck
