// SPDX-License-Identifier: BSD-3-Clause
// What promotion of buffers costs and gains (docs/memory.md); an ordinary MPI program.
//   direct_memory calls BYTES CALLS BUFFERS   the time of each of the first CALLS all-reduces in
//                                             new buffers, of which there are BUFFERS, one after
//                                             another
//   direct_memory once BYTES BUFFERS          the time of an all-reduce in buffers used once, and
//                                             of the whole program for each of them
//   direct_memory work BYTES ROUNDS           a triad and random reads in three vectors that have
//                                             been used in all-reduces, and in three that have not
// Rank 0 prints a line of JSON with the times, and one with that of a small all-reduce, in us.
// Status 4: a result was wrong.
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int rank, ranks, wrong;

static double* new_vector(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void fill(double* vector, size_t count, int seed) {
  for (size_t i = 0; i < count; ++i) vector[i] = (double)((i + (size_t)seed) % 1024);
}

// Returns the time of one all-reduce, in seconds.
static double reduce(double* input, double* output, size_t count, int seed) {
  fill(input, count, seed + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Allreduce(input, output, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double end = MPI_Wtime();
  for (size_t i = 0; i < count; i += 97) {
    double expected = 0;
    for (int r = 0; r < ranks; ++r) expected += (double)((i + (size_t)(seed + r)) % 1024);
    wrong += output[i] != expected;
  }
  return end - begin;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[count / 2];
}

static void print_list(const char* name, const double* seconds, int count) {
  printf("\"%s\": [", name);
  for (int i = 0; i < count; ++i) printf("%s%.3f", i ? ", " : "", seconds[i] * 1e6);
  printf("]");
}

// Returns the least time of a small all-reduce: how far the ranks' processors are from one another,
// which can change from job to job on virtual machines.
static double small(void) {
  double one = 1, sum = 0, least = 1;
  for (int batch = 0; batch < 30; ++batch) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < 100; ++i) {
      MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    const double each = (MPI_Wtime() - begin) / 100;
    if (each < least) least = each;
  }
  return least;
}

static void calls(size_t bytes, int of_each, int buffers) {
  const size_t count = bytes / sizeof(double);
  double* times = malloc(sizeof *times * (size_t)of_each * (size_t)buffers);
  double* medians = malloc(sizeof *medians * (size_t)of_each);
  for (int b = 0; b < buffers; ++b) {
    double *input = new_vector(bytes), *output = new_vector(bytes);
    memset(output, 0, bytes);
    for (int i = 0; i < of_each; ++i) times[i * buffers + b] = reduce(input, output, count, b + i);
    // Kept: the next ones have other addresses.
  }
  for (int i = 0; i < of_each; ++i) medians[i] = median(times + i * buffers, buffers);
  if (rank == 0) {
    printf("{");
    print_list("us", medians, of_each);
    printf("}\n");
  }
  free(times);
  free(medians);
}

static void once(size_t bytes, int buffers) {
  const size_t count = bytes / sizeof(double);
  double all = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int b = 0; b < buffers; ++b) {
    double *input = new_vector(bytes), *output = new_vector(bytes);
    memset(output, 0, bytes);
    all += reduce(input, output, count, b);
    munmap(input, bytes);
    munmap(output, bytes);
  }
  const double program = MPI_Wtime() - begin;
  if (rank == 0) {
    printf("{\"us\": [%.3f]}\n{\"program\": [%.3f]}\n", all / buffers * 1e6,
           program / buffers * 1e6);
  }
}

struct vectors {
  double *a, *b, *c;
};

static struct vectors three(size_t bytes) {
  struct vectors made = {new_vector(bytes), new_vector(bytes), new_vector(bytes)};
  const size_t count = bytes / sizeof(double);
  fill(made.a, count, 0);
  fill(made.b, count, 1);
  fill(made.c, count, 2);
  return made;
}

static double triad(struct vectors v, size_t count) {
  const double begin = MPI_Wtime();
  for (size_t i = 0; i < count; ++i) v.a[i] = v.b[i] + 3 * v.c[i];
  return MPI_Wtime() - begin;
}

// Each read's address follows from the one before.
static double random_reads(struct vectors v, size_t count) {
  uint64_t state = 1;
  double sum = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u + (uint64_t)sum % 2;
    sum += v.b[(state >> 20) % count];
  }
  const double seconds = MPI_Wtime() - begin;
  if (sum < 0) ++wrong;
  return seconds;
}

static void work(size_t bytes, int rounds) {
  const size_t count = bytes / sizeof(double);
  const struct vectors used = three(bytes), unused = three(bytes);
  for (int i = 0; i < 8; ++i) {
    reduce(used.a, used.b, count, i);
    reduce(used.c, used.a, count, i);
  }
  enum { kKinds = 4 };
  const char* const names[kKinds] = {"triad used", "triad unused", "random used", "random unused"};
  double* times[kKinds];
  for (int k = 0; k < kKinds; ++k) times[k] = malloc(sizeof(double) * (size_t)rounds);
  for (int i = 0; i < rounds; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    times[0][i] = triad(used, count);
    times[1][i] = triad(unused, count);
    times[2][i] = random_reads(used, count);
    times[3][i] = random_reads(unused, count);
  }
  if (rank == 0) {
    printf("{");
    for (int k = 0; k < kKinds; ++k) {
      const double middle = median(times[k], rounds);
      if (k) printf(", ");
      print_list(names[k], &middle, 1);
    }
    printf("}\n");
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t bytes = (size_t)atol(argv[2]);
  const int number = atoi(argv[3]);
  double least = small();
  if (strcmp(argv[1], "calls") == 0 && argc == 5) calls(bytes, number, atoi(argv[4]));
  if (strcmp(argv[1], "once") == 0) once(bytes, number);
  if (strcmp(argv[1], "work") == 0) work(bytes, number);
  const double after = small();
  if (after > least) least = after;
  if (rank == 0) printf("{\"small\": [%.4f]}\n", least * 1e6);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return rank == 0 && all ? 4 : 0;
}
