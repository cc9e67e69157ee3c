// Intrusive reference counting for the objects of C handles.

#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tenon {

// The type tag of an object with a C handle. A check of the tag detects a handle of the wrong type
// and, in debug builds, a released handle (see pool.h).
enum class Kind : uint32_t {
  kDead = 0xdeadbeef,
  kTensor = 0x7e500001,
  kVariable,
  kGenerator,
  kContext,
  kScope,
  kTape,
  kDevice,
  kSafetensors,
  kVariableGradients,
  kTracer,
  kFunction,
  kTrace,
  kProgram,
  kProfiler,
  kOrder,
  kStream,
  kEvent,
};

class Object {
 public:
  explicit Object(Kind kind) : kind_(kind) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Kind kind() const { return kind_; }
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  uint32_t owners() const { return count_.load(std::memory_order_acquire); }

  // Gives up the ownership of one owner. Returns true if it was the last owner. A sole owner needs
  // no atomic subtraction, because no other thread can change the count.
  bool drop() const {
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // Resets the count to 1 for an object whose last owner is gone.
  void revive() const { count_.store(1, std::memory_order_relaxed); }

 protected:
  // Volatile, because a compiler may omit stores to an object whose lifetime ends.
  ~Object() { *const_cast<volatile Kind*>(&kind_) = Kind::kDead; }

 private:
  mutable std::atomic<uint32_t> count_{1};
  Kind kind_;
};

// A reference to a T with retain() and release(). A new object has one owner: adopt it.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  // Takes over the ownership of the caller.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  // Adds an owner.
  static Ref share(T* object) {
    if (object) object->retain();
    return adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Returns the object without releasing it.
  T* leak() { return std::exchange(object_, nullptr); }
  void reset() { *this = Ref(); }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace tenon
