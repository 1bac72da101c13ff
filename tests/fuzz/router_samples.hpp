/// Sound inputs of `fuzz_router`.
#pragma once

#include "tests/fuzz/samples.hpp"
#include "tests/support/upnp_description.hpp"

namespace potluck::router_samples {

inline std::string datagram(const std::string& x) {
  return static_cast<char>(x.size()) + x;
}

/// Its address is 203.0.113.7, and port 4000 leads to ours, 7000.
inline std::string by_nat_pmp() {
  const auto address
      = datagram({0, '\x80', 0, 0, 0, 0, 0, 1, '\xcb', 0, 'q', 7});
  const auto opened = datagram({0, '\x82', 0, 0, 0, 0, 0, 1, '\x1b', 'X',
                                '\x0f', '\xa0', 0, 0, '\x0e', '\x10'});
  return '\0' + address + opened + address + opened + opened;
}

inline std::string http(const std::string& body,
                        const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: text/xml\r\nContent-Length: "
         + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body
         + '\0';
}

inline std::string soap(const std::string& inside) {
  return "<?xml version=\"1.0\"?><s:Envelope><s:Body>" + inside
         + "</s:Body></s:Envelope>";
}

inline std::string fault(int code) {
  return http(soap("<s:Fault><detail><UPnPError><errorCode>"
                   + std::to_string(code)
                   + "</errorCode></UPnPError></detail></s:Fault>"),
              "500 Internal Server Error");
}

inline std::string address() {
  return http(soap("<u:GetExternalIPAddressResponse><NewExternalIPAddress>"
                   "203.0.113.7</NewExternalIPAddress>"
                   "</u:GetExternalIPAddressResponse>"));
}

inline fuzz_samples all() {
  const auto opened = http(soap("<u:AddPortMappingResponse/>"));
  const auto found = http(upnp_description) + address();
  const auto taken = fault(718);
  return {by_nat_pmp(), '\1' + found + opened + address() + opened,
          '\1' + found + taken + fault(725) + opened,
          '\1' + found + taken + taken + taken + taken + found + opened};
}

} // namespace potluck::router_samples
