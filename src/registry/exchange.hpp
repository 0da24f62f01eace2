// One connection to a web server and the transfer on it, pulled from libcurl piece by piece.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coracle/error.hpp"
#include "coracle/units.hpp"
#include "registry/retry.hpp"
#include "registry/url.hpp"

namespace coracle::registry {

// What is sent to one server; a redirect is another Hop.
struct Hop {
    Url url;
    std::vector<std::string> headers;  // "Accept: text/plain"
    std::optional<std::string> form;   // sent by POST
    bool decode = false;               // undo a Content-Encoding; never for blobs, whose bytes have a digest
    std::string authorities;           // PEM: trusted besides the system's own
    std::string certificate;           // files for a server that asks who we are; empty: none
    std::string key;
};

struct Patience {
    Milliseconds connect = std::chrono::seconds(20);
    Milliseconds stall = std::chrono::seconds(30);  // longest time in which less than 1 KiB a second comes
};

struct Head {
    long status = 0;
    std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

    // The first of that name; empty where there is none.
    std::string field(std::string_view name) const;
    std::vector<std::string> all(std::string_view name) const;
};

// Serves one transfer after the other; the connection is kept for the next one. Not for several threads at once.
class Exchange {
public:
    // No value: out of memory.
    static std::unique_ptr<Exchange> create(const Patience& patience);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    // Sends, and waits until the head of the answer is whole. Error: unavailable where another attempt may help (no
    // route, a reset, a stall), denied for a certificate that is not trusted, corrupt for what is not HTTP.
    Result<> begin(const Hop& hop);
    const Head& head() const { return head_; }
    // Bytes of the body; 0 is its end. Error as above: what came before it has been read.
    Result<std::size_t> read(std::span<char> buffer);
    // Gives up what was not read.
    void end();

private:
    Exchange(const Patience& patience, CURLM* multi, CURL* easy) : patience_(patience), multi_(multi), easy_(easy) {}
    void prepare(const Hop& hop);
    void prepare_trust(const Hop& hop);
    void perform();
    Result<> wait();
    Error failure() const;
    static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
    bool take_header(std::string_view line);

    Patience patience_;
    CURLM* multi_;
    CURL* easy_;
    curl_slist* headers_ = nullptr;
    bool attached_ = false;
    std::string server_;
    std::string said_ = std::string(CURL_ERROR_SIZE, '\0');  // libcurl writes its message here

    Head head_;
    std::size_t head_bytes_ = 0;
    bool head_done_ = false;
    bool head_too_large_ = false;
    std::string body_;  // received and not yet read, from read_ on
    std::size_t read_ = 0;
    bool paused_ = false;
    std::optional<CURLcode> ended_;
    Milliseconds waited_{0};  // in this window of Patience::stall
    std::uint64_t came_ = 0;
};

}  // namespace coracle::registry
