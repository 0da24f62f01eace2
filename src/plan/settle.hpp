// Lays the configuration under a request and holds the request below the administrator's ceilings. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/limits.hpp"
#include "coracle/request.hpp"
#include "policy/config.hpp"

namespace coracle::plan {

// What a plan starts from besides the request: values for what nobody asked for, and who asked for the rest.
struct Basis {
    Limits defaults;               // coracle's own, lowered to the ceilings
    std::optional<Bytes> storage;  // the most that one scratch file system may hold
    // "memory" -> "/etc/coracle/config.yaml:4" for what a configuration set; absent: a flag, or nobody.
    std::map<std::string, std::string> origins;
};

struct Settled {
    Request request;  // with what the configuration says where the caller said nothing
    Basis basis;
    std::vector<Clamped> clamped;
};

// Errors: invalid_request (no image is named anywhere, ...), denied (above a ceiling under `ceilings: refuse`, or a
// capability that a configuration drops), naming the file and the line.
Result<Settled> settle(const Request& asked, const policy::Config& config);

// Where each limit of the plan comes from: "--memory", "/etc/coracle/config.yaml:4", "built-in" or a ceiling's line.
std::map<std::string, std::string> limit_sources(const Request& asked, const Settled& settled);

}  // namespace coracle::plan
