/* recollect-hook.exe <host> <event>: hook.c for Windows; see there for what goes in and out.
 *
 * The daemon listens on a port of 127.0.0.1; the file hook.sock holds its process id, the port and
 * a token that is sent before the frame. A frame that the daemon does not take goes to the Python
 * fallback, a detached process that outlives this one. There is no fork: input that comes later
 * than the hook may wait is sent as it is, marked LATE. Run under Wine, not on a real Windows.
 */
#define _WIN32_WINNT 0x0601
#define SystemFunction036 NTAPI SystemFunction036 /* RtlGenRandom, as ntsecapi.h declares it */
#include <winsock2.h>
#include <windows.h>
#include <ntsecapi.h>
#undef SystemFunction036

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <shellapi.h>

#include "hook_lists.h"
#include "hook_frame.h"

enum {
    STORED = 0,
    REFUSED = 1,
    NOT_NOW = 2,
    UNREACHED = 100,
    UNANSWERED = 101,

    MAX_ANSWER = 1 << 20,
    ANSWER_MS = 650,
    START_ANSWER_MS = 900,
    STOP_MS = 950,
    START_STOP_MS = 2950,
    TOKEN = 64,
    LOCKED_BYTE = 1 << 30 /* oslayer_windows.py locks this one */
};

/* --- time ------------------------------------------------------------------------------------- */

