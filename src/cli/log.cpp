// Implements the log with spdlog; the only file that includes it.
#include "cli/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <vector>

#include "base/files.hpp"
#include "cli/text.hpp"

namespace coracle::cli {

namespace {

// Writes each line with one write(2), so that lines of several coracles on one terminal do not mix.
class DescriptorSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit DescriptorSink(int fd) : fd_(fd) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        (void)base::write_all(fd_, std::string_view(line.data(), line.size()), "log");  // nowhere left to complain
    }
    void flush_() override {}

private:
    int fd_;
};

const std::vector<std::string>& level_names() {
    static const std::vector<std::string> names{"trace", "debug", "info", "warn", "error", "off"};
    return names;
}

constexpr spdlog::level::level_enum to_spdlog(LogLevel level) {
    return level == LogLevel::off ? spdlog::level::off : static_cast<spdlog::level::level_enum>(level);
}
static_assert(to_spdlog(LogLevel::error) == spdlog::level::err && to_spdlog(LogLevel::trace) == spdlog::level::trace);

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
    const auto& names = level_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) return static_cast<LogLevel>(i);
    }
    return make_error(ErrorCode::invalid_request, "'" + std::string(text) + "' is not a log level",
                      "use one of: trace, debug, info, warn, error, off");
}

// The logger is made for a line that is wanted: a silent run does not pay for it, and nothing global is left.
void Log::write(LogLevel level, std::string_view text) const {
    if (level < level_) return;
    spdlog::logger logger("coracle", std::make_shared<DescriptorSink>(fd_));
    logger.set_level(spdlog::level::trace);
    logger.set_pattern("%H:%M:%S.%e coracle %l: %v");
    const std::string line = printable(text);
    logger.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace coracle::cli
