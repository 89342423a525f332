/* The frame that hook.c sends, built in place in one buffer; frames.py has the layout.
 *
 * In: arguments, environment, stdin. Out: `frame`, `filled` bytes long. What is too long for a
 * frame is cut, and a flag says so; nothing here fails.
 */
#ifndef HOOK_FRAME_H
#define HOOK_FRAME_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "hook_paths.h"

enum {
    VERSION = 1,
    TRUNCATED = 1,
    LATE = 2,

    HEADER = 12,
    ULID = 26,
    BOOT = 36,
    MAX_STDIN = 4 << 20,
    MAX_ARGV = 2 << 20,
    MAX_ENV = 3 << 19,
    MAX_ITEMS = 64,

    STDIN_MS = 400
};

/* In hook.c: when this process started, the clocks, and what is left of a deadline. */
static uint64_t started_ns;
static uint64_t now_ns(clockid_t clock);
static int remaining(int deadline_ms);

/* The same list as ENVIRONMENT in frames.py; a test compares them. */
static const char *const environment[] = {
    "CLAUDE_PROJECT_DIR",  "CLAUDE_CODE_SESSION_ID", "GEMINI_PROJECT_DIR",  "GEMINI_SESSION_ID",
    "COPILOT_PROJECT_DIR", "QWEN_PROJECT_DIR",       "CURSOR_PROJECT_DIR",  "USER_PROMPT",
    "KIRO_SESSION_ID",     "KIRO_AGENT_NAME",        "WINDSURF_SESSION_ID", "OPENCODE_SESSION_ID",
    "QWEN_CODE_SESSION_ID", "CURSOR_VERSION",        "CLAUDECODE",
};

static unsigned char frame[HEADER + (8 << 20)];
static size_t filled = HEADER;
static unsigned char flags;

static void put_bytes(const void *data, size_t size)
{
    memcpy(frame + filled, data, size);
    filled += size;
}

static void put_number(uint64_t value, int bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        frame[filled++] = (unsigned char)(value & 255);
}

/* One item of a group that may take `budget` bytes in all; what does not fit is cut. */
static void put_item(const char *data, size_t *budget)
{
    size_t size = strlen(data);
    if (size > *budget) {
        size = *budget;
        flags |= TRUNCATED;
    }
    *budget -= size;
    put_number(size, 4);
    put_bytes(data, size);
}

static void put_ulid(uint64_t wall_ms)
{
    static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    unsigned char bits[16];
    int i;
    if (getentropy(bits + 6, 10) != 0) { /* an old kernel: never a reason to fail */
        uint64_t poor[2] = {started_ns * 6364136223846793005u,
                            now_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 32};
        memcpy(bits + 6, poor, 10);
    }
    for (i = 5; i >= 0; i--, wall_ms >>= 8)
        bits[i] = (unsigned char)(wall_ms & 255);
    for (i = 0; i < ULID; i++) { /* 130 bits: two zero bits, then the 128 */
        int from = 5 * i - 2, value = 0, bit;
        for (bit = from; bit < from + 5; bit++)
            value = value << 1 | (bit < 0 ? 0 : bits[bit / 8] >> (7 - bit % 8) & 1);
        frame[filled++] = (unsigned char)alphabet[value];
    }
}

static void put_boot_id(uint64_t wall_ns)
{
    char boot[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, boot, sizeof boot - 1);
    if (fd >= 0)
        close(fd);
    if (size > 0)
        boot[strcspn(boot, "\n")] = '\0';
    else /* as core/clock.py names a boot where the system does not */
        snprintf(boot, sizeof boot, "boot-%lld",
                 ((long long)wall_ns - (long long)started_ns + 30000000000LL) / 60000000000LL);
    memset(frame + filled, 0, BOOT);
    memcpy(frame + filled, boot, strlen(boot) < BOOT ? strlen(boot) : BOOT);
    filled += BOOT;
}

static void put_environment(void)
{
    extern char **environ;
    size_t budget = MAX_ENV, at = filled, i;
    unsigned count = 0;
    char **variable;
    put_number(0, 2);
    for (i = 0; i < sizeof environment / sizeof *environment; i++) {
        size_t length = strlen(environment[i]);
        for (variable = environ; variable != NULL && *variable != NULL; variable++)
            if (strncmp(*variable, environment[i], length) == 0 && (*variable)[length] == '=') {
                put_item(*variable, &budget);
                count++;
                break;
            }
    }
    frame[at] = (unsigned char)count;
}

static void put_call(int argc, char **argv)
{
    uint64_t wall_ns = now_ns(CLOCK_REALTIME);
    size_t budget = MAX_ARGV;
    char cwd[PATH];
    int i, count = argc > 0 ? argc - 1 : 0;
    if (count > MAX_ITEMS) {
        count = MAX_ITEMS;
        flags |= TRUNCATED;
    }
    put_ulid(wall_ns / 1000000u);
    put_boot_id(wall_ns);
    put_number(started_ns, 8);
    put_number(wall_ns, 8);
    put_number((uint64_t)count, 2);
    for (i = 1; i <= count; i++)
        put_item(argv[i], &budget);
    budget = PATH;
    put_item(getcwd(cwd, sizeof cwd) != NULL ? cwd : "", &budget);
    put_environment();
}

/* Stdin until its end, the deadline, or what a frame takes; then the rest is read and thrown away,
 * for a host that writes into a closed pipe may die of it. */
static void put_stdin(void)
{
    static unsigned char rest[1 << 16];
    size_t at = filled, size = 0;
    put_number(0, 4);
    for (;;) {
        struct pollfd ready = {0, POLLIN, 0};
        int left = remaining(STDIN_MS), room = size < MAX_STDIN;
        ssize_t got;
        if (left == 0 || poll(&ready, 1, left) <= 0) {
            if (left > 0 && errno == EINTR)
                continue;
            flags |= LATE;
            break;
        }
        got = room ? read(0, frame + at + 4 + size, MAX_STDIN - size) : read(0, rest, sizeof rest);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            break;
        if (room)
            size += (size_t)got;
        else
            flags |= TRUNCATED;
    }
    filled = at;
    put_number(size, 4);
    filled += size;
}

static void close_frame(void)
{
    size_t end = filled;
    filled = 0;
    put_bytes("RCLQ", 4);
    put_number(VERSION, 1);
    put_number(flags, 1);
    put_number(0, 2);
    put_number(end - HEADER, 4);
    filled = end;
}

#endif
