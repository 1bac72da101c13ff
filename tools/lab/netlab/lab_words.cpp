#include "tools/lab/netlab/lab_words.hpp"

#include "runtime/numbers.hpp"

namespace potluck::netlab {

namespace {

/// {name} or {name:argument}.
struct placeholder {
  std::string name;
  std::string argument;
  bool has_argument = false;
  std::size_t size = 0; ///< In the text; 0: there is none.

  std::string text() const {
    return "{" + name + (has_argument ? ":" + argument : "") + "}";
  }
};

bool small_letter(char c) {
  return c >= 'a' && c <= 'z';
}

placeholder placeholder_at(const std::string& text, std::size_t at) {
  placeholder result;
  if (text[at] != '{' || (at > 0 && text[at - 1] == '$'))
    return result;
  auto i = at + 1;
  while (i < text.size() && small_letter(text[i]))
    result.name += text[i++];
  if (!result.name.empty() && i < text.size() && text[i] == '6')
    result.name += text[i++];
  if (!result.name.empty() && i < text.size() && text[i] == ':') {
    result.has_argument = true;
    for (++i; i < text.size() && text[i] != '{' && text[i] != '}'; ++i)
      result.argument += text[i];
  }
  if (!result.name.empty() && i < text.size() && text[i] == '}')
    result.size = i + 1 - at;
  return result;
}

expected<std::string> value_of(const placeholder& x, const lab_words& with) {
  if (x.name == "address" || x.name == "address6") {
    auto host = x.has_argument ? x.argument : with.host;
    auto result = with.address_of(host);
    if (result.empty())
      return failure{x.text() + " names no host of the description; of a group "
                     + "name one, as in {address:home-1}."};
    if (x.name == "address6")
      result = with.ipv6_address_of(host);
    if (result.empty())
      return failure{x.text() + ": `" + host + "` has no IPv6 here; hosts with "
                     + "the router none or ipv6-only do, where namespaces and "
                     + "the kernel's IPv6 are there."};
    return result;
  }
  if (!x.has_argument) {
    if (x.name == "name")
      return with.name;
    if (x.name == "log")
      return with.log;
    if (x.name == "dir")
      return with.dir;
  }
  if (x.name == "network")
    return failure{x.text() + " must be a word of its own and have a port, as "
                   + "\"{network:7000}\"."};
  return failure{
      x.text() + " stands for nothing; there are {name}, {log}, "
      + "{dir}, {address}, {address:HOST}, {address6}, {address6:HOST} "
      + "and {network:PORT}."};
}

/// The port of a word that is {network:PORT}; 0 otherwise.
unsigned network_port(const std::string& word) {
  if (word.empty())
    return 0;
  auto x = placeholder_at(word, 0);
  if (x.size != word.size() || x.name != "network" || !x.has_argument)
    return 0;
  unsigned port = 0;
  return read_number(x.argument, port) && port < 65536 ? port : 0;
}

} // namespace

expected<std::vector<std::string>>
fill_in(const std::vector<std::string>& words, const lab_words& with) {
  std::vector<std::string> result;
  for (const auto& word : words) {
    if (auto port = network_port(word); port != 0) {
      for (auto& x : with.network(port))
        result.push_back(std::move(x));
      continue;
    }
    std::string filled;
    for (std::size_t i = 0; i < word.size();) {
      auto x = placeholder_at(word, i);
      if (x.size == 0) {
        filled += word[i++];
        continue;
      }
      auto value = value_of(x, with);
      if (!value)
        return failure{value.error()};
      i += x.size;
      const bool brackets = value->find(':') != std::string::npos
                            && x.name.rfind("address", 0) == 0
                            && i < word.size() && word[i] == ':';
      filled += brackets ? "[" + *value + "]" : *value;
    }
    result.push_back(std::move(filled));
  }
  return result;
}

} // namespace potluck::netlab
