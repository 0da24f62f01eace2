// Reads one output stream of the program to its end: keeps the head up to a cap, counts everything.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "coracle/units.hpp"

namespace coracle::supervisor {

class Capture {
public:
    Capture(base::UniqueFd pipe, Bytes cap) : pipe_(std::move(pipe)), cap_(cap) {}

    // -1 once the stream has ended.
    int fd() const { return pipe_.get(); }
    // Takes what is there without waiting (a few reads at most, so that one loud stream cannot starve the clock).
    void read_some();
    void close() { pipe_.reset(); }

    std::string take() && { return std::move(kept_); }
    std::uint64_t total() const { return total_; }
    bool truncated() const { return total_ > kept_.size(); }

private:
    base::UniqueFd pipe_;
    Bytes cap_;
    std::string kept_;
    std::uint64_t total_ = 0;
};

// A pipe whose read end does not block; `write` is for the program.
struct OutputPipe {
    base::UniqueFd read;
    base::UniqueFd write;
};
Result<OutputPipe> make_output_pipe();

}  // namespace coracle::supervisor
