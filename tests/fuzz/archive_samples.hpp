/// Sound inputs of `fuzz_archive`: files of TorchScript, as small as can be.
#pragma once

#include <utility>

#include "runtime/state/little_endian.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::archive_samples {

using part = std::pair<std::string, std::string>;

/// A ZIP archive of these parts, not compressed.
inline std::string zip(const std::vector<part>& parts) {
  std::string file, directory;
  for (const auto& [name, bytes] : parts) {
    std::string head;
    append_little_endian(head, std::uint16_t{20});
    head.append(12, '\0'); // Flags, method, time, checksum.
    for (int i = 0; i < 2; ++i)
      append_little_endian(head, static_cast<std::uint32_t>(bytes.size()));
    append_little_endian(head, static_cast<std::uint16_t>(name.size()));
    append_little_endian(head, std::uint16_t{0});
    append_little_endian(directory, std::uint32_t{0x02014b50});
    append_little_endian(directory, std::uint16_t{20});
    directory += head + std::string(10, '\0');
    append_little_endian(directory, static_cast<std::uint32_t>(file.size()));
    directory += name;
    append_little_endian(file, std::uint32_t{0x04034b50});
    file += head + name + bytes;
  }
  const auto offset = file.size();
  file += directory;
  append_little_endian(file, std::uint32_t{0x06054b50});
  append_little_endian(file, std::uint32_t{0});
  for (int i = 0; i < 2; ++i)
    append_little_endian(file, static_cast<std::uint16_t>(parts.size()));
  append_little_endian(file, static_cast<std::uint32_t>(directory.size()));
  append_little_endian(file, static_cast<std::uint32_t>(offset));
  append_little_endian(file, std::uint16_t{0});
  return file;
}

inline fuzz_samples all() {
  const std::string none = "\x80\x02].";
  const std::string values = "\x80\x02"
                             "c__torch__\nNet\nq\x01)\x81}(X\x01"
                             + std::string(3, '\0') + "aK\x05X\x01"
                             + std::string(3, '\0') + "bG"
                             + std::string(8, '\0') + "ub.";
  const std::string code = "class Net(Module):\n  def forward(self: "
                           "__torch__.Net, x: Tensor) -> Tensor:\n    return "
                           "torch.mul(x, 2)\n";
  return {zip({{"a/data.pkl", none}, {"a/constants.pkl", none}}),
          zip({{"net/version", "3\n"},
               {"net/data/0", std::string(16, 'x')},
               {"net/data.pkl", values},
               {"net/code/__torch__.py", code},
               {"net/code/__torch__.py.debug_pkl", "anything"},
               {"net/constants.pkl", none}})};
}

} // namespace potluck::archive_samples
