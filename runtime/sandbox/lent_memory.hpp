/// Memory that its owner and a sandboxed program both have, so that what is
/// large need not go through their channel.
///
/// The program writes there what it likes, when it likes: what is read of it is
/// a stranger's word. It cannot take any of it away.
#pragma once

#include <cstddef>

#include "messages/expected.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

class lent_memory {
public:
  lent_memory() = default;
  /// So many zero bytes, more than none. Fails with a sentence.
  static expected<lent_memory> make(std::size_t bytes);
  lent_memory(lent_memory&& other) noexcept;
  lent_memory& operator=(lent_memory&& other) noexcept;
  ~lent_memory();

  void* data() const {
    return data_;
  }
  std::size_t bytes() const {
    return bytes_;
  }
  /// For `sandbox_terms`.
  int descriptor() const {
    return file_.get();
  }

private:
  file_descriptor file_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace potluck
