#include "models/model_kind.hpp"

namespace potluck {

declared_setting model_setting(std::string name, std::string meaning,
                               declared_setting::whole_limits limits,
                               std::uint64_t usual) {
  return {std::move(name), "model", std::move(meaning), limits,
          std::to_string(usual)};
}

} // namespace potluck
