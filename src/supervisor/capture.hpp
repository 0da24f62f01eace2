// Reads one output stream of the program to its end: keeps its beginning and end up to a cap, counts everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"
#include "coracle/request.hpp"

namespace coracle::supervisor {

class Capture {
public:
    Capture(base::UniqueFd pipe, Bytes cap, OutputExcess excess = OutputExcess::truncate);

    // -1 once the stream has ended.
    int fd() const { return pipe_.get(); }
    // Takes what is there without waiting (a few reads at most, so that one loud stream cannot starve the clock).
    void read_some();
    void close() { pipe_.reset(); }

    std::uint64_t total() const { return total_; }
    // More came than may, and the caller wants the run to end then.
    bool must_end() const { return excess_ == OutputExcess::kill && total_ > cap_.count; }

    struct Kept {
        std::string data;
        std::optional<std::uint64_t> omitted_at;  // where in data bytes are missing
    };
    Kept take() &&;

private:
    void keep(std::string_view bytes);

    base::UniqueFd pipe_;
    Bytes cap_;
    OutputExcess excess_;
    std::size_t head_cap_;
    std::size_t tail_cap_;
    std::string head_;
    std::string tail_;  // up to twice tail_cap_, so that its front is cut off seldom
    std::uint64_t total_ = 0;
};

// A pipe whose read end does not block; `write` is for the program.
struct OutputPipe {
    base::UniqueFd read;
    base::UniqueFd write;
};
Result<OutputPipe> make_output_pipe();

}  // namespace coracle::supervisor
