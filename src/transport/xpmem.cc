// SPDX-License-Identifier: BSD-3-Clause
#include "transport/xpmem.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/cpu.h"

namespace sumac {
namespace {

constexpr char kDevice[] = "/dev/xpmem", kName[] = "libxpmem.so.0";
constexpr int kReadAndWrite = 2, kByMode = 1;
constexpr std::uintptr_t kOnlyThisUser = 0600;
constexpr std::size_t kAllAddresses = ~std::size_t{0};

bool find_functions(void* library, XpmemLibrary& found) {
  const auto find = [library](const char* name, auto& function) {
    void* const address = dlsym(library, name);
    std::memcpy(&function, &address, sizeof address);
    return address != nullptr;
  };
  return find("xpmem_version", found.version) && find("xpmem_make", found.make) &&
         find("xpmem_get", found.get) && find("xpmem_release", found.release) &&
         find("xpmem_attach", found.attach) && find("xpmem_detach", found.detach);
}

// Windows take up addresses. Under a limit on these the program might lack them.
bool addresses_are_limited() {
  rlimit limit = {};
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

std::atomic<const Xpmem*> the_xpmem{nullptr};

class XpmemWindows final : public PeerWindows {
 public:
  XpmemWindows(const Key& key, const XpmemLibrary& library, std::int64_t permit)
      : PeerWindows(key), library_(library), permit_(permit) {}
  ~XpmemWindows() override {
    for_all([this](std::byte* memory) { library_.detach(memory); });
    library_.release(permit_);
  }

 private:
  // The last window ends beyond the addresses that a process may use, which are a page less than a
  // power of two on x86-64.
  std::byte* map(std::uint64_t number) override {
    const XpmemLibrary::Place place{permit_, static_cast<off_t>(number * kPeerWindow)};
    for (const std::size_t bytes : {kPeerWindow, kPeerWindow - kPage}) {
      void* const memory = library_.attach(place, bytes, nullptr);
      if (memory != reinterpret_cast<void*>(-1)) return static_cast<std::byte*>(memory);
    }
    return nullptr;
  }

  bool show(const Window&, std::size_t, std::size_t, std::size_t) override { return true; }

  const XpmemLibrary& library_;
  const std::int64_t permit_;
};

}  // namespace

const Xpmem* Xpmem::open_now(const char* stand_in) {
  const bool real = !stand_in || !*stand_in;
  if (addresses_are_limited() || (real && access(kDevice, R_OK | W_OK) != 0)) return nullptr;
  void* const library = dlopen(real ? kName : stand_in, RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  auto* const opened = new Xpmem;
  opened->stand_in_ = !real;
  opened->process_ = getpid();
  if (find_functions(library, opened->library_) && opened->library_.version() >= 0) {
    opened->segment_ = opened->library_.make(nullptr, kAllAddresses, kByMode,
                                             reinterpret_cast<void*>(kOnlyThisUser));
  }
  if (opened->segment_ > 0) return opened;
  delete opened;
  return nullptr;
}

const Xpmem* Xpmem::open(const char* stand_in) {
  static const Xpmem* const opened = the_xpmem = open_now(stand_in);
  return opened;
}

const Xpmem* Xpmem::opened() { return the_xpmem; }

bool Xpmem::works() const { return library_.version() >= 0 && getpid() == process_; }

AllWindows Xpmem::windows_on(const std::vector<std::int64_t>& segments, int own_rank) const {
  constexpr std::uint64_t kNoDevice = ~std::uint64_t{0};  // files have other keys
  AllWindows all(segments.size());
  for (std::size_t r = 0; r < segments.size(); ++r) {
    if (static_cast<int>(r) == own_rank || segments[r] <= 0) continue;
    const PeerWindows::Key key{kNoDevice, static_cast<std::uint64_t>(segments[r])};
    all[r] = PeerWindows::shared(key, [&]() -> std::shared_ptr<PeerWindows> {
      const std::int64_t permit = library_.get(segments[r], kReadAndWrite, kByMode, nullptr);
      if (permit <= 0) return nullptr;
      return std::make_shared<XpmemWindows>(key, library_, permit);
    });
  }
  return all;
}

}  // namespace sumac
