/* recollect-hook <host> <event>: the command that agent hosts run, the fast path.
 *
 * In: arguments, a few environment values, stdin. Out: one frame (see frames.py) to the daemon's
 * socket, and on stdout the bytes that it answers. Whatever goes wrong, the same frame is handed
 * to the Python fallback, which spools it; the exit status is 0, stderr stays empty, and this
 * process is gone within one second (three for a session start that finds no daemon). Where that
 * is too early for the event, a detached child goes on: it reads what comes late, and spools.
 */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook_lists.h"
#include "hook_frame.h"
#include "hook_paths.h"

enum {
    STORED = 0,
    REFUSED = 1,
    NOT_NOW = 2,
    UNREACHED = 100, /* no daemon listens */
    UNANSWERED = 101, /* one does, but gave no answer that we understand in time */

    MAX_ANSWER = 1 << 20,
    ANSWER_MS = 650,
    START_ANSWER_MS = 900,
    STOP_MS = 950,
    START_STOP_MS = 2950,
    TICK_MS = 50,
    LAST_TICK = 21, /* a second late: only a machine that is too loaded to fork gets here */
    FALLBACK_SECONDS = 600 /* wall time of 20 s of scrubbing, and of a slow disk, under load */
};

static volatile sig_atomic_t told_to_stop, delivered, ticks;
static const char *volatile fixed = ""; /* what the host is told when nothing else is */
static int is_detached;          /* nobody waits for this process, so no timer may end it early */
static uint64_t counted_from_ns; /* where deadlines begin */

/* --- time and signals ------------------------------------------------------------------------- */

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0 || t.tv_sec < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Milliseconds until the deadline; 0 once it is over, or when told to stop. */
static int remaining(int deadline_ms)
{
    int64_t spent = (int64_t)((now_ns(CLOCK_MONOTONIC) - counted_from_ns) / 1000000u);
    if (told_to_stop || spent >= deadline_ms)
        return 0;
    return (int)(deadline_ms - spent);
}

/* Some hosts take silence for a refusal. Also called by a signal's handler. */
static void tell_fixed(void)
{
    const char *text = fixed;
    fixed = "";
    if (*text != '\0' && write(1, text, strlen(text)) < 0)
        return; /* nobody reads */
}

/* The hard stop. Once the frame is with the daemon or the fallback there is nothing to wait for;
 * before that, all waits end and the frame is handed over, which takes no time worth naming. */
static void hard_stop(int number)
{
    (void)number;
    if (delivered || ++ticks >= LAST_TICK) {
        tell_fixed();
        _exit(0);
    }
    told_to_stop = 1;
}

/* A host that ends its hook early. */
static void hurry(int number)
{
    (void)number;
    told_to_stop = 1;
}

static void arm(int ms)
{
    struct itimerval timer = {{0, TICK_MS * 1000}, {ms / 1000, ms % 1000 * 1000}};
    if (is_detached)
        return;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = handler; /* no SA_RESTART: a signal must end a wait */
    sigaction(number, &action, NULL);
}

/* First of all: the hard stop, and descriptors 0, 1 and 2 that can be used blindly. */
static void secure_process(void)
{
    sigset_t none;
    int fd;
    started_ns = counted_from_ns = now_ns(CLOCK_MONOTONIC);
    handle(SIGALRM, hard_stop);
    handle(SIGTERM, hurry);
    handle(SIGINT, hurry);
    handle(SIGHUP, hurry);
    handle(SIGPIPE, SIG_IGN);
    handle(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    arm(STOP_MS);
    umask(077);
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd < 2);
    if (fd < 0)
        _exit(0);
    if (fd > 2) {
        dup2(fd, 2);
        close(fd);
    }
}

/* --- the daemon ------------------------------------------------------------------------------- */

static unsigned char answer[HEADER + MAX_ANSWER];
static size_t answered;

static int wait_for(int fd, short events, int deadline_ms)
{
    struct pollfd ready = {fd, events, 0};
    int left, result;
    while ((left = remaining(deadline_ms)) > 0) {
        result = poll(&ready, 1, left);
        if (result > 0)
            return 1;
        if (result == 0 || errno != EINTR)
            return 0;
    }
    return 0;
}

static int reach(const char *path, int deadline_ms, int *fd)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path);
    if ((*fd = socket(AF_UNIX, SOCK_STREAM, 0)) < 0)
        return UNREACHED;
    fcntl(*fd, F_SETFD, FD_CLOEXEC);
    fcntl(*fd, F_SETFL, O_NONBLOCK);
    while (connect(*fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EISCONN)
            break;
        if (errno == EAGAIN) { /* its queue is full for the moment */
            if (remaining(deadline_ms) == 0)
                return UNANSWERED;
            poll(NULL, 0, 3);
        } else if (errno != EINTR)
            return UNREACHED;
    }
    return STORED;
}

static int listens(const char *path)
{
    int fd, result = reach(path, STOP_MS, &fd);
    close(fd);
    return result != UNREACHED;
}

