#include "models/script/script_archive.hpp"

#include <map>
#include <utility>

#include "models/script/script_contents.hpp"
#include "models/script/zip_archive.hpp"

namespace potluck {

expected<std::string> checked_archive(std::string_view file,
                                      const script_limits& most) {
  auto records = read_directory(file, most);
  if (!records)
    return failure{records.error()};
  std::map<std::string, const zip_record*> needed;
  std::uint64_t code_bytes = 0;
  for (const auto& x : *records) {
    const auto kind = kind_of(x.name);
    if (kind == script_part::unneeded)
      continue;
    if (!needed.emplace(x.name, &x).second)
      return no_archive("it has two parts " + x.name);
    if (kind != script_part::tensor
        && (code_bytes += x.bytes) > most.code_bytes)
      return failure{"has more than " + std::to_string(most.code_bytes >> 20)
                     + " MiB of code"};
  }
  for (auto name : {"data.pkl", "constants.pkl"})
    if (needed.count(name) == 0)
      return no_archive("it has no part " + std::string{name}
                        + "; make one with torch.jit.script(model).save(FILE)");
  zip_writer result;
  for (const auto& [name, x] : needed) {
    const auto bytes = unpack(file, *x);
    if (!bytes)
      return no_archive("its part " + name + " is damaged");
    if (auto problem = problem_with(kind_of(name), *bytes, most);
        !problem.empty())
      return failure{problem};
    result.add(name, *bytes);
  }
  return std::move(result).finish();
}

} // namespace potluck
