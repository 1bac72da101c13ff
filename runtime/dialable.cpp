#include "runtime/dialable.hpp"

namespace potluck {

bool is_local(const std::string& host) {
  auto begins = [&](const char* with) { return host.rfind(with, 0) == 0; };
  if (host.find(':') != std::string::npos)
    return host == "::1" || begins("fe8") || begins("fe9") || begins("fea")
           || begins("feb") || begins("fc") || begins("fd");
  unsigned second = 0;
  char rest = 0;
  if (std::sscanf(host.c_str(), "172.%3u.%c", &second, &rest) == 2)
    return second >= 16 && second <= 31;
  return host == "localhost" || begins("127.") || begins("10.")
         || begins("192.168.") || begins("169.254.");
}

} // namespace potluck
