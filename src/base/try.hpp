// TRY and TRY_OK: leave the function with the Error of a failed Result, go on with its value otherwise.
#pragma once

#include "coracle/error.hpp"

#define CORACLE_JOIN_(a, b) a##b
#define CORACLE_JOIN(a, b) CORACLE_JOIN_(a, b)
#define CORACLE_TRY_(held, target, ...)                    \
    auto held = (__VA_ARGS__);                             \
    if (!held.has_value()) return std::move(held).error(); \
    target = std::move(held).value()

// TRY(const auto text, read_file(dir, "config.json"));
#define TRY(target, ...) CORACLE_TRY_(CORACLE_JOIN(try_result_, __LINE__), target, __VA_ARGS__)

// TRY_OK(write_new_file(dir, "config.json", text));
#define TRY_OK(...)                                                                                                  \
    do {                                                                                                             \
        if (auto try_ok_result = (__VA_ARGS__); !try_ok_result.has_value()) return std::move(try_ok_result).error(); \
    } while (false)
