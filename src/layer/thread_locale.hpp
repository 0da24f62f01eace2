// Gives the calling thread the C.UTF-8 locale for a scope: libarchive converts names through the locale, and a library
// may not call setlocale, which is the whole process's.
#pragma once

#include <locale.h>

#include <utility>

#include "coracle/error.hpp"

namespace coracle::layer {

class ThreadLocale {
public:
    // C.UTF-8 is built into glibc since 2.35: no locale files are needed, also in a static program.
    static Result<ThreadLocale> utf8() {
        const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
        if (locale != locale_t{}) return ThreadLocale(locale);
        return make_error(ErrorCode::unsupported, "this system has no C.UTF-8 locale");
    }
    ThreadLocale(ThreadLocale&& other) noexcept : locale_(std::exchange(other.locale_, locale_t{})) {}
    ThreadLocale& operator=(ThreadLocale&&) = delete;
    ~ThreadLocale() {
        if (locale_ != locale_t{}) ::freelocale(locale_);
    }

    class Scope {
    public:
        explicit Scope(locale_t locale) : before_(::uselocale(locale)) {}
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() { ::uselocale(before_); }

    private:
        locale_t before_;
    };
    [[nodiscard]] Scope enter() const { return Scope(locale_); }

private:
    explicit ThreadLocale(locale_t locale) : locale_(locale) {}
    locale_t locale_;
};

}  // namespace coracle::layer
