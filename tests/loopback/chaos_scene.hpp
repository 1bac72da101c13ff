/// What the tests of `potluck chaos` share.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/loopback/scene.hpp"

namespace potluck::loopback {

/// Only catches what hangs: it takes minutes on a machine that is busy, too.
inline constexpr std::chrono::milliseconds chaos_patience = 900s;

/// Processes that chaos started in this folder and that still run.
inline std::size_t processes_in(const std::string& directory) {
  std::size_t found = 0;
  for (const auto& x : std::filesystem::directory_iterator{"/proc"}) {
    std::ifstream in{x.path() / "cmdline", std::ios::binary};
    std::string words{std::istreambuf_iterator<char>{in}, {}};
    found += words.find("--identity-dir=" + directory) != std::string::npos;
  }
  return found;
}

/// Writes a scenario; its path.
inline std::string write(const scene& s, const std::string& text) {
  auto path = s.path("scenario.json");
  std::ofstream{path} << text;
  return path;
}

} // namespace potluck::loopback
