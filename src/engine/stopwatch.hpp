// Measures the stages of a run for `timing_ms`.
#pragma once

#include <chrono>
#include <optional>

namespace coracle::engine {

class Stopwatch {
public:
    using Clock = std::chrono::steady_clock;

    // Milliseconds since the last lap (or the start).
    double lap() {
        const Clock::time_point now = Clock::now();
        const double passed = ms(now - last_);
        last_ = now;
        return passed;
    }
    double total() const { return ms(Clock::now() - start_); }

    static double ms(Clock::duration passed) { return std::chrono::duration<double, std::milli>(passed).count(); }

private:
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
};

}  // namespace coracle::engine
