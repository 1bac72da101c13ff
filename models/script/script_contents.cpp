#include "models/script/script_contents.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

constexpr std::size_t longest_version = 16;

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size()
         && text.substr(text.size() - with.size()) == with;
}

bool is_number(std::string_view x) {
  return !x.empty() && x.size() <= 9
         && x.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Empty, or why this code may not be loaded.
std::string problem_with_code(const std::string& code,
                              const script_limits& most) {
  if (code.find("__setstate__") != std::string::npos)
    return "has a __setstate__, which would run while the file is loaded; "
           "leave it out of the module";
  if (code.find("torch.classes") != std::string::npos)
    return "uses classes of C++ (torch.classes), which are not TorchScript's "
           "own; leave them out of the module";
  std::size_t depth = 0;
  for (char c : code) {
    if (c == '(' || c == '[' || c == '{') {
      if (++depth > most.nesting)
        return "has expressions nested more than "
               + std::to_string(most.nesting) + " deep";
    } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
      --depth;
    }
  }
  return "";
}

/// A type or function that a pickle may name.
bool may_be_named(std::string_view module, std::string_view name) {
  if (begins(module, "__torch__")) // Classes of the file, and of C++.
    return (std::string{module} + "." + std::string{name}).find("torch.classes")
           == std::string::npos;
  if (module == "torch")
    return ends(name, "Storage") || name == "device";
  if (module == "torch._utils")
    return name == "_rebuild_tensor_v2" || name == "_rebuild_parameter";
  if (module == "collections")
    return name == "OrderedDict";
  return module == "torch.jit._pickle"
         && (name == "restore_type_tag" || begins(name, "build_"));
}

/// Bytes behind those of pickle's instructions that LibTorch writes and reads;
/// of others it knows nothing. (Python's pickletools describes them.)
struct instruction {
  char code;
  std::size_t bytes;        ///< That follow.
  std::size_t length_bytes; ///< Or of the length of what follows.
};

constexpr std::array<instruction, 32> instructions{{
    {']', 0, 0},    {')', 0, 0},    {'q', 1, 0}, {'r', 4, 0},    {'\x88', 0, 0},
    {'\x89', 0, 0}, {'N', 0, 0},    {'K', 1, 0}, {'M', 2, 0},    {'J', 4, 0},
    {'\x8a', 0, 1}, {'X', 0, 4},    {'G', 8, 0}, {'t', 0, 0},    {'\x85', 0, 0},
    {'\x86', 0, 0}, {'\x87', 0, 0}, {'}', 0, 0}, {'a', 0, 0},    {'e', 0, 0},
    {'b', 0, 0},    {'s', 0, 0},    {'u', 0, 0}, {'h', 1, 0},    {'j', 4, 0},
    {'\x81', 0, 0}, {'R', 0, 0},    {'Q', 0, 0}, {'\x80', 1, 0}, {'T', 0, 4},
    {'U', 0, 1},    {'0', 0, 0},
}};

std::string_view next_line(byte_reader& from, std::string_view whole,
                           std::size_t& at) {
  const auto end = whole.find('\n', at);
  if (end == std::string_view::npos) {
    from.bytes(whole.size() + 1);
    return {};
  }
  const auto result = whole.substr(at, end - at);
  from.bytes(result.size() + 1);
  at = end + 1;
  return result;
}

/// Empty, or why this pickle may not be loaded.
std::string problem_with_pickle(std::string_view bytes,
                                const script_limits& most) {
  const std::string damaged = "is damaged: its pickled values end too soon";
  std::size_t marks = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const char code = bytes[at++];
    byte_reader rest{bytes.substr(at)};
    if (code == '.')
      return at == bytes.size() ? "" : damaged;
    if (code == '(' && ++marks > most.nesting)
      return "has values nested more than " + std::to_string(most.nesting)
             + " deep";
    if (marks > 0 && (code == 't' || code == 'e' || code == 'u'))
      --marks;
    if (code == '(')
      continue;
    if (code == 'c') {
      const auto module = next_line(rest, bytes, at);
      const auto name = next_line(rest, bytes, at);
      if (rest.lacks())
        return damaged;
      if (!may_be_named(module, name))
        return "holds a value of the kind " + std::string{module.substr(0, 100)}
               + "." + std::string{name.substr(0, 100)}
               + ", and may hold tensors, numbers, texts and modules only";
      continue;
    }
    const auto how
        = std::find_if(instructions.begin(), instructions.end(),
                       [&](const instruction& x) { return x.code == code; });
    if (how == instructions.end())
      return "holds pickled values that LibTorch does not write";
    std::size_t size = how->bytes;
    if (how->length_bytes == 1)
      size = rest.integer<std::uint8_t>();
    else if (how->length_bytes == 4)
      size = rest.integer<std::uint32_t>();
    rest.bytes(size);
    if (rest.lacks())
      return damaged;
    at += how->length_bytes + size;
  }
  return damaged;
}

} // namespace

script_part kind_of(const std::string& name) {
  if (name == "version" || name == ".data/version" || name == "byteorder")
    return script_part::version;
  if (name == "data.pkl" || name == "constants.pkl")
    return script_part::pickle;
  for (std::string_view folder : {"data/", "constants/"})
    if (begins(name, folder)
        && is_number(std::string_view{name}.substr(folder.size())))
      return script_part::tensor;
  if (begins(name, "code/") && ends(name, ".py"))
    return script_part::code;
  return script_part::unneeded;
}

std::string problem_with(script_part kind, const std::string& bytes,
                         const script_limits& most) {
  switch (kind) {
    case script_part::code:
      return problem_with_code(bytes, most);
    case script_part::pickle:
      return problem_with_pickle(bytes, most);
    case script_part::version:
      return bytes.size() > longest_version ? "has no sound version" : "";
    default:
      return "";
  }
}

} // namespace potluck
