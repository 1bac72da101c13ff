#include "runtime/averaging/round/member_stand.hpp"

namespace potluck {

void append(std::string& out, std::int64_t x) {
  out.append(reinterpret_cast<const char*>(&x), sizeof(x));
}

void append(std::string& out, const vector_mark& x) {
  out.append(x.mean.bytes.begin(), x.mean.bytes.end());
  append(out, static_cast<std::int64_t>(x.least_samples));
  append(out, static_cast<std::int64_t>(x.most_samples));
}

void append(std::string& out, const member_stand& x) {
  out.push_back(static_cast<char>(x.is));
  append(out, x.has);
  append(out, x.ruled);
  for (auto& chunk : x.chunks) {
    append(out, chunk.version);
    append(out, static_cast<std::int64_t>(chunk.samples));
  }
}

} // namespace potluck
