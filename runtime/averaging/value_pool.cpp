#include "runtime/averaging/value_pool.hpp"

#include <algorithm>
#include <utility>

#include "runtime/recycled_memory.hpp"

namespace potluck {

value_pool::value_pool(std::size_t most_idle)
    : shelf_{std::make_shared<shelf>()} {
  shelf_->most_idle = most_idle;
}

std::shared_ptr<std::vector<float>> value_pool::take(std::size_t values) {
  std::vector<float> room;
  {
    std::lock_guard<std::mutex> guard{shelf_->mutex};
    auto& all = shelf_->vectors;
    auto found = std::find_if(all.rbegin(), all.rend(),
                              [&](auto& x) { return x.size() == values; });
    if (found != all.rend()) {
      room = std::move(*found);
      all.erase(std::next(found).base());
      shelf_->idle -= values;
    }
  }
  if (room.empty()) {
    room.reserve(values);
    prefer_large_pages(room.data(), values * sizeof(float));
    room.resize(values);
  }
  auto give_back = [where = shelf_](std::vector<float>* x) {
    std::unique_ptr<std::vector<float>> owner{x};
    put_back(*where, std::move(*x));
  };
  return {new std::vector<float>(std::move(room)), std::move(give_back)};
}

void value_pool::put_back(shelf& x, std::vector<float> what) {
  std::vector<std::vector<float>> surplus; // Freed without the lock.
  std::lock_guard<std::mutex> guard{x.mutex};
  if (what.size() > x.most_idle)
    return surplus.push_back(std::move(what));
  x.idle += what.size();
  x.vectors.push_back(std::move(what));
  // The oldest go: their length may be out of use.
  std::size_t leaving = 0;
  while (x.idle > x.most_idle) {
    x.idle -= x.vectors[leaving].size();
    surplus.push_back(std::move(x.vectors[leaving++]));
  }
  x.vectors.erase(x.vectors.begin(),
                  x.vectors.begin() + static_cast<std::ptrdiff_t>(leaving));
}

std::shared_ptr<const void> value_pool::let_wait(std::size_t member,
                                                 std::size_t bytes) {
  std::lock_guard<std::mutex> guard{shelf_->mutex};
  auto& of_one = shelf_->waiting_of[member];
  if (shelf_->waiting + bytes > most_waiting
      || of_one + bytes > most_waiting_of_one)
    return nullptr;
  shelf_->waiting += bytes;
  of_one += bytes;
  return {shelf_.get(), [where = shelf_, member, bytes](const void*) {
            std::lock_guard<std::mutex> lock{where->mutex};
            where->waiting -= bytes;
            where->waiting_of[member] -= bytes;
          }};
}

std::size_t value_pool::idle() const {
  std::lock_guard<std::mutex> guard{shelf_->mutex};
  return shelf_->idle;
}

} // namespace potluck
