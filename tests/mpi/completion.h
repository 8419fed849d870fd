// SPDX-License-Identifier: BSD-3-Clause
// Completes requests in every way that MPI has, and checks the statuses against the standard.
#pragma once

#include <sched.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cases.h"

namespace test {

// An operation that was started: its request, and what to check when it has ended.
class Work {
 public:
  MPI_Request request = MPI_REQUEST_NULL;
  virtual ~Work() = default;
  virtual bool is_persistent() const { return false; }
  virtual void ended(const char* how) = 0;
  // Checks fields that only some statuses have: a receive's status has source, tag and length. In
  // the status of a send or of a collective these fields are undefined.
  virtual void look_at(const MPI_Status&) {}
};

// A call of a case that was begun.
class Begun : public Work {
 public:
  Begun(const Case& c, const Group& group) : call_(c, group) {
    CHECK(call_.begin() == MPI_SUCCESS, "%s", call_.text().c_str());
    request = call_.request;
    call_.request = MPI_REQUEST_NULL;
  }
  ~Begun() override {
    if (is_persistent() && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  bool is_persistent() const override { return call_.of().form == Form::persistent; }
  void ended(const char* how) override { call_.check(how); }
  Call& call() { return call_; }

 private:
  Call call_;
};

inline constexpr int kUntouched = 77;  // value of MPI_ERROR before the call

// Only functions that return arrays of statuses set MPI_ERROR, and only if a request failed; and
// the empty status of a null request may have it.
enum class Statuses { kOne, kArray };

inline void check_error_field(const MPI_Status& status, Statuses kind, const char* how) {
  const int error = status.MPI_ERROR;
  CHECK(error == kUntouched || (kind == Statuses::kArray && error == MPI_SUCCESS), "%d after %s",
        error, how);
}

inline void check_not_cancelled(const MPI_Status& status, const char* how) {
  int cancelled = -1;
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled == 0, "%d after %s", cancelled, how);
}

inline void check_empty(const MPI_Status& status, const char* how) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0,
        "source %d, tag %d, %d bytes after %s", status.MPI_SOURCE, status.MPI_TAG, count, how);
  check_not_cancelled(status, how);
}

// Several requests, some of them null, completed together. The random choices are this rank's own:
// ranks need not agree.
class Batch {
 public:
  // With `patient`, goes on until all requests have ended. The `request` of a Work that has not
  // ended stays valid.
  Batch(const std::vector<Work*>& works, Random& random, bool patient)
      : random_(random), patient_(patient), ignore_(random.below(4) == 0) {
    for (Work* work : works) {
      while (random.below(6) == 0) add(nullptr);
      add(work);
      ++left_;
    }
    if (random.below(3) == 0) add(nullptr);
    statuses_.resize(requests_.size());
    indices_.resize(requests_.size());
  }

  // Returns the operations that have ended.
  const std::vector<Work*>& complete() {
    using Way = void (Batch::*)();
    constexpr Way kWays[] = {&Batch::wait,     &Batch::waitall,  &Batch::waitany,
                             &Batch::waitsome, &Batch::test,     &Batch::testall,
                             &Batch::testany,  &Batch::testsome, &Batch::get_status};
    const Way way = kWays[random_.below(std::size(kWays))];
    (this->*(way == &Batch::testall && !testall_is_right() ? &Batch::waitall : way))();
    for (std::size_t i = 0; i < works_.size(); ++i) {
      if (works_[i]) works_[i]->request = requests_[i];
    }
    if (patient_ && left_ == 0) complete_nothing();
    return ended_;
  }

 private:
  void add(Work* work) {
    works_.push_back(work);
    requests_.push_back(work ? work->request : MPI_REQUEST_NULL);
  }
  int size() const { return static_cast<int>(requests_.size()); }
  // MPICH's MPI_Testall fails when some of its own persistent collectives end before others.
  bool testall_is_right() const {
#ifdef OPEN_MPI
    return true;
#else
    return require_taken || std::none_of(works_.begin(), works_.end(), [](const Work* work) {
             return work && work->is_persistent();
           });
#endif
  }
  bool goes_on() const { return left_ > 0 && (patient_ || ended_.empty()); }

