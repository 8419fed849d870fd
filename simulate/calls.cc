// SPDX-License-Identifier: BSD-3-Clause
// Sumac in front of SMPI: MPI's functions for programs that are linked to this file's object. It
// must be the object, or a library of objects: preloading does not reach simulated ranks. Served
// are all-reduces, reductions, broadcasts and barriers of whole elements; a communicator is set up
// at its first blocking one. SUMAC_SIMULATION names the job (job.h); without it all calls are
// SMPI's, whose reductions charge for folding as Sumac's do.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "observe/log.h"
#include "simulate/charge.h"
#include "simulate/job.h"
#include "simulate/smpi_calls.h"

namespace sumac::simulated {
namespace {

// A nonblocking call: what the program's MPI_Request points to.
struct Active {
  Work work;
  Communicator* communicator = nullptr;
};

// The job that SUMAC_SIMULATION names; null where there is none. All ranks end if it cannot be
// read.
const Job* named_job() {
  const char* const path = std::getenv("SUMAC_SIMULATION");
  if (!path) return nullptr;
  static const std::unique_ptr<const Job> job = [&]() -> std::unique_ptr<const Job> {
    try {
      return std::make_unique<const Job>(read_job(path));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "sumac: error[simulation]: %s: %s\n", path, error.what());
      PMPI_Abort(MPI_COMM_WORLD, 2);
      return nullptr;
    }
  }();
  return job.get();
}

// Of one rank.
struct Program {
  std::unique_ptr<Process> process;  // null: all calls are SMPI's
  std::map<MPI_Comm, std::unique_ptr<Communicator>> communicators;
  std::map<MPI_Request, std::unique_ptr<Active>> active;
  MPI_Op ops[kNumOps] = {};
};

// Of the calling rank; null outside of MPI_Init and MPI_Finalize. Ranks may share globals or not.
std::unique_ptr<Program>& own_program() {
  static std::map<int, std::unique_ptr<Program>> programs;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return programs[rank];
}

void begin_program() {
  set_log(Level::warn, 0);
  auto& program = own_program();
  program = std::make_unique<Program>();
  for (int op = 0; op < kNumOps; ++op) program->ops[op] = make_charged_op(static_cast<Op>(op));
  const Job* const job = named_job();
  if (job) program->process = std::make_unique<Process>(job->settings);
}

void end_program() {
  auto& program = own_program();
  program->communicators.clear();
  for (MPI_Op& op : program->ops) PMPI_Op_free(&op);
  program.reset();
}

// The communicator as Sumac knows it; null where it serves none. `may_set_up`: all its ranks are in
// this call, and wait for one another.
Communicator* find(MPI_Comm comm, bool may_set_up) {
  const auto& program = own_program();
  if (!program || !program->process) return nullptr;
  const auto known = program->communicators.find(comm);
  if (known != program->communicators.end()) {
    return known->second->is_served() ? known->second.get() : nullptr;
  }
  if (!may_set_up) return nullptr;
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_dup(comm, &own);
  auto& made = program->communicators[comm];
  made = std::make_unique<Communicator>(*program->process, own);
  return made->is_served() ? made.get() : nullptr;
}

// The operation that charges, for the MPI's own reductions.
MPI_Op charged(MPI_Op op, MPI_Datatype type) {
  const auto& program = own_program();
  const Op own = operation_of(op);
  const bool known = program && own != Op::none && element_of(type) != DType::none;
  return known ? program->ops[static_cast<int>(own)] : op;
}

std::size_t bytes_of(const Call& call) {
  if (!call.collective_info().has_data) return 0;
  int size = 0;
  PMPI_Type_size(to_native(call.receive.type), &size);
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(call.receive.count);
}

bool is_plain(const Call& call) {
  if (!call.collective_info().has_data) return true;
  if (call.receive.count <= 0) return false;
  if (call.collective_info().reduces) {
    const DType type = element_of(to_native(call.receive.type));
    return type != DType::none && is_defined(operation_of(to_native(call.op)), type);
  }
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(to_native(call.receive.type), &lower, &extent);
  int size = 0;
  PMPI_Type_size(to_native(call.receive.type), &size);
  return lower == 0 && extent == size;
}

CallArguments arguments_of(const Call& call, const Communicator& communicator, int radix) {
  if (!call.collective_info().has_data) return {};
  auto* const to = static_cast<std::byte*>(call.receive.address);
  if (call.collective_info().arguments == ArgumentKind::bcast) {
    return BcastArguments{to, bytes_of(call), call.root, radix};
  }
  ReduceArguments args;
  args.radix = radix;
  const bool in_place = call.send.address == MPI_IN_PLACE;
  args.output = gets_result(call.collective(), communicator.team.rank, call.root) ? to : nullptr;
  args.input = in_place ? args.output : static_cast<const std::byte*>(call.send.address);
  args.count = static_cast<std::size_t>(call.receive.count);
  const DType type = element_of(to_native(call.receive.type));
  args.element = size_of(type);
  args.kernel = charged_kernel(operation_of(to_native(call.op)), type);
  args.root = call.root;
  return args;
}

// The call as Sumac carries it out; none where it is the MPI's.
std::optional<ChosenCall> describe(const Call& call, const Communicator& communicator) {
  if (!is_plain(call)) return std::nullopt;
  const Choice& choice = communicator.choose(call.collective(), bytes_of(call));
  if (choice.algorithm == Algorithm::native) return std::nullopt;
  return ChosenCall{arguments_of(call, communicator, choice.radix), call.collective(), choice};
}

// True where Sumac has made the call.
bool run(const Call& call) {
  Communicator* const communicator = find(to_native(call.comm), true);
  if (!communicator) return false;
  const auto chosen = describe(call, *communicator);
  if (chosen) communicator->run(*chosen);
  return chosen.has_value();
}

bool start(const Call& call) {
  Communicator* const communicator = find(to_native(call.comm), false);
  if (!communicator) return false;
  const auto chosen = describe(call, *communicator);
  if (!chosen) return false;
  auto active = std::make_unique<Active>();
  active->communicator = communicator;
  communicator->start(active->work, *chosen);
  const auto request = reinterpret_cast<MPI_Request>(active.get());
  *to_native(call.request) = request;
  own_program()->active.emplace(request, std::move(active));
  return true;
}

// A call of the program, which SMPI makes where Sumac does not.
template <Function function, Form form, class = FirstOf<function, int>, class = LastOf<form>>
struct Served;

template <Function function, Form form, class... Arguments, class... Last>
struct Served<function, form, std::tuple<Arguments...>, std::tuple<Last...>> {
  static int call(NativeOf<Arguments>... arguments, NativeOf<Last>... last) {
    Call made{smpi_call(function, form)};
    Signature<function, int>::read(made, from_native<Arguments>(arguments)...);
    Ending<form>::read(made, from_native<Last>(last)...);
    if (form == Form::blocking ? run(made) : start(made)) return MPI_SUCCESS;
    made.op = from_native<MpiOp>(charged(to_native(made.op), to_native(made.receive.type)));
    return made.kind.below(made);
  }
};

Active* find(MPI_Request request) {
  const auto& program = own_program();
  if (!program) return nullptr;
  const auto known = program->active.find(request);
  return known == program->active.end() ? nullptr : known->second.get();
}

void forget(MPI_Request* request) {
  own_program()->active.erase(*request);
  *request = MPI_REQUEST_NULL;
}

// Waits for a request of Sumac's. For one of the MPI's, what is under way of Sumac's goes on
// meanwhile: other ranks may wait for it before they send what this one waits for.
int wait(MPI_Request* request, MPI_Status* status) {
  const auto& program = own_program();
  if (Active* const active = find(*request)) {
    active->communicator->wait_for(active->work);
    forget(request);
    return MPI_SUCCESS;
  }
  if (*request == MPI_REQUEST_NULL || !program || !program->process) {
    return PMPI_Wait(request, status);
  }
  program->process->wait_for(*request, status);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace sumac::simulated

using sumac::Form;
using sumac::Function;
using sumac::simulated::Served;

#define SUMAC_CALL extern "C" __attribute__((visibility("default"))) int

SUMAC_CALL MPI_Init(int* argc, char*** argv) {
  const int error = PMPI_Init(argc, argv);
  sumac::simulated::begin_program();
  return error;
}

SUMAC_CALL MPI_Finalize() {
  sumac::simulated::end_program();
  return PMPI_Finalize();
}

SUMAC_CALL MPI_Comm_free(MPI_Comm* comm) {
  const auto& program = sumac::simulated::own_program();
  if (program) program->communicators.erase(*comm);
  return PMPI_Comm_free(comm);
}

SUMAC_CALL MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  return Served<Function::allreduce, Form::blocking>::call(from, to, count, type, op, comm);
}

SUMAC_CALL MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm) {
  return Served<Function::reduce, Form::blocking>::call(from, to, count, type, op, root, comm);
}

