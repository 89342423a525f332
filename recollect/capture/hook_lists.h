/* Made from hosts/<name>/facts.py: python -m tests.docs --write */

/* Variables that are passed on. */
static const char *const environment[] = {
    "AUGMENT_CONVERSATION_ID",
    "AUGMENT_PROJECT_DIR",
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PROJECT_DIR",
    "CONTINUE_PROJECT_DIR",
    "COPILOT_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "CURSOR_VERSION",
    "DEVIN_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "GEMINI_SESSION_ID",
    "QWEN_CODE_SESSION_ID",
    "QWEN_PROJECT_DIR",
    "USER_PROMPT",
};

/* Events that start a session. */
static const char *const session_starts[] = {
    "agentspawn",
    "session-start",
    "session.created",
    "session.resumed",
    "sessionstart",
    "taskresume",
    "taskstart",
};

/* What a host must be told when no daemon says anything: host, event or all, text. */
static const char *const fixed_answers[][3] = {
    {"cline", "", "{\"cancel\":false,\"contextModification\":\"\",\"errorMessage\":\"\"}"},
    {"cursor", "beforesubmitprompt", "{\"continue\":true}"},
    {"cursor", "userpromptsubmit", "{\"continue\":true}"},
};