  void prepare() {
    for (MPI_Status& status : statuses_) {
      std::memset(&status, 0, sizeof status);
      status.MPI_ERROR = kUntouched;
    }
  }
  MPI_Status* status() { return ignore_ ? MPI_STATUS_IGNORE : statuses_.data(); }
  MPI_Status* statuses() { return ignore_ ? MPI_STATUSES_IGNORE : statuses_.data(); }

  // Request `i` has ended. Its status, unless ignored, is `statuses_[at]`.
  void over(std::size_t i, std::size_t at, Statuses kind, const char* how) {
    Work* work = works_[i];
    const MPI_Status& status = statuses_[at];
    if (!ignore_) check_error_field(status, work ? kind : Statuses::kArray, how);
    if (!ignore_ && !work) check_empty(status, how);
    if (!work) return;
    if (!ignore_) check_not_cancelled(status, how);
    if (!ignore_) work->look_at(status);
    if (work->is_persistent()) {
      CHECK(requests_[i] == work->request, "after %s", how);
      requests_[i] = MPI_REQUEST_NULL;  // MPICH's own inactive requests break the standard
    } else {
      CHECK(requests_[i] == MPI_REQUEST_NULL, "after %s", how);
      work->request = MPI_REQUEST_NULL;
    }
    work->ended(how);
    ended_.push_back(work);
    works_[i] = nullptr;
    --left_;
  }
  void all_over(const char* how) {
    for (std::size_t i = 0; i < works_.size(); ++i) over(i, i, Statuses::kArray, how);
  }
  void some_over(int count, const char* how) {
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(indices_[static_cast<std::size_t>(k)]);
      if (!CHECK(works_[i], "a null request ended by %s", how)) continue;
      over(i, static_cast<std::size_t>(k), Statuses::kArray, how);
    }
  }
  void any_over(int index, const char* how) {
    const auto i = static_cast<std::size_t>(index);
    if (!CHECK(index >= 0 && index < size() && works_[i], "%d after %s", index, how)) return;
    over(i, 0, Statuses::kOne, how);
  }
  // Where processors are shared with others, the ranks that are waited for get one only when this
  // one sleeps.
  void pause() {
    if (random_.below(3)) sched_yield();
    if (++pauses_ > kBusy) usleep(50);
  }

  void wait() {
    for (std::size_t i = 0; i < works_.size() && goes_on(); ++i) {
      prepare();
      MPI_Wait(&requests_[i], status());
      over(i, 0, Statuses::kOne, "MPI_Wait");
    }
  }
  void waitall() {
    prepare();
    MPI_Waitall(size(), requests_.data(), statuses());
    all_over("MPI_Waitall");
  }
  void waitany() {
    while (goes_on()) {
      int index = -1;
      prepare();
      MPI_Waitany(size(), requests_.data(), &index, status());
      any_over(index, "MPI_Waitany");
    }
  }
  void waitsome() {
    while (goes_on()) {
      int count = -1;
      prepare();
      MPI_Waitsome(size(), requests_.data(), &count, indices_.data(), statuses());
      CHECK(count > 0 && count <= left_, "%d of %d", count, left_);
      some_over(count, "MPI_Waitsome");
    }
  }
  void test() {
    while (goes_on()) {
      for (std::size_t i = 0; i < works_.size() && goes_on(); ++i) {
        int flag = 0;
        prepare();
        MPI_Test(&requests_[i], &flag, status());
        if (flag) over(i, 0, Statuses::kOne, "MPI_Test");
        CHECK(flag || works_[i], "a null request is not over");
      }
      pause();
    }
  }
  void testall() {
    for (int flag = 0; !flag; pause()) {
      const std::vector<MPI_Request> before = requests_;
      prepare();
      MPI_Testall(size(), requests_.data(), &flag, statuses());
      if (flag) all_over("MPI_Testall");
      CHECK(flag || requests_ == before, "requests changed by MPI_Testall");
    }
  }
  void testany() {
    while (goes_on()) {
      int index = -1, flag = 0;
      prepare();
      MPI_Testany(size(), requests_.data(), &index, &flag, status());
      if (flag) any_over(index, "MPI_Testany");
      CHECK(flag || index == MPI_UNDEFINED, "%d", index);
      pause();
    }
  }
  void testsome() {
    while (goes_on()) {
      int count = -1;
      prepare();
      MPI_Testsome(size(), requests_.data(), &count, indices_.data(), statuses());
      CHECK(count >= 0 && count <= left_, "%d of %d", count, left_);
      some_over(count, "MPI_Testsome");
      pause();
    }
  }
  // Calls MPI_Request_get_status until the request is complete; MPI_Test must then agree. The
  // status that MPI_Request_get_status returns is not checked, because MPICH sets none for its
  // collectives.
  void get_status() {
    for (std::size_t i = 0; i < works_.size() && goes_on(); ++i) {
      const MPI_Request before = requests_[i];
      for (int flag = 0; !flag; pause()) MPI_Request_get_status(requests_[i], &flag, status());
      CHECK(requests_[i] == before, "request changed by MPI_Request_get_status");
      int flag = 0;
      prepare();
      MPI_Test(&requests_[i], &flag, status());
      // MPICH 5's MPI_Request_get_status makes its persistent requests inactive.
      const bool persistent = works_[i] && works_[i]->is_persistent();
      const Statuses kind = persistent ? Statuses::kArray : Statuses::kOne;
      if (CHECK(flag, "after MPI_Request_get_status")) over(i, 0, kind, "MPI_Test");
    }
  }

  // All requests are null now: every function must return at once with an empty status.
  void complete_nothing() {
    MPI_Status empty;
    int index = 0, flag = 0, count = 0;
    MPI_Waitany(size(), requests_.data(), &index, &empty);
    CHECK(index == MPI_UNDEFINED, "%d", index);
    check_empty(empty, "MPI_Waitany");
    MPI_Testany(size(), requests_.data(), &index, &flag, &empty);
    CHECK(flag && index == MPI_UNDEFINED, "%d %d", flag, index);
    check_empty(empty, "MPI_Testany");
    MPI_Waitsome(size(), requests_.data(), &count, indices_.data(), MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED, "%d", count);
    MPI_Testsome(size(), requests_.data(), &count, indices_.data(), MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED, "%d", count);
    MPI_Testall(size(), requests_.data(), &flag, MPI_STATUSES_IGNORE);
    CHECK(flag, "null requests");
  }

  static constexpr int kBusy = 30;

  Random& random_;
  int pauses_ = 0;
  const bool patient_, ignore_;
  int left_ = 0;
  std::vector<Work*> works_, ended_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> indices_;
};