static int receive(int fd, size_t until, int deadline_ms)
{
    while (answered < until) {
        ssize_t got = recv(fd, answer + answered, until - answered, 0);
        if (got > 0)
            answered += (size_t)got;
        else if (got == 0 || (errno != EAGAIN && errno != EINTR) ||
                 !wait_for(fd, POLLIN, deadline_ms))
            return 0;
    }
    return 1;
}

/* Send the frame and wait: the daemon's status, or why there is none. */
static int exchange(const char *path, int deadline_ms)
{
    size_t sent = 0, length;
    int fd, result = reach(path, deadline_ms, &fd);
    if (result != STORED)
        return result;
    while (sent < filled) {
        ssize_t done = send(fd, frame + sent, filled - sent, 0);
        if (done >= 0)
            sent += (size_t)done;
        else if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, deadline_ms))
            break; /* it may have answered before it had read all */
    }
    if (!receive(fd, HEADER, deadline_ms))
        return UNANSWERED;
    length = (size_t)answer[8] | (size_t)answer[9] << 8 | (size_t)answer[10] << 16 |
             (size_t)answer[11] << 24;
    if (memcmp(answer, "RCLA", 4) != 0 || answer[4] != VERSION || answer[5] > NOT_NOW ||
        answer[6] != 0 || answer[7] != 0 || length > MAX_ANSWER ||
        !receive(fd, HEADER + length, deadline_ms))
        return UNANSWERED;
    return answer[5];
}

static void write_all(int fd, const unsigned char *data, size_t size)
{
    if (fd == 1 && size > 0)
        fixed = "";
    while (size > 0) {
        ssize_t done = write(fd, data, size);
        if (done > 0) {
            data += done;
            size -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) {
            struct pollfd ready = {fd, POLLOUT, 0};
            poll(&ready, 1, 100);
        } else if (done == 0 || errno != EINTR)
            return;
    }
}

/* --- the fallback ----------------------------------------------------------------------------- */

