/// Thrown where a network needs experts and none of them answers.
#pragma once

#include <stdexcept>

namespace potluck {

/// May mend itself: experts come back, or others take their place. The message
/// is one sentence for a person.
class experts_missing : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace potluck
