/// The yardstick of `potluck bench averaging`: the same tensors all-reduced by
/// gloo (Debian's libgloo-dev), which knows neither faults nor encryption.
///
///     potluck-gloo-reference RANK SIZE VALUES ROUNDS DIRECTORY
///
/// Ranks meet through files in DIRECTORY. Prints a line of JSON a round, as
/// averaging_member does, and exits with 1 when a sum is wrong.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "tools/lab/bench/workload.hpp"

namespace {

using potluck::bench::contribution_of;
using potluck::bench::cpu_seconds;
using potluck::bench::now_seconds;

int reduce(int rank, int size, std::size_t values, int rounds,
           const std::string& directory) {
  gloo::transport::tcp::attr where;
  where.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(where);
  gloo::rendezvous::FileStore store{directory};
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  std::vector<float> in(values);
  std::vector<float> out(values);
  for (std::size_t i = 0; i < values; ++i)
    in[i] = contribution_of(static_cast<std::uint64_t>(rank), i);
  void (*sum)(void*, const void*, const void*, std::size_t) = &gloo::sum<float>;
  auto cpu = cpu_seconds();
  std::printf("{\"event\":\"ready\",\"time\":%.6f}\n", now_seconds());
  for (int round = 1; round <= rounds; ++round) {
    gloo::AllreduceOptions options{context};
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setInput(in.data(), values);
    options.setOutput(out.data(), values);
    options.setReduceFunction(sum);
    options.setTag(static_cast<std::uint32_t>(round));
    gloo::allreduce(options);
    std::printf("{\"event\":\"round\",\"round\":%d,\"time\":%.6f}\n", round,
                now_seconds());
  }
  cpu = cpu_seconds() - cpu;
  if (!potluck::bench::is_sum(out, size))
    return 1;
  std::printf("{\"event\":\"over\",\"problem\":\"\",\"cpu_seconds\":%.3f}\n",
              cpu);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s RANK SIZE VALUES ROUNDS DIRECTORY\n",
                 argv[0]);
    return 2;
  }
  try {
    return reduce(std::atoi(argv[1]), std::atoi(argv[2]),
                  std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4]),
                  argv[5]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gloo: %s\n", problem.what());
    return 1;
  }
}
