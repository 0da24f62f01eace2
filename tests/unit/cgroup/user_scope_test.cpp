// The user's service manager is asked for a scope, its refusals become errors, and nothing is waited for without end.
#include "cgroup/user_scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <thread>

#include "base/unique_fd.hpp"
#include "cgroup/dbus.hpp"
#include "support/test_dir.hpp"

namespace coracle::cgroup {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* welcome = "OK 0123456789abcdef\r\n";

dbus::Message answer(std::uint32_t serial) {
    dbus::Message message;
    message.kind = dbus::Kind::answer;
    message.answers = serial;
    return message;
}

// A bus with one client: answers AUTH, collects the client's calls and sends what the test says.
class FakeBus {
public:
    explicit FakeBus(const std::filesystem::path& socket)
        : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
    }
    ~FakeBus() {
        if (thread_.joinable()) thread_.join();
    }
    // `answers` are sent once the third call is there.
    // Only a fourth call is answered besides.
    void serve(std::string auth, std::vector<dbus::Message> answers) {
        thread_ = std::thread([this, auth = std::move(auth), answers = std::move(answers)] { talk(auth, answers); });
    }
    std::function<void()> then;  // what happens when the third call is there
    std::vector<dbus::Message> calls() {
        thread_.join();
        return calls_;
    }

private:
    void talk(const std::string& auth, const std::vector<dbus::Message>& answers) {
        const base::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        std::string text;
        const auto more = [&] {
            std::array<char, 4096> bytes{};
            const ssize_t got = ::recv(client.get(), bytes.data(), bytes.size(), 0);
            if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
            return got > 0;
        };
        while (text.find("\r\n") == std::string::npos && more()) continue;
        text.clear();
        (void)::send(client.get(), auth.data(), auth.size(), MSG_NOSIGNAL);
        while (calls_.size() < 3 && more()) take_calls(text);
        if (then) then();
        std::string bytes;
        for (const dbus::Message& answer : answers) bytes += dbus::pack(answer, 7);
        // In two pieces, as a stream may bring it.
        (void)::send(client.get(), bytes.data(), bytes.size() / 2, MSG_NOSIGNAL);
        ::usleep(2000);
        (void)::send(client.get(), bytes.data() + bytes.size() / 2, bytes.size() - bytes.size() / 2, MSG_NOSIGNAL);
        while (more()) {  // until the client goes
            take_calls(text);
            const std::string stopped = dbus::pack(answer(4), 8);
            if (calls_.size() == 4) (void)::send(client.get(), stopped.data(), stopped.size(), MSG_NOSIGNAL);
        }
    }
    void take_calls(std::string& text) {
        if (text.starts_with("BEGIN\r\n")) text.erase(0, 7);
        while (text.size() >= dbus::head_size) {
            const auto size = dbus::size_of(text.substr(0, dbus::head_size));
            if (!size || text.size() < *size) return;
            if (auto call = dbus::unpack(text.substr(0, *size))) calls_.push_back(std::move(*call));
            text.erase(0, *size);
        }
    }
    base::UniqueFd listener_;
    std::thread thread_;
    std::vector<dbus::Message> calls_;
};

dbus::Message failure(const std::string& words) {
    dbus::Writer body;
    body.text(words);
    dbus::Message message;
    message.kind = dbus::Kind::error;
    message.answers = 3;
    message.error_name = "org.freedesktop.DBus.Error.AccessDenied";
    message.signature = "s";
    message.body = std::move(body).take();
    return message;
}

dbus::Message job_removed(const std::string& unit, const std::string& result) {
    dbus::Writer body;
    body.number(32).text("/org/freedesktop/systemd1/job/32").text(unit).text(result);
    dbus::Message message;
    message.kind = dbus::Kind::signal;
    message.path = "/org/freedesktop/systemd1";
    message.interface = "org.freedesktop.systemd1.Manager";
    message.member = "JobRemoved";
    message.signature = "uoss";
    message.body = std::move(body).take();
    return message;
}

class UserScope : public ::testing::Test {
protected:
    void SetUp() override {
        dir_.write("app.slice/coracle-r1.scope/cgroup.procs", "4711\n");
        dir_.write("app.slice/coracle-r1.scope/keeper/cgroup.procs", "");
    }
    ScopeRequest request() const {
        return {.bus = dir_ / "bus",
                .parent = dir_ / "app.slice",
                .run_id = "r1",
                .pid = 4711,
                .longest = std::chrono::seconds(90),
                .cancel_fd = -1,
                .patience = std::chrono::seconds(20)};
    }
    Error refusal(std::string auth, std::vector<dbus::Message> answers) const {
        FakeBus bus(dir_ / "bus");
        bus.serve(std::move(auth), std::move(answers));
        Error error = test::must_fail(enter_scope(request()));
        std::filesystem::remove(dir_ / "bus");
        return error;
    }
    std::string in_leaf() const { return test::read_text(dir_ / "app.slice/coracle-r1.scope/keeper/cgroup.procs"); }
    test::TestDir dir_;
};

