"""Secrets without a shape of their own, known by the vendor's name beside them.

In: nothing. Out: `VENDORS`; `words` stand in the assigned name or just before it on its line.
What can go wrong: a vendor's word in an unrelated name; the value must still have the vendor's
shape and look random, so such a name alone does no harm.
"""

from recollect.privacy.rules.definition import Vendor

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

VENDORS: tuple[Vendor, ...] = (
    Vendor(
        "aws-secret",
        ("aws", "secretaccesskey", "secret_access_key"),
        r"[A-Za-z0-9+/]{40}",
        (
            "AWS_SECRET_ACCESS_KEY={b40}",
            'aws_secret_access_key = "{b40}"',
            '"SecretAccessKey": "{b40}"',
        ),
        ("AWS_SECRET_ACCESS_KEY=$AWS_SECRET",),
    ),
    Vendor(
        "aws-session-token",
        ("aws", "sessiontoken", "session_token"),
        r"[A-Za-z0-9+/=]{100,}",
        ("AWS_SESSION_TOKEN={b300}", '"SessionToken": "{b340}"'),
    ),
    Vendor(
        "azure-client-secret",
        ("azure", "arm_"),
        r"[A-Za-z0-9_.~+/=-]{30,90}",
        ("AZURE_CLIENT_SECRET={A34}", "ARM_CLIENT_SECRET={A40}", "AZURE_OPENAI_API_KEY={h32}"),
    ),
    Vendor(
        "heroku-key",
        ("heroku",),
        _UUID,
        ("HEROKU_API_KEY={u}", "heroku_api_key: {u}"),
        ("heroku_release={u}",),
    ),
    Vendor(
        "mistral-key",
        ("mistral",),
        r"[A-Za-z0-9]{32}",
        ("MISTRAL_API_KEY={A32}", 'mistral_api_key = "{A32}"'),
    ),
    Vendor(
        "cohere-key",
        ("cohere", "co_api"),
        r"[A-Za-z0-9]{40}",
        ("COHERE_API_KEY={A40}", "CO_API_KEY={A40}"),
    ),
    Vendor(
        "cloudflare-token",
        ("cloudflare", "cf_api"),
        r"[A-Za-z0-9_-]{37,40}",
        ("CLOUDFLARE_API_TOKEN={w40}", "CF_API_KEY={h37}"),
    ),
    Vendor(
        "fastly-token",
        ("fastly",),
        r"[A-Za-z0-9_-]{32}",
        ("FASTLY_API_TOKEN={w32}", "FASTLY_API_KEY={A32}"),
    ),
    Vendor(
        "datadog-key",
        ("datadog", "dd_api", "dd_app", "dd-api", "dd-app"),
        r"[0-9a-f]{32}|[0-9a-f]{40}",
        ("DD_API_KEY={h32}", "DATADOG_APP_KEY={h40}", "DD-API-KEY: {h32}"),
    ),
    Vendor("twilio-token", ("twilio",), r"[0-9a-f]{32}", ("TWILIO_AUTH_TOKEN={h32}",)),
    Vendor("mailgun-key", ("mailgun",), r"[0-9a-z-]{32,72}", ("MAILGUN_API_KEY={h32}",)),
    Vendor("netlify-token", ("netlify",), r"[A-Za-z0-9_-]{40,46}", ("NETLIFY_AUTH_TOKEN={w43}",)),
    Vendor("vercel-token", ("vercel",), r"[A-Za-z0-9]{24}", ("VERCEL_TOKEN={A24}",)),
    Vendor(
        "pagerduty-key",
        ("pagerduty", "pd_token"),
        r"u\+[\w-]{18}|[\w+-]{20}|[0-9a-f]{32}",
        ("PAGERDUTY_API_KEY=u+{w18}", "PAGERDUTY_TOKEN={A20}", "PAGERDUTY_ROUTING_KEY={h32}"),
    ),
    Vendor(
        "okta-token",
        ("okta", "ssws"),
        r"[A-Za-z0-9_-]{40,44}",
        ("OKTA_API_TOKEN=00{w40}", "Authorization: SSWS 00{w40}"),
    ),
    Vendor("auth0-secret", ("auth0",), r"[A-Za-z0-9_-]{32,}", ("AUTH0_CLIENT_SECRET={w64}",)),
    Vendor(
        "atlassian-token",
        ("jira", "atlassian", "confluence"),
        r"[A-Za-z0-9]{24}",
        ("JIRA_API_TOKEN={A24}",),
    ),
    Vendor(
        "bitbucket-token",
        ("bitbucket",),
        r"[A-Za-z0-9_=-]{20,64}",
        ("BITBUCKET_CLIENT_SECRET={A32}", "BITBUCKET_APP_PASSWORD={A20}"),
    ),
    Vendor("paypal-secret", ("paypal",), r"[A-Za-z0-9_-]{40,}", ("PAYPAL_CLIENT_SECRET=E{w79}",)),
    Vendor("plaid-secret", ("plaid",), r"[0-9a-f]{30}", ("PLAID_SECRET={h30}",)),
    Vendor(
        "snowflake-password",
        ("snowflake",),
        r"\S{8,}",
        ("SNOWFLAKE_PASSWORD={A16}", 'snowflake_password: "{A14}!"'),
    ),
    Vendor("sentry-token", ("sentry",), r"[0-9a-f]{64}", ("SENTRY_AUTH_TOKEN={h64}",)),
    Vendor(
        "newrelic-key",
        ("new_relic", "newrelic"),
        r"[0-9a-fA-F]{36}NRAL|[0-9a-f]{40,47}",
        ("NEW_RELIC_LICENSE_KEY={h36}NRAL", "NEW_RELIC_LICENSE_KEY={h40}"),
    ),
    Vendor(
        "algolia-key",
        ("algolia",),
        r"[0-9a-f]{32}",
        ("ALGOLIA_ADMIN_KEY={h32}", "ALGOLIA_API_KEY={h32}"),
    ),
    Vendor("airtable-key", ("airtable",), r"key[A-Za-z0-9]{14}", ("AIRTABLE_API_KEY=key{A14}",)),
    Vendor("snyk-token", ("snyk",), _UUID, ("SNYK_TOKEN={u}",)),
    Vendor("postmark-token", ("postmark",), _UUID, ("POSTMARK_SERVER_TOKEN={u}",)),
    Vendor("codecov-token", ("codecov",), _UUID, ("CODECOV_TOKEN={u}",)),
    Vendor("wandb-key", ("wandb",), r"[0-9a-f]{40}", ("WANDB_API_KEY={h40}",)),
    Vendor("deepgram-key", ("deepgram",), r"[0-9a-f]{40}", ("DEEPGRAM_API_KEY={h40}",)),
    Vendor("linode-token", ("linode",), r"[0-9a-f]{64}", ("LINODE_TOKEN={h64}",)),
    Vendor(
        "asana-token",
        ("asana",),
        r"\d/\d{10,}(?:/\d+)?:[0-9a-f]{32}",
        ("ASANA_TOKEN=1/{d16}:{h32}",),
    ),
    Vendor(
        "ethereum-key",
        ("eth", "wallet", "deployer", "private_key"),
        r"(?:0x)?[0-9a-fA-F]{64}",
        ("ETH_PRIVATE_KEY=0x{h64}", "DEPLOYER_PRIVATE_KEY={h64}"),
    ),
)
