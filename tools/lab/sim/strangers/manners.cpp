#include <stdexcept>

#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

owned_manner make_manner(const std::string& name) {
  static const auto makers = [] {
    manner_makers all;
    for (auto part : {false_states, false_words, idle_company, level_company,
                      lying_records, spoilt_frames, uninvited_company})
      all.merge(part());
    return all;
  }();
  const auto found = makers.find(name);
  if (found == makers.end())
    throw std::invalid_argument{"There is no manner of strangers " + name
                                + "."};
  return found->second();
}

} // namespace potluck::simulation
