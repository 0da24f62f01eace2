// Implements the reading ahead: a ring of buffers between two threads.
#include "layer/read_ahead.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace coracle::layer {

ReadAhead::ReadAhead(ByteSource& inner) : inner_(inner), thread_([this] { fill(); }) {}

ReadAhead::~ReadAhead() {
    {
        const std::lock_guard lock(mutex_);
        unwanted_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

// Full slots, so that the two threads meet seldom.
Result<std::size_t> ReadAhead::fill_slot(Slot& slot) {
    std::size_t size = 0;
    while (size < slot_size) {
        TRY(const std::size_t got, inner_.read(std::span(slot.bytes).subspan(size)));
        if (got == 0) break;
        size += got;
    }
    return size;
}

void ReadAhead::fill() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return unwanted_ || filled_ - taken_ < slots; });
        if (unwanted_) return;
        Slot& slot = ring_[filled_ % slots];
        lock.unlock();
        auto size = fill_slot(slot);
        lock.lock();
        if (!size) error_ = std::move(size).error();
        ended_ = !size || size.value() < slot_size;
        if (size) slot.size = size.value();
        if (size) ++filled_;
        const bool done = ended_;
        lock.unlock();
        changed_.notify_all();
        if (done) return;
    }
}

Result<std::size_t> ReadAhead::read(std::span<char> buffer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || filled_ > taken_; });
    if (filled_ == taken_) {
        if (error_) return *error_;
        return std::size_t{0};
    }
    Slot& slot = ring_[taken_ % slots];
    lock.unlock();
    const std::size_t count = std::min(buffer.size(), slot.size - at_);
    std::copy_n(slot.bytes.begin() + static_cast<std::ptrdiff_t>(at_), count, buffer.begin());
    at_ += count;
    if (at_ < slot.size) return count;
    at_ = 0;
    lock.lock();
    ++taken_;
    lock.unlock();
    changed_.notify_all();
    if (count == 0 && !buffer.empty()) return read(buffer);  // an empty last slot
    return count;
}

}  // namespace coracle::layer
