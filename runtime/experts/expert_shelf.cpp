#include "runtime/experts/expert_shelf.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "messages/ids.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

constexpr char magic[4] = {'P', 'L', 'X', '2'};
constexpr char extension[] = ".expert";
/// Behind the uid.
constexpr std::size_t fields_bytes = 4 + 8 + digest::size;

} // namespace

std::string expert_shelf::path_of(const std::string& uid) const {
  return directory_ + "/" + uid + extension;
}

expected<bool> expert_shelf::put(const std::string& uid, shelved_expert x) {
  if (!on_disk()) {
    std::lock_guard<std::mutex> guard{mutex_};
    held_[uid] = std::move(x);
    return true;
  }
  std::error_code problem;
  std::filesystem::create_directories(directory_, problem);
  if (problem)
    return failure{"cannot make " + directory_ + ": " + problem.message()};
  std::string head(magic, sizeof(magic));
  append_little_endian(head, static_cast<std::uint32_t>(uid.size()));
  head += uid;
  append_little_endian(head, x.term);
  append_little_endian(head, x.version);
  auto sum = digest_of(x.bytes.data(), x.bytes.size());
  head.append(sum.bytes.begin(), sum.bytes.end());
  return replace_file(path_of(uid), {{head.data(), head.size()},
                                     {x.bytes.data(), x.bytes.size()}});
}

expected<shelved_expert> expert_shelf::get(const std::string& uid) {
  if (!on_disk()) {
    std::lock_guard<std::mutex> guard{mutex_};
    auto i = held_.find(uid);
    return i == held_.end() ? shelved_expert{} : i->second;
  }
  auto path = path_of(uid);
  std::error_code missing;
  if (!std::filesystem::exists(path, missing) && !missing)
    return shelved_expert{};
  std::ifstream file{path, std::ios::binary};
  std::vector<std::uint8_t> all{std::istreambuf_iterator<char>{file},
                                std::istreambuf_iterator<char>{}};
  if (!file.is_open() || file.bad())
    return file_failure("read", path);
  auto damaged = failure{path
                         + " is no expert's state, or damaged; remove it to "
                           "begin afresh, or bring back a copy"};
  auto fields = sizeof(magic) + 4 + uid.size();
  auto begin = fields + fields_bytes;
  if (all.size() < begin || std::memcmp(all.data(), magic, sizeof(magic)) != 0)
    return damaged;
  auto length = get_little_endian<std::uint32_t>(all.data() + sizeof(magic));
  if (length != uid.size()
      || std::memcmp(all.data() + sizeof(magic) + 4, uid.data(), uid.size())
             != 0)
    return damaged;
  shelved_expert x;
  x.term = get_little_endian<std::uint32_t>(all.data() + fields);
  x.version = get_little_endian<std::uint64_t>(all.data() + fields + 4);
  digest sum;
  std::memcpy(sum.bytes.data(), all.data() + begin - digest::size,
              digest::size);
  if (x.term == 0 || sum != digest_of(all.data() + begin, all.size() - begin))
    return damaged;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  x.bytes = std::move(all);
  return x;
}

void expert_shelf::remove(const std::string& uid) {
  if (!on_disk()) {
    std::lock_guard<std::mutex> guard{mutex_};
    held_.erase(uid);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(path_of(uid), ignored);
}

std::vector<std::string> expert_shelf::uids() {
  std::vector<std::string> result;
  if (!on_disk()) {
    std::lock_guard<std::mutex> guard{mutex_};
    for (auto& [uid, x] : held_)
      result.push_back(uid);
    return result;
  }
  std::error_code missing;
  for (auto& entry : std::filesystem::directory_iterator{directory_, missing})
    if (entry.path().extension() == extension)
      result.push_back(entry.path().stem().string());
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace potluck
