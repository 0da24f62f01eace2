// Implements the progress of a pull as text.
#include "cli/pull_progress.hpp"

#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

constexpr auto redraw_every = std::chrono::milliseconds(100);
constexpr std::size_t most_rows = 24;  // more than a screen cannot be drawn over

std::string short_name(const std::string& digest) {
    return printable(digest.substr(digest.find(':') + 1).substr(0, 12));
}

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
    return text;
}

// "1:05" or "2:00:09"; empty beyond a day, when nobody knows.
std::string clock_text(double seconds) {
    if (!(seconds < 86400)) return "";
    const auto whole = static_cast<int>(seconds + 0.5);
    const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    const std::string tail = two(whole % 60);
    if (whole < 3600) return std::to_string(whole / 60) + ":" + tail;
    return std::to_string(whole / 3600) + ":" + two(whole / 60 % 60) + ":" + tail;
}

std::string gauge(std::uint64_t bytes, std::uint64_t total, std::size_t width) {
    const double share = total == 0 ? 1.0 : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total));
    const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
    return "[" + std::string(full, '=') + std::string(width - full, ' ') + "]";
}

std::size_t columns_of(int terminal) {
    winsize size{};
    return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string_view name_of(PullEvent::Kind kind) {
    switch (kind) {
        case PullEvent::Kind::manifest: return "manifest";
        case PullEvent::Kind::layer: return "layer";
        case PullEvent::Kind::present: return "present";
    }
    return "layer";
}

}  // namespace

std::string event_json(const PullEvent& event) {
    nlohmann::ordered_json json{{"event", name_of(event.kind)}, {"digest", event.digest}};
    if (event.kind != PullEvent::Kind::manifest) {
        json["bytes"] = event.bytes;
        json["total"] = event.total;
    }
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

PullProgressText::Layer& PullProgressText::layer_of(const PullEvent& event) {
    const std::string name = short_name(event.digest);
    const auto known =
        std::find_if(layers_.begin(), layers_.end(), [&](const Layer& layer) { return layer.name == name; });
    if (known != layers_.end()) return *known;
    layers_.push_back({.name = name, .bytes = 0, .total = event.total, .present = false, .begun = {}});
    return layers_.back();
}

void PullProgressText::take(const PullEvent& event, Clock::time_point now) {
    if (event.kind == PullEvent::Kind::manifest) {
        if (form_ == Form::lines) write_("manifest " + short_name(event.digest) + "\n");
        return;
    }
    Layer& layer = layer_of(event);
    const bool was_done = layer.present || (layer.bytes == layer.total && layer.begun);
    layer.present = event.kind == PullEvent::Kind::present;
    layer.bytes = event.bytes;
    if (event.bytes > 0 && !layer.begun) layer.begun = now;
    const bool done = layer.present || (layer.bytes == layer.total && layer.begun);
    if (form_ == Form::lines) {
        if (done && !was_done) tell(layer);
    } else if ((done && !was_done) || !last_drawn_ || now - *last_drawn_ >= redraw_every) {
        draw(now);
    }
}

void PullProgressText::tell(const Layer& layer) {
    write_("layer " + layer.name + ": " + (layer.present ? "present" : human_size(layer.total)) + "\n");
}

std::string PullProgressText::bar(const Layer& layer, Clock::time_point now) const {
    if (layer.present) return layer.name + "  present";
    const std::string sizes = padded(human_size(layer.bytes), 10) + " / " + padded(human_size(layer.total), 10);
    std::string line = layer.name + "  " + sizes;
    if (columns_ > 76) line = layer.name + "  " + gauge(layer.bytes, layer.total, 24) + sizes;
    const double seconds = layer.begun ? std::chrono::duration<double>(now - *layer.begun).count() : 0;
    if (seconds > 0.2 && layer.bytes > 0) {
        const double rate = static_cast<double>(layer.bytes) / seconds;
        line += padded(human_size(static_cast<std::uint64_t>(rate)), 11) + "/s";
        if (layer.bytes < layer.total) {
            const std::string left = clock_text(static_cast<double>(layer.total - layer.bytes) / rate);
            if (!left.empty()) line += "  ETA " + left;
        }
    }
    return line.substr(0, columns_ > 1 ? columns_ - 1 : 1);
}

void PullProgressText::draw(Clock::time_point now) {
    last_drawn_ = now;
    std::string text;
    if (drawn_ > 0) text += "\x1b[" + std::to_string(drawn_) + "A";
    // Of very many layers those that are not finished yet.
    const bool all = layers_.size() <= most_rows;
    std::size_t rows = 0;
    for (const Layer& layer : layers_) {
        if (!all && (layer.present || layer.bytes == layer.total)) continue;
        if (rows == most_rows) break;
        text += "\r\x1b[K" + bar(layer, now) + "\n";
        ++rows;
    }
    text += "\x1b[J";  // rows that are no longer needed
    drawn_ = rows;
    write_(text);
}

void PullProgressText::finish(Clock::time_point now) {
    if (form_ == Form::bars && !layers_.empty()) draw(now);
}

PullProgressText progress_on(int err) {
    using Form = PullProgressText::Form;
    return {::isatty(err) == 1 ? Form::bars : Form::lines, columns_of(err),
            // A closed stderr is no reason to give up the pull.
            [err](const std::string& text) { (void)base::write_all(err, text, "standard error"); }};
}

}  // namespace coracle::cli
