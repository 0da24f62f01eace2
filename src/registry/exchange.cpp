// Implements one transfer over libcurl's multi interface, which alone lets its caller pull.
#include "registry/exchange.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/try.hpp"
#include "coracle/version.hpp"

namespace coracle::registry {

namespace {

constexpr std::size_t longest_head = 262144;
constexpr std::size_t most_buffered = 1048576;
constexpr long receive_buffer = 262144;
constexpr std::uint64_t slowest_per_second = 1024;

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

// What the environment says and libcurl alone would not do: HTTP_PROXY in capitals, as Go's programs read it (but not
// in a CGI program, where a client's "Proxy:" header becomes that variable), and no proxy for this machine itself.
const char* proxy_for(const Origin& origin) {
    if (is_loopback(origin.host)) return "";
    if (!origin.is_plain() || std::getenv("http_proxy") != nullptr || std::getenv("REQUEST_METHOD") != nullptr)
        return nullptr;
    return std::getenv("HTTP_PROXY");
}

}  // namespace

std::string Head::field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
        if (key == name) return value;
    }
    return {};
}

std::vector<std::string> Head::all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [key, value] : fields) {
        if (key == name) values.push_back(value);
    }
    return values;
}

std::unique_ptr<Exchange> Exchange::create(const Patience& patience) {
    CURLM* const multi = curl_multi_init();
    CURL* const easy = multi != nullptr ? curl_easy_init() : nullptr;
    if (easy != nullptr) return std::unique_ptr<Exchange>(new Exchange(patience, multi, easy));
    if (multi != nullptr) curl_multi_cleanup(multi);
    return nullptr;
}

Exchange::~Exchange() {
    end();
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
}

void Exchange::end() {
    if (attached_) {
        // A short body that has come already ends here, and its connection can be used again.
        if (head_done_ && !ended_ && !paused_) perform();
        curl_multi_remove_handle(multi_, easy_);
    }
    attached_ = false;
    curl_slist_free_all(headers_);
    headers_ = nullptr;
}

void Exchange::prepare(const Hop& hop) {
    curl_easy_reset(easy_);
    const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(easy_, option, value); };
    set(CURLOPT_URL, hop.url.text.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, ("coracle/" + std::string(version)).c_str());
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(patience_.connect.count()));
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_BUFFERSIZE, receive_buffer);
    set(CURLOPT_ERRORBUFFER, said_.data());
    set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    if (const char* const proxy = proxy_for(hop.url.origin)) set(CURLOPT_PROXY, proxy);
    if (hop.decode) set(CURLOPT_ACCEPT_ENCODING, "gzip");
    if (hop.form) {
        set(CURLOPT_POSTFIELDSIZE, static_cast<long>(hop.form->size()));
        set(CURLOPT_COPYPOSTFIELDS, hop.form->c_str());
    }
    for (const std::string& header : hop.headers) headers_ = curl_slist_append(headers_, header.c_str());
    set(CURLOPT_HTTPHEADER, headers_);
    prepare_trust(hop);
}

void Exchange::prepare_trust(const Hop& hop) {
    curl_blob blob{.data = const_cast<char*>(hop.authorities.data()),  // copied, never written
                   .len = hop.authorities.size(),
                   .flags = CURL_BLOB_COPY};
    if (!hop.authorities.empty()) curl_easy_setopt(easy_, CURLOPT_CAINFO_BLOB, &blob);
    if (hop.certificate.empty()) return;
    curl_easy_setopt(easy_, CURLOPT_SSLCERT, hop.certificate.c_str());
    curl_easy_setopt(easy_, CURLOPT_SSLKEY, hop.key.c_str());
}

Result<> Exchange::begin(const Hop& hop) {
    end();
    prepare(hop);
    server_ = hop.url.origin.authority();
    head_ = Head{};
    head_bytes_ = read_ = came_ = 0;
    head_done_ = head_too_large_ = paused_ = false;
    body_.clear();
    ended_.reset();
    waited_ = Milliseconds(0);
    said_.front() = '\0';
    if (curl_multi_add_handle(multi_, easy_) != CURLM_OK) return make_error(ErrorCode::internal, "libcurl is busy");
    attached_ = true;
    for (perform(); !head_done_; perform()) {
        if (ended_) return failure();
        TRY_OK(wait());
    }
    return {};
}