/* The first two lines of <directory>/launcher: the python, and the script that it shall run. */
static int read_launcher(const char *directory, char *text, char **script)
{
    char path[PATH + 16];
    ssize_t size;
    char *end;
    int fd;
    snprintf(path, sizeof path, "%s/launcher", directory);
    if (*directory == '\0' || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    size = read(fd, text, 3 * PATH - 1);
    close(fd);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    if ((end = strchr(text, '\n')) == NULL)
        return 0;
    *end = '\0';
    *script = end + 1;
    if ((end = strchr(*script, '\n')) == NULL)
        return 0;
    *end = '\0';
    return 1;
}

/* --- the detached part ------------------------------------------------------------------------ */

/* What a process of its own session writes to its stdout, until its end or the stop. */
static void relay(int from)
{
    answered = 0;
    while (answered < MAX_ANSWER && !told_to_stop) {
        ssize_t got = read(from, answer + answered, MAX_ANSWER - answered);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        if (got > 0)
            answered += (size_t)got;
    }
    if (!told_to_stop)
        write_all(1, answer, answered);
    close(from);
}

/* Fork. The child gets 1: it is a session of its own that no signal to the host's reaches, with
 * nothing of the host's open but, if asked for, stdin. The hook relays what the child prints until
 * its own stop and gets 0; -1 when there can be no child. */
static int detach(int with_stdin)
{
    int out[2], fd;
    pid_t child;
    if (pipe(out) != 0)
        return -1;
    while ((child = fork()) < 0) { /* too many processes, for the moment */
        if (remaining(ANSWER_MS) == 0) /* what is left of the second is for `give_way` */
            return -1;
        poll(NULL, 0, 10);
    }
    if (child > 0) {
        delivered = 1;
        close(out[1]);
        relay(out[0]);
        if (!told_to_stop)
            waitpid(child, NULL, 0);
        return 0;
    }
    is_detached = 1;
    handle(SIGALRM, SIG_DFL);
    handle(SIGTERM, SIG_IGN);
    handle(SIGINT, SIG_IGN);
    handle(SIGHUP, SIG_IGN);
    setsid();
    fd = chdir("/"); /* so that it holds no mount; where it cannot, it stays */
    if (!with_stdin)
        dup2(2, 0);
    dup2(out[1], 1);
    for (fd = 3; fd < 256; fd++)
        close(fd);
    fixed = "";
    told_to_stop = delivered = ticks = 0;
    counted_from_ns = now_ns(CLOCK_MONOTONIC);
    return 1;
}

/* The deadline may cut the answer, never the event: a detached child reads stdin to its end, however
 * late that comes, and goes on with the call. 0 in the hook, whose part is done then. */
static int read_on(int start, int reachable, const char *path)
{
    int detached;
    if (start && remaining(STOP_MS) > 0 && (!reachable || !listens(path)))
        arm(remaining(START_STOP_MS));
    detached = detach(1);
    if (detached == 0)
        return 0;
    if (detached < 0 || (!read_stdin(LATE_MS) && !is_whole()))
        flags |= LATE;
    counted_from_ns = now_ns(CLOCK_MONOTONIC);
    return 1;
}

/* In a detached process: run the fallback and give it the frame from this process's memory. */
static void feed(char *const *command)
{
    int in[2];
    pid_t child;
    alarm(FALLBACK_SECONDS);
    if (pipe(in) != 0 || (child = fork()) < 0)
        _exit(0);
    if (child == 0) {
        alarm(FALLBACK_SECONDS);
        dup2(in[0], 0);
        close(in[0]);
        close(in[1]);
        execv(command[0], command);
        _exit(0);
    }
    close(in[0]);
    dup2(2, 1);
    write_all(in[1], frame, filled);
    close(in[1]);
    waitpid(child, NULL, 0);
    _exit(0);
}

/* There can be no second process: the fallback takes the place of this one and spools. What it reads
 * waits in a pipe meanwhile, so a frame larger than a pipe cannot be saved. */
static void give_way(char **command)
{
    int in[2];
    if (pipe(in) != 0)
        return;
#ifdef F_SETPIPE_SZ
    fcntl(in[1], F_SETPIPE_SZ, 1 << 20);
#endif
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    if (write(in[1], frame, filled) != (ssize_t)filled)
        return;
    close(in[1]);
    dup2(in[0], 0);
    close(in[0]);
    command[6] = "alone";
    tell_fixed();
    arm(0);
    handle(SIGALRM, SIG_IGN);
    execv(command[0], command);
}

static void hand_over(int retry, const char *directory, const char *installed)
{
    char text[3 * PATH], *script;
    char *command[10];
    if (!read_launcher(directory, text, &script) && !read_launcher(installed, text, &script))
        return;
    command[0] = text;
    command[1] = "-I";
    command[2] = "-S";
    command[3] = "-E";
    command[4] = script;
    command[5] = "--frame";
    command[6] = retry ? "retry" : "spool";
    command[7] = (char *)directory;
    command[8] = NULL;
    switch (detach(0)) {
    case 1:
        feed(command);
        break;
    case -1:
        give_way(command);
    }
}

static int is_private(void)
{
    const char *set = getenv("RECOLLECT_PRIVATE");
    return set != NULL && *set != '\0' && strcmp(set, "0") != 0 && strcasecmp(set, "false") != 0 &&
           strcasecmp(set, "no") != 0 && strcasecmp(set, "off") != 0;
}

/* A private session: nothing of it is sent or spooled. Python notes which session it is, so that no
   import of its transcript brings it in. */
static void become_private(const char *directory, const char *installed, const char *host,
                           const char *event)
{
    char text[3 * PATH], *script;
    if (!read_launcher(directory, text, &script) && !read_launcher(installed, text, &script))
        return;
    {
        char *command[] = {text, "-I", "-S", "-E", script, "--private", (char *)directory,
                           (char *)host, (char *)event, NULL};
        tell_fixed();
        signal(SIGALRM, SIG_IGN); /* until Python has set its own */
        execv(command[0], command);
    }
}

static void run(int argc, char **argv)
{
    char directory[2 * PATH], installed[PATH], path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    const char *internal = getenv("RECOLLECT_INTERNAL");
    int start = 0, reachable, result = UNREACHED;
    size_t i;
    if (internal != NULL && *internal != '\0')
        return; /* one of Recollect's own LLM calls: never captured */
    find_installed(installed);
    if (!find_directory(installed, directory))
        return;
    reachable = find_socket(directory, path, sizeof path);
    if (argc == 2 && strcmp(argv[1], "--where") == 0) { /* for `recollect doctor` and the tests */
        char text[4 * PATH];
        int size = snprintf(text, sizeof text, "%s\n%s\n", directory, path);
        write_all(1, (unsigned char *)text, size > 0 ? (size_t)size : 0);
        return;
    }
    if (is_private()) {
        become_private(directory, installed, argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
        return;
    }
    for (i = 0; argc > 2 && i < sizeof session_starts / sizeof *session_starts; i++)
        start |= strcasecmp(argv[2], session_starts[i]) == 0;
    put_call(argc, argv);
    open_stdin();
    if (!read_stdin(STDIN_MS) && !is_whole() && !read_on(start, reachable, path))
        return;
    close_frame();
    if (reachable)
        result = exchange(path, start ? START_ANSWER_MS : ANSWER_MS);
    if (result == STORED) {
        delivered = 1;
        write_all(1, answer + HEADER, answered - HEADER);
    } else if (result != REFUSED) {
        if (start && result == UNREACHED && remaining(STOP_MS) > 0)
            arm(remaining(START_STOP_MS)); /* the fallback may start the daemon and wait for it */
        hand_over(result == UNREACHED, directory, installed);
    }
}

int main(int argc, char **argv)
{
    size_t i;
    secure_process();
    for (i = 0; argc > 1 && i < sizeof fixed_answers / sizeof *fixed_answers; i++)
        if (strcasecmp(argv[1], fixed_answers[i][0]) == 0 &&
            (*fixed_answers[i][1] == '\0' ||
             (argc > 2 && strcasecmp(argv[2], fixed_answers[i][1]) == 0)))
            fixed = fixed_answers[i][2];
    run(argc, argv);
    tell_fixed();
    return 0;
}
