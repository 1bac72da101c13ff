#include "messages/contact.hpp"

#include <charconv>

namespace potluck {

expected<address> parse_address(std::string_view text) {
  auto wrong = [&](const char* why) {
    return failure{"'" + std::string{text} + "' is not an address: " + why
                   + "; write HOST:PORT, for instance 127.0.0.1:7000."};
  };
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return wrong("the port is missing");
  auto host = text.substr(0, colon);
  auto digits = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return wrong("an IPv6 address needs brackets, [::1]:7000");
  if (host.empty())
    return wrong("the host is missing");
  unsigned port = 0;
  auto [end, error]
      = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size()
      || port > 65535)
    return wrong("the port must be a number from 0 to 65535");
  return address{std::string{host}, static_cast<std::uint16_t>(port)};
}

std::string to_string(const address& x) {
  if (x.host.find(':') != std::string::npos)
    return "[" + x.host + "]:" + std::to_string(x.port);
  return x.host + ":" + std::to_string(x.port);
}

std::string to_string(role x) {
  switch (x) {
    case role::trainer:
      return "trainer";
    case role::auxiliary:
      return "auxiliary";
    case role::bootstrap:
      return "bootstrap";
    case role::expert:
      return "expert";
  }
  return "unknown";
}

} // namespace potluck
