#include "runtime/optimizer/tensor_groups.hpp"

#include <algorithm>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

constexpr double largest_factor = 1e6;

/// What is between the commas; nothing where there is nothing between two.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> result;
  if (list == "none")
    return result;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    result.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

bool read_factor(const std::string& text, double& out) {
  return read_number(text, out) && out >= 0 && out <= largest_factor;
}

std::string no_tensor(const std::string& list, const std::string& pattern) {
  return list + ": this model has no tensor called \"" + harmless(pattern)
         + "\"; leave the pattern out, or write a * where a name goes on";
}

} // namespace

bool matches(const std::string& pattern, const std::string& name) {
  // Where the last star stands, and how much of the name it has taken.
  auto star = std::string::npos;
  std::size_t taken = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at;
      ++i;
    } else if (star != std::string::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string::npos;
}

expected<tensor_groups> tensor_groups::read(const std::string& decay_except,
                                            const std::string& rates) {
  tensor_groups result;
  result.decay_except_ = split(decay_except);
  for (const auto& x : result.decay_except_)
    if (x.empty())
      return failure{"decay-except must be names of tensors with commas "
                     "between them, for instance *bias,*norm*; or none"};
  for (const auto& x : split(rates)) {
    const auto colon = x.rfind(':');
    rate_group group{x.substr(0, colon), 1};
    if (colon == std::string::npos || colon == 0
        || !read_factor(x.substr(colon + 1), group.rate))
      return failure{"rates must be names of tensors, each with a colon and a "
                     "factor of at most "
                     + readable(largest_factor)
                     + ", for instance head.*:10,embedding*:0.1; or none"};
    result.rates_.push_back(std::move(group));
  }
  return result;
}

expected<std::vector<tensor_terms>>
tensor_groups::terms(const model_layout& layout) const {
  const auto& tensors = layout.entries();
  auto known = [&](const std::string& pattern) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](auto& x) { return matches(pattern, x.name); });
  };
  for (const auto& x : decay_except_)
    if (!known(x))
      return failure{no_tensor("decay-except", x)};
  for (const auto& x : rates_)
    if (!known(x.pattern))
      return failure{no_tensor("rates", x.pattern)};
  std::vector<tensor_terms> result;
  for (const auto& tensor : tensors) {
    tensor_terms terms;
    terms.decays
        = tensor.decays
          && std::none_of(decay_except_.begin(), decay_except_.end(),
                          [&](auto& x) { return matches(x, tensor.name); });
    const auto group = std::find_if(rates_.begin(), rates_.end(), [&](auto& x) {
      return matches(x.pattern, tensor.name);
    });
    if (group != rates_.end())
      terms.rate = group->rate;
    terms.buffer = tensor.buffer;
    result.push_back(terms);
  }
  return result;
}

} // namespace potluck
