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
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
enum { PATH = 4096 };
#define getpid GetCurrentProcessId
static char *current_directory(void); /* in hook_windows.c */
static char **variables;
#else
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "hook_paths.h"
#endif

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

    MAX_THROWN = 256 << 20,

    STDIN_MS = 400
};

#ifndef LATE_MS /* tests have less patience */
#define LATE_MS 60000
#endif

/* In hook.c: when the hook was called, the clocks, and what is left of a deadline. */
static uint64_t started_ns;
static uint64_t now_ns(clockid_t clock);
static int remaining(int deadline_ms);

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
#ifdef _WIN32
    if (!RtlGenRandom(bits + 6, 10)) {
#else
    if (getentropy(bits + 6, 10) != 0) { /* an old kernel: never a reason to fail */
#endif
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
#ifdef _WIN32
    int size = 0;
#else
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, boot, sizeof boot - 1);
    if (fd >= 0)
        close(fd);
#endif
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
#ifndef _WIN32
    extern char **environ;
    char **variables = environ;
#endif
    size_t budget = MAX_ENV, at = filled, i;
    unsigned count = 0;
    char **variable;
    put_number(0, 2);
    for (i = 0; i < sizeof environment / sizeof *environment; i++) {
        size_t length = strlen(environment[i]);
        for (variable = variables; variable != NULL && *variable != NULL; variable++)
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
#ifdef _WIN32
    char *cwd = current_directory();
#else
    char room[PATH], *cwd = getcwd(room, sizeof room);
#endif
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
    put_item(cwd != NULL ? cwd : "", &budget);
    put_environment();
}

/* --- stdin ------------------------------------------------------------------------------------ */

static size_t stdin_at, stdin_size, thrown;

/* Room for the length, before what read_stdin reads. */
static void open_stdin(void)
{
    stdin_at = filled;
    put_number(0, 4);
}

#ifndef _WIN32
/* Read stdin; 1 at its end, 0 when the deadline comes first, and then it may be called again. What
 * does not fit into a frame is read and thrown away, for a host that writes into a closed pipe may
 * die of it; only a writer without end is left alone. */
static int read_stdin(int deadline_ms)
{
    static unsigned char rest[1 << 16];
    int left;
    while ((left = remaining(deadline_ms)) > 0) {
        struct pollfd ready = {0, POLLIN, 0};
        size_t room = MAX_STDIN - stdin_size;
        int result = poll(&ready, 1, left);
        ssize_t got;
        if (result == 0 || (result < 0 && errno == EINTR))
            continue;
        got = room > 0 ? read(0, frame + filled, room) : read(0, rest, sizeof rest);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return 1;
        if (room > 0) {
            filled += (size_t)got;
            stdin_size += (size_t)got;
            continue;
        }
        flags |= TRUNCATED;
        thrown += (size_t)got;
        if (thrown > MAX_THROWN)
            return 1;
    }
    return 0;
}
#endif

/* Whether what came of stdin is all there is, though it was not closed: a whole JSON object, or
 * nothing where the prompt stands in the environment. Some hosts never close it. */
static int is_whole(void)
{
    const unsigned char *text = frame + stdin_at + 4;
    size_t i, depth = 0;
    int quoted = 0, closed = 0;
    if (stdin_size == 0)
        return getenv("USER_PROMPT") != NULL;
    for (i = 0; i < stdin_size; i++) {
        unsigned char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            continue;
        else if (closed || (depth == 0 && c != '{'))
            return 0;
        else if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            closed = --depth == 0;
        else
            quoted = c == '"';
    }
    return closed;
}

static void close_frame(void)
{
    size_t end = filled;
    filled = stdin_at;
    put_number(stdin_size, 4);
    filled = 0;
    put_bytes("RCLQ", 4);
    put_number(VERSION, 1);
    put_number(flags, 1);
    put_number(0, 2);
    put_number(end - HEADER, 4);
    filled = end;
}

#endif
