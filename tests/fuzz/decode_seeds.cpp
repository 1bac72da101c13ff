/// Writes what libFuzzer's search begins with: a frame of every message,
/// and what records hold.
#include <fstream>

#include "messages/codec.hpp"
#include "messages/framing.hpp"
#include "tests/messages/samples.hpp"

using namespace potluck;

/// @param argv The folder to write to.
int main(int, char** argv) {
  int number = 0;
  for (const auto& x : samples::all()) {
    const auto head = encode(x);
    const std::string body(samples::body_size(x), '\0');
    const auto preamble = write_preamble(preamble_for(
        head.data(), head.size(),
        reinterpret_cast<const std::uint8_t*>(body.data()), body.size()));
    std::ofstream out{argv[1] + ("/seed-" + std::to_string(number++)),
                      std::ios::binary};
    out.put(1); // In one piece, its checksum not looked at.
    out.write(reinterpret_cast<const char*>(preamble.data()), preamble.size());
    out.write(reinterpret_cast<const char*>(head.data()),
              static_cast<std::streamsize>(head.size()));
    out << body;
  }
  for (const auto& x :
       {encode_progress(samples::report()),
        encode_announcement(samples::announcement()),
        encode_notice(samples::notice()), std::string{"[2001:db8::1]:7000"}})
    std::ofstream{argv[1] + ("/seed-" + std::to_string(number++)),
                  std::ios::binary}
        << '\1' << x;
}
