// Reads a source in a thread of its own, a bounded number of bytes ahead of whoever takes them.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "layer/byte_source.hpp"

namespace coracle::layer {

class ReadAhead final : public ByteSource {
public:
    // `inner` must outlive it, and is read by nobody else.
    explicit ReadAhead(ByteSource& inner);
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;
    ~ReadAhead() override;  // waits for the read that is under way

    Result<std::size_t> read(std::span<char> buffer) override;

private:
    static constexpr std::size_t slots = 8;
    static constexpr std::size_t slot_size = std::size_t{1} << 17U;
    struct Slot {
        std::vector<char> bytes = std::vector<char>(slot_size);
        std::size_t size = 0;
    };

    void fill();  // the thread
    Result<std::size_t> fill_slot(Slot& slot);

    ByteSource& inner_;
    std::array<Slot, slots> ring_;
    std::size_t taken_ = 0;   // slots that were emptied, ever; guarded like all below
    std::size_t filled_ = 0;  // slots that were filled, ever
    bool ended_ = false;
    bool unwanted_ = false;
    std::optional<Error> error_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t at_ = 0;  // in the slot that is being emptied; the reader's own
    std::thread thread_;
};

}  // namespace coracle::layer
