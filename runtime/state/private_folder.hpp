/// Folders that their owner alone may enter: of identities, and what lies with
/// them.
#pragma once

#include <string>

#include "messages/expected.hpp"

namespace potluck {

/// Makes a folder of mode 0700, and those around it as usual. One that is there
/// stays as it is. Fails with a sentence that ends without a full stop.
expected<bool> make_private_folder(const std::string& path);

} // namespace potluck
