// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_mappings.h"

#include <gtest/gtest.h>

namespace sumac {
namespace {

const std::byte* at(std::uintptr_t address) { return reinterpret_cast<const std::byte*>(address); }

TEST(SharedMappings, ABufferIsToldByItsFile) {
  SharedMappings own;
  EXPECT_EQ(own.place_of(at(0x10000), 1).file, 0u);
  own.add({0x10000, 0x18000, 0x2000, 7});
  EXPECT_EQ(own.place_of(at(0x10000), 0x8000).file, 7u);
  EXPECT_EQ(own.place_of(at(0x17fff), 1).base, 0x10000u - 0x2000);
  EXPECT_EQ(own.place_of(at(0x10000), 0x8001).file, 0u);
  EXPECT_EQ(own.place_of(at(0x0ffff), 2).file, 0u);
  EXPECT_EQ(own.place_of(at(0x18000), 1).file, 0u);
}

// The peer maps another part of the file, at another address.
TEST(SharedMappings, APeersBufferIsFoundInTheOwnMapping) {
  SharedMappings peer, own;
  peer.add({0x10000, 0x18000, 0x2000, 7});
  own.add({0x500000, 0x504000, 0x1000, 8});
  own.add({0x700000, 0x704000, 0x3000, 7});
  const SharedPlace place = peer.place_of(at(0x11000), 0x3000);
  EXPECT_EQ(own.find(place, 0x11000, 0x3000), at(0x700000));
  EXPECT_EQ(own.find(place, 0x11234, 0x100), at(0x700234));
  EXPECT_EQ(own.find(place, 0x14fff, 1), at(0x703fff));
  EXPECT_EQ(own.find(place, 0x14fff, 2), nullptr) << "behind what is mapped here";
  EXPECT_EQ(own.find(place, 0x10fff, 8), nullptr) << "before it";
  EXPECT_EQ(own.find({9, place.base}, 0x11000, 1), nullptr);
}

TEST(SharedMappings, WhatIsRemovedIsNotFound) {
  SharedMappings own;
  const SharedMapping mapping{0x10000, 0x18000, 0, 7};
  own.add(mapping);
  own.add(mapping);  // the mapping belongs to two windows
  own.remove(mapping);
  const SharedPlace place = own.place_of(at(0x10000), 1);
  EXPECT_EQ(place.file, 7u);
  own.remove(mapping);
  EXPECT_EQ(own.place_of(at(0x10000), 1).file, 0u);
  EXPECT_EQ(own.find(place, 0x10000, 1), nullptr);
}

class Other final : public PeerMemory {
 public:
  std::byte* view(int, std::uintptr_t, std::size_t) override { return &seen; }
  bool read(int, std::uintptr_t, void*, std::size_t) override { return true; }
  bool write(int, std::uintptr_t, const void*, std::size_t) override { return false; }
  std::byte seen{};
};

TEST(SharedViews, OnlyTheBuffersToldAreSharedOnes) {
  const SharedMapping mapping{0x10000, 0x18000, 0, 77};
  shared_mappings().add(mapping);
  Other other;
  SharedViews views(other);
  views.add(1, 0x90000, 0x1000, {});
  EXPECT_TRUE(views.empty());
  views.add(1, 0x90000, 0x1000, {77, 0x8f000});
  EXPECT_FALSE(views.empty());
  EXPECT_EQ(views.view(1, 0x90010, 16), at(0x11010));
  EXPECT_EQ(views.view(2, 0x90010, 16), &other.seen) << "another peer's";
  EXPECT_EQ(views.view(1, 0x91000, 16), &other.seen) << "behind the buffer";
  shared_mappings().remove(mapping);
  EXPECT_EQ(views.view(1, 0x90010, 16), nullptr) << "it is copied";
}

}  // namespace
}  // namespace sumac
