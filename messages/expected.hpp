/// A value, or one sentence that says what went wrong and what mends it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace potluck {

/// What went wrong, in one sentence for a person.
struct failure {
  std::string sentence;
};

/// `T`, or a `failure`. Code that would branch on the kind of failure uses a
/// verdict enum of its own instead.
template <class T>
class expected {
public:
  expected(T value) : content_(std::move(value)) {
  }
  expected(failure reason) : content_(std::move(reason)) {
  }

  explicit operator bool() const {
    return content_.index() == 0;
  }
  T& operator*() {
    return std::get<0>(content_);
  }
  const T& operator*() const {
    return std::get<0>(content_);
  }
  T* operator->() {
    return &std::get<0>(content_);
  }
  const T* operator->() const {
    return &std::get<0>(content_);
  }
  /// Precondition: `!*this`.
  const std::string& error() const {
    return std::get<1>(content_).sentence;
  }

private:
  std::variant<T, failure> content_;
};

/// The value; a failure is thrown as std::runtime_error, for code in which it
/// is not to be expected, or whose callers expect exceptions.
template <class T>
T unwrap(expected<T> x) {
  if (!x)
    throw std::runtime_error(x.error());
  return std::move(*x);
}

} // namespace potluck