TEST_F(UserScope, IsAskedForByNameAndTheProcessGoesIntoItsLeaf) {
    FakeBus bus(dir_ / "bus");
    bus.serve(welcome, {answer(1), answer(2), job_removed("other.scope", "failed"), answer(3),
                        job_removed("coracle-r1.scope", "done")});
    const auto entered = enter_scope(request());
    ASSERT_TRUE(entered) << entered.error().message;
    EXPECT_EQ(in_leaf(), "4711\n");
    const auto calls = bus.calls();
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0].member, "Hello");
    EXPECT_EQ(calls[1].member, "AddMatch");
    EXPECT_EQ(calls[2].destination, "org.freedesktop.systemd1");
    EXPECT_EQ(calls[2].member, "StartTransientUnit");
    EXPECT_EQ(calls[2].signature, "ssa(sv)a(sa(sv))");
    dbus::Reader body(calls[2].body);
    EXPECT_EQ(body.text(), "coracle-r1.scope");
    EXPECT_EQ(body.text(), "fail");
    for (const char* word : {"Delegate", "CollectMode", "inactive-or-failed", "PIDs", "app.slice"}) {
        EXPECT_THAT(calls[2].body, HasSubstr(word));
    }
}

TEST_F(UserScope, TheManagersOwnWordsAreTheError) {
    const Error error = refusal(welcome, {answer(1), answer(2), failure("Process with ID 4711 does not exist.")});
    EXPECT_EQ(error.code, ErrorCode::denied);
    EXPECT_THAT(error.message, HasSubstr("/bus': Process with ID 4711 does not exist."));
    EXPECT_EQ(in_leaf(), "");
}

TEST_F(UserScope, AJobThatFailedIsAnError) {
    EXPECT_THAT(refusal(welcome, {answer(3), job_removed("coracle-r1.scope", "failed")}).message,
                HasSubstr("'coracle-r1.scope' ended as 'failed'"));
}

TEST_F(UserScope, ABusThatRefusesOrSpeaksAnotherLanguageIsAnError) {
    EXPECT_THAT(refusal("REJECTED EXTERNAL\r\n", {}).message, HasSubstr("'REJECTED EXTERNAL'"));
    EXPECT_EQ(refusal(std::string(welcome) + "HTTP/1.1 400 Bad Request\r\n", {}).code, ErrorCode::corrupt);
    EXPECT_EQ(refusal(std::string(8192, 'x'), {}).code, ErrorCode::corrupt);
}

TEST_F(UserScope, WithoutABusThereIsNone) { EXPECT_EQ(test::must_fail(enter_scope(request())).os_errno, ENOENT); }

TEST_F(UserScope, AManagerThatDoesNotAnswerIsNotWaitedForWithoutEnd) {
    FakeBus bus(dir_ / "bus");
    bus.serve(welcome, {answer(1), answer(2), answer(3)});
    ScopeRequest request = this->request();
    request.patience = std::chrono::milliseconds(50);
    const Error error = test::must_fail(enter_scope(request));
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_THAT(error.message, HasSubstr("no answer in time"));
}

TEST_F(UserScope, ACallersSignalEndsTheWait) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const base::UniqueFd reading(ends[0]), writing(ends[1]);
    FakeBus bus(dir_ / "bus");
    bus.then = [&writing] { EXPECT_EQ(::write(writing.get(), "x", 1), 1); };
    bus.serve(welcome, {answer(1)});
    ScopeRequest request = this->request();
    request.cancel_fd = reading.get();
    EXPECT_EQ(test::must_fail(enter_scope(request)).os_errno, ECANCELED);
    const auto calls = bus.calls();
    ASSERT_EQ(calls.size(), 4U);
    EXPECT_EQ(calls[3].member, "StopUnit") << "what has begun is stopped";
    EXPECT_EQ(dbus::Reader(calls[3].body).text(), "coracle-r1.scope");
}

TEST_F(UserScope, AManagerThatSaysDoneWithoutHavingMovedTheProcessIsNotBelieved) {
    for (const char* others : {"", "12\n", "4711\n12\n"}) {
        dir_.write("app.slice/coracle-r1.scope/cgroup.procs", others);
        EXPECT_THAT(refusal(welcome, {job_removed("coracle-r1.scope", "done")}).message,
                    HasSubstr("does not hold the keeper alone"));
    }
    std::filesystem::remove_all(dir_ / "app.slice");
    EXPECT_EQ(refusal(welcome, {job_removed("coracle-r1.scope", "done")}).os_errno, ENOENT);
}

}  // namespace
}  // namespace coracle::cgroup
