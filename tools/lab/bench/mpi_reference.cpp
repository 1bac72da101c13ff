/// The second yardstick of `potluck bench averaging`: the same tensors
/// all-reduced by Open MPI (Debian's libopenmpi-dev) over TCP.
///
///     mpirun -np SIZE ... potluck-mpi-reference VALUES ROUNDS
///
/// The first rank reports for all, as averaging_member does of itself: a round
/// has ended when the last rank says so. Exits with 1 when a sum is wrong.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OMPI_SKIP_MPICXX 1 // The C++ bindings are gone from MPI, and warn.
#include <mpi.h>

#include "tools/lab/bench/workload.hpp"

namespace {

using potluck::bench::now_seconds;

/// Of all ranks, at the first one.
std::vector<double> latest(const std::vector<double>& times) {
  std::vector<double> result(times.size());
  MPI_Reduce(times.data(), result.data(), static_cast<int>(times.size()),
             MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return result;
}

int reduce(std::size_t values, int rounds) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<float> in(values);
  std::vector<float> out(values);
  for (std::size_t i = 0; i < values; ++i)
    in[i]
        = potluck::bench::contribution_of(static_cast<std::uint64_t>(rank), i);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto cpu_before = potluck::bench::cpu_seconds();
  std::vector<double> times{now_seconds()};
  for (int round = 1; round <= rounds; ++round) {
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(values), MPI_FLOAT,
                  MPI_SUM, MPI_COMM_WORLD);
    times.push_back(now_seconds());
    if (rank == 0) { // Whoever waits knows that it goes on.
      std::printf("{\"event\":\"alive\"}\n");
      std::fflush(stdout);
    }
  }
  const auto cpu_own = potluck::bench::cpu_seconds() - cpu_before;
  double cpu = 0;
  MPI_Reduce(&cpu_own, &cpu, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  times = latest(times);
  if (!potluck::bench::is_sum(out, size))
    MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank != 0)
    return 0;
  std::printf("{\"event\":\"ready\",\"time\":%.6f}\n", times[0]);
  for (int round = 1; round <= rounds; ++round)
    std::printf("{\"event\":\"round\",\"round\":%d,\"time\":%.6f}\n", round,
                times[static_cast<std::size_t>(round)]);
  std::printf("{\"event\":\"over\",\"problem\":\"\",\"cpu_seconds\":%.3f}\n",
              cpu);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: mpirun -np SIZE %s VALUES ROUNDS\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int status
      = reduce(std::strtoull(argv[1], nullptr, 10), std::atoi(argv[2]));
  MPI_Finalize();
  return status;
}
