/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain MPI program: solves Poisson problems on a box by conjugate gradients, one right-hand side
 * after another, and says how long it took and how much of that was spent in collectives.
 * Each rank owns n^3 cells, so the defaults are a box cut as fine as in a strongly scaled run. */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grid.h"
#include "solver.h"

struct settings {
  int cells, limit, problems;
  double tolerance;
  const char* history_file;
};

struct outcome {
  double seconds, collective_seconds, true_residual;
  long iterations;
  int failures;
};

static const char kUsage[] =
    "usage: cg [-n CELLS] [-i ITERATIONS] [-t TOLERANCE] [-r PROBLEMS] [-o FILE]\n"
    "  -n  cells of a rank along each dimension (8)\n"
    "  -i  iterations allowed for one problem (1000)\n"
    "  -t  residual to reach, relative to the right-hand side's norm (1e-8)\n"
    "  -r  problems to solve, one after another (10)\n"
    "  -o  file for the residual after each iteration, as hexadecimal floats\n";

/* Parses a whole number of at least 1 into *value. Returns 0 when it is none. */
static int parse_count(const char* text, int* value) {
  char* end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (errno || *end || end == text || number < 1 || number > 1000000) return 0;
  *value = (int)number;
  return 1;
}

/* Returns 0 when the arguments are not understood. */
static int parse_arguments(int argc, char** argv, struct settings* settings) {
  int option, good = 1;
  char* end;
  opterr = 0;
  while (good && (option = getopt(argc, argv, "n:i:t:r:o:")) != -1) {
    switch (option) {
      case 'n':
        good = parse_count(optarg, &settings->cells) && settings->cells <= 1024;
        break;
      case 'i':
        good = parse_count(optarg, &settings->limit);
        break;
      case 'r':
        good = parse_count(optarg, &settings->problems);
        break;
      case 'o':
        settings->history_file = optarg;
        break;
      case 't':
        settings->tolerance = strtod(optarg, &end);
        good = !*end && settings->tolerance > 0 && settings->tolerance < 1;
        break;
      default:
        good = 0;
    }
  }
  return good && optind == argc;
}

/* Appends the residuals of one problem. */
static void write_history(FILE* file, int problem, const double* history, int iterations) {
  for (int i = 0; i < iterations; ++i) fprintf(file, "%d %d %a\n", problem, i + 1, history[i]);
}

/* Solves all problems. Only the solving is timed. */
static struct outcome solve_all(struct grid* grid, const struct settings* settings, FILE* file) {
  struct outcome outcome = {0};
  struct solver solver;
  double* history = calloc((size_t)settings->limit, sizeof *history);
  if (!history) MPI_Abort(MPI_COMM_WORLD, 1);
  solver_init(&solver, grid);
  for (int problem = 0; problem < settings->problems; ++problem) {
    solver_random_rhs(&solver, (unsigned)problem);
    MPI_Barrier(grid->comm);
    const double start = MPI_Wtime();
    const int iterations = solver_run(&solver, settings->tolerance, settings->limit, history);
    outcome.seconds += MPI_Wtime() - start;
    outcome.failures += iterations < 0;
    if (file) write_history(file, problem, history, iterations < 0 ? settings->limit : iterations);
  }
  outcome.iterations = solver.iterations;
  outcome.collective_seconds = solver.collective_seconds;
  outcome.true_residual = solver_true_residual(&solver);
  solver_free(&solver);
  free(history);
  return outcome;
}

/* The slowest rank's time, and that rank-independent rest, on rank 0. */
static void report(const struct grid* grid, const struct settings* settings,
                   const struct outcome* outcome) {
  double seconds = 0, collective = 0;
  MPI_Reduce(&outcome->seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, grid->comm);
  MPI_Reduce(&outcome->collective_seconds, &collective, 1, MPI_DOUBLE, MPI_SUM, 0, grid->comm);
  if (grid->rank != 0) return;
  printf("ranks            %d (%d x %d x %d)\n", grid->ranks, grid->boxes[0], grid->boxes[1],
         grid->boxes[2]);
  printf("cells_per_rank   %d^3\n", settings->cells);
  printf("problems         %d\n", settings->problems);
  printf("iterations       %ld\n", outcome->iterations);
  printf("true_residual    %.3e\n", outcome->true_residual);
  printf("seconds          %.6f\n", seconds);
  printf("collectives      %.6f\n", collective / grid->ranks);
  if (outcome->failures)
    fprintf(stderr, "cg: %d of %d problems did not reach %g in %d iterations\n", outcome->failures,
            settings->problems, settings->tolerance, settings->limit);
}

static int run(const struct settings* settings) {
  struct grid grid;
  FILE* file = NULL;
  grid_init(&grid, settings->cells);
  int opened = 1;
  if (settings->history_file && grid.rank == 0) {
    file = fopen(settings->history_file, "w");
    if (!file) fprintf(stderr, "cg: cannot write %s\n", settings->history_file);
    opened = file != NULL;
  }
  MPI_Bcast(&opened, 1, MPI_INT, 0, grid.comm);
  int status = 1;
  if (opened) {
    const struct outcome outcome = solve_all(&grid, settings, file);
    report(&grid, settings, &outcome);
    /* The residual that the recurrence carries may differ from the true one by rounding only. */
    status = outcome.failures || !(outcome.true_residual < 10 * settings->tolerance);
  }
  if (file && fclose(file)) status = 1;
  grid_free(&grid);
  return status;
}

int main(int argc, char** argv) {
  struct settings settings = {.cells = 8, .limit = 1000, .problems = 10, .tolerance = 1e-8};
  int rank, status = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parse_arguments(argc, argv, &settings))
    status = run(&settings);
  else if (rank == 0)
    fputs(kUsage, stderr);
  MPI_Finalize();
  return status;
}
