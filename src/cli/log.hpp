// The log of the command line on stderr: silent unless --log-level asks for more.
#pragma once

#include <string>
#include <string_view>

#include "coracle/error.hpp"

namespace coracle::cli {

enum class LogLevel { trace, debug, info, warn, error, off };

Result<LogLevel> parse_log_level(std::string_view text);

class Log {
public:
    Log(LogLevel level, int fd) : level_(level), fd_(fd) {}
    void debug(std::string_view text) const { write(LogLevel::debug, text); }
    void info(std::string_view text) const { write(LogLevel::info, text); }
    void warn(std::string_view text) const { write(LogLevel::warn, text); }

private:
    void write(LogLevel level, std::string_view text) const;

    LogLevel level_;
    int fd_;
};

}  // namespace coracle::cli