SUMAC_CALL MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return Served<Function::bcast, Form::blocking>::call(data, count, type, root, comm);
}

SUMAC_CALL MPI_Barrier(MPI_Comm comm) {
  return Served<Function::barrier, Form::blocking>::call(comm);
}

SUMAC_CALL MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request* request) {
  return Served<Function::allreduce, Form::nonblocking>::call(from, to, count, type, op, comm,
                                                              request);
}

SUMAC_CALL MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm, MPI_Request* request) {
  return Served<Function::reduce, Form::nonblocking>::call(from, to, count, type, op, root, comm,
                                                           request);
}

SUMAC_CALL MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request* request) {
  return Served<Function::bcast, Form::nonblocking>::call(data, count, type, root, comm, request);
}

SUMAC_CALL MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return Served<Function::barrier, Form::nonblocking>::call(comm, request);
}

SUMAC_CALL MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return sumac::simulated::wait(request, status);
}

SUMAC_CALL MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    const int each = sumac::simulated::wait(&requests[i], status);
    if (each != MPI_SUCCESS) error = each;
  }
  return error;
}

SUMAC_CALL MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const auto& program = sumac::simulated::own_program();
  if (program && program->process) program->process->look();
  sumac::simulated::Active* const active = sumac::simulated::find(*request);
  if (!active) return PMPI_Test(request, flag, status);
  *flag = active->work.ended;
  if (*flag) sumac::simulated::forget(request);
  return MPI_SUCCESS;
}
