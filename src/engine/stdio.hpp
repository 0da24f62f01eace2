// The three streams of one run.
#pragma once

#include <optional>

#include "base/unique_fd.hpp"
#include "coracle/request.hpp"
#include "coracle/result.hpp"
#include "plan/plan.hpp"
#include "supervisor/capture.hpp"

namespace coracle::engine {

// The program's three descriptors and, in capture mode, our reading ends.
struct Stdio {
    base::UniqueFd null;
    supervisor::OutputPipe out_pipe;
    supervisor::OutputPipe err_pipe;
    std::optional<supervisor::Capture> out;
    std::optional<supervisor::Capture> err;
    int in_fd = -1;
    int out_fd = -1;
    int err_fd = -1;

    // The write ends are the program's alone from the start on; with ours open the streams would never end.
    void hand_over() {
        out_pipe.write.reset();
        err_pipe.write.reset();
    }
};

Result<Stdio> make_stdio(const Request& request, const plan::ExecutionPlan& plan);

// What was captured, as the record shows it; empty where nothing was.
Result<Stream> take_stream(std::optional<supervisor::Capture> capture);

}  // namespace coracle::engine
