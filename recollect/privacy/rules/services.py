"""Shapes of secrets of clouds, models, chat, mail and payment services.

In: nothing. Out: `SERVICES`. What can go wrong: see `definition.py`.
"""

from recollect.privacy.rules.definition import Rule

# The end of a token of letters and digits: more of them would make it something else.
_END = r"(?![A-Za-z0-9])"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

SERVICES: tuple[Rule, ...] = (
    # clouds
    Rule(
        "aws-key",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        rf"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}{_END}",
        ("AKIA{U16}", "ASIA{U16}"),
        ("AKIA", "ASIATIC COUNTRIES", "AKIA{U40}"),
    ),
    Rule(
        "aws-session-token",
        ("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"),
        r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=_%-]{50,}",
        ("IQoJb3JpZ2lu{b300}", "FwoGZXIvYXdz{b200}=="),
        ("IQoJb3JpZ2lu",),
    ),
    Rule("aws-mws-token", (r"amzn\.mws",), rf"amzn\.mws\.{_UUID}", ("amzn.mws.{u}",)),
    Rule(
        "aws-bedrock-key",
        ("ABSK", "bedrock-api-key-"),
        r"(?:ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{60,})",
        ("ABSK{b110}==", "bedrock-api-key-{b132}"),
    ),
    Rule(
        "gcp-api-key",
        ("AIza",),
        r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
        ("AIza{w35}",),
        ("AIza{A10}", "AIza{A80}"),
    ),
    Rule("gcp-client-secret", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{20,}", ("GOCSPX-{w28}",)),
    Rule(
        "gcp-access-token",
        (r"ya29\.",),
        r"ya29\.[A-Za-z0-9_.-]{20,}",
        ("ya29.{w160}", "ya29.a0{w80}"),
    ),
    Rule("gcp-refresh-token", ("1//0",), r"1//0[A-Za-z0-9_-]{30,}", ("1//0{w60}",), ("1//0 = 1",)),
    Rule(
        "firebase-key",
        ("AAAA[A-Za-z0-9_-]{7}:",),
        r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{120,}",
        ("AAAA{w7}:{w140}",),
    ),
    Rule(
        "azure-storage-key",
        ("AccountKey=", "accountkey=", "ACCOUNTKEY=", "SharedAccessKey=", "sharedaccesskey="),
        r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/%]{32,100}={0,2})",
        (
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={b86}==",
            "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=R;SharedAccessKey={b43}=",
        ),
        ("AccountKey=<key>", "AccountKey=${KEY}"),
    ),
    Rule(
        "azure-sas",
        ("sig=[A-Za-z0-9+/%_-]{40}",),
        r"sig=([A-Za-z0-9+/_-]*(?:(?:%[0-9A-Fa-f]{2})[A-Za-z0-9+/_-]*)*={0,2})(?<=[A-Za-z0-9+/_%=-]{40})",
        ("https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={A40}%2B{A2}%3D",),
        ("sig=inspect", "sig=sig"),
    ),
    Rule(
        "url-signature",
        ("sig=", "signature="),
        r"(?<=[?&;])sig(?:nature)?=(?=[^\s&\d]{0,64}\d)([A-Za-z0-9+/_.~%*!-]{8,512}={0,2})",
        ("https://h.test/f?sig={A22}&t=1", "https://h.test/f?a=1&sig={A30}%3D", "?signature={h64}"),
        ("?sig=inspect", "?sig=ok", "?sig=$SIG1234567"),
    ),
    Rule(
        "url-signature",
        ("Signature=",),
        r"(?<=[?&-])Signature=([A-Za-z0-9+/_~%-]{16,1024}={0,2})",
        (
            "https://h.test/f?X-Amz-Date=1&X-Amz-Signature={h64}",
            "https://h.test/f?Signature={A27}%3D",
        ),
        ("?Signature=None",),
    ),
    Rule(
        "azure-client-secret",
        ("Q~",),
        r"[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9_.~-])",
        ("{A3}8Q~{A34}", "{A3}7Q~{A31}"),
        ("Q~",),
        back=4,
    ),
    Rule(
        "digitalocean-token",
        ("do[opr]_v1_",),
        r"do[opr]_v1_[0-9a-fA-F]{40,}",
        ("dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"),
    ),
    Rule(
        "alibaba-key", ("LTAI[A-Za-z0-9]{12}",), rf"LTAI[A-Za-z0-9]{{12,26}}{_END}", ("LTAI{A20}",)
    ),
    Rule(
        "tencent-key", ("AKID[A-Za-z0-9]{13}",), rf"AKID[A-Za-z0-9]{{13,40}}{_END}", ("AKID{A32}",)
    ),
    # language models
    Rule(
        "anthropic-key",
        ("sk-ant-",),
        r"sk-ant-[A-Za-z0-9_-]{20,}",
        ("sk-ant-api03-{w93}AA", "sk-ant-admin01-{w93}AA", "sk-ant-oat01-{w80}"),
    ),
    Rule("openrouter-key", ("sk-or-",), r"sk-or-[A-Za-z0-9_-]{20,}", ("sk-or-v1-{h64}",)),
    Rule("langfuse-key", ("sk-lf-",), rf"sk-lf-{_UUID}", ("sk-lf-{u}",)),
    Rule(
        "openai-key",
        ("sk-(?:proj|svcacct|admin|None|service)", "sk-[A-Za-z0-9]{20}"),
        r"sk-(?:(?:proj|svcacct|admin|None|service)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})",
        (
            "sk-{A48}",
            "sk-proj-{w156}",
            "sk-svcacct-{w120}",
            "sk-admin-{w74}",
            "sk-{A20}T3BlbkFJ{A20}",
        ),
        (
            "sk-folding-cube-with-many-parts",
            "task-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123",
            "sk-learn",
            "sk-proj-your-key-goes-right-here",
        ),
    ),
    Rule(
        "huggingface-token",
        ("hf_", "api_org_"),
        rf"(?:hf|api_org)_[A-Za-z0-9]{{30,}}{_END}",
        ("hf_{A34}", "api_org_{A34}"),
        ("hf_hub_download", "hf_transfer_enabled_by_default_in_this"),
    ),
    Rule("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{30,}", ("r8_{A37}",), ("r8_unorm",)),
    Rule("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{30,}", ("gsk_{A52}",)),
    Rule("xai-key", ("xai-",), r"xai-[A-Za-z0-9_-]{40,}", ("xai-{A80}",)),
    Rule("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{30,}", ("pplx-{A48}", "pplx-{h48}")),
    Rule("cerebras-key", ("csk-",), r"csk-[A-Za-z0-9]{30,}", ("csk-{a48}",)),
    Rule("nvidia-key", ("nvapi-",), r"nvapi-[A-Za-z0-9_-]{40,}", ("nvapi-{w64}",)),
    Rule("together-key", ("tgp_v1_",), r"tgp_v1_[A-Za-z0-9_-]{30,}", ("tgp_v1_{w43}",)),
    Rule(
        "fireworks-key", ("fw_[A-Za-z0-9]{20}",), rf"fw_[A-Za-z0-9]{{20,30}}{_END}", ("fw_{A24}",)
    ),
    Rule("elevenlabs-key", ("sk_[0-9a-f]{40}",), rf"sk_[0-9a-f]{{48}}{_END}", ("sk_{h48}",)),
    Rule(
        "langsmith-key",
        ("lsv2_",),
        r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        ("lsv2_pt_{h32}_{h10}",),
    ),
    Rule("pinecone-key", ("pcsk_",), r"pcsk_[A-Za-z0-9_]{40,}", ("pcsk_{A5}_{A63}",)),
    Rule("tavily-key", ("tvly-",), r"tvly-[A-Za-z0-9_-]{24,}", ("tvly-{A32}", "tvly-dev-{A32}")),
    # chat and mail
    Rule(
        "slack-token",
        ("xox[a-z][-.]", "xapp-", "xwfp-"),
        r"(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9%-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}|xwfp-[A-Za-z0-9-]{20,})",
        (
            "xoxb-{d12}-{d13}-{A24}",
            "xoxp-{d12}-{d12}-{d12}-{h32}",
            "xapp-1-A{U10}-{d13}-{h64}",
            "xoxe.xoxp-1-{A140}",
            "xoxa-2-{d12}-{A20}",
            "xoxs-{d12}-{d12}-{h40}",
            "xoxr-{d12}-{h40}",
        ),
        ("xoxb-...",),
    ),
    Rule(
        "slack-webhook",
        (r"hooks\.slack",),
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
        (
            "https://hooks.slack.com/services/T{U8}/B{U8}/{A24}",
            "https://hooks.slack.com/workflows/T{U8}/A{U8}/{d18}/{A24}",
        ),
        ("https://hooks.slack.com/services/",),
    ),
    Rule(
        "discord-webhook",
        (r"discord(?:app)?\.com/api",),
        r"discord(?:app)?\.com/api(?:/v\d+)?/webhooks/(\d{10,}/[A-Za-z0-9_-]{40,})",
        (
            "https://discord.com/api/webhooks/{d18}/{w68}",
            "https://discordapp.com/api/v10/webhooks/{d19}/{w68}",
        ),
    ),
    Rule(
        "discord-token",
        (
            *(rf"{c}[A-Za-z0-9_-]{{17,30}}\.[A-Za-z0-9_-]{{6}}\." for c in "MNO"),
            r"mfa\.[A-Za-z0-9_-]{60}",
        ),
        r"(?=[\w.-]{0,90}\d)(?:[MNO][A-Za-z0-9_-]{17,30}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}|mfa\.[A-Za-z0-9_-]{60,100})(?![A-Za-z0-9_-])",
        ("M{A23}.{w6}.{w27}", "N{A25}.{w6}.{w38}", "O{A23}.{w6}.{w38}", "mfa.{w84}"),
        ("Model.manager.get", "NamespaceLoaderTests.module.exec_module_with_loader_state"),
    ),
    Rule(
        "teams-webhook",
        (r"webhook\.office",),
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})",
        ("https://acme.webhook.office.com/webhookb2/{u}@{u}/IncomingWebhook/{h32}/{u}",),
    ),
    Rule(
        "telegram-token",
        (":[A-Za-z0-9_-]{34}",),
        r"(?<=[0-9]{8})(?<![0-9]{11}):(?=[a-z0-9_-]*[A-Z])([A-Za-z0-9_-]{34,36})(?![A-Za-z0-9_-])",
        ("{d10}:AA{w33}", "{d9}:AA{w33}", "https://api.telegram.org/bot{d10}:AA{w33}/getMe"),
        ("std::chrono::steady_clock_is_monotonic_and_long",),
    ),
    Rule("twilio-key", ("SK[0-9a-f]{32}",), rf"SK[0-9a-f]{{32}}{_END}", ("SK{h32}",)),
    Rule("twilio-account", ("AC[0-9a-f]{32}",), rf"AC[0-9a-f]{{32}}{_END}", ("AC{h32}",)),
    Rule(
        "sendgrid-key",
        (r"SG\.",),
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}(?![A-Za-z0-9_-])",
        ("SG.{w22}.{w43}",),
        ("SG.com",),
    ),
    Rule(
        "mailgun-key",
        ("key-[0-9a-zA-Z]{32}", "pubkey-[0-9a-f]{32}"),
        rf"(?:pub)?key-[0-9a-zA-Z]{{32}}{_END}",
        ("key-{h32}", "key-{a32}"),
        ("key-value", "key-up"),
    ),
    Rule(
        "mailgun-key",
        ("-[0-9a-f]{8}-[0-9a-f]{8}(?![-0-9a-zA-Z])",),
        r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-zA-Z-])",
        ("{h32}-{h8}-{h8}",),
        back=32,
    ),
    Rule(
        "mailchimp-key",
        (r"-us\d",),
        rf"[0-9a-f]{{32}}-us\d{{1,2}}{_END}",
        ("{h32}-us12", "{h32}-us6"),
        ("zone-us1", "en-us2"),
        back=32,
    ),
    Rule(
        "brevo-key",
        ("xkeysib-", "xsmtpsib-"),
        r"x(?:key|smtp)sib-[0-9a-f]{40,}-[A-Za-z0-9]{10,}",
        ("xkeysib-{h64}-{A16}", "xsmtpsib-{h64}-{A16}"),
    ),
    Rule(
        "resend-key",
        ("re_[A-Za-z0-9]{8}_",),
        rf"re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{20,}}{_END}",
        ("re_{A8}_{A24}",),
        ("re_compiled_expressions_for_matching",),
    ),
    # payments and shops
    Rule(
        "stripe-key",
        ("sk_(?:live|test|prod|org)_", "rk_(?:live|test|prod)_"),
        r"[sr]k_(?:live|test|prod|org)_[A-Za-z0-9_]{10,}",
        ("sk_live_{A24}", "sk_live_{A99}", "rk_live_{A24}", "sk_test_{A24}", "rk_test_{A99}"),
        ("task_test_something_long_enough_to_match",),
    ),
    Rule(
        "stripe-webhook-secret",
        ("whsec_",),
        r"whsec_[A-Za-z0-9+/=]{20,}",
        ("whsec_{A32}", "whsec_{b43}="),
    ),
    Rule(
        "square-token",
        ("sq0[a-z]{3}-", "EAAA[A-Za-z0-9_-]{50}"),
        r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{50,})(?![A-Za-z0-9_-])",
        ("sq0atp-{w22}", "sq0csp-{w43}", "EAAA{w60}"),
    ),
    Rule(
        "paypal-token",
        (r"access_token\$",),
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{10,}\$[0-9a-f]{32}",
        ("access_token$production${a16}${h32}",),
    ),
    Rule(
        "plaid-token",
        ("access-(?:sandbox|dev|prod)", "public-(?:sandbox|dev|prod)"),
        rf"(?:access|public)-(?:sandbox|development|production)-{_UUID}",
        ("access-production-{u}", "access-sandbox-{u}", "public-development-{u}"),
        ("access-production-systems",),
    ),
    Rule(
        "shopify-token",
        ("shp[a-z]{2}_",),
        rf"shp[a-z]{{2}}_[0-9a-zA-Z]{{32,}}{_END}",
        ("shpat_{h32}", "shpca_{h32}", "shppa_{h32}", "shpss_{h32}"),
    ),
    Rule(
        "razorpay-key",
        ("rzp_(?:live|test)_",),
        r"rzp_(?:live|test)_[A-Za-z0-9]{14,}",
        ("rzp_live_{A14}",),
    ),
    Rule(
        "flutterwave-key",
        ("FLWSECK",),
        r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?",
        ("FLWSECK-{h32}-X", "FLWSECK_TEST-{h32}-X"),
    ),
    Rule("facebook-token", ("EAA[A-Za-z0-9]{90}",), r"EAA[A-Za-z0-9]{90,}", ("EAA{A180}",)),
    Rule(
        "dropbox-token",
        (r"sl\.[A-Za-z0-9_-]{60}",),
        r"sl\.(?:u\.)?[A-Za-z0-9_-]{60,}",
        ("sl.{w140}",),
    ),
    Rule(
        "mapbox-secret",
        (r"sk\.eyJ",),
        r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
        ("sk.eyJ{A60}.{w22}",),
    ),
    Rule(
        "hubspot-token",
        ("pat-(?:na|eu|ap)",),
        rf"pat-(?:na|eu|ap)\d-{_UUID}",
        ("pat-na1-{u}", "pat-eu1-{u}"),
    ),
    Rule(
        "airtable-token",
        (r"pat[A-Za-z0-9]{14}\.",),
        r"pat[A-Za-z0-9]{14}\.[0-9a-fA-F]{40,}",
        ("pat{A14}.{h64}",),
        ("path.join", "patternMatchingXY.match"),
    ),
    Rule("contentful-token", ("CFPAT-",), r"CFPAT-[A-Za-z0-9_-]{40,}", ("CFPAT-{w43}",)),
    Rule("typeform-token", ("tfp_",), r"tfp_[A-Za-z0-9_.-]{40,}", ("tfp_{w59}",)),
    Rule("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", ("PMAK-{h24}-{h34}",)),
)