// All operations that were started and have not ended.
class Pending {
 public:
  explicit Pending(Random& random) : random_(random) {}
  std::size_t size() const { return works_.size(); }
  void add(std::unique_ptr<Work> work) { works_.push_back(std::move(work)); }

  // Completes a random selection.
  void complete_some() {
    std::vector<Work*> chosen;
    const std::size_t one_in = 1 + random_.below(4);
    for (const auto& work : works_) {
      if (random_.below(one_in) == 0) chosen.push_back(work.get());
    }
    complete(chosen, random_.below(2) == 0);
  }
  void complete_all() {
    while (!works_.empty()) complete_some();
  }
  void complete_one(const Work& work) {
    std::vector<Work*> chosen;
    for (const auto& each : works_) {
      if (each.get() == &work) chosen.push_back(each.get());
    }
    complete(chosen, true);
  }

 private:
  void complete(std::vector<Work*>& chosen, bool patient) {
    for (std::size_t i = chosen.size(); i > 1; --i) {
      std::swap(chosen[i - 1], chosen[random_.below(i)]);
    }
    Batch batch(chosen, random_, patient);
    for (const Work* ended : batch.complete()) {
      std::erase_if(works_, [ended](const auto& work) { return work.get() == ended; });
    }
  }

  Random& random_;
  std::vector<std::unique_ptr<Work>> works_;
};

}  // namespace test