Result<std::size_t> Exchange::read(std::span<char> buffer) {
    while (read_ == body_.size()) {
        body_.clear();
        read_ = 0;
        if (ended_ && *ended_ != CURLE_OK) return failure();
        if (ended_) return std::size_t{0};
        if (std::exchange(paused_, false)) curl_easy_pause(easy_, CURLPAUSE_CONT);
        perform();
        if (body_.empty() && !ended_) TRY_OK(wait());
    }
    const std::size_t count = std::min(buffer.size(), body_.size() - read_);
    std::memcpy(buffer.data(), body_.data() + read_, count);
    read_ += count;
    return count;
}

void Exchange::perform() {
    int running = 0;
    curl_multi_perform(multi_, &running);
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
        if (message->msg == CURLMSG_DONE) ended_ = message->data.result;
    }
    if (ended_ && *ended_ == CURLE_OK) head_done_ = true;
}

// Only time spent here counts: a reader that is busy with the disk is not the server's fault.
Result<> Exchange::wait() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point before = Clock::now();
    const auto slice = std::clamp<Milliseconds>(patience_.stall - waited_, Milliseconds(1), std::chrono::seconds(1));
    curl_multi_poll(multi_, nullptr, 0, static_cast<int>(slice.count()), nullptr);
    waited_ += std::chrono::duration_cast<Milliseconds>(Clock::now() - before);
    if (waited_ < patience_.stall) return {};
    const auto wanted = static_cast<std::uint64_t>(patience_.stall.count()) * slowest_per_second / 1000;
    const bool stalled = std::exchange(came_, 0) < wanted;
    waited_ = Milliseconds(0);
    if (!stalled) return {};
    end();
    ended_ = CURLE_OPERATION_TIMEDOUT;
    return make_error(ErrorCode::unavailable,
                      server_ + ": it stalls: less than 1 KiB a second for " +
                          std::to_string(std::chrono::duration<double>(patience_.stall).count()).substr(0, 4) + " s");
}

Error Exchange::failure() const {
    const CURLcode code = ended_.value_or(CURLE_OK);
    if (head_too_large_) return make_error(ErrorCode::corrupt, server_ + ": the head of its answer exceeds 256 KiB");
    const std::string message = server_ + ": " + (said_.front() != '\0' ? said_.c_str() : curl_easy_strerror(code));
    // TLS 1.3 has its own alert for a missing one (RFC 8446, 6.2); before, servers say that it is bad.
    if (message.find("alert certificate required") != std::string::npos ||
        message.find("alert bad certificate") != std::string::npos)
        return make_error(
            ErrorCode::denied, message,
            "the server wants to know its clients: put client.cert and client.key into certs.d/" + server_);
    switch (code) {
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM:
            return make_error(ErrorCode::denied, message,
                              "put the certificate of its authority into certs.d/" + server_ + "/ca.crt");
        case CURLE_SSL_CONNECT_ERROR:
            if (message.find("wrong version number") == std::string::npos) break;
            return make_error(ErrorCode::unsupported, server_ + ": it does not speak TLS",
                              "if that is meant, name it under registries: plain_http in the configuration");
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_BAD_CONTENT_ENCODING: return make_error(ErrorCode::corrupt, message);
        default: break;
    }
    return make_error(ErrorCode::unavailable, message);
}

std::size_t Exchange::on_header(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take_header({data, size * count}) ? size * count : 0;
}

bool Exchange::take_header(std::string_view line) {
    came_ += line.size();
    head_bytes_ += line.size();
    head_too_large_ = head_bytes_ > longest_head;
    if (head_too_large_) return false;
    if (head_done_) return true;  // a trailer
    if (line.starts_with("HTTP/")) {
        head_.fields.clear();  // an answer 1xx came before
        return true;
    }
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
        head_.fields.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    } else if (trimmed(line).empty()) {
        curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &head_.status);
        head_done_ = head_.status >= 200;
    }
    return true;
}

std::size_t Exchange::on_body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    const std::size_t bytes = size * count;
    if (!exchange.body_.empty() && exchange.body_.size() + bytes > most_buffered) {
        exchange.paused_ = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    exchange.body_.append(data, bytes);
    exchange.came_ += bytes;
    return bytes;
}

}  // namespace coracle::registry