/* As time.perf_counter_ns of Python, or the wall clock. */
static uint64_t now_ns(clockid_t clock)
{
    LARGE_INTEGER ticks, per_second;
    if (clock == CLOCK_REALTIME) {
        FILETIME now;
        GetSystemTimeAsFileTime(&now);
        return (((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - 116444736000000000u) * 100u;
    }
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    return (uint64_t)(ticks.QuadPart / per_second.QuadPart) * 1000000000u +
           (uint64_t)(ticks.QuadPart % per_second.QuadPart) * 1000000000u /
               (uint64_t)per_second.QuadPart;
}

static int remaining(int deadline_ms)
{
    int64_t spent = (int64_t)((now_ns(CLOCK_MONOTONIC) - started_ns) / 1000000u);
    return spent >= deadline_ms ? 0 : (int)(deadline_ms - spent);
}

static volatile LONG stop_ms = STOP_MS;

/* The hard stop: whatever hangs, the host is not kept longer. */
static DWORD WINAPI hard_stop(void *unused)
{
    (void)unused;
    while (remaining((int)stop_ms) > 0)
        Sleep((DWORD)remaining((int)stop_ms));
    ExitProcess(0);
}

/* --- text: Windows has UTF-16, a frame has UTF-8 ----------------------------------------------- */

static char *narrow(const wchar_t *text)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *out = malloc(size > 0 ? (size_t)size : 1);
    if (out == NULL)
        ExitProcess(0);
    *out = '\0';
    WideCharToMultiByte(CP_UTF8, 0, text, -1, out, size, NULL, NULL);
    return out;
}

static char *current_directory(void)
{
    static wchar_t place[PATH];
    DWORD size = GetCurrentDirectoryW(PATH, place);
    return narrow(size > 0 && size < PATH ? place : L"");
}

/* The variables that are passed on, as NAME=value; NULL at the end. */
static char **read_environment(void)
{
    static char *found[sizeof environment / sizeof *environment + 1];
    wchar_t *block = GetEnvironmentStringsW(), *one;
    size_t i, count = 0;
    for (one = block; one != NULL && *one != L'\0'; one += wcslen(one) + 1) {
        char *text = narrow(one);
        for (i = 0; i < sizeof environment / sizeof *environment; i++) {
            size_t length = strlen(environment[i]);
            if (strncmp(text, environment[i], length) == 0 && text[length] == '=')
                found[count++] = text;
        }
    }
    return found;
}

/* --- where things are -------------------------------------------------------------------------- */

static wchar_t directory[2 * PATH];

static const wchar_t *variable(const wchar_t *name)
{
    static wchar_t values[4][PATH];
    static int next;
    wchar_t *value = values[next++ % 4];
    DWORD size = GetEnvironmentVariableW(name, value, PATH);
    return size > 0 && size < PATH ? value : L"";
}

static int is_there(const wchar_t *folder, const wchar_t *name)
{
    wchar_t path[2 * PATH];
    _snwprintf(path, 2 * PATH - 1, L"%ls\\%ls", folder, name);
    path[2 * PATH - 1] = L'\0';
    return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

/* As paths.py finds it. */
static int find_directory(void)
{
    static wchar_t path[2 * PATH], program[PATH];
    const wchar_t *chosen = variable(L"RECOLLECT_HOME");
    wchar_t *slash;
    DWORD size;
    if (chosen[0] == L'~' && (chosen[1] == L'\0' || chosen[1] == L'/'))
        _snwprintf(path, PATH, L"%ls%ls", variable(L"USERPROFILE"), chosen + 1);
    else if (*chosen != L'\0')
        wcsncpy(path, chosen, PATH);
    else {
        size = GetModuleFileNameW(NULL, program, PATH);
        if (size > 0 && size < PATH && (slash = wcsrchr(program, L'\\')) != NULL) {
            *slash = L'\0';
            slash = wcsrchr(program, L'\\');
            if (slash != NULL && _wcsicmp(slash, L"\\bin") == 0) {
                *slash = L'\0';
                if (is_there(program, L"launcher"))
                    wcsncpy(path, program, PATH);
            }
        }
        if (*path == L'\0')
            _snwprintf(path, PATH, L"%ls\\.recollect", variable(L"USERPROFILE"));
    }
    size = GetFullPathNameW(path, PATH, directory, NULL);
    return size > 0 && size < PATH;
}

/* Read a small file of the data directory; how much, or 0. `locked`: only while another holds it. */
static size_t read_file(const wchar_t *name, char *text, size_t most, int locked)
{
    wchar_t path[2 * PATH + 32];
    DWORD got = 0;
    HANDLE file;
    _snwprintf(path, 2 * PATH + 31, L"%ls\\%ls", directory, name);
    file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                       NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return 0;
    if ((locked && LockFile(file, LOCKED_BYTE, 0, 1, 0)) ||
        !ReadFile(file, text, (DWORD)most - 1, &got, NULL))
        got = 0;
    CloseHandle(file); /* which also unlocks it */
    text[got] = '\0';
    return got;
}

/* --- the daemon ------------------------------------------------------------------------------- */

static unsigned char answer[HEADER + MAX_ANSWER];
static size_t answered;

/* The port and token of the daemon, if the one that wrote them still runs. */
static int find_daemon(unsigned short *port, char *token)
{
    char text[256], holder[32];
    unsigned long pid, number;
    if (read_file(L"hook.sock", text, sizeof text, 0) == 0 ||
        read_file(L"lock", holder, sizeof holder, 1) == 0 ||
        sscanf(text, "%lu %lu %64s", &pid, &number, token) != 3 || strlen(token) != TOKEN)
        return 0;
    *port = (unsigned short)number;
    return strtoul(holder, NULL, 10) == pid;
}

static int reach(SOCKET *connection)
{
    struct sockaddr_in address;
    char token[TOKEN + 1];
    unsigned short port;
    WSADATA data;
    if (!find_daemon(&port, token) || WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return UNREACHED;
    *connection = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (*connection == INVALID_SOCKET ||
        connect(*connection, (struct sockaddr *)&address, sizeof address) != 0)
        return UNREACHED;
    return send(*connection, token, TOKEN, 0) == TOKEN ? STORED : UNANSWERED;
}

static int receive(SOCKET connection, size_t until, int deadline_ms)
{
    while (answered < until) {
        DWORD left = (DWORD)remaining(deadline_ms);
        int got;
        if (left == 0)
            return 0;
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, (const char *)&left, sizeof left);
        got = recv(connection, (char *)answer + answered, (int)(until - answered), 0);
        if (got <= 0)
            return 0;
        answered += (size_t)got;
    }
    return 1;
}

static int exchange(int deadline_ms)
{
    SOCKET connection;
    size_t sent = 0, length;
    DWORD left = (DWORD)remaining(deadline_ms);
    int result = reach(&connection);
    if (result != STORED)
        return result;
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, (const char *)&left, sizeof left);
    while (sent < filled) {
        int done = send(connection, (const char *)frame + sent, (int)(filled - sent), 0);
        if (done <= 0)
            break; /* it may have answered before it had read all */
        sent += (size_t)done;
    }
    if (!receive(connection, HEADER, deadline_ms))
        return UNANSWERED;
    length = (size_t)answer[8] | (size_t)answer[9] << 8 | (size_t)answer[10] << 16 |
             (size_t)answer[11] << 24;
    if (memcmp(answer, "RCLA", 4) != 0 || answer[4] != VERSION || answer[5] > NOT_NOW ||
        answer[6] != 0 || answer[7] != 0 || length > MAX_ANSWER ||
        !receive(connection, HEADER + length, deadline_ms))
        return UNANSWERED;
    return answer[5];
}

static void write_all(HANDLE out, const unsigned char *data, size_t size)
{
    DWORD done;
    while (size > 0 && WriteFile(out, data, (DWORD)size, &done, NULL) && done > 0) {
        data += done;
        size -= done;
    }
}

/* --- the fallback ----------------------------------------------------------------------------- */

/* An argument as every Windows program reads it: only quotes need care, and no path has any. */
static void add_argument(wchar_t *line, size_t most, const wchar_t *argument)
{
    size_t length = wcslen(line);
    _snwprintf(line + length, most - length - 1, L"%ls\"%ls\"", length > 0 ? L" " : L"", argument);
}

/* Run the Python that the file `launcher` names, detached, with its script and these arguments. Its
 * stdin and stdout are pipes, if asked for; their ends here are given back. */
static int run_python(const wchar_t *const *arguments, HANDLE *to, HANDLE *from)
{
    static char text[3 * PATH];
    static wchar_t python[PATH], script[PATH], line[8 * PATH];
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    STARTUPINFOW start;
    PROCESS_INFORMATION made;
    HANDLE theirs[2] = {NULL, NULL};
    char *first, *second;
    if (read_file(L"launcher", text, sizeof text, 0) == 0 ||
        (first = strtok(text, "\r\n")) == NULL || (second = strtok(NULL, "\r\n")) == NULL ||
        !MultiByteToWideChar(CP_UTF8, 0, first, -1, python, PATH) ||
        !MultiByteToWideChar(CP_UTF8, 0, second, -1, script, PATH))
        return 0;
    add_argument(line, 8 * PATH, python);
    add_argument(line, 8 * PATH, L"-I");
    add_argument(line, 8 * PATH, L"-S");
    add_argument(line, 8 * PATH, L"-E");
    add_argument(line, 8 * PATH, script);
    for (; *arguments != NULL; arguments++)
        add_argument(line, 8 * PATH, *arguments);
    /* A host may wait until all that hold its pipes have closed them. */
    SetHandleInformation(GetStdHandle(STD_OUTPUT_HANDLE), HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(GetStdHandle(STD_ERROR_HANDLE), HANDLE_FLAG_INHERIT, 0);
    if (to != NULL)
        SetHandleInformation(GetStdHandle(STD_INPUT_HANDLE), HANDLE_FLAG_INHERIT, 0);
    memset(&start, 0, sizeof start);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    if (to != NULL) {
        if (!CreatePipe(&theirs[0], to, &inherit, 0) || !CreatePipe(from, &theirs[1], &inherit, 0))
            return 0;
        SetHandleInformation(*to, HANDLE_FLAG_INHERIT, 0);
        SetHandleInformation(*from, HANDLE_FLAG_INHERIT, 0);
        start.hStdInput = theirs[0];
        start.hStdOutput = theirs[1];
    }
    if (!CreateProcessW(python, line, NULL, NULL, TRUE,
                        DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP, NULL, NULL, &start, &made))
        return 0;
    CloseHandle(made.hThread);
    CloseHandle(made.hProcess);
    CloseHandle(theirs[0]);
    CloseHandle(theirs[1]);
    return 1;
}

/* Give the frame to the fallback, and print what it prints. */
static void hand_over(const wchar_t *mode)
{
    const wchar_t *const arguments[] = {L"--frame", mode, directory, NULL};
    HANDLE to, from;
    DWORD got;
    if (!run_python(arguments, &to, &from))
        return;
    write_all(to, frame, filled);
    CloseHandle(to);
    answered = 0;
    while (answered < MAX_ANSWER &&
           ReadFile(from, answer + answered, (DWORD)(MAX_ANSWER - answered), &got, NULL) && got > 0)
        answered += got;
    write_all(GetStdHandle(STD_OUTPUT_HANDLE), answer, answered);
}

/* --- stdin ------------------------------------------------------------------------------------ */

static volatile LONG came; /* how much of stdin is in the frame */

static DWORD WINAPI read_on(void *unused)
{
    static unsigned char rest[1 << 16];
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE);
    DWORD got;
    (void)unused;
    for (;;) {
        size_t room = MAX_STDIN - (size_t)came;
        if (!ReadFile(in, room > 0 ? frame + stdin_at + 4 + came : rest,
                      room > 0 ? (DWORD)room : sizeof rest, &got, NULL) || got == 0)
            return 0;
        if (room > 0)
            InterlockedExchangeAdd(&came, (LONG)got);
        else {
            flags |= TRUNCATED;
            if ((thrown += got) > MAX_THROWN)
                return 0;
        }
    }
}

/* A thread reads, because no read of a pipe has a time limit; 1 when it came to the end. */
static int read_stdin(int deadline_ms)
{
    HANDLE reader = CreateThread(NULL, 0, read_on, NULL, 0, NULL);
    int ended = WaitForSingleObject(reader, (DWORD)remaining(deadline_ms)) == WAIT_OBJECT_0;
    stdin_size = (size_t)came;
    filled = stdin_at + 4 + stdin_size;
    return ended;
}

static int is_private(void)
{
    const wchar_t *set = variable(L"RECOLLECT_PRIVATE");
    return *set != L'\0' && wcscmp(set, L"0") != 0 && _wcsicmp(set, L"false") != 0 &&
           _wcsicmp(set, L"no") != 0 && _wcsicmp(set, L"off") != 0;
}

int main(void)
{
    int argc, i, start = 0, result;
    wchar_t **given = CommandLineToArgvW(GetCommandLineW(), &argc);
    char **argv;
    started_ns = now_ns(CLOCK_MONOTONIC);
    CreateThread(NULL, 0, hard_stop, NULL, 0, NULL);
    if (given == NULL || *variable(L"RECOLLECT_INTERNAL") != L'\0' || !find_directory())
        return 0;
    argv = calloc((size_t)argc + 1, sizeof *argv);
    for (i = 0; argv != NULL && i < argc; i++)
        argv[i] = narrow(given[i]);
    if (argv == NULL)
        return 0;
    if (argc == 2 && strcmp(argv[1], "--where") == 0) { /* for `recollect doctor` and the tests */
        static char text[8 * PATH];
        char *place = narrow(directory);
        snprintf(text, sizeof text, "%s\n%s\\hook.sock\n", place, place);
        write_all(GetStdHandle(STD_OUTPUT_HANDLE), (unsigned char *)text, strlen(text));
        return 0;
    }
    if (is_private()) {
        const wchar_t *const call[] = {L"--private", directory, argc > 1 ? given[1] : L"",
                                       argc > 2 ? given[2] : L"", NULL};
        run_python(call, NULL, NULL);
        return 0;
    }
    for (i = 0; argc > 2 && i < (int)(sizeof session_starts / sizeof *session_starts); i++)
        start |= _stricmp(argv[2], session_starts[i]) == 0;
    variables = read_environment();
    put_call(argc, argv);
    open_stdin();
    if (!read_stdin(STDIN_MS) && !is_whole())
        flags |= LATE;
    close_frame();
    result = exchange(start ? START_ANSWER_MS : ANSWER_MS);
    if (result == STORED)
        write_all(GetStdHandle(STD_OUTPUT_HANDLE), answer + HEADER, answered - HEADER);
    else if (result != REFUSED) {
        if (start && result == UNREACHED)
            stop_ms = START_STOP_MS; /* the fallback may start the daemon and wait for it */
        hand_over(result == UNREACHED ? L"retry" : L"spool");
    }
    ExitProcess(0); /* the thread that reads may still wait */
}
