#include "runtime/state/layout_text.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "runtime/state/training_state.hpp"

namespace potluck {

namespace {

std::string line_of(const tensor_entry& x) {
  std::string shape;
  for (auto extent : x.shape)
    shape += (shape.empty() ? "" : "x") + std::to_string(extent);
  return x.name + " " + (shape.empty() ? "scalar" : shape)
         + (x.buffer   ? " buffer"
            : x.decays ? " decays"
                       : " fixed");
}

/// False: it is no shape.
bool read_shape(const std::string& text, std::vector<std::int64_t>& shape) {
  if (text == "scalar")
    return true;
  for (auto at = text.data(), end = at + text.size();;) {
    std::int64_t extent = 0;
    const auto [rest, problem] = std::from_chars(at, end, extent);
    if (problem != std::errc{} || shape.size() == max_dimensions)
      return false;
    shape.push_back(extent);
    if (rest == end)
      return true;
    if (*rest != 'x')
      return false;
    at = rest + 1;
  }
}

} // namespace

std::string problem_with_tensor(const model_layout& layout,
                                const std::string& name,
                                const std::vector<std::int64_t>& shape) {
  const auto is_part = [](char c) { return c > 0x20 && c <= 0x7e; };
  if (name.empty() || name.size() > max_tensor_name
      || !std::all_of(name.begin(), name.end(), is_part))
    return "a tensor's name must be 1 to " + std::to_string(max_tensor_name)
           + " printable ASCII characters without spaces";
  if (layout.entries().size() == max_tensors)
    return "tensor " + name + " is one too many: a model may have "
           + std::to_string(max_tensors);
  if (shape.size() > max_dimensions)
    return "tensor " + name + " has " + std::to_string(shape.size())
           + " dimensions, but may have " + std::to_string(max_dimensions);
  auto left = max_state_values - layout.values();
  for (auto extent : shape) {
    if (extent < 1)
      return "tensor " + name + " has the extent " + std::to_string(extent)
             + "; leave tensors without values out";
    left /= static_cast<std::uint64_t>(extent);
  }
  return left > 0 ? ""
                  : "with tensor " + name + " the model has more than "
                        + std::to_string(max_state_values) + " values";
}

std::string to_layout_text(const model_layout& layout) {
  std::string text;
  for (const auto& x : layout.entries())
    text += line_of(x) + "\n";
  return text;
}

expected<model_layout> read_layout_text(const std::string& text) {
  model_layout layout;
  std::set<std::string> names;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto wrong = [line = ++number](const std::string& what) {
      return failure{"line " + std::to_string(line) + " of the layout " + what};
    };
    const auto end = text.find('\n', begin);
    if (end == std::string::npos)
      return wrong("has no end");
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto first = line.find(' ');
    const auto second = line.find(' ', first + 1);
    const bool whole
        = first != std::string::npos && second != std::string::npos;
    const auto rule = whole ? line.substr(second + 1) : std::string{};
    std::vector<std::int64_t> shape;
    if (!whole || (rule != "decays" && rule != "fixed" && rule != "buffer")
        || !read_shape(line.substr(first + 1, second - first - 1), shape))
      return wrong("is not NAME SHAPE and decays, fixed or buffer");
    const auto name = line.substr(0, first);
    if (auto problem = problem_with_tensor(layout, name, shape);
        !problem.empty())
      return wrong("cannot be: " + problem);
    if (!names.insert(name).second)
      return wrong("has the name of an earlier tensor");
    if (rule == "buffer")
      layout.add_buffer(name, std::move(shape), 0);
    else
      layout.add(name, std::move(shape), rule == "decays", 0, 0);
  }
  if (layout.entries().empty())
    return failure{"the layout has no tensors"};
  if (to_layout_text(layout) != text)
    return failure{"the layout is not in its canonical form"};
  return layout;
}

std::string layout_difference(const model_layout& here,
                              const model_layout& there) {
  const auto& ours = here.entries();
  const auto& theirs = there.entries();
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const auto mine = i < ours.size() ? line_of(ours[i]) : "missing";
    const auto other = i < theirs.size() ? line_of(theirs[i]) : "missing";
    if (mine != other)
      return "tensor " + std::to_string(i + 1) + " is " + mine + " here and "
             + other + " there";
  }
  return {};
}

} // namespace potluck
