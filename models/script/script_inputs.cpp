#include "models/script/script_inputs.hpp"

#include <algorithm>
#include <iterator>

namespace potluck {

namespace {

struct known_input {
  const char* name;
  bool of_running_text, of_masked_text, of_images;
};

constexpr known_input known[] = {
    {"tokens", true, true, false},     {"labels", true, true, true},
    {"positions", false, true, false}, {"weights", false, true, false},
    {"pixels", false, false, true},    {"images", false, false, true},
};

std::string known_names() {
  std::string result;
  for (const auto& x : known)
    result += (result.empty() ? "" : ", ") + std::string{x.name};
  return result;
}

} // namespace

std::vector<std::string> split_inputs(const std::string& inputs) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin < inputs.size();) {
    const auto end = std::min(inputs.find(',', begin), inputs.size());
    result.push_back(inputs.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

expected<script_samples> samples_for(const std::vector<std::string>& inputs) {
  bool may[] = {true, true, true};
  bool is_of_text = false;
  std::string so_far;
  for (const auto& name : inputs) {
    const auto at = std::find_if(std::begin(known), std::end(known),
                                 [&](auto& x) { return name == x.name; });
    if (at == std::end(known))
      return failure{"forward's argument " + name
                     + " is nothing that batches have; name it one of "
                     + known_names()};
    may[0] = may[0] && at->of_running_text;
    may[1] = may[1] && at->of_masked_text;
    may[2] = may[2] && at->of_images;
    if (!may[0] && !may[1] && !may[2])
      return failure{"forward's argument " + name + " does not go with "
                     + so_far + ": one is of texts, the other of images"};
    so_far += (so_far.empty() ? "" : ", ") + name;
    is_of_text = is_of_text || name == "tokens";
  }
  if (!is_of_text && !(may[2] && !may[0]))
    return failure{"forward takes neither tokens nor pixels nor images; it "
                   "needs an argument of one of these names"};
  return may[0]   ? script_samples::running_text
         : may[1] ? script_samples::masked_text
                  : script_samples::images;
}

} // namespace potluck
