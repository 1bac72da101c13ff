/// What is printed on a stream during the life of this.
#pragma once

#include <ostream>
#include <sstream>
#include <string>

namespace potluck::support {

class captured {
public:
  explicit captured(std::ostream& from)
      : from_(from), usual_(from.rdbuf(text_.rdbuf())) {
  }
  ~captured() {
    from_.rdbuf(usual_);
  }
  captured(const captured&) = delete;
  captured& operator=(const captured&) = delete;

  /// Since the last call.
  std::string take() {
    auto result = text_.str();
    text_.str("");
    return result;
  }

private:
  std::ostream& from_;
  std::ostringstream text_;
  std::streambuf* usual_;
};

} // namespace potluck::support
