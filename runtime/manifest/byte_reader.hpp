/// Takes a text of bytes apart from its front. After the first lack every
/// further part is empty, so that one look at the end says whether all was
/// there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/state/little_endian.hpp"

namespace potluck {

class byte_reader {
public:
  explicit byte_reader(std::string_view bytes) : left_(bytes) {
  }

  std::string_view bytes(std::size_t size) {
    if (size > left_.size()) {
      lacks_ = true;
      left_ = {};
      return {};
    }
    auto result = left_.substr(0, size);
    left_.remove_prefix(size);
    return result;
  }
  template <class Integer>
  Integer integer() {
    const auto x = bytes(sizeof(Integer));
    return x.empty() ? Integer{}
                     : get_little_endian<Integer>(
                         reinterpret_cast<const std::uint8_t*>(x.data()));
  }
  template <class Id>
  Id id() {
    Id result;
    const auto x = bytes(Id::size);
    std::copy(x.begin(), x.end(), result.bytes.begin());
    return result;
  }
  /// With its length, one byte, in front.
  std::string text() {
    return std::string{bytes(integer<std::uint8_t>())};
  }

  /// Something was not there.
  bool lacks() const {
    return lacks_;
  }
  /// All was there, and nothing is left.
  bool done() const {
    return !lacks_ && left_.empty();
  }

private:
  std::string_view left_;
  bool lacks_ = false;
};

/// For `byte_reader::id`.
template <class Id>
void append_id(std::string& out, const Id& x) {
  out.append(x.bytes.begin(), x.bytes.end());
}
/// For `byte_reader::text`; at most 255 bytes.
inline void append_text(std::string& out, const std::string& x) {
  out += static_cast<char>(x.size());
  out += x;
}

} // namespace potluck
