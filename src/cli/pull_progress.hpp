// Shows how a pull gets on: bars on a terminal, lines elsewhere, JSON for programs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coracle/engine.hpp"

namespace coracle::cli {

// One line of JSON: {"event":"layer","digest":...,"bytes":...,"total":...}.
std::string event_json(const PullEvent& event);

// Turns events into the text to print. Time comes in, so that rates can be tested.
class PullProgressText {
public:
    using Clock = std::chrono::steady_clock;
    using Writer = std::function<void(const std::string& text)>;

    enum class Form { bars, lines };
    PullProgressText(Form form, std::size_t columns, Writer write)
        : form_(form), columns_(columns), write_(std::move(write)) {}

    void take(const PullEvent& event, Clock::time_point now);
    // Draws the last state, which only a pull that failed did not draw itself; nothing is drawn afterwards.
    void finish(Clock::time_point now);

private:
    struct Layer {
        std::string name;
        std::uint64_t bytes = 0;
        std::uint64_t total = 0;
        bool present = false;
        std::optional<Clock::time_point> begun;
    };
    Layer& layer_of(const PullEvent& event);
    void tell(const Layer& layer);
    void draw(Clock::time_point now);
    std::string bar(const Layer& layer, Clock::time_point now) const;

    Form form_;
    std::size_t columns_;
    Writer write_;
    std::vector<Layer> layers_;
    std::size_t drawn_ = 0;  // lines on the screen
    std::optional<Clock::time_point> last_drawn_;
};

// Bars where `err` is a terminal, else lines.
PullProgressText progress_on(int err);

}  // namespace coracle::cli
