#include "runtime/experts/expert_shelf.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "messages/ids.hpp"
#include "messages/limits.hpp"
#include "runtime/state/atomic_file.hpp"

namespace potluck {

namespace {

constexpr char magic[4] = {'P', 'L', 'X', '1'};

} // namespace

std::string expert_shelf::path_of(const std::string& uid) const {
  return directory_ + "/" + uid + ".expert";
}

expected<bool> expert_shelf::put(const std::string& uid,
                                 const std::vector<std::uint8_t>& bytes) {
  if (!on_disk()) {
    std::lock_guard<std::mutex> guard{mutex_};
    held_[uid] = bytes;
    return true;
  }
  std::error_code problem;
  std::filesystem::create_directories(directory_, problem);
  if (problem)
    return failure{"cannot make " + directory_ + ": " + problem.message()};
  std::vector<std::uint8_t> head(std::begin(magic), std::end(magic));
  for (int shift = 0; shift < 32; shift += 8)
    head.push_back(static_cast<std::uint8_t>(uid.size() >> shift));
  head.insert(head.end(), uid.begin(), uid.end());
  auto sum = digest_of(bytes.data(), bytes.size());
  head.insert(head.end(), sum.bytes.begin(), sum.bytes.end());
  return replace_file(
      path_of(uid), {{head.data(), head.size()}, {bytes.data(), bytes.size()}});
}

expected<std::vector<std::uint8_t>> expert_shelf::get(const std::string& uid) {
  if (!on_disk()) {
    std::lock_guard<std::mutex> guard{mutex_};
    auto i = held_.find(uid);
    return i == held_.end() ? std::vector<std::uint8_t>{} : i->second;
  }
  auto path = path_of(uid);
  std::error_code missing;
  if (!std::filesystem::exists(path, missing) && !missing)
    return std::vector<std::uint8_t>{};
  std::ifstream file{path, std::ios::binary};
  std::vector<std::uint8_t> all{std::istreambuf_iterator<char>{file},
                                std::istreambuf_iterator<char>{}};
  if (!file.is_open() || file.bad())
    return file_failure("read", path);
  auto damaged = failure{path
                         + " is no expert's state, or damaged; remove it to "
                           "begin afresh, or bring back a copy"};
  auto begin = sizeof(magic) + 4 + uid.size() + digest::size;
  if (all.size() < begin || std::memcmp(all.data(), magic, sizeof(magic)) != 0)
    return damaged;
  std::uint32_t length = 0;
  for (int i = 0; i < 4; ++i)
    length |= std::uint32_t{all[sizeof(magic) + i]} << (8 * i);
  if (length != uid.size()
      || std::memcmp(all.data() + sizeof(magic) + 4, uid.data(), uid.size())
             != 0)
    return damaged;
  digest sum;
  std::memcpy(sum.bytes.data(), all.data() + begin - digest::size,
              digest::size);
  if (sum != digest_of(all.data() + begin, all.size() - begin))
    return damaged;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  return all;
}

} // namespace potluck
