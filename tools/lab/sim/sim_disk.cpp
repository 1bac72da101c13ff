#include "tools/lab/sim/sim_disk.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

sim_disk::sim_disk(std::uint64_t seed, std::function<duration()> now)
    : chance_{seed}, now_{std::move(now)} {
}

expected<bool> sim_disk::replace(const std::string& path,
                                 const std::vector<file_section>& sections) {
  if (full)
    return failure{"cannot write " + path + ": no space left on the disk"};
  file next;
  for (auto& x : sections) {
    auto data = static_cast<const std::uint8_t*>(x.data);
    next.content.insert(next.content.end(), data, data + x.size);
  }
  next.written = now_();
  auto old = files_.find(path);
  if (old != files_.end())
    next.before = std::move(old->second.content);
  files_[path] = std::move(next);
  return true;
}

const sim_disk::bytes* sim_disk::find(const std::string& path) const {
  auto at = files_.find(path);
  return at == files_.end() ? nullptr : &at->second.content;
}

void sim_disk::rot(random_stream& chance) {
  for (auto& [path, x] : files_)
    flip_a_bit(x.content, chance);
}

void sim_disk::cut() {
  auto now = now_();
  for (auto i = files_.begin(); i != files_.end();) {
    auto& x = i->second;
    bool under_way = tears_writes && !x.settled && now - x.written < unsafe;
    x.settled = true;
    bool gone = false;
    if (under_way) {
      auto whole = x.content.size();
      switch (chance_.below(4)) {
        case 0: // All of it had arrived.
          break;
        case 1:
          gone = !x.before;
          if (x.before)
            x.content = *x.before;
          break;
        case 2:
          x.content.resize(chance_.below(whole + 1));
          break;
        default:
          x.content.resize(chance_.below(whole + 1));
          x.content.resize(whole, 0);
          break;
      }
    }
    x.before.reset();
    i = gone ? files_.erase(i) : std::next(i);
  }
}

} // namespace potluck
