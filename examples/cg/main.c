/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain MPI program: solves Poisson problems on a box by conjugate gradients, one right-hand side
 * after another, and prints how long it took and how much of that was spent in all-reduces. Each
 * rank has n^3 cells; by default n is as small as in a strongly scaled run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"
#include "options.h"
#include "solver.h"

struct outcome {
  double seconds, collective_seconds;
  double true_residual; /* the worst of all problems */
  long iterations;
  int failures;
};

/* Appends the residuals of one problem. */
static void write_history(FILE* file, int problem, const double* history, int iterations) {
  for (int i = 0; i < iterations; ++i) fprintf(file, "%d %d %a\n", problem, i + 1, history[i]);
}

/* Solves all problems. Only the solving is timed. */
static struct outcome solve_all(struct grid* grid, const struct options* options, FILE* file) {
  struct outcome outcome = {0};
  struct solver solver;
  double* history = calloc((size_t)options->limit, sizeof *history);
  if (!history) MPI_Abort(MPI_COMM_WORLD, 1);
  solver_init(&solver, grid);
  solver.tests = options->tests;
  solver.replacement = options->replacement;
  for (int problem = 0; problem < options->problems; ++problem) {
    solver_random_rhs(&solver, (unsigned)problem);
    MPI_Barrier(grid->comm);
    const double start = MPI_Wtime();
    const int iterations =
        options->method->run(&solver, options->tolerance, options->limit, history);
    outcome.seconds += MPI_Wtime() - start;
    outcome.failures += iterations < 0;
    if (file) write_history(file, problem, history, iterations < 0 ? options->limit : iterations);
    const double residual = solver_true_residual(&solver);
    /* Written so that a NaN is kept. */
    if (!(residual <= outcome.true_residual)) outcome.true_residual = residual;
  }
  outcome.iterations = solver.iterations;
  outcome.collective_seconds = solver.collective_seconds;
  solver_free(&solver);
  free(history);
  return outcome;
}

/* Prints the time of the slowest rank, the mean over ranks of the time in all-reduces, and results
 * that are the same on all ranks. */
static void report(const struct grid* grid, const struct options* options,
                   const struct outcome* outcome) {
  double seconds = 0, collective = 0;
  MPI_Reduce(&outcome->seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, grid->comm);
  MPI_Reduce(&outcome->collective_seconds, &collective, 1, MPI_DOUBLE, MPI_SUM, 0, grid->comm);
  if (grid->rank != 0) return;
  printf("method           %s\n", options->method->name);
  printf("ranks            %d (%d x %d x %d)\n", grid->ranks, grid->boxes[0], grid->boxes[1],
         grid->boxes[2]);
  printf("cells_per_rank   %d^3\n", options->cells);
  printf("problems         %d\n", options->problems);
  printf("iterations       %ld\n", outcome->iterations);
  printf("true_residual    %.3e\n", outcome->true_residual);
  printf("seconds          %.6f\n", seconds);
  printf("collectives      %.6f\n", collective / grid->ranks);
  if (outcome->failures)
    fprintf(stderr, "cg: %d of %d problems did not reach %g in %d iterations\n", outcome->failures,
            options->problems, options->tolerance, options->limit);
}

static int run(const struct options* options) {
  struct grid grid;
  FILE* file = NULL;
  grid_init(&grid, options->cells);
  int opened = 1;
  if (options->history_file && grid.rank == 0) {
    file = fopen(options->history_file, "w");
    if (!file) fprintf(stderr, "cg: cannot write %s\n", options->history_file);
    opened = file != NULL;
  }
  MPI_Bcast(&opened, 1, MPI_INT, 0, grid.comm);
  int status = 1;
  if (opened) {
    const struct outcome outcome = solve_all(&grid, options, file);
    report(&grid, options, &outcome);
    /* The residual of the recurrence may differ from the true one only by rounding errors. */
    status = outcome.failures || !(outcome.true_residual < 10 * options->tolerance);
  }
  if (file && fclose(file)) status = 1;
  grid_free(&grid);
  return status;
}

int main(int argc, char** argv) {
  struct options options;
  int rank, status = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parse_options(argc, argv, &options))
    status = run(&options);
  else if (rank == 0)
    fputs(kUsage, stderr);
  MPI_Finalize();
  return status;
}
